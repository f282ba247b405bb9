//! `greenup wisdom list`.

use crate::args::{Selection, WisdomListArgs};
use greenup_app::error::Result;
use greenup_app::{print, wisdom};
use greenup_report::table::Columns;
use greenup_wisdom::{Entry, Origin};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ListedEntry<'a> {
    id: String,
    /// `own` or `shipped`.
    place: &'static str,
    origin: String,
    #[serde(flatten)]
    entry: &'a Entry,
}

impl<'a> ListedEntry<'a> {
    pub(super) fn of((entry, origin): &'a (Entry, Origin)) -> Self {
        Self {
            id: entry.id(),
            place: place(origin),
            origin: origin.to_string(),
            entry,
        }
    }
}

/// The entries of one problem.
pub fn list_problem(problem: &str, json: bool) -> Result {
    run(&WisdomListArgs {
        select: Selection {
            problem: vec![problem.to_owned()],
            device: Vec::new(),
            objective: Vec::new(),
        },
        own: false,
        json,
    })
}

pub fn run(args: &WisdomListArgs) -> Result {
    let known = wisdom::load()?.known;
    let rows: Vec<ListedEntry> = (known.iter())
        .filter(|(e, o)| args.select.takes(e) && (!args.own || *o != Origin::Shipped))
        .map(ListedEntry::of)
        .collect();
    if args.json {
        return print::json(&serde_json::json!({ "entries": rows }));
    }
    match wisdom::path()? {
        Some(path) => print::note(format!("your file: {}", path.display())),
        None => print::note("wisdom is not used (--no-wisdom, or GREENUP_WISDOM=none)"),
    }
    if rows.is_empty() {
        print::note("no entries; `greenup tune` and `greenup gemm --tune` add to it");
        return Ok(());
    }
    let columns = Columns::<ListedEntry>::new()
        .text("id", "", |r| r.id.clone())
        .text("from", "", |r| r.place.to_owned())
        .detail();
    let columns = of_entries(columns, |r| r.entry)
        .text("size", "", |r| size(r.entry))
        .text("config", "", |r| r.entry.config_text());
    print::table(&columns.table("", rows));
    print::note("`greenup wisdom show ID` prints an entry in full");
    Ok(())
}

/// What an entry is for and what it takes, as tables of entries show it.
pub(super) fn of_entries<'a, R: 'a>(all: Columns<'a, R>, of: fn(&R) -> &Entry) -> Columns<'a, R> {
    all.text("problem", "", move |r| of(r).problem.clone())
        .text("precision", "", move |r| of(r).precision.clone())
        .detail()
        .text("device", "", move |r| of(r).device.title())
        .text("objective", "", move |r| of(r).objective.clone())
        .kept()
        .si("time", "", "s", move |r| of(r).time_s)
        .kept()
        .si("energy", "", "J", move |r| of(r).energy_j)
        .kept()
}

/// The constants that set a size or choose a variant, as far as their names tell.
fn size(e: &Entry) -> String {
    const NAMES: [&str; 17] = [
        "n",
        "triangles",
        "ncrit",
        "most",
        "side",
        "degree",
        "point_count",
        "points",
        "zones",
        "kernel",
        "gradient",
        "accuracy",
        "distribution",
        "shape",
        "order",
        "energy_order",
        "assembly",
    ];
    let each: Vec<String> = (e.constants.iter())
        .filter(|(n, _)| n.starts_with("size_") || NAMES.contains(&n.as_str()))
        .map(|(n, v)| format!("{n}={v}"))
        .collect();
    each.join(" ")
}

/// Where an entry is, in a word.
pub(super) fn place(origin: &Origin) -> &'static str {
    match origin {
        Origin::User(_) => "own",
        Origin::Shipped => "shipped",
    }
}
