use super::{Browser, FaultKind, Findings, WIDTHS, examine, screenshot};
use base64::Engine as _;
use std::path::{Path, PathBuf};

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/browser/pages")
        .join(name)
}

fn has(all: &Findings, kind: FaultKind, figure: &str, texts: &[&str]) -> bool {
    all.0
        .iter()
        .any(|f| f.kind == kind && f.figure == figure && f.texts == texts)
}

#[test]
#[ignore = "needs Chromium"]
fn a_good_page_has_no_findings() {
    for dark in [false, true] {
        let found = examine(&page("good.html"), &WIDTHS, dark);
        assert!(found.is_empty(), "{found}");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn every_kind_of_fault_is_found_at_every_width() {
    let found = examine(&page("bad.html"), &WIDTHS, false);
    for width in WIDTHS {
        let at = Findings(
            found
                .0
                .iter()
                .filter(|f| f.width == width)
                .cloned()
                .collect(),
        );
        let one = |kind, figure, texts: &[&str]| {
            assert!(has(&at, kind, figure, texts), "{kind:?} {texts:?} in\n{at}");
        };
        one(FaultKind::SmallText, "svg small", &["eight pixels"]);
        one(
            FaultKind::SmallText,
            "svg small",
            &["eight pixels, rotated"],
        );
        one(FaultKind::SmallText, "p", &["nine pixels"]);
        one(
            FaultKind::Overlap,
            "svg overlap",
            &["one text over", "another text"],
        );
        let rotated = ["rotated label", "rotated neighbour"];
        one(FaultKind::Overlap, "svg overlap", &rotated);
        one(
            FaultKind::OutsideFigure,
            "svg outside",
            &["beyond the right"],
        );
        one(FaultKind::CoversMark, "svg covered", &["covers a point"]);
        one(
            FaultKind::CoversMark,
            "svg covered",
            &["covers one of many"],
        );
        one(FaultKind::NotInspectable, "canvas canvas", &[]);
        one(FaultKind::TooWide, "table table", &[]);
        one(FaultKind::PageOverflow, "page", &[]);
        one(FaultKind::Unsupported, "answer", &["4.5 ms"]);
        one(FaultKind::Contradiction, "table two", &["1.00 s", "1.20 s"]);
        one(FaultKind::Cut, "p", &["a name that is cu…"]);
        one(FaultKind::Cut, "svg", &["shorter cu…"]);
        let read = [
            FaultKind::Unsupported,
            FaultKind::Contradiction,
            FaultKind::Cut,
        ];
        assert_eq!(at.of(&read).0.len(), 4, "{at}");
        let said = at.of(&[FaultKind::Console]).to_string();
        assert!(said.contains("console.warning: \"a warning\" 7"), "{said}");
        assert!(said.contains("Error: uncaught"), "{said}");
        let asked = at.of(&[FaultKind::Request]);
        assert_eq!(asked.0.len(), 1, "{asked}");
        assert!(asked.0[0].detail.ends_with("missing.js"), "{asked}");
        // Nothing else: three small texts, two overlaps, one of the others.
        let counts = at.of(&[
            FaultKind::SmallText,
            FaultKind::Overlap,
            FaultKind::OutsideFigure,
        ]);
        assert_eq!(counts.0.len(), 6, "{counts}");
        let counts = at.of(&[
            FaultKind::CoversMark,
            FaultKind::TooWide,
            FaultKind::NotInspectable,
        ]);
        assert_eq!(counts.0.len(), 4, "{counts}");
    }
    assert_eq!(found.counts()[&(FaultKind::Overlap, 360)], 2);
    // Sizes and boxes are those on the screen.
    let small = found.of(&[FaultKind::SmallText]);
    assert_eq!(small.0[0].detail, "8.0 px", "{small}");
    let outside = found.of(&[FaultKind::OutsideFigure]);
    assert_eq!(outside.0[0].boxes[0][0], 250.0, "{outside}");
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_without_a_viewport_is_found_on_a_telephone() {
    let dir = tempfile::tempdir().unwrap();
    // A name that an address must escape.
    let html = dir.path().join("a page #1 50%.html");
    std::fs::write(&html, "<!doctype html><title>x</title><p>text").unwrap();
    let found = examine(&html, &[400, 1280], false);
    assert_eq!(found.0.len(), 1, "{found}");
    assert!(found.0[0].detail.contains("viewport"), "{found}");
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_without_an_answer_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let html = dir.path().join("page.html");
    let rest = "<dl class=answers><dt>How sure</dt><dd>Quite.</dd><dt>Next</dt><dd>More.</dd></dl>";
    let whole = format!("<p class=answer>It holds.</p>{rest}");
    for (answer, faults) in [("", 3), ("<p class=answer>It holds.</p>", 2), (&*whole, 0)] {
        let text = format!(
            "<!doctype html><meta name=viewport content='width=device-width'><title>x</title>\
             <header><h1>x</h1>{answer}</header><main><p>text</main>"
        );
        std::fs::write(&html, text).unwrap();
        let found = examine(&html, &[1280], false);
        assert_eq!(
            found.of(&[FaultKind::Unanswered]).0.len(),
            faults,
            "{found}"
        );
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_picture_shows_the_whole_page_in_the_colours_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let png = dir.path().join("page.png");
    let mut browser = Browser::start();
    for (width, dark, colour) in [
        (1280, false, "rgb(255, 255, 255)"),
        (400, true, "rgb(1, 2, 3)"),
    ] {
        let html = page("good.html");
        let mut tab = browser.open(&html, width, dark);
        let seen = tab.evaluate("getComputedStyle(document.body).backgroundColor");
        assert_eq!(seen, colour);
        let height = tab.evaluate("document.documentElement.scrollHeight");
        drop(tab);
        screenshot(&html, width, dark, &png);
        let bytes = std::fs::read(&png).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"));
        // The header: width and height as big-endian numbers.
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(number(16), width);
        assert_eq!(u64::from(number(20)), height.as_u64().unwrap());
        // The picture itself, not only the style.
        let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
        let mut tab = browser.open(&html, 1280, false);
        let pixel = tab.evaluate(&format!(
            "new Promise(done => {{
               const picture = new Image();
               picture.onload = () => {{
                 const pen = document.createElement('canvas').getContext('2d');
                 pen.drawImage(picture, 0, 0);
                 const [r, g, b] = pen.getImageData(2, 2, 1, 1).data;
                 done(`rgb(${{r}}, ${{g}}, ${{b}})`);
               }};
               picture.src = 'data:image/png;base64,{data}';
             }})"
        ));
        assert_eq!(pixel, colour);
    }
}
