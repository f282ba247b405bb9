//! The page of a paper: each item with its state, our figures, and the paper's numbers beside ours.

use crate::data::{Answer, Conclusion, Item, Paper, Quoted, State};
use crate::{Measured, PaperError, Records, points};
use greenup_report::chart::Chart;
use greenup_report::page::{Answer as PageAnswer, Fact, Figure, Page, Section};
use greenup_report::si::{si, three};
use greenup_report::table::{Cell, Columns, Table};
use serde_json::{Value, json};

/// A paper as drawn from the records.
pub struct Drawn {
    /// The page.
    pub page: Page,
    /// Names of files, without endings, and their charts.
    pub figures: Vec<(String, Chart)>,
    /// All numbers, the paper's and ours.
    pub numbers: Value,
}

/// A number of the paper with ours.
struct Pair {
    theirs: f64,
    ours: Option<f64>,
}

impl Pair {
    fn ratio(&self) -> Option<f64> {
        self.ours
            .map(|o| o / self.theirs)
            .filter(|r| r.is_finite() && self.theirs != 0.0)
    }
}

/// Builds page, figures and numbers of the selected items; the conclusions are shown with all items.
///
/// # Errors
/// A record is missing or lacks what an item needs.
pub fn made(paper: &Paper, items: &[&Item], records: &Records) -> Result<Drawn, PaperError> {
    let mut sections = Vec::new();
    let mut figures = Vec::new();
    let mut numbers = Vec::new();
    let whole = items.len() == paper.items.len();
    if whole {
        sections.push(conclusions(paper));
        sections.push(states(items));
    }
    for item in items {
        let mut section = Section {
            id: item.id.clone(),
            title: format!("{}: {}", item.label(), item.title),
            short: item.label(),
            label: Some(item.state.name()),
            paragraphs: vec![item.why.clone()],
            items: facts(item, records),
            ..Section::default()
        };
        for (k, draw) in item.draw.iter().enumerate() {
            let mut chart = draw.chart(records)?;
            points::add(&mut chart, item, k)?;
            let wide = chart.panels.len() > 1 || item.draw.len() == 1;
            section.figures.push(Figure {
                html: chart.light_html(wide),
                caption: draw.caption(records)?,
                wide,
                ..Figure::default()
            });
            figures.push((points::name(item, k), chart));
        }
        let pairs = (item.quoted.iter())
            .map(|q| {
                let ours = q.ours.as_ref().map(|o| o.value(records)).transpose()?;
                Ok(Pair {
                    theirs: q.value,
                    ours,
                })
            })
            .collect::<Result<Vec<Pair>, PaperError>>()?;
        for list in &item.lists {
            section.tables.push(list.table(records)?);
        }
        if !pairs.is_empty() {
            section.tables.push(beside(item, &pairs));
        }
        sections.push(section);
        numbers.push(as_json(item, &pairs, records));
    }
    let conclusions: Vec<Value> = (paper.conclusions.iter())
        .map(|c| {
            json!({ "claim": c.claim, "at": c.at, "today": c.today.name(), "item": c.item,
                    "why": c.why })
        })
        .collect();
    Ok(Drawn {
        page: Page {
            title: paper.title.clone(),
            subtitle: paper.source.clone(),
            answer: answer(paper, items, whole),
            sections,
            footer: "Numbers of the paper are quoted with their place; ours are computed from the records named with each item. A ratio is ours over the paper's.".into(),
            provenance: Vec::new(),
            ..Page::default()
        },
        figures,
        numbers: json!({ "paper": paper.name, "title": paper.title, "source": paper.source,
                         "items": numbers, "conclusions": conclusions }),
    })
}

/// What of the paper holds, and how many items have which state; `whole`: these are all items.
fn answer(paper: &Paper, items: &[&Item], whole: bool) -> PageAnswer {
    let of = |s: State| items.iter().filter(|i| i.state == s).count();
    let in_words = |s: State| match s {
        State::Reproduced => "with the paper's numbers",
        State::OtherHardware => "on other hardware",
        State::Part => "in part",
        State::NotPossible => "in no way",
    };
    let all: Vec<String> = (State::ALL.into_iter())
        .filter(|s| of(*s) > 0)
        .map(|s| match s {
            State::NotPossible => format!("{} cannot be repeated", of(s)),
            s => format!("{} repeated {}", of(s), in_words(s)),
        })
        .collect();
    let today = |a: Answer| paper.conclusions.iter().filter(|c| c.today == a).count();
    let [holds, not, open] = [Answer::True, Answer::False, Answer::Open].map(today);
    let tested = whole && !paper.conclusions.is_empty();
    let mut says = Vec::new();
    if tested {
        says.push(format!(
            "The paper's {} conclusions, tested today: {holds} true, {not} false, {open} open.",
            paper.conclusions.len()
        ));
    }
    says.push(match items {
        [item] if item.state == State::NotPossible => {
            format!("{} cannot be repeated.", item.label())
        }
        [item] => format!("{} is repeated {}.", item.label(), in_words(item.state)),
        _ => format!(
            "Its {} figures, tables and statements: {}.",
            items.len(),
            all.join(", ")
        ),
    });
    let exact = of(State::Reproduced);
    let mut sure = vec![match (exact, items.len()) {
        (n, all) if n == all => {
            "The same inputs give the paper's numbers, which stand next to ours."
        }
        (0, _) => "The devices are others than the paper's: what holds is a trend or a ratio, not a time.",
        _ => {
            "Only what has the paper's numbers has its inputs too; the rest ran on other devices, where a trend or a ratio is tested, not a time."
        }
    }
    .to_owned()];
    if tested && open > 0 {
        sure.push("What is open lacks a measurement, which the table names.".into());
    }
    let figure = match items {
        [item] if !whole => format!(" --figure {}", item.id),
        _ => String::new(),
    };
    let next = format!(
        "To test it on your machine, `greenup paper {}{figure} --measure --out DIR` measures what it can; each item has its own command too.",
        paper.name
    );
    PageAnswer {
        says,
        sure,
        next: vec![next],
    }
}

fn facts(item: &Item, records: &Records) -> Vec<Fact> {
    let mut all = vec![
        Fact::new("in the paper", item.at.clone()),
        Fact::new("command", format!("`{}`", item.command)),
    ];
    if !item.records.is_empty() {
        all.push(Fact::new("records", item.records.join(", ")));
    }
    for m in measured(item, records) {
        let text = format!(
            "{} by `{}` on {}, {}",
            m.record,
            m.commands.join("; "),
            m.host,
            m.date
        );
        all.push(Fact::new("measured now", text));
    }
    all
}

fn mark(state: State) -> Option<&'static str> {
    match state {
        State::Reproduced | State::OtherHardware => Some("good"),
        State::Part => None,
        State::NotPossible => Some("bad"),
    }
}

fn states(items: &[&Item]) -> Section {
    Section {
        id: "items".into(),
        title: "Figures, tables and claims".into(),
        short: "All items".into(),
        paragraphs: vec![
            "reproduced: the same inputs give the paper's numbers. other hardware: the same experiment on today's devices. part: something is missing, which the item names. not possible: the hardware is gone, or a shared GPU forbids the settings."
                .into(),
        ],
        tables: vec![
            Columns::<Item>::new()
                .cell("item", "", |i| Cell::text(i.label()).leads_to(&i.id))
                .wrapped("what it shows", "", |i| i.title.clone())
                .cell("state", "", |i| {
                    Cell::text(i.state.name()).marked(mark(i.state))
                })
                .wrapped("command", "", |i| i.command.clone())
                .table("", items.iter().copied()),
        ],
        ..Section::default()
    }
}

fn conclusions(paper: &Paper) -> Section {
    let label = |id: &str| {
        let item = paper.items.iter().find(|i| i.id == id);
        item.map_or_else(|| id.to_owned(), Item::label)
    };
    Section {
        id: "conclusions".into(),
        title: "What the paper concludes, tested today".into(),
        short: "Conclusions".into(),
        tables: vec![
            Columns::<Conclusion>::new()
                .wrapped("conclusion", "", |c| c.claim.clone())
                .wrapped("where", "", |c| c.at.clone())
                .cell("today", "", |c| {
                    Cell::text(c.today.name()).marked(match c.today {
                        Answer::True => Some("good"),
                        Answer::False => Some("bad"),
                        Answer::Open => None,
                    })
                })
                .wrapped("what was found", "", |c| c.why.clone())
                .cell("shown by", "", |c| {
                    Cell::text(label(&c.item)).leads_to(&c.item)
                })
                .table("", &paper.conclusions),
        ],
        ..Section::default()
    }
}

/// A value with its unit; prefixes only where the paper has none.
fn shown(v: f64, unit: &str) -> String {
    match unit {
        "" => three(v),
        "s" | "J" | "W" | "B/s" | "flop/s" | "flop/J" | "B/J" => si(v, unit),
        _ => format!("{} {unit}", three(v)),
    }
}

fn beside(item: &Item, pairs: &[Pair]) -> Table {
    Columns::<(&Quoted, &Pair)>::new()
        .wrapped("", "", |(q, _)| q.name.clone())
        .cell("paper", "", |(q, p)| {
            Cell::shown(p.theirs, |v| shown(v, &q.unit))
        })
        .cell("ours", "", |(q, p)| {
            Cell::shown(p.ours, |v| shown(v, &q.unit))
        })
        .shown(
            "ratio",
            "Ours over the paper's.",
            |r| format!("×{}", three(r)),
            |(_, p)| p.ratio(),
        )
        .wrapped("where", "In the paper.", |(q, _)| q.at.clone())
        .wrapped("what differs", "", |(q, _)| q.note.clone())
        .table(
            "The paper's numbers next to ours",
            item.quoted.iter().zip(pairs),
        )
}

/// What was measured anew for an item.
fn measured<'a>(item: &Item, records: &'a Records) -> Vec<&'a Measured> {
    let mut all: Vec<&Measured> = (item.records.iter())
        .filter_map(|r| records.measured(r))
        .collect();
    all.dedup();
    all
}

fn as_json(item: &Item, pairs: &[Pair], records: &Records) -> Value {
    let quoted: Vec<Value> = (item.quoted.iter().zip(pairs))
        .map(|(q, p)| {
            json!({ "name": q.name, "unit": q.unit, "at": q.at, "paper": p.theirs,
                    "ours": p.ours, "ratio": p.ratio() })
        })
        .collect();
    json!({ "item": item.id, "title": item.title, "at": item.at, "state": item.state.name(),
            "why": item.why, "command": item.command, "records": item.records,
            "measured": measured(item, records), "numbers": quoted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_report::chart::FileStyle;

    /// Every number in a document, with where it is.
    fn finite(v: &Value, at: &str) {
        match v {
            Value::Number(n) => assert!(n.as_f64().is_some_and(f64::is_finite), "{at}"),
            Value::Array(a) => a
                .iter()
                .enumerate()
                .for_each(|(i, v)| finite(v, &format!("{at}/{i}"))),
            Value::Object(o) => o.iter().for_each(|(k, v)| finite(v, &format!("{at}/{k}"))),
            _ => {}
        }
    }

    #[test]
    fn every_page_is_made_from_the_records() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for paper in crate::list().unwrap() {
            let records = Records::new(&root);
            let items = paper.select(None).unwrap();
            let made =
                made(&paper, &items, &records).unwrap_or_else(|e| panic!("{}: {e}", paper.name));
            let html = made.page.render().unwrap();
            assert!(html.contains("<svg"));
            // Pictures may hold any letters.
            let page = serde_json::to_string(&made.page).unwrap();
            let mut texts = page
                .split(";base64,")
                .map(|t| t.split_once('"').map_or(t, |t| t.1));
            assert!(texts.all(|t| !t.contains("NaN")), "{}", paper.name);
            assert_eq!(
                made.numbers["items"].as_array().unwrap().len(),
                paper.items.len()
            );
            finite(&made.numbers, &paper.name);
            let text = made.numbers.to_string();
            // An unknown ratio is null; a number that is not finite would be too.
            for i in made.numbers["items"].as_array().unwrap() {
                for n in i["numbers"].as_array().unwrap() {
                    assert!(n["paper"].is_number(), "{n}");
                    assert_eq!(
                        n["ours"].is_null() || n["paper"] == 0.0,
                        n["ratio"].is_null(),
                        "{n}"
                    );
                }
            }
            assert!(text.len() > 1000);
            for (name, chart) in &made.figures {
                let faults = chart.faults(FileStyle::default().width);
                assert!(faults.is_empty(), "{} {name}: {faults:#?}", paper.name);
            }
        }
    }
}
