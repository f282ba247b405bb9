//! One row a kernel: how much of its roof it reaches, and where its energy goes.

use crate::chart::{Axis, Bar, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What};
use crate::si::{percent, si};

/// Height of a row, pixels.
const ROW: f64 = 40.0;
/// Longest bar, over the whole: a longer one is cut at the edge of the panel.
const LONGEST: f64 = 4.0;

/// A piece of a bar.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is, for the legend.
    pub name: String,
    /// Its length, J.
    pub value: f64,
}

/// Energy of a kernel.
#[derive(Clone, Debug)]
pub struct Energy {
    /// Measured value, lower and upper end of its interval, J.
    pub measured: (f64, f64, f64),
    /// Parts of the predicted energy.
    pub parts: Vec<Part>,
}

/// One kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Predicted over measured time, lower and upper end of its interval.
    pub share: (f64, f64, f64),
    /// Measured time, s.
    pub time_s: f64,
    /// What bounds it.
    pub bound: String,
    /// Its energy, where it is known.
    pub energy: Option<Energy>,
}

/// The fraction of its roof that each kernel reaches and, where energies are known, the parts of the predicted energy
/// over the measured one.
pub fn kernels(title: &str, all: &[Kernel]) -> Chart {
    let known = |k: &&Kernel| k.share.0 > 0.0 && k.share.0.is_finite();
    let mut shown: Vec<&Kernel> = all.iter().filter(known).collect();
    // The first on top.
    shown.reverse();
    let mut parts: Vec<&str> = Vec::new();
    let energies = || shown.iter().filter_map(|k| k.energy.as_ref());
    for part in energies().flat_map(|e| &e.parts) {
        if !parts.contains(&part.name.as_str()) {
            parts.push(&part.name);
        }
    }
    let mut series = vec![Series::new("of the roof", Ink::Series(0), Sign::Area)];
    let inks = (1..).map(Ink::Series);
    series.extend((parts.iter().zip(inks)).map(|(n, ink)| Series::new(*n, ink, Sign::Area)));
    let mut panels = vec![of_roof(&shown)];
    if energies().next().is_some() {
        panels.push(of_energy(&shown, &parts));
    }
    Chart {
        title: title.to_owned(),
        series,
        panels,
        least_width: 400.0,
        ..Chart::default()
    }
}

/// A panel with a row for each kernel, wide enough for `longest` and a text behind it.
fn rows(title: &str, axis: &str, shown: &[&Kernel], longest: f64) -> Panel {
    let names = shown.iter().map(|k| k.name.clone()).collect();
    let mut panel = Panel::new(
        title,
        Axis::new(axis, Unit::Percent, Scale::Linear).over(0.0, 1.45 * longest.clamp(1.0, LONGEST)),
        Axis::new("", Unit::None, Scale::Names(names)),
    );
    panel.height = Height::Rows(ROW);
    panel
}

fn whole() -> Layer {
    let rule = What::Rule {
        x: Some(1.0),
        y: None,
        dash: "4 3",
    };
    Layer::of(0, rule).inked(Ink::Text)
}

fn of_roof(shown: &[&Kernel]) -> Panel {
    let finite = |v: &f64| v.is_finite();
    let ends = shown.iter().flat_map(|k| [k.share.0, k.share.2]);
    let longest = ends.filter(finite).fold(1.0, f64::max);
    let mut panel = rows("Time", "predicted over measured time", shown, longest);
    let bars = (shown.iter().enumerate()).map(|(row, k)| Bar {
        at: row as f64,
        thick: 0.5,
        to: k.share.0,
        interval: Some((k.share.1, k.share.2)),
        text: format!("{} · {}", percent(k.share.0), si(k.time_s, "s")),
        tip: format!(
            "{}: {} of its roof ({}), {}",
            k.name,
            percent(k.share.0),
            k.bound,
            si(k.time_s, "s")
        ),
        ..Bar::default()
    });
    panel.push(Layer::bars(0, bars.collect()));
    panel.push(whole());
    panel
}

fn of_energy(shown: &[&Kernel], parts: &[&str]) -> Panel {
    let total = |e: &Energy| e.parts.iter().map(|p| p.value).sum::<f64>() / e.measured.0;
    let known = |k: &&Kernel| {
        let energy = k.energy.as_ref()?;
        let (share, measured) = (total(energy), energy.measured.0);
        (measured > 0.0 && share.is_finite()).then_some(energy.clone())
    };
    let longest = shown
        .iter()
        .filter_map(known)
        .map(|e| total(&e))
        .fold(1.0, f64::max);
    let mut panel = rows("Energy", "predicted over measured energy", shown, longest);
    for (row, k) in shown.iter().enumerate() {
        let Some(energy) = known(k) else { continue };
        let m = energy.measured.0;
        let mut from = 0.0;
        for (i, part) in energy.parts.iter().enumerate() {
            let series = 1 + parts.iter().position(|n| *n == part.name).unwrap_or(0);
            let to = from + part.value / m;
            let last = i + 1 == energy.parts.len();
            let text = format!("{} · {}", percent(total(&energy)), si(m, "J"));
            let bar = Bar {
                at: row as f64,
                thick: 0.5,
                from,
                to,
                // The measured energy is the whole.
                interval: last.then_some((energy.measured.1 / m, energy.measured.2 / m)),
                text: if last { text } else { String::new() },
                tip: format!(
                    "{}: {} {}, {} of the measured energy",
                    k.name,
                    part.name,
                    si(part.value, "J"),
                    percent(part.value / m)
                ),
                ..Bar::default()
            };
            panel.push(Layer::bars(series, vec![bar]));
            from = to;
        }
    }
    panel.push(whole());
    panel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn a_row_a_kernel() {
        let mut kernel = Kernel {
            name: "triad".into(),
            share: (0.91, 0.9, 0.92),
            time_s: 1.19e-3,
            bound: "dram".into(),
            energy: None,
        };
        let chart = kernels("Kernels", &[kernel.clone()]);
        assert_eq!(chart.panels.len(), 1);
        assert!(chart.svg(Style::Light, 500.0).contains("91.0 % · 1.19 ms"));
        let parts = [("arithmetic", 0.4), ("constant power", 1.5)].map(|(name, value)| Part {
            name: name.into(),
            value,
        });
        kernel.energy = Some(Energy {
            measured: (2.0, 1.9, 2.1),
            parts: parts.to_vec(),
        });
        let chart = kernels("Kernels", &[kernel.clone(), kernel]);
        let svg = chart.svg(Style::Light, 900.0);
        assert!(
            svg.contains("95.0 % · 2.00 J") && !svg.contains("NaN"),
            "{svg}"
        );
        for width in crate::chart::PAGE_WIDTHS {
            crate::chart::assert_clear(&chart, f64::from(width));
        }
    }
}
