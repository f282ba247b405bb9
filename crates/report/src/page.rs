//! The HTML page: one file with its style, script and figures inside; no network.

mod answer;
mod tips;

pub use answer::Answer;

use crate::chart::Chart;
use crate::chart::canvas::escape;
use crate::chart::ink::{Style, variables};
use crate::table::Table;
use minijinja::{Environment, context};
use serde::Serialize;

/// A named value.
#[derive(Clone, Debug, Serialize)]
pub struct Fact {
    /// Name.
    pub name: String,
    /// Value as text.
    pub value: String,
}

impl Fact {
    /// A named value.
    pub fn new(name: &str, value: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
        }
    }
}

/// A figure of a page.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figure {
    /// Markup.
    pub html: String,
    /// Caption.
    pub caption: String,
    /// Whether it takes the full width.
    pub wide: bool,
    /// Whether it stands with the tables of a section whose tables are beside its figures.
    pub aside: bool,
}

impl Figure {
    /// A chart; one with several panels takes the full width.
    pub fn chart(chart: &Chart, caption: &str) -> Self {
        Self {
            html: chart.html(),
            caption: caption.to_owned(),
            wide: chart.panels.len() > 1,
            ..Self::default()
        }
    }

    /// The same over the full width.
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// The same with the tables.
    pub fn aside(self) -> Self {
        Self {
            aside: true,
            ..self
        }
    }

    /// Text as it is, in a font of fixed width.
    pub fn text(text: &str) -> Self {
        Self {
            html: format!("<pre>{}</pre>", escape(text)),
            wide: true,
            ..Self::default()
        }
    }
}

/// A section of the page.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// Anchor in the page.
    pub id: String,
    /// Title.
    pub title: String,
    /// Name among the links at the top; empty for the title.
    pub short: String,
    /// Provenance: `measured`, `published`, `derived` or `estimated`; or another state.
    pub label: Option<&'static str>,
    /// Paragraphs of text.
    pub paragraphs: Vec<String>,
    /// Named values.
    pub items: Vec<Fact>,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Text to be copied, such as a command: below the tables.
    pub copied: Vec<Fact>,
    /// Whether text and tables stand beside the figures where there is room.
    pub beside: bool,
    /// Whether they come before the figures: left of them, or above.
    pub figures_last: bool,
    /// Whether the section is closed until the reader opens it.
    pub folded: bool,
    /// Name of the tab that shows the section; empty: always shown.
    pub tab: String,
}

/// A self-contained HTML page.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Page {
    /// Title.
    pub title: String,
    /// Line below the title.
    pub subtitle: String,
    /// What the page says.
    pub answer: Answer,
    /// What a reader must know before the numbers, a paragraph each.
    pub banner: Vec<String>,
    /// The main results.
    pub headline: Vec<Fact>,
    /// Sections in order.
    pub sections: Vec<Section>,
    /// Last line: sources and method.
    pub footer: String,
    /// Where the numbers come from: date, host, version, command.
    pub provenance: Vec<Fact>,
}

/// A page that cannot be written; a defect of the template.
#[derive(Debug, thiserror::Error)]
#[error("the page cannot be rendered: {0}")]
pub struct PageError(#[from] minijinja::Error);

impl Page {
    /// The whole document.
    ///
    /// # Errors
    /// [`PageError`] if the template is wrong.
    pub fn render(&self) -> Result<String, PageError> {
        let mut env = Environment::new();
        env.add_filter("prose", prose);
        env.add_template("page.html", include_str!("../templates/page.html"))?;
        let mut tabs: Vec<String> = Vec::new();
        for tab in self.sections.iter().map(|s| &s.tab) {
            if !tab.is_empty() && !tabs.contains(tab) {
                tabs.push(tab.clone());
            }
        }
        let html = env.get_template("page.html")?.render(context! {
            tabs => tabs,
            page => minijinja::value::Serde(self),
            light => variables(Style::Light),
            dark => variables(Style::Dark),
            print => variables(Style::Print),
            css => include_str!("../templates/page.css"),
            js => include_str!("../templates/page.js"),
        })?;
        Ok(tips::share(&html))
    }
}

/// A flag of so many characters is not broken at its hyphens.
const SHORT: usize = 20;

/// Text as markup: what stands between backticks is code.
fn prose(text: &str) -> minijinja::Value {
    let mut parts: Vec<String> = text.split('`').map(escape).collect();
    // An odd number of backticks: the last one is none of a pair.
    if parts.len().is_multiple_of(2) {
        let last = parts.pop().unwrap_or_default();
        if let Some(before) = parts.last_mut() {
            before.push('`');
            before.push_str(&last);
        }
    }
    for code in parts.iter_mut().skip(1).step_by(2) {
        let flag = code.starts_with("--") && code.len() <= SHORT;
        let class = if flag { " class=\"s\"" } else { "" };
        *code = format!("<code{class}>{code}</code>");
    }
    minijinja::Value::from_safe_string(parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Cell, Columns};

    fn one(cell: Cell) -> Table {
        let columns = Columns::<Cell>::new().cell("n", "number", Cell::clone);
        columns.table("", [cell])
    }

    #[test]
    fn text_is_escaped_and_figures_are_not() {
        let page = Page {
            title: "A <b> machine".into(),
            subtitle: String::new(),
            banner: vec!["a <i> banner".into()],
            headline: vec![Fact::new("peak", "1 & 2")],
            sections: vec![Section {
                id: "x".into(),
                title: "X".into(),
                figures: vec![Figure {
                    html: "<svg></svg>".into(),
                    ..Figure::default()
                }],
                tables: vec![one(Cell::number(2.0, "2").marked("good"))],
                ..Section::default()
            }],
            ..Page::default()
        };
        let html = page.render().unwrap();
        assert!(html.contains("A &lt;b&gt; machine") && html.contains("1 &amp; 2"));
        assert!(html.contains("<p class=\"banner\" role=\"note\">a &lt;i&gt; banner</p>"));
        assert!(html.contains("<svg></svg>"));
        assert!(!html.contains("http://") && !html.contains("https://"));
    }

    #[test]
    fn code_between_backticks_is_marked_and_stays_escaped() {
        let shown = |t: &str| prose(t).to_string();
        assert_eq!(shown("a `b<c` d"), "a <code>b&lt;c</code> d");
        assert_eq!(shown("`a` and `b`"), "<code>a</code> and <code>b</code>");
        assert_eq!(shown("`--check N`"), "<code class=\"s\">--check N</code>");
        assert_eq!(shown("a ` b & c"), "a ` b &amp; c");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn links_at_the_top_are_short_and_cells_lead_to_sections() {
        let section = |short: &str| Section {
            id: "fig-1".into(),
            title: "Figure 1: a long title".into(),
            short: short.into(),
            tables: vec![one(Cell::text("Figure 1").leads_to("fig-1"))],
            ..Section::default()
        };
        let page = Page {
            sections: vec![section("Figure 1"), section("")],
            ..Page::default()
        };
        let html = page.render().unwrap();
        assert!(html.contains(
            "<a href=\"#fig-1\">Figure 1</a><a href=\"#fig-1\">Figure 1: a long title</a>"
        ));
        assert!(html.contains("><a href=\"#fig-1\">Figure 1</a></td>"));
    }
}
