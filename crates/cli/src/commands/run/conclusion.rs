//! What a comparison says in one sentence: which command is the fastest, by how much, and whether that is decided; likewise for
//! energy where all have one.

use super::columns::label;
use greenup_meter::Summary;
use greenup_meter::comparison::{CommandResult, InterleavedResult, LEAST_TO_TELL, differ};
use greenup_meter::stats::ratio_of_medians;

/// A quantity by which commands are compared.
struct By {
    /// Of the best command.
    best: &'static str,
    bests: &'static str,
    /// What another one does.
    takes: &'static str,
    /// What is ordered.
    what: &'static str,
    summary: fn(&CommandResult) -> Option<&Summary>,
    values: fn(&CommandResult) -> &[f64],
}

const TIME: By = By {
    best: "is the fastest",
    bests: "are the fastest",
    takes: "takes {} times as long",
    what: "times",
    summary: |r| Some(&r.time_s),
    values: |r| &r.times_s,
};
const ENERGY: By = By {
    best: "takes the least energy",
    bests: "take the least energy",
    takes: "takes {} times as much",
    what: "energies",
    summary: |r| r.energy_j.as_ref(),
    values: |r| &r.energies_j,
};

/// A sentence on times, and one on energies if all commands have one; none where fewer than two commands are ranked.
pub fn sentences(all: &InterleavedResult) -> Vec<String> {
    [TIME, ENERGY]
        .iter()
        .filter_map(|by| sentence(all, by))
        .collect()
}

fn sentence(all: &InterleavedResult, by: &By) -> Option<String> {
    let of = |i: usize| (by.summary)(&all.results[i]);
    let mut order: Vec<(usize, &Summary)> = Vec::new();
    for &i in &all.ranking {
        order.push((i, of(i)?));
    }
    order.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    let (&(_, best), others) = order.split_first()?;
    if others.is_empty() {
        return None;
    }
    if order.iter().any(|(_, s)| s.n < LEAST_TO_TELL) {
        return Some(format!(
            "too few runs to order the {}: three of each are needed",
            by.what
        ));
    }
    let name = |i: usize| format!("`{}`", label(all, i));
    let (apart, tied): (Vec<_>, Vec<_>) = order.iter().partition(|(_, s)| differ(best, s));
    let Some(&&(next, _)) = apart.first() else {
        return Some(format!(
            "no difference found: the intervals of the {} overlap",
            by.what
        ));
    };
    let ratio = ratio_of_medians(
        (by.values)(&all.results[next]),
        (by.values)(&all.results[tied[0].0]),
    )?;
    let ratio = format!("{:.3} [{:.3} … {:.3}]", ratio.median, ratio.lo, ratio.hi);
    let names: Vec<String> = tied.iter().map(|(i, _)| name(*i)).collect();
    let (lead, than) = match &names[..] {
        [one] => (format!("{one} {}", by.best), String::new()),
        [first, ..] => {
            let lead = format!(
                "{} {}, no difference found between them",
                names.join(" and "),
                by.bests
            );
            (lead, format!(" as {first}"))
        }
        [] => return None,
    };
    let which = if apart.len() > 1 { ", the next," } else { "" };
    Some(format!(
        "{lead}: {}{which} {}{than}",
        name(next),
        by.takes.replace("{}", &ratio)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::columns::tests::result;
    use super::*;

    fn all(medians: &[f64], energies: bool) -> InterleavedResult {
        let results = medians.iter().enumerate().map(|(i, m)| {
            let mut r = result(i, *m);
            r.name = None;
            if !energies {
                r.energy_j = None;
            }
            r
        });
        InterleavedResult::new(None, results.collect(), false)
    }

    #[test]
    fn the_fastest_is_named_with_its_lead() {
        let text = sentences(&all(&[2.0, 1.0], false));
        assert_eq!(
            text,
            ["`app 1` is the fastest: `app 0` takes 2.000 [1.538 … 2.600] times as long"]
        );
        let text = sentences(&all(&[4.0, 1.0, 2.0], true));
        assert!(
            text[0].starts_with("`app 1` is the fastest: `app 2`, the next, takes 2.000"),
            "{text:?}"
        );
        assert!(
            text[1].starts_with("`app 1` takes the least energy: `app 2`, the next, takes 2.000"),
            "{text:?}"
        );
        assert!(text[1].ends_with("times as much"), "{text:?}");
    }

    #[test]
    fn overlapping_intervals_decide_nothing() {
        let text = sentences(&all(&[1.1, 1.0], true));
        assert_eq!(
            text,
            [
                "no difference found: the intervals of the times overlap",
                "no difference found: the intervals of the energies overlap"
            ]
        );
        let text = sentences(&all(&[1.1, 1.0, 3.0], false));
        let want = "`app 1` and `app 0` are the fastest, no difference found between them: `app 2` takes 3.000";
        assert!(
            text[0].starts_with(want) && text[0].ends_with("times as long as `app 1`"),
            "{text:?}"
        );
        assert!(sentences(&all(&[1.0], true)).is_empty());
        let mut few = all(&[1.0, 3.0], false);
        few.results[0].time_s.n = 2;
        assert_eq!(
            sentences(&few),
            ["too few runs to order the times: three of each are needed"]
        );
    }
}
