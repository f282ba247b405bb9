//! The HTML page: one file with its style, script and figures inside; no network.

use minijinja::{Environment, context};
use serde::Serialize;

/// A named value.
#[derive(Clone, Debug, Serialize)]
pub struct Fact {
    pub name: String,
    pub value: String,
}

impl Fact {
    pub fn new(name: &str, value: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
        }
    }
}

/// A cell of a table: what is shown, and what it is sorted by.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    pub text: String,
    pub sort: String,
    /// `good`, `bad` or nothing.
    pub mark: Option<&'static str>,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            sort: text.clone(),
            text,
            mark: None,
        }
    }

    pub fn number(value: f64, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            sort: format!("{value:e}"),
            mark: None,
        }
    }

    pub fn marked(self, mark: &'static str) -> Self {
        Self {
            mark: Some(mark),
            ..self
        }
    }
}

/// A column title with an explanation.
#[derive(Clone, Debug, Serialize)]
pub struct Header {
    pub name: String,
    pub about: String,
}

impl Header {
    pub fn new(name: &str, about: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: about.to_owned(),
        }
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    pub caption: String,
    pub header: Vec<Header>,
    pub rows: Vec<Vec<Cell>>,
}

/// A figure as SVG.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub svg: String,
    pub caption: String,
}

/// A switch of the legend: shows or hides the elements of class `series`.
#[derive(Clone, Debug, Serialize)]
pub struct LegendItem {
    pub name: String,
    pub series: String,
    pub colour: &'static str,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    pub id: String,
    pub title: String,
    /// Provenance: `measured`, `published`, `derived` or `estimated`.
    pub label: Option<&'static str>,
    pub paragraphs: Vec<String>,
    pub items: Vec<Fact>,
    pub legend: Vec<LegendItem>,
    pub figures: Vec<Figure>,
    pub tables: Vec<Table>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Page {
    pub title: String,
    pub subtitle: String,
    pub headline: Vec<Fact>,
    pub sections: Vec<Section>,
    pub footer: String,
}

/// A page that cannot be written; a defect of the template.
#[derive(Debug, thiserror::Error)]
#[error("the page cannot be rendered: {0}")]
pub struct PageError(#[from] minijinja::Error);

impl Page {
    /// The whole document.
    pub fn render(&self) -> Result<String, PageError> {
        let mut env = Environment::new();
        env.add_template("page.html", include_str!("../templates/page.html"))?;
        Ok(env.get_template("page.html")?.render(context! {
            page => minijinja::value::Serde(self),
            css => include_str!("../templates/page.css"),
            js => include_str!("../templates/page.js"),
        })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_figures_are_not() {
        let page = Page {
            title: "A <b> machine".into(),
            subtitle: String::new(),
            headline: vec![Fact::new("peak", "1 & 2")],
            sections: vec![Section {
                id: "x".into(),
                title: "X".into(),
                figures: vec![Figure {
                    svg: "<svg></svg>".into(),
                    caption: String::new(),
                }],
                tables: vec![Table {
                    caption: String::new(),
                    header: vec![Header::new("n", "number")],
                    rows: vec![vec![Cell::number(2.0, "2").marked("good")]],
                }],
                ..Section::default()
            }],
            footer: String::new(),
        };
        let html = page.render().unwrap();
        assert!(html.contains("A &lt;b&gt; machine") && html.contains("1 &amp; 2"));
        assert!(html.contains("<svg></svg>"));
        assert!(!html.contains("http://") && !html.contains("https://"));
    }
}
