//! Named rows of horizontal bars, the first row on top.

use crate::chart::{Axis, Bar, Height, Layer, Panel, Scale, Unit};

/// A bar of a row.
#[derive(Clone, Debug, Default)]
pub struct RowBar {
    /// Its length.
    pub value: f64,
    /// The interval of its end, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Shown on hovering.
    pub tip: String,
}

/// A row: its name and its bars, one a series where it has one.
pub type Row = (String, Vec<Option<RowBar>>);

/// Where the bars of a row stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bars {
    /// Below each other, each with its value.
    Beside,
    /// End to end.
    Stacked,
    /// End to end, with their sum.
    Summed,
}

/// A panel of the rows.
pub fn panel(title: &str, label: &str, unit: Unit, bars: Bars, rows: &[Row]) -> Panel {
    let stacked = bars != Bars::Beside;
    let series = rows.iter().map(|r| r.1.len()).max().unwrap_or(0);
    let beside = if stacked { 1.0 } else { series as f64 };
    let sum = |all: &[Option<RowBar>]| all.iter().flatten().map(|b| b.value).sum::<f64>();
    let end = |b: &RowBar| b.interval.map_or(b.value, |i| i.1.max(b.value));
    let longest = (rows.iter())
        .map(|(_, all)| {
            let ends = all.iter().flatten().map(end).fold(0.0, f64::max);
            if stacked { sum(all).max(ends) } else { ends }
        })
        .filter(|v| v.is_finite())
        .fold(1e-300, f64::max);
    // Room for the values after the bars.
    let room = match bars {
        // Shares of a whole end there.
        Bars::Stacked if matches!(unit, Unit::Percent) => 1.0,
        Bars::Stacked => 1.04,
        _ => 1.3,
    };
    let names = rows.iter().rev().map(|r| r.0.clone()).collect();
    let mut panel = Panel::new(
        title,
        Axis::new(label, unit.clone(), Scale::Linear).over(0.0, room * longest),
        Axis::new("", Unit::None, Scale::Names(names)),
    );
    panel.height = Height::Rows(12.0 + 16.0 * beside);
    let pitch = 0.84 / beside.max(1.0);
    for k in 0..series {
        let one = |(at, (_, all)): (usize, &Row)| {
            let bar = all.get(k)?.as_ref()?;
            let (from, off) = if stacked {
                (sum(&all[..k]), 0.0)
            } else {
                (0.0, (0.5 * (beside - 1.0) - k as f64) * pitch)
            };
            let last = all[k + 1..].iter().all(Option::is_none);
            Some(Bar {
                at: at as f64 + off,
                thick: 0.9 * pitch,
                from,
                to: from + bar.value,
                interval: bar.interval,
                text: match bars {
                    Bars::Beside => unit.show(bar.value),
                    Bars::Summed if last => unit.show(from + bar.value),
                    _ => String::new(),
                },
                tip: bar.tip.clone(),
                ..Bar::default()
            })
        };
        let bars = rows.iter().rev().enumerate().filter_map(one).collect();
        panel.push(Layer::bars(k, bars));
    }
    panel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::What;

    #[test]
    fn bars_of_a_row_stand_beside_each_other_or_end_to_end() {
        let bar = |value: f64| {
            Some(RowBar {
                value,
                ..RowBar::default()
            })
        };
        let rows = [
            ("a".to_owned(), vec![bar(1.0), bar(2.0)]),
            ("b".to_owned(), vec![bar(4.0), None]),
        ];
        for (bars, from, text) in [
            (Bars::Beside, 0.0, "2.00 s"),
            (Bars::Stacked, 1.0, ""),
            (Bars::Summed, 1.0, "3.00 s"),
        ] {
            let panel = panel("", "time", Unit::si("s"), bars, &rows);
            let What::Bars { bars: second, .. } = &panel.layers[1].what else {
                panic!()
            };
            let [b] = second.as_slice() else { panic!() };
            assert_eq!((b.from, b.to - b.from, b.text.as_str()), (from, 2.0, text));
            // The first row is on top.
            assert!(b.at > 0.5);
        }
    }
}
