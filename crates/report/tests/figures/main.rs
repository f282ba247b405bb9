//! Every kind of figure at every width: no text meets another, leaves its figure or is too small, whatever the input.

mod cases;

use greenup_report::chart::{PAGE_WIDTHS, Style};
use greenup_report::page::{Figure, Page, Section};

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
        let pdf = chart.pdf(Style::Print, 400.0).expect("a PDF file");
        assert!(
            pdf.starts_with(b"%PDF") && pdf.ends_with(b"%%EOF"),
            "{name}"
        );
    }
    if let Ok(folder) = std::env::var("GREENUP_FIGURES") {
        let at = |name: &str| std::path::Path::new(&folder).join(name);
        std::fs::write(at("figures.html"), page()).expect("the page");
        for (i, (name, chart)) in cases::all().into_iter().enumerate() {
            let pdf = chart.pdf(Style::Print, 700.0).expect("a PDF file");
            std::fs::write(at(&format!("{i:02}.pdf")), pdf).expect("a file");
            for width in [400.0, 1200.0] {
                let png = chart.png(Style::Light, width, 1.0).expect("a picture");
                std::fs::write(at(&format!("{i:02} {name} {width}.png")), png).expect("a file");
            }
        }
    }
}
