//! Pictures, and figures of signed values.

use super::LONG;
use greenup_report::chart::{
    Axis, Cell, Chart, ColourBar, Height, Ink, Layer, Mark, Palette, Panel, Picture, Scale, Series,
    Sign, Tag, Unit, What,
};

/// An image with a colour bar, a line and labels.
pub fn picture(height: Height, flat: f64) -> Chart {
    let n = 64;
    let pixels = (0..n * n)
        .map(|i| {
            let (x, y) = ((i % n) as f64 / 63.0, (i / n) as f64 / 63.0);
            (x + y < 1.8).then(|| greenup_report::chart::ink::shade(0.5 * (x + y)))
        })
        .collect();
    let mut panel = Panel::new(
        "",
        Axis::new("q_y", Unit::plain("nm⁻¹"), Scale::Linear).over(-1.0, 1.0),
        Axis::new("q_z", Unit::plain("nm⁻¹"), Scale::Linear).over(0.0, 2.0 * flat),
    );
    panel.height = height;
    panel.grid = false;
    panel.bar = Some(ColourBar {
        axis: Axis::new("intensity", Unit::plain("photons"), Scale::Log),
        lo: 1e-5,
        hi: 1e7,
    });
    panel.push(Layer::of(
        0,
        What::Picture(Picture {
            columns: n,
            pixels,
            x: (-1.0, 1.0),
            y: (0.0, 2.0 * flat),
        }),
    ));
    panel.push(Layer::of(
        1,
        What::Rule {
            x: None,
            y: Some(flat),
            dash: "4 3",
        },
    ));
    let mark = Mark {
        x: 0.2,
        y: flat,
        ..Mark::default()
    };
    panel.push(Layer::points(2, vec![mark], 8.0));
    panel.tags.push(Tag {
        text: "cut".into(),
        at: vec![(0.5, flat)],
        ink: Ink::Text,
        bold: false,
    });
    Chart {
        title: "intensity".into(),
        series: vec![
            Series::default(),
            Series::new("cut", Ink::Bad, Sign::Dashed),
            Series::new("peak", Ink::Series(1), Sign::Dot),
        ],
        panels: vec![panel],
        ..Chart::default()
    }
}

/// Images beside each other with bars of another width, and a matrix of signed values.
pub fn all() -> Vec<(&'static str, Chart)> {
    let cut = "q_y = −0.0252 of a long name";
    let signed = |lo: f64, unit: &str| {
        let mut panel = picture(Height::Equal, 1.0).panels.remove(0);
        panel.title = "Residual: (data − model)/σ".into();
        panel.palette = Palette::Diverging;
        panel.bar = Some(ColourBar {
            axis: Axis::new("", Unit::plain(unit), Scale::Linear),
            lo,
            hi: -lo,
        });
        panel
    };
    let mut data = picture(Height::Equal, 1.0);
    data.panels[0].tags[0].text = cut.into();
    data.series[1].name = cut.into();
    data.panels.push(signed(-3.0, "σ"));
    data.panels.push(signed(-1e9, LONG));
    data.least_width = 250.0;
    // Both have one bar, next to each other and below each other.
    let mut same = picture(Height::Equal, 1.0);
    same.panels[0].title = "Data".into();
    same.panels.extend(picture(Height::Equal, 1.0).panels);
    same.panels.push(signed(-3.0, "σ"));
    let matrix = |n: usize, name: &str| {
        let names: Vec<String> = (0..n).map(|k| format!("{name}{k}")).collect();
        let axis = || Axis::new("", Unit::None, Scale::Names(names.clone()));
        let mut panel = Panel::new("", axis(), axis());
        panel.height = Height::Rows((320.0 / n as f64).clamp(18.0, 44.0));
        panel.palette = Palette::Diverging;
        panel.bar = Some(ColourBar {
            axis: Axis::new("correlation", Unit::None, Scale::Linear),
            lo: -1.0,
            hi: 1.0,
        });
        let cells = (0..n * n).map(|k| Cell {
            x: k % n,
            y: k / n,
            level: Some(k as f64 / (n * n) as f64),
            text: "−0.99".into(),
            tip: String::new(),
        });
        panel.push(Layer::of(
            0,
            What::Cells {
                cells: cells.collect(),
            },
        ));
        Chart {
            title: "Correlations".into(),
            panels: vec![panel],
            ..Chart::default()
        }
    };
    vec![
        ("images on a diverging scale", data),
        ("images on one scale", same),
        ("a matrix of two", matrix(2, "a")),
        ("a matrix of 40 with long names", matrix(40, LONG)),
    ]
}
