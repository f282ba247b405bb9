//! The correlation matrix.

use super::Report;
use greenup_report::chart::{
    Axis, Cell, Chart, ColourBar, Height, Layer, Palette, Panel, Scale, Unit, What,
};

/// Most parameters whose correlations have texts at any width: more have a colour bar.
const FEW: usize = 5;

impl Report<'_> {
    /// The matrix below its diagonal; `None` without any known correlation.
    pub(super) fn correlations(&self) -> Option<Chart> {
        self.known().next()?;
        let names = self.names();
        let n = names.len();
        let cells = (1..n)
            .flat_map(|row| (0..row).map(move |column| (row, column)))
            .map(|(row, column)| {
                let r = self.found.correlations[row][column];
                let value = if r.is_finite() {
                    shown(r)
                } else {
                    "unknown".into()
                };
                let paths = &self.target.free;
                Cell {
                    x: column,
                    // Rows from the top.
                    y: n - 1 - row,
                    level: r.is_finite().then_some(0.5 + 0.5 * r),
                    tip: format!("{} and {}: {value}", paths[row].path, paths[column].path),
                    text: value,
                }
            })
            .collect();
        let rows = names[1..].iter().rev().cloned().collect();
        let mut panel = Panel::new(
            "",
            Axis::new("", Unit::None, Scale::Names(names[..n - 1].to_vec())),
            Axis::new("", Unit::None, Scale::Names(rows)),
        );
        panel.height = Height::Rows((200.0 / n as f64).clamp(18.0, 36.0));
        panel.palette = Palette::Diverging;
        panel.bar = (n > FEW).then(|| ColourBar {
            axis: Axis::new("", Unit::None, Scale::Linear),
            lo: -1.0,
            hi: 1.0,
        });
        panel.push(Layer::of(0, What::Cells { cells }));
        Some(Chart {
            title: "Correlations of the parameters".into(),
            panels: vec![panel],
            ..Chart::default()
        })
    }

    /// Pairs of parameters, and how much they correlate.
    fn known(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let all = &self.found.correlations;
        (1..all.len())
            .flat_map(move |row| (0..row).map(move |column| (column, row, all[row][column])))
            .filter(|c| c.2.is_finite())
    }

    /// The two parameters off their bounds that correlate most, and how much.
    pub(super) fn strongest(&self) -> Option<(usize, usize, f64)> {
        self.known()
            .filter(|c| !self.at_bound(c.0) && !self.at_bound(c.1))
            .max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))
    }

    /// Short names of the parameters: the fewest last parts of their paths that differ.
    pub(super) fn names(&self) -> Vec<String> {
        let paths: Vec<&str> = self.target.free.iter().map(|f| f.path.as_str()).collect();
        short_names(&paths)
    }
}

/// A correlation.
pub(super) fn shown(r: f64) -> String {
    format!("{r:.2}").replace('-', "−")
}

/// The fewest last parts of each path that no other path ends with.
fn short_names(paths: &[&str]) -> Vec<String> {
    let tail = |path: &str, parts: usize| {
        let all: Vec<&str> = path.split('.').collect();
        all[all.len().saturating_sub(parts)..].join(".")
    };
    paths
        .iter()
        .map(|path| {
            let most = path.split('.').count();
            let alone = |parts: &usize| {
                let name = tail(path, *parts);
                paths.iter().filter(|p| tail(p, *parts) == name).count() == 1
            };
            // A number says nothing alone.
            let words = |parts: &usize| !tail(path, *parts).starts_with(|c: char| c.is_numeric());
            let parts = (1..most).find(|p| alone(p) && words(p)).unwrap_or(most);
            tail(path, parts)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::short_names;

    #[test]
    fn names_are_short_and_differ() {
        assert_eq!(
            short_names(&[
                "particles.0.form.radius",
                "particles.1.form.radius",
                "beam.intensity"
            ]),
            [
                "particles.0.form.radius",
                "particles.1.form.radius",
                "intensity"
            ]
        );
        assert_eq!(
            short_names(&["particles.0.paracrystal.a", "particles.0.lattice.a"]),
            ["paracrystal.a", "lattice.a"]
        );
        assert_eq!(short_names(&["a.spread.0", "b"]), ["spread.0", "b"]);
    }
}
