//! What a paper shows, as data (`papers/*.toml`): items in the order of the paper, and its conclusions.

use crate::PaperError;
use crate::draw::Draw;
use crate::lists::List;
use crate::position::Position;
use crate::values::Ours;
use serde::{Deserialize, Serialize};

/// Name and TOML text of every paper.
const FILES: [(&str, &str); 5] = [
    ("beast", include_str!("../../../papers/beast.toml")),
    ("thesis", include_str!("../../../papers/thesis.toml")),
    ("slides", include_str!("../../../papers/slides.toml")),
    ("blast", include_str!("../../../papers/blast.toml")),
    ("hipgisaxs", include_str!("../../../papers/hipgisaxs.toml")),
];

/// How far an item of a paper is reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// The same inputs give the paper's numbers.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// The same experiment on today's devices; its numbers differ as the devices do.
    #[serde(rename = "other hardware")]
    OtherHardware,
    /// Something of the item is missing.
    #[serde(rename = "part")]
    Part,
    /// It cannot be measured here.
    #[serde(rename = "not possible")]
    NotPossible,
}

impl State {
    /// All states, the best first.
    pub const ALL: [Self; 4] = [
        Self::Reproduced,
        Self::OtherHardware,
        Self::Part,
        Self::NotPossible,
    ];

    /// The name in data and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::OtherHardware => "other hardware",
            Self::Part => "part",
            Self::NotPossible => "not possible",
        }
    }
}

/// A number that the paper prints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quoted {
    /// What it is.
    pub name: String,
    /// Its value in `unit`.
    pub value: f64,
    /// Unit; empty for a number.
    #[serde(default)]
    pub unit: String,
    /// Where the paper prints it.
    pub at: String,
    /// Our number.
    pub ours: Option<Ours>,
    /// What differs between the two.
    #[serde(default)]
    pub note: String,
    /// Where it stands in our figure, if it has a position there.
    pub shown: Option<Position>,
}

/// A figure, table or claim.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// Short name, unique in the paper: `fig-5`, `table-2`, `slide-36`.
    pub id: String,
    /// What it shows, in our words.
    pub title: String,
    /// Where it is in the paper.
    pub at: String,
    /// Its state today.
    pub state: State,
    /// What was done, what is missing, or why it is impossible.
    pub why: String,
    /// Our command.
    pub command: String,
    /// Records of the repository that the item is made from, relative to its root.
    #[serde(default)]
    pub records: Vec<String>,
    /// Our figures.
    #[serde(default)]
    pub draw: Vec<Draw>,
    /// Our tables.
    #[serde(default)]
    pub lists: Vec<List>,
    /// Numbers of the paper.
    #[serde(default)]
    pub quoted: Vec<Quoted>,
    /// How its records are measured anew.
    #[serde(default)]
    pub measure: Vec<Measure>,
}

impl Item {
    /// `Figure 5`, `Table 2`, `Slide 36`: the name for people.
    pub fn label(&self) -> String {
        let (kind, number) = self.id.split_once('-').unwrap_or((&self.id, ""));
        let kind = match kind {
            "fig" => "Figure",
            "table" => "Table",
            "slide" => "Slide",
            "eq" => "Equation",
            "section" => "Section",
            other => other,
        };
        format!("{kind} {}", number.replace("-to-", "–"))
    }
}

/// Whether a conclusion holds today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Not decided by what was measured.
    Open,
}

impl Answer {
    /// The name in data and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Open => "open",
        }
    }
}

/// A conclusion of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conclusion {
    /// One sentence.
    pub claim: String,
    /// Where the paper states it.
    pub at: String,
    /// Whether it holds today.
    pub today: Answer,
    /// The item that shows it.
    pub item: String,
    /// What was found.
    pub why: String,
}

/// A paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Short name.
    pub name: String,
    /// Title.
    pub title: String,
    /// Authors, year and place.
    pub source: String,
    /// Its items in order.
    #[serde(rename = "item")]
    pub items: Vec<Item>,
    /// Its conclusions in order.
    #[serde(rename = "conclusion", default)]
    pub conclusions: Vec<Conclusion>,
}

/// Names of the papers.
pub fn names() -> [&'static str; 5] {
    FILES.map(|f| f.0)
}

/// All papers.
///
/// # Errors
/// The shipped data is broken.
pub fn list() -> Result<Vec<Paper>, PaperError> {
    names().into_iter().map(find).collect()
}

/// The paper with this name.
///
/// # Errors
/// There is none, or the shipped data is broken.
pub fn find(name: &str) -> Result<Paper, PaperError> {
    let Some((_, text)) = FILES.iter().find(|f| f.0 == name) else {
        return Err(PaperError::Unknown {
            name: name.to_owned(),
            known: names().join(", "),
        });
    };
    toml::from_str(text).map_err(|e| PaperError::Data {
        paper: name.to_owned(),
        cause: e.to_string(),
    })
}

impl Paper {
    /// The items that a figure name selects: `5`, `fig-5`, `Figure 5`, `table-2`; all without a name.
    ///
    /// # Errors
    /// There is no such item.
    pub fn select(&self, name: Option<&str>) -> Result<Vec<&Item>, PaperError> {
        let Some(name) = name else {
            return Ok(self.items.iter().collect());
        };
        let wanted = name.trim().to_lowercase();
        let number: Option<usize> = wanted.parse().ok();
        // `slide-44-to-47` is also found by 45.
        let within = |item: &Item| {
            let (_, range) = item.id.split_once('-')?;
            let (from, to) = range.split_once("-to-")?;
            let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
            Some((from..=to).contains(&number?))
        };
        let is = |item: &&Item| {
            let label = item.label().to_lowercase();
            [format!("fig-{wanted}"), format!("slide-{wanted}")].contains(&item.id)
                || item.id.to_lowercase() == wanted
                || label == wanted
                || within(item) == Some(true)
        };
        match self.items.iter().find(is) {
            Some(item) => Ok(vec![item]),
            None => Err(PaperError::NoItem {
                paper: self.name.clone(),
                name: name.to_owned(),
                known: (self.items.iter().map(|i| i.id.as_str()))
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }
}

/// Commands that make a record anew.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The record, a file or a folder, relative to the root of a checkout.
    pub record: String,
    /// Other records that the same commands make.
    #[serde(default)]
    pub also: Vec<String>,
    /// Commands in order, programs of this workspace, without quotes; `{out}` stands for the new record, `{new}` for the
    /// folder below which all new records stand.
    pub run: Vec<String>,
    /// What it needs.
    pub needs: Needs,
    /// About how long it takes, s.
    pub about_s: f64,
    /// Whether the record is what the last command prints.
    #[serde(default)]
    pub printed: bool,
}

impl Measure {
    /// The records that the commands make.
    pub fn records(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.record).chain(&self.also)
    }

    /// The commands in words, with the folder of new records.
    pub fn commands(&self, folder: &str) -> Vec<Vec<String>> {
        let out = format!("{folder}/{}", self.record);
        let words = |line: &String| {
            line.split_whitespace()
                .map(|w| w.replace("{out}", &out).replace("{new}", folder))
                .collect()
        };
        self.run.iter().map(words).collect()
    }
}

/// The device that a measurement needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Needs {
    /// The cores of this host.
    Cpu,
    /// A GPU.
    Gpu,
}

impl Needs {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Records;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn every_paper_has_its_items_in_full() {
        let records = Records::new(root());
        for p in list().unwrap() {
            assert!(names().contains(&p.name.as_str()));
            assert!(p.items.len() >= 10, "{}", p.name);
            let ids: BTreeSet<&str> = p.items.iter().map(|i| i.id.as_str()).collect();
            assert_eq!(ids.len(), p.items.len(), "{}: two items of a name", p.name);
            for i in &p.items {
                let name = format!("{} {}", p.name, i.id);
                assert!(!i.title.is_empty() && !i.at.is_empty(), "{name}");
                assert!(!i.why.is_empty() && i.why.ends_with('.'), "{name}: why");
                assert!(!i.command.is_empty(), "{name}: command");
                for q in &i.quoted {
                    assert!(
                        !q.at.is_empty() && q.value.is_finite(),
                        "{name}: {}",
                        q.name
                    );
                }
                for r in &i.records {
                    assert!(records.path(r).is_ok(), "{name}: no record {r}");
                }
                // A state is never better than what the page shows.
                let shown = !i.draw.is_empty()
                    || !i.lists.is_empty()
                    || i.quoted.iter().any(|q| q.ours.is_some());
                let good = matches!(i.state, State::Reproduced | State::OtherHardware);
                assert!(!good || shown, "{name} shows nothing of ours");
            }
            for c in &p.conclusions {
                assert!(ids.contains(c.item.as_str()), "{}: {}", p.name, c.claim);
                assert!(!c.at.is_empty() && !c.why.is_empty(), "{}", c.claim);
            }
            assert!(!p.conclusions.is_empty(), "{}", p.name);
        }
    }

    #[test]
    fn at_most_ten_items_are_impossible() {
        let all = list().unwrap();
        let n = (all.iter().flat_map(|p| &p.items))
            .filter(|i| i.state == State::NotPossible)
            .count();
        assert!(n <= 10, "{n}");
    }

    #[test]
    fn items_are_found_by_number_and_name() {
        let slides = find("slides").unwrap();
        assert_eq!(slides.select(Some("45")).unwrap()[0].id, "slide-44-to-52");
        let p = find("beast").unwrap();
        for name in ["5", "fig-5", "Figure 5"] {
            assert_eq!(p.select(Some(name)).unwrap()[0].id, "fig-5");
        }
        let scattering = find("hipgisaxs").unwrap();
        for name in ["section-III-A", "Section III-A", "section-iii-a"] {
            assert_eq!(
                scattering.select(Some(name)).unwrap()[0].id,
                "section-III-A"
            );
        }
        let e = p.select(Some("99")).unwrap_err().to_string();
        assert!(
            e.contains("beast has no figure `99`") && e.contains("table-2"),
            "{e}"
        );
        assert!(find("beats").unwrap_err().to_string().contains("hipgisaxs"));
    }

    #[test]
    fn an_unknown_state_is_refused() {
        let text = FILES[0].1.replacen("state = \"", "state = \"almost ", 1);
        let e = toml::from_str::<Paper>(&text).unwrap_err().to_string();
        assert!(e.contains("almost"), "{e}");
    }
}
