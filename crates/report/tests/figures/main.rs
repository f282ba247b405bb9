//! Every kind of figure at every width: no text meets another, leaves its figure or is too small, whatever the input.

mod cases;

use greenup_report::chart::{
    Axis, Chart, ColourBar, Layer, PAGE_WIDTHS, Panel, Picture, Scale, Series, Style, Unit, What,
};
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::table::{Cell, Columns};

/// A page of all cases.
fn page() -> String {
    let sections = cases::all()
        .into_iter()
        .enumerate()
        .map(|(i, (name, chart))| Section {
            id: format!("f{i}"),
            title: name.into(),
            figures: vec![Figure::chart(&chart, "").wide()],
            ..Section::default()
        })
        .collect();
    Page {
        title: "All figures".into(),
        answer: Answer::new(
            "Every kind of figure is readable.",
            "A browser looks.",
            "None.",
        ),
        sections,
        ..Page::default()
    }
    .render()
    .expect("a page")
}

#[test]
fn texts_of_all_figures_are_clear() {
    let mut wrong = Vec::new();
    for (name, chart) in cases::all() {
        for width in PAGE_WIDTHS.map(f64::from) {
            wrong.extend(
                chart
                    .faults(width)
                    .into_iter()
                    .map(|f| format!("{name} at {width}: {f}")),
            );
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n{} in all",
        wrong[..wrong.len().min(40)].join("\n"),
        wrong.len()
    );
}

#[test]
#[ignore = "needs Chromium"]
fn pages_of_all_figures_are_readable() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("figures.html");
    std::fs::write(&file, page()).expect("the page");
    let mut browser = greenup_testing::browser::Browser::start();
    for dark in [false, true] {
        let found = browser.examine(&file, &greenup_testing::browser::WIDTHS, dark);
        assert!(
            found.is_empty(),
            "dark {dark}, {} findings:\n{found}",
            found.0.len()
        );
    }
}

#[test]
#[ignore = "needs Chromium"]
fn long_names_leave_no_page() {
    // A path without any gap in each place of a page that takes text.
    let name = "a/folder".repeat(30);
    let facts = || vec![Fact::new(&name, &*name), Fact::new("short", &*name)];
    let section = |folded| Section {
        id: format!("s{folded}"),
        title: name.clone(),
        label: Some("measured"),
        paragraphs: vec![name.clone(), format!("`{name}`")],
        items: facts(),
        figures: vec![Figure::text(&name)],
        tables: vec![
            Columns::<f64>::new()
                .cell(&name, &name, |_| Cell::text(&name))
                .cell("wrapped", "", |_| Cell::wrapped(&name))
                .cell("value", "", |v| Cell::three(*v))
                .table(&name, [1.0, 2.0]),
        ],
        copied: facts(),
        folded,
        ..Section::default()
    };
    let page = Page {
        title: name.clone(),
        subtitle: name.clone(),
        answer: Answer::new(&*name, &*name, &*name),
        banner: vec![name.clone()],
        headline: facts(),
        sections: vec![section(false), section(true)],
        footer: name.clone(),
        provenance: facts(),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("names.html");
    std::fs::write(&file, page.render().expect("a page")).expect("the page");
    let found = greenup_testing::browser::Browser::start().examine(
        &file,
        &greenup_testing::browser::WIDTHS,
        false,
    );
    assert!(found.is_empty(), "{found}");
}

#[test]
fn all_styles_are_drawn() {
    for (name, chart) in cases::all() {
        for style in [Style::Light, Style::Dark, Style::Print] {
            let svg = chart.svg(style, 700.0);
            assert!(
                !svg.contains("NaN") && !svg.contains("inf\"") && !svg.contains("var("),
                "{name}"
            );
        }
        assert!(chart.png(Style::Dark, 400.0, 0.5).is_ok(), "{name}");
        let pdf = chart.pdf(Style::Print, 400.0);
        assert!(
            pdf.starts_with(b"%PDF") && pdf.ends_with(b"%%EOF"),
            "{name}"
        );
    }
    if let Ok(folder) = std::env::var("GREENUP_FIGURES") {
        let at = |name: &str| std::path::Path::new(&folder).join(name);
        std::fs::write(at("figures.html"), page()).expect("the page");
        for (i, (name, chart)) in cases::all().into_iter().enumerate() {
            let pdf = chart.pdf(Style::Print, 700.0);
            std::fs::write(at(&format!("{i:02}.pdf")), pdf).expect("a file");
            for width in [400.0, 1200.0] {
                let png = chart.png(Style::Light, width, 1.0).expect("a picture");
                std::fs::write(at(&format!("{i:02} {name} {width}.png")), png).expect("a file");
            }
        }
    }
}

#[test]
#[ignore = "needs Chromium"]
fn pictures_are_read_under_the_pointer() {
    // Columns of 10⁻⁴, 10⁻², 1, 10² on a scale from 10⁻³ to 10; the last row has nothing.
    let axis = |title: &str| Axis::new(title, Unit::plain("nm⁻¹"), Scale::Linear).over(0.0, 4.0);
    let mut panel = Panel::new("", axis("q_y"), axis("q_z"));
    let level = |value: f64| ((value.log10() + 3.0) / 4.0).clamp(0.0, 1.0);
    let pixel = |k: usize| {
        (k < 12).then(|| {
            panel
                .palette
                .colour(level(10f64.powi(2 * (k as i32 % 4) - 4)))
        })
    };
    let pixels = (0..16).map(pixel).collect();
    panel.bar = Some(ColourBar {
        axis: Axis::new("intensity", Unit::None, Scale::Log),
        lo: 1e-3,
        hi: 10.0,
    });
    let (x, y) = ((0.0, 4.0), (0.0, 4.0));
    panel.push(Layer::of(
        0,
        What::Picture(Picture {
            columns: 4,
            pixels,
            x,
            y,
        }),
    ));
    let chart = Chart {
        series: vec![Series::default()],
        panels: vec![panel],
        ..Chart::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("picture.html");
    let section = Section {
        id: "f".into(),
        title: "Picture".into(),
        figures: vec![Figure::chart(&chart, "")],
        ..Section::default()
    };
    let page = Page {
        title: "Picture".into(),
        sections: vec![section],
        ..Page::default()
    };
    std::fs::write(&file, page.render().expect("a page")).expect("the page");
    let mut browser = greenup_testing::browser::Browser::start();
    let mut tab = browser.open(&file, 1000, false);
    // The second move finds the pixels decoded.
    let mut at = |x: f64, y: f64| {
        let script = format!(
            "(async () => {{
               const ground = [...document.querySelectorAll('.ground')].find(g => g.checkVisibility());
               const plot = ground.closest('.panel').querySelector('.plot'), r = ground.getBoundingClientRect();
               const move = () => plot.dispatchEvent(new PointerEvent('pointermove', {{bubbles: true,
                 clientX: r.left + {x} * r.width, clientY: r.top + {y} * r.height}}));
               move();
               await new Promise(done => setTimeout(done, 200));
               move();
               return document.getElementById('tip').textContent;
             }})()"
        );
        tab.evaluate(&script)
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let below = at(0.125, 0.125);
    assert!(
        below.contains("q_y 0.5 nm⁻¹ · q_z 3.5 nm⁻¹ · intensity ≤ 0.0010"),
        "{below}"
    );
    let value = |text: &str| text.rsplit("≈ ").next().and_then(|v| v.parse::<f64>().ok());
    for (x, want) in [(0.375, 1e-2), (0.625, 1.0)] {
        let text = at(x, 0.125);
        let got = value(&text).unwrap_or(f64::NAN);
        assert!((got / want).ln().abs() < 0.05, "{text}");
    }
    assert!(at(0.875, 0.125).contains("≥ 9.8"));
    let nothing = at(0.125, 0.875);
    assert!(nothing.ends_with("q_z 0.5 nm⁻¹"), "{nothing}");
}
