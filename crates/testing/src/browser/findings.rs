//! What is wrong on a page.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// A message on the console or an uncaught error.
    Console,
    /// A request for anything but the page itself and `data:`.
    Request,
    /// The page is wider than its window.
    PageOverflow,
    /// A table or figure is wider than what holds it, which does not scroll.
    TooWide,
    /// Text below 11 pixels on the screen.
    SmallText,
    /// Two texts of a figure overlap by more than a pixel.
    Overlap,
    /// Text of a figure ends beyond it.
    OutsideFigure,
    /// Text covers a data point: the centre of an element of class `mark` or a circle with a tip.
    CoversMark,
    /// A canvas, an SVG inside `<img>` or another document: what it shows is unknown.
    NotInspectable,
    /// A page that begins without an answer, without how sure it is, or without what to do next.
    Unanswered,
    /// A number of the answer that stands nowhere else on the page.
    Unsupported,
    /// A row's value differs from that of the same name in another table of its section.
    Contradiction,
    /// A text is cut, and its whole is nowhere on the page.
    Cut,
}

impl FaultKind {
    fn of(name: &str) -> Self {
        match name {
            "PageOverflow" => Self::PageOverflow,
            "TooWide" => Self::TooWide,
            "SmallText" => Self::SmallText,
            "Overlap" => Self::Overlap,
            "OutsideFigure" => Self::OutsideFigure,
            "CoversMark" => Self::CoversMark,
            "NotInspectable" => Self::NotInspectable,
            "Unanswered" => Self::Unanswered,
            "Unsupported" => Self::Unsupported,
            "Contradiction" => Self::Contradiction,
            "Cut" => Self::Cut,
            other => panic!("unknown kind {other}"),
        }
    }
}

/// One fault.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is.
    pub kind: FaultKind,
    /// Width of the window, CSS pixels.
    pub width: u32,
    /// Element and label, title or id of the figure or table.
    pub figure: String,
    /// The texts in question.
    pub texts: Vec<String>,
    /// Left, top, right and bottom of the texts or elements, CSS pixels from the upper left
    /// corner of the figure, or of the page.
    pub boxes: Vec<[f64; 4]>,
    /// Size, distance or message.
    pub detail: String,
}

impl Finding {
    pub(super) fn without_box(kind: FaultKind, width: u32, detail: String) -> Self {
        Self {
            kind,
            width,
            figure: "page".to_owned(),
            texts: Vec::new(),
            boxes: Vec::new(),
            detail,
        }
    }

    pub(super) fn from_json(width: u32, value: &Value) -> Self {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
        Self {
            kind: FaultKind::of(value["kind"].as_str().unwrap_or_default()),
            width,
            figure: text(&value["figure"]),
            texts: list(&value["texts"]).iter().map(text).collect(),
            boxes: list(&value["boxes"])
                .iter()
                .map(|b| [0, 1, 2, 3].map(|i| b[i].as_f64().unwrap_or(f64::NAN)))
                .collect(),
            detail: text(&value["detail"]),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, width, .. } = self;
        write!(f, "{kind:?} at {width} px in {}", self.figure)?;
        for t in &self.texts {
            write!(f, " {t:?}")?;
        }
        write!(f, ": {}", self.detail)?;
        for [left, top, right, bottom] in &self.boxes {
            write!(f, " [{left}, {top} … {right}, {bottom}]")?;
        }
        Ok(())
    }
}

/// All faults of a page; none is what a test wants.
#[derive(Clone, Debug, Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of some kinds.
    pub fn of(&self, kinds: &[FaultKind]) -> Self {
        let kept = self.0.iter().filter(|f| kinds.contains(&f.kind));
        Self(kept.cloned().collect())
    }

    /// How many of each kind at each width.
    pub fn counts(&self) -> BTreeMap<(FaultKind, u32), usize> {
        let mut counts = BTreeMap::new();
        for f in &self.0 {
            *counts.entry((f.kind, f.width)).or_default() += 1;
        }
        counts
    }
}

/// One line a finding.
impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|one| writeln!(f, "{one}"))
    }
}
