//! What a sweep found, in a few sentences.

use super::winners::{Reference, Winners};
use greenup_meter::Summary;
use greenup_meter::stats::median;
use greenup_report::page::{Answer, Fact};
use greenup_report::si::{factor, percent, si, three};
use greenup_tune::Objective;
use greenup_tune::analyze::MeasuredConfig;

/// What was gained, what the lowest energy costs, how sure that is, and what to do with it. `source` is the sweep as a command
/// line names it.
pub fn answer(w: &Winners, source: &str) -> Answer {
    let gained = w.best_before.map(|d| {
        let origin = &d.origin;
        format!("Tuning found nothing better than {origin}.")
    });
    let over = w.references.iter().map(|r| over(w, r));
    let mut says: Vec<String> = gained.into_iter().chain(over).collect();
    if says.is_empty() {
        says.push(alone(w));
    }
    says.extend(w.none_takes_less());
    if let Some((low, again)) = &w.low {
        let energy = |r: &MeasuredConfig| r.energy_j.map(|e| si(e, "J"));
        let e = energy(low).unwrap_or_default();
        let old = energy(&w.fast).map_or(String::new(), |old| format!(" instead of {old}"));
        let [t, before] = [low, &w.fast].map(|r| si(r.time_s, "s"));
        let one = match (again, w.sweep.finals.is_some()) {
            (false, true) => " (in one trial)",
            _ => "",
        };
        let time = match t == before {
            true => "in the same time".to_owned(),
            false => format!("in {t} instead of {before}"),
        };
        says.push(format!(
            "The lowest-energy config takes {e}{old}, {time}{one}."
        ));
    }
    let slower = |r: &Reference| r.compared.speedup.as_ref().is_some_and(|s| s.hi < 1.0);
    let time = matches!(w.objective, Objective::Time);
    let next = match w.best_before {
        Some(_) => "A longer search with `greenup tune`, or other parameters.".into(),
        None if time && w.references.iter().any(slower) => {
            "Keep the faster one, or search longer with `greenup tune`.".into()
        }
        None => format!(
            "Build with the best config, to copy below: `{}` prints it.",
            w.command(source)
        ),
    };
    let brackets = says.iter().any(|s| s.contains('['));
    Answer {
        says,
        sure: certainty(w, brackets),
        next: vec![next],
    }
}

fn interval(s: &Summary, show: fn(f64) -> String) -> String {
    format!("[{} … {}]", show(s.lo), show(s.hi))
}

/// What was gained over another kernel, by the objective.
fn over(w: &Winners, r: &Reference) -> String {
    let (c, whom) = (&r.compared, &r.whom);
    let energy = c.energy_ratio.as_ref();
    match (w.objective, &c.metric_ratio, &c.speedup) {
        (Objective::Metric(name), Some(s), _) => {
            let (m, i) = (factor(s.median), interval(s, factor));
            format!("The best config has {m} the `{name}` of {whom} {i}.")
        }
        (Objective::Energy | Objective::EnergyUnderTime(_), _, speed) => match energy {
            Some(e) => {
                let speed = speed.as_ref().map_or(String::new(), |s| {
                    format!(", at {} its speed", factor(s.median))
                });
                match saved(e) {
                    Some(saved) => format!("{saved} than {whom} {}{speed}.", saved_between(e)),
                    None => format!("No difference in energy to {whom}{speed}."),
                }
            }
            None => format!("The energy of {whom} was not measured."),
        },
        (objective, _, Some(s)) => {
            let energy = energy.map_or(String::new(), |e| {
                let saved = saved(e).map(|s| format!("{s} {}", saved_between(e)));
                format!(
                    ", {}",
                    saved.unwrap_or_else(|| "no difference in energy".into())
                )
            });
            match objective {
                Objective::Time => format!("{}{energy}.", speed(s, whom)),
                _ => format!(
                    "The best config by {objective} has {} the speed of {whom} {}{energy}.",
                    factor(s.median),
                    interval(s, factor)
                ),
            }
        }
        (_, _, None) => format!("The time of {whom} was not measured."),
    }
}

fn speed(s: &Summary, whom: &str) -> String {
    let (m, i) = (factor(s.median), interval(s, factor));
    match s {
        s if s.lo > 1.0 => format!("{m} the speed of {whom} {i}"),
        s if s.hi < 1.0 => format!("The best config is slower than {whom}: {m} its speed {i}"),
        _ => format!("No config was found to be faster than {whom}: {m} its speed {i}"),
    }
}

/// The best config's speed over another's, with its interval.
pub fn speed_over(r: &Reference) -> Option<Fact> {
    let s = r.compared.speedup.as_ref()?;
    let text = format!("{} {}", factor(s.median), interval(s, factor));
    Some(Fact::new(
        &format!("Speed of the best config over that of {}", r.whom),
        text,
    ))
}

/// The best config's energy over another's, with its interval.
pub fn energy_over(r: &Reference) -> Option<Fact> {
    let e = r.compared.energy_ratio.as_ref()?;
    let [median, lo, hi] = [e.median, e.lo, e.hi].map(three);
    let words = saved(e).map(|s| format!("{s} {}", saved_between(e)));
    let words = words.unwrap_or_else(|| "no difference".into());
    let text = format!("{median} [{lo} … {hi}]: {words}");
    Some(Fact::new(
        &format!("Energy of the best config over that of {}", r.whom),
        text,
    ))
}

/// The best config's energy over another's, in words; `None` where they do not differ.
fn saved(ratio: &Summary) -> Option<String> {
    match ratio {
        r if r.hi < 1.0 => Some(format!("{} less energy", percent(1.0 - r.median))),
        r if r.lo > 1.0 => Some(format!("{} more energy", percent(r.median - 1.0))),
        _ => None,
    }
}

/// The interval of [`saved`].
fn saved_between(ratio: &Summary) -> String {
    let ends = [(ratio.lo - 1.0).abs(), (ratio.hi - 1.0).abs()];
    let [lo, hi] = [ends[0].min(ends[1]), ends[0].max(ends[1])].map(percent);
    format!("[{lo} … {hi}]")
}

/// The fastest config, where nothing was compared with it.
fn alone(w: &Winners) -> String {
    let configs = w.analysis.rows.len();
    let energy = w.fast.energy_j;
    let energy = energy.map_or(String::new(), |e| format!(" and {}", si(e, "J")));
    if configs == 1 {
        return format!("The only config takes {}{energy}.", si(w.fast.time_s, "s"));
    }
    format!(
        "The fastest of {configs} configs takes {}{energy}; half of them take {} its time or longer.",
        si(w.fast.time_s, "s"),
        factor(median_over_fastest(w))
    )
}

fn median_over_fastest(w: &Winners) -> f64 {
    let times: Vec<f64> = w.analysis.rows.iter().map(|r| r.time_s).collect();
    median(&times) / w.fast.time_s
}

/// The median time of the configs over the fastest's; `None` of one config.
pub fn typical(w: &Winners) -> Option<Fact> {
    let name = "Median time of the configs over that of the fastest";
    (w.analysis.rows.len() > 1).then(|| Fact::new(name, factor(median_over_fastest(w))))
}

/// How far single trials can be trusted, and what the best is the best of; `brackets`: there are intervals.
fn certainty(w: &Winners, brackets: bool) -> Vec<String> {
    let rounds = w
        .sweep
        .finals
        .as_ref()
        .and_then(|f| f.times_s.iter().map(Vec::len).max());
    let measured = match rounds {
        Some(n) => {
            let times = match n {
                1 => "once".to_owned(),
                n => format!("{n} times"),
            };
            let again = format!("The finalists were measured again {times} each, interleaved");
            match brackets {
                true => format!("{again}; brackets hold 95 % intervals."),
                false => format!("{again}; single trials may differ from that."),
            }
        }
        None => "Each config was measured in one trial, so that a lucky one may lead.".into(),
    };
    let tried = match w.analysis.rows.len() {
        1 => "No other config ran.".to_owned(),
        n => format!("The best is that of the {n} configs that ran."),
    };
    vec![measured, tried]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::sweep::tests::sweep;
    use greenup_tune::Sweep;
    use greenup_tune::analyze::{Analysis, analyze};
    use greenup_tune::sweep::{DefaultConfig, DefaultOrigin, Rounds};

    /// With final rounds of the best, of a config before tuning and of a baseline.
    fn answers(objective: &str, times: [f64; 3], energies: [f64; 3]) -> Vec<String> {
        let mut sweep = sweep(true, true);
        let config = |i: usize| sweep.trials[i].config.clone();
        let finals = Rounds {
            configs: vec![config(0), config(3)],
            times_s: times.map(|t| vec![t; 5]).to_vec(),
            energies_j: energies.map(|t| vec![t; 5]).to_vec(),
            with_baseline: true,
            ..Rounds::default()
        };
        sweep.facts.default = Some(DefaultConfig {
            config: config(3),
            origin: DefaultOrigin::Problem,
        });
        sweep.facts.objective = Some(objective.into());
        sweep.finals = Some(finals);
        let a = analyze(&sweep, 0.5, 1).unwrap();
        sentences(&sweep, &a)
    }

    fn sentences(sweep: &Sweep, a: &Analysis) -> Vec<String> {
        let all = answer(&Winners::of(a, sweep), "sweeps/p");
        assert!(!all.sure.is_empty() && !all.next.is_empty());
        all.sentences().cloned().collect()
    }

    #[test]
    fn the_gain_comes_first_with_its_interval() {
        let text = answers("time", [2.0, 3.0, 4.0], [5.0, 10.0, 5.0]);
        assert_eq!(
            text[0],
            "×1.500 the speed of the default config [×1.500 … ×1.500], 50.0 % less energy [50.0 % … 50.0 %]."
        );
        assert!(text[1].contains("the baseline") && text[1].contains("no difference in energy"));
        assert_eq!(
            text[2],
            "No config is known to take over 1 % less energy than the fastest."
        );
        // Energies that tie, and objectives of both.
        let text = answers("energy", [2.0, 3.0, 4.0], [5.0, 5.0, 5.0]);
        assert!(
            text[0].starts_with("No difference in energy to the default config, at ×1.500"),
            "{text:?}"
        );
        let text = answers("edp", [3.0, 2.0, 4.0], [2.0, 10.0, 5.0]);
        assert!(
            text[0].starts_with("The best config by edp has ×0.667 the speed of the default"),
            "{text:?}"
        );
        assert!(text.iter().any(|t| t.contains("5 times each")), "{text:?}");
        let text = answers("energy", [2.0, 3.0, 4.0], [5.0, 10.0, 5.0]);
        assert!(text[0].starts_with(
            "50.0 % less energy than the default config [50.0 % … 50.0 %], at ×1.500"
        ));
        let text = answers("time", [2.0, 2.0, 1.0], [5.0, 5.0, 5.0]);
        assert!(
            text[0].starts_with("No config was found to be faster"),
            "{text:?}"
        );
        assert!(text[1].starts_with("The best config is slower than the baseline"));
        let text = answers("time", [3.0, 2.0, 4.0], [5.0, 5.0, 5.0]);
        assert!(
            text[0].starts_with("Tuning found nothing better"),
            "{text:?}"
        );
    }

    #[test]
    fn without_final_rounds_the_fastest_is_told_and_doubted() {
        for energy in [true, false] {
            let sweep = sweep(energy, true);
            let a = analyze(&sweep, 0.5, 1).unwrap();
            let text = sentences(&sweep, &a);
            assert!(text[0].starts_with("The fastest of 40 configs takes 1.00 s"));
            assert_eq!(text[0].contains(" J"), energy, "{text:?}");
            assert_eq!(
                text[1].contains("No config is known to take over 1 % less"),
                energy
            );
            assert!(text.iter().any(|t| t.contains("one trial")), "{text:?}");
        }
    }
}
