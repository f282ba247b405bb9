//! What `greenup space` prints as text.

use greenup_app::print;
use greenup_report::si::si;
use greenup_report::table::Columns;
use greenup_space::{Estimate, Funnel, FunnelRow, Space, Value};
use greenup_study::pages::pruning::size;

pub fn summary(space: &Space, funnel: &Funnel, valid: Option<u128>, seconds: f64) {
    print::line(format!(
        "{}: {} parameters, {} filters",
        print::bold(&space.name),
        space.names().len(),
        space.filters().len()
    ));
    if !space.about.is_empty() {
        print::line(&space.about);
    }
    let points = size(funnel.cartesian, funnel.estimate);
    print::line(format!(
        "{} valid points of {} [{} to read, compile and {}]\n",
        print::bold(&size(valid, estimate(funnel))),
        points,
        si(seconds, "s"),
        if valid.is_some() {
            "index"
        } else {
            "begin to count"
        }
    ));
    let share = |r: &FunnelRow| match (r.before, r.after) {
        (Some(b), Some(a)) if b > 0 && a == b => "rejects none".into(),
        (Some(b), Some(0)) if b > 0 => "rejects all".into(),
        (Some(b), Some(a)) if b > 0 => keeps(a as f64 / b as f64),
        _ => String::new(),
    };
    let after = |r: &FunnelRow| size(r.after, r.estimate);
    // Before a filter is what the one before it leaves.
    let before = std::iter::once(points).chain(funnel.rows.iter().map(after));
    let columns = Columns::<(&FunnelRow, String)>::new()
        .text("filter", "", |r| space.filters()[r.0.filter].name.clone())
        .text("kind", "", |r| {
            space.filters()[r.0.filter].strength.name().into()
        })
        .text("before", "", |r| r.1.clone())
        .detail()
        .text("after", "", |r| after(r.0))
        .text("keeps", "", |r| share(r.0));
    if !funnel.rows.is_empty() {
        print::table(&columns.table("", funnel.rows.iter().zip(before)));
    }
    let rows = funnel.rows.iter().map(|r| (r.after, r.estimate));
    let all = rows.chain([(funnel.cartesian, funnel.estimate)]);
    let unknown = all.filter(|(counted, _)| counted.is_none());
    let (estimated, open): (Vec<_>, Vec<_>) = unknown.partition(|(_, e)| e.is_some());
    if !estimated.is_empty() {
        print::note(
            "`≈`: estimated by random walks, with the standard error; raise --time to count",
        );
    }
    if !open.is_empty() {
        print::note(
            "`?`: above 3.4e38, or neither counted nor estimated within --time and --memory",
        );
    }
    let order: Vec<&str> = space.nest().collect();
    print::line(format!("\nnest: {}", order.join(" > ")));
}

/// Of the valid points, where they were not counted.
pub fn estimate(funnel: &Funnel) -> Option<Estimate> {
    funnel.rows.last().map_or(funnel.estimate, |r| r.estimate)
}

fn keeps(share: f64) -> String {
    if share >= 0.001 {
        format!("{:.3} %", share * 100.0)
    } else {
        format!("1 in {:.0}", 1.0 / share)
    }
}

pub fn sample(names: &[&str], points: &[(u64, Vec<Value>)]) {
    let columns = Columns::<(u64, Vec<Value>)>::new()
        .count("point", "", |p| p.0)
        .and_each(names.iter().enumerate(), |all, (i, name)| {
            all.text(*name, "", move |p| p.1[i].to_string()).of_config()
        });
    print::line("");
    print::table(&columns.table("", points));
}
