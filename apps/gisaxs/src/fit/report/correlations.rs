//! The correlation matrix.

use super::Report;
use greenup_report::chart::{
    Axis, Cell, Chart, ColourBar, Height, Layer, Palette, Panel, Scale, Unit, What,
};

impl Report<'_> {
    /// The matrix; `None` for fewer than two parameters.
    pub(super) fn correlations(&self) -> Option<Chart> {
        let names = self.names();
        if names.len() < 2 {
            return None;
        }
        let n = names.len();
        let cells = (0..n)
            .flat_map(|row| (0..n).map(move |column| (row, column)))
            .map(|(row, column)| {
                let r = self.found.correlations[row][column];
                let value = if r.is_finite() {
                    format!("{r:.2}").replace('-', "−")
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
        let reversed = names.iter().rev().cloned().collect();
        let mut panel = Panel::new(
            "",
            Axis::new("", Unit::None, Scale::Names(names)),
            Axis::new("", Unit::None, Scale::Names(reversed)),
        );
        panel.height = Height::Rows((320.0 / n as f64).clamp(18.0, 44.0));
        panel.palette = Palette::Diverging;
        panel.bar = Some(ColourBar {
            axis: Axis::new("correlation", Unit::None, Scale::Linear),
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

    /// Short names of the parameters: the fewest last parts of their paths that differ.
    pub(super) fn names(&self) -> Vec<String> {
        let paths: Vec<&str> = self.target.free.iter().map(|f| f.path.as_str()).collect();
        short_names(&paths)
    }
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
