//! What a search found, for the terminal.

use greenup_app::print;
use greenup_report::si::{factor, si};
use greenup_report::table::Columns;
use greenup_report::text;
use greenup_setting::shell;
use greenup_study::pages::sweep::findings::{against_baseline, gain};
use greenup_tune::session::SessionResult;
use greenup_tune::sweep::metric::own_value;
use greenup_tune::{Finalist, Objective, SearchResult, Sweep};
use std::path::Path;

/// Warns of times that cannot be.
pub fn implausible(sweep: &Sweep) {
    if let Some((time, run)) = sweep.beyond_its_run() {
        print::warn(format!(
            "the reported time, {}, is longer than its whole run, {}: see `unit` of [run] time",
            si(time, "s"),
            si(run, "s")
        ));
    }
}

/// Prints the result.
pub fn print(searched: &SessionResult) {
    let SessionResult {
        found,
        sweep,
        objective,
        ..
    } = searched;
    let failures: Vec<String> = found
        .failures
        .iter()
        .map(|(k, n)| format!("{n} {k}"))
        .collect();
    print::line(format!(
        "{} trials, {}",
        found.trials,
        if failures.is_empty() {
            "none failed".to_owned()
        } else {
            format!("failed: {}", failures.join(", "))
        }
    ));
    for e in &found.failure_examples {
        let names = sweep.facts.parameters.iter().map(String::as_str);
        let config = text::named(names.zip(&e.config));
        let message: String = e.message.lines().collect::<Vec<_>>().join(" | ");
        print::warn(format!(
            "{} of the trials failed ({}), the first with {config}: {}",
            found.failures.get(e.failure).copied().unwrap_or(1),
            e.failure,
            message.chars().take(300).collect::<String>()
        ));
    }
    if let Some((lo, hi)) = found.drift
        && (lo < 0.95 || hi > 1.05)
    {
        print::warn(format!(
            "the machine drifted: the time of the baseline went from {:.0} % to {:.0} % of its first one; trust the finalists, which are interleaved",
            100.0 * lo,
            100.0 * hi
        ));
    }
    if let Some(d) = found.disturbance.as_ref().filter(|d| d.matters()) {
        print::warn(format!(
            "the workers disturb each other, or their devices differ, by more than the noise: {}; trust the finalists, which one worker measured",
            d.sentences()
        ));
    }
    if !found.workers.is_empty() {
        let each: Vec<String> = (found.workers.iter())
            .map(|w| format!("{} {}", w.name, w.trials))
            .collect();
        let all: usize = found.workers.iter().map(|w| w.trials).sum();
        print::line(format!(
            "trials by worker: {}; {:.1} a minute",
            each.join(", "),
            60.0 * all as f64 / found.search_s.max(1e-9)
        ));
    }
    if let Some(stopped) = sweep.stopped_in_words() {
        print::line(format!("{stopped}; --energy all measures each in full"));
    }
    if found.finalists.is_empty() {
        return;
    }
    let metric = match objective {
        Objective::Metric(name) => Some(*name),
        _ => None,
    };
    let ratio = match metric {
        None => "T / T_best",
        Some(_) => "ratio to best",
    };
    let rank = |i: usize, f: &Finalist| match i {
        0 => "best",
        _ if f.tie => "tie",
        _ => "",
    };
    let parameters = sweep.facts.parameters.iter().enumerate();
    let columns = Columns::<(usize, &Finalist)>::new()
        .text("", "", |(i, f)| rank(*i, f).to_owned())
        .si("time", "", "s", |(_, f)| f.time_s.median)
        .range("[95 %]", "", "s", |(_, f)| (f.time_s.lo, f.time_s.hi))
        .si("energy", "", "J", |(_, f)| f.energy_j.map(|e| e.median))
        .where_known()
        .and_each(sweep.facts.flops, |all, work| {
            all.text("Gflop/s", "", move |(_, f)| {
                format!("{:.2}", work / f.time_s.median * 1e-9)
            })
        })
        .and_each(metric, |all, name| {
            all.text(name, "", |(_, f)| {
                format!("{:.4}", own_value(f.value, sweep.facts.goal))
            })
        })
        .text(ratio, "", |(_, f)| {
            f.ratio.as_ref().map_or_else(String::new, |r| {
                let [median, lo, hi] = [r.median, r.lo, r.hi].map(factor);
                format!("{median} [{lo} … {hi}]")
            })
        })
        .and_each(parameters, |all, (p, name)| {
            all.text(name, "", move |(_, f)| f.config[p].to_string())
                .of_config()
        });
    print::line(format!(
        "\nfinalists by {objective}, measured again, interleaved:"
    ));
    print::table(&columns.table("", found.finalists.iter().enumerate()));
    print::line("");
    let rates = rates(searched);
    if !rates.is_empty() {
        print::line(format!("rates of the best: {}", rates.join(", ")));
    }
    if let Some(r) = &found.baseline {
        let compared = against_baseline(sweep, r);
        print::line(format!("baseline, in the same rounds: {compared}"));
    }
    match &found.gain {
        Some(g) => print::line(format!("gain {}", gain(sweep, g))),
        None => print::warn(
            "what was gained is not known: the default config failed, is beyond the objective's bound, or was not measured with the finalists",
        ),
    }
}

/// Rates of the best config in each class of its work.
fn rates(searched: &SessionResult) -> Vec<String> {
    let Some(best) = searched.found.finalists.first() else {
        return Vec::new();
    };
    let work = match searched.problem.work(&best.config) {
        Ok(work) => work,
        Err(e) => {
            print::warn(format!("the rates of the best config are not known: {e}"));
            return Vec::new();
        }
    };
    (work.iter().filter(|(_, n)| *n > 0.0))
        .map(|(op, n)| {
            let rate = si(n / best.time_s.median, &format!("{}/s", op.unit_name()));
            format!("{rate} {op}")
        })
        .collect()
}

/// What may come next, on the sweep of a folder.
pub fn next(dir: &Path) {
    let words = |command: &[&str]| {
        let dir = dir.display().to_string();
        let all = command.iter().copied().chain([dir.as_str()]);
        format!("`{}`", shell::joined(all))
    };
    print::note(format!(
        "next: {} draws what matters, {} prints the best config for a build",
        words(&["greenup", "analyze", "--out", "analysis"]),
        words(&["greenup", "best"])
    ));
}

/// Prints a note if the user stopped it.
pub fn interrupted(found: &SearchResult) {
    if found.interrupted {
        print::note(format!(
            "stopped; {} trials are kept, continue with --resume",
            found.trials
        ));
    }
}
