//! The page of a replay: search strategies beside each other on a recorded sweep.

use greenup_report::chart::Chart;
use greenup_report::page::{Answer, Figure, Page, Section};
use greenup_report::replay_figure::{Run, strategies};
use greenup_report::si::percent;
use greenup_report::table::{Cell, Columns, Table};
use greenup_tune::Sweep;
use greenup_tune::replay::Replay;

/// Positions of a course, evenly spaced by ratio.
const POSITIONS: usize = 100;
/// Share of the optimum that counts as near.
const NEAR: f64 = 0.95;

/// A strategy with its repetitions, at least one.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// Name of the strategy.
    pub strategy: String,
    /// What each repetition found.
    pub runs: Vec<Replay>,
}

/// Median and the ends of the middle 95 % of values.
fn middle(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * (values.len().max(1) - 1) as f64;
        let (i, part) = (place as usize, place.fract());
        let value = |k: usize| values.get(k).or(values.last()).copied().unwrap_or(f64::NAN);
        value(i) + part * (value(i + 1) - value(i))
    };
    (at(0.5), at(0.025), at(0.975))
}

/// The optimum over the best after so many trials; 0 before the first that was measured.
fn reached(run: &Replay, trials: usize) -> f64 {
    let last = run.trace.iter().rev().find(|s| s.evaluation <= trials);
    last.map_or(0.0, |s| run.optimum / s.value)
}

impl Repeated {
    fn trials(&self) -> usize {
        self.runs.iter().map(|r| r.evaluations).max().unwrap_or(0)
    }

    /// Trials, and the share of the optimum after them: median, lower and upper end of the middle 95 %.
    pub fn course(&self) -> Vec<(f64, f64, f64, f64)> {
        let most = self.trials();
        let mut at: Vec<usize> = (0..=POSITIONS)
            .map(|k| (most as f64).powf(k as f64 / POSITIONS as f64).round() as usize)
            .collect();
        at.dedup();
        at.into_iter()
            .filter(|n| (1..=most).contains(n))
            .map(|n| {
                let (m, lo, hi) = middle(self.runs.iter().map(|r| reached(r, n)).collect());
                (n as f64, m, lo, hi)
            })
            .collect()
    }

    /// Trials after which half of the repetitions are near to the optimum; `None` if they never are.
    fn near(&self) -> Option<usize> {
        (1..=self.trials()).find(|n| {
            let near = |r: &&Replay| reached(r, *n) >= NEAR;
            2 * self.runs.iter().filter(near).count() >= self.runs.len()
        })
    }

    /// Share of the optimum at the end: median, lower and upper end of the middle 95 %.
    fn end(&self) -> (f64, f64, f64) {
        middle(self.runs.iter().map(|r| r.fraction).collect())
    }
}

/// A row a strategy.
fn table(all: &[Repeated]) -> Table {
    Columns::<Repeated>::new()
        .text("strategy", "", |s| s.strategy.clone())
        .percent(
            "optimum over best found",
            "Median over the repetitions.",
            |s| s.end().0,
        )
        .cell(
            "95 % of the repetitions",
            "The middle 95 % of the repetitions.",
            |s| {
                let (_, lo, hi) = s.end();
                Cell::number(lo, format!("{} … {}", percent(lo), percent(hi)))
            },
        )
        .percent("worst", "The worst repetition.", |s| {
            s.runs.iter().map(|r| r.fraction).fold(1.0, f64::min)
        })
        .percent("found the optimum", "Share of the repetitions.", |s| {
            let found = s.runs.iter().filter(|r| r.fraction > 1.0 - 1e-9).count();
            found as f64 / s.runs.len().max(1) as f64
        })
        .shown(
            "trials until 95 %",
            "After so many trials half of the repetitions are within 95 % of the optimum.",
            |n| n.to_string(),
            |s| s.near().map(|n| n as f64),
        )
        .si(
            "simulated time",
            "Median of the recorded seconds of building, verifying and measuring.",
            "s",
            |s| middle(s.runs.iter().map(|r| r.clock_s).collect()).0,
        )
        .table("At the end of the budget", all)
}

/// The figure of all strategies.
pub fn figure(sweep: &Sweep, objective: &str, all: &[Repeated]) -> Chart {
    let runs: Vec<Run> = all
        .iter()
        .map(|r| Run {
            name: r.strategy.clone(),
            course: r.course(),
        })
        .collect();
    let title = format!("{}: search strategies for {objective}", sweep.facts.name);
    strategies(&title, &runs)
}

/// Which strategy ends nearest to the optimum, and how sure that is.
fn answer(objective: &str, all: &[Repeated]) -> Answer {
    // What looks alike in percent is decided by the repetitions that did worst, then by the trials that it took.
    let shown = |share: f64| (1e3 * share).round() as i64;
    let key = |r: &Repeated| {
        let (median, lo, _) = r.end();
        let near = r.near().unwrap_or(usize::MAX);
        (-shown(median), -shown(lo), near)
    };
    let mut order: Vec<&Repeated> = all.iter().collect();
    order.sort_by_key(|r| key(r));
    let Some((first, others)) = order.split_first() else {
        return Answer::default();
    };
    let (median, ..) = first.end();
    let (n, repetitions) = (first.trials(), first.runs.len());
    let ends = || first.runs.iter().map(|r| r.fraction);
    let alike = ends().filter(|f| shown(*f) >= shown(median)).count();
    let reached = format!(
        "After {n} trials `{}` reaches {} of the optimum",
        first.strategy,
        percent(median)
    );
    let near: Vec<&&Repeated> = (others.iter())
        .filter(|r| shown(r.end().0) == shown(median))
        .collect();
    let mut says = vec![match repetitions {
        _ if !near.is_empty() => {
            let names = near.iter().map(|r| format!("`{}`", r.strategy));
            format!(
                "After {n} trials `{}` reaches {} of the optimum, and so {} {}: which of them is best, this sweep does not tell.",
                first.strategy,
                percent(median),
                if near.len() > 1 { "do" } else { "does" },
                names.collect::<Vec<_>>().join(" and ")
            )
        }
        1 => format!("{reached}, in one repetition."),
        n if alike == n => format!("{reached} in each of {n} repetitions."),
        n => format!(
            "{reached}, the median of {n} repetitions; the worst of them reaches {}.",
            percent(ends().fold(1.0, f64::min))
        ),
    }];
    let later = |r: &Repeated| match r.near()? {
        1 => Some(format!("`{}` after 1 trial", r.strategy)),
        n => Some(format!("`{}` after {n} trials", r.strategy)),
    };
    let reached: Vec<String> = [*first]
        .iter()
        .chain(near.iter().copied())
        .filter_map(|r| later(r))
        .collect();
    let who = match repetitions {
        1 => "It reaches",
        _ => "At least half of the repetitions reach",
    };
    says.push(match reached.is_empty() {
        true => "95 % of the optimum is out of its reach with this budget.".to_owned(),
        false => format!("{who} 95 % of it with {}.", reached.join(", ")),
    });
    if let ([], Some(second)) = (near.as_slice(), others.first()) {
        says.push(format!(
            "The next, `{}`, reaches {}.",
            second.strategy,
            percent(second.end().0)
        ));
    }
    let sure = match repetitions {
        1 => "Little: one repetition each, so that chance decides between near ones.".to_owned(),
        n => format!(
            "It is one recorded sweep, searched {n} times with other random numbers; another kernel may have another order."
        ),
    };
    let next = format!(
        "{}`greenup tune PROBLEM --strategy {} --objective {objective}`, where PROBLEM is the kernel's problem file.",
        if near.is_empty() {
            "Search with it: "
        } else {
            "Any of these will do, such as "
        },
        first.strategy
    );
    Answer {
        says,
        sure: vec![sure],
        next: vec![next],
    }
}

/// Builds the page.
pub fn page(sweep: &Sweep, objective: &str, all: &[Repeated]) -> Page {
    let seeds = all.iter().map(|r| r.runs.len()).max().unwrap_or(0);
    let most = all.iter().map(Repeated::trials).max().unwrap_or(0);
    let times = match seeds {
        1 => "1 repetition".to_owned(),
        n => format!("{n} repetitions"),
    };
    let caption = match seeds {
        1 => "One repetition each: there are no intervals.",
        _ => {
            "Lines are medians over the repetitions; bars at the end hold the middle 95 % of them."
        }
    };
    Page {
        title: format!("{}: search strategies", sweep.facts.name),
        subtitle: format!(
            "Replayed on a recorded sweep of {}: {} configs, objective {objective}, {most} trials, {times}",
            sweep.facts.device,
            sweep.trials.len()
        ),
        answer: answer(objective, all),
        sections: vec![Section {
            id: "strategies".into(),
            title: "How near to the optimum".into(),
            label: Some("derived"),
            figures: vec![Figure::chart(&figure(sweep, objective, all), caption).wide()],
            tables: vec![table(all)],
            ..Section::default()
        }],
        footer: "The optimum is the best config of the recording. Strategies are judged by full recorded measurements.".into(),
        ..Page::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_tune::replay::Step;

    fn run(steps: &[(usize, f64)], evaluations: usize) -> Replay {
        let trace: Vec<Step> = steps
            .iter()
            .map(|(evaluation, value)| Step {
                evaluation: *evaluation,
                clock_s: 1.0,
                value: *value,
                config: vec![],
            })
            .collect();
        Replay {
            evaluations,
            failures: 0,
            clock_s: 2.0,
            best: trace.last().cloned(),
            optimum: 1.0,
            fraction: trace.last().map_or(0.0, |s| 1.0 / s.value),
            trace,
        }
    }

    #[test]
    fn courses_are_medians_over_the_repetitions() {
        let r = Repeated {
            strategy: "s".into(),
            runs: vec![
                run(&[(1, 4.0), (3, 1.0)], 8),
                run(&[(1, 2.0)], 8),
                run(&[(2, 1.0)], 8),
            ],
        };
        let course = r.course();
        // Before its first success a repetition has reached nothing.
        assert_eq!((course[0].0, course[0].1), (1.0, 0.25));
        assert!(course[0].2 < 0.02 && course[0].3 > 0.48, "{course:?}");
        let last = course.last().unwrap();
        assert_eq!((last.0, last.1), (8.0, 1.0));
        assert_eq!(r.near(), Some(3));
        assert!(
            course
                .windows(2)
                .all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1)
        );
        let one = Repeated {
            strategy: "s".into(),
            runs: vec![run(&[(1, 4.0)], 1)],
        };
        assert_eq!((one.course().len(), one.near()), (1, None));
    }

    #[test]
    fn the_best_strategy_comes_first() {
        let of = |name: &str, value: f64| Repeated {
            strategy: name.into(),
            runs: vec![run(&[(1, value)], 8); 2],
        };
        let said = |all: &[Repeated]| answer("time", all).sentences().cloned().collect::<Vec<_>>();
        assert_eq!(
            said(&[of("random", 1.25), of("forest", 1.0)]),
            [
                "After 8 trials `forest` reaches 100.0 % of the optimum in each of 2 repetitions.",
                "At least half of the repetitions reach 95 % of it with `forest` after 1 trial.",
                "The next, `random`, reaches 80.0 %.",
                "It is one recorded sweep, searched 2 times with other random numbers; another kernel may have another order.",
                "Search with it: `greenup tune PROBLEM --strategy forest --objective time`, where PROBLEM is the kernel's problem file."
            ]
        );
        let alike = said(&[of("a", 1.0), of("b", 1.0)]);
        assert_eq!(
            alike[..2],
            [
                "After 8 trials `a` reaches 100.0 % of the optimum, and so does `b`: which of them is best, this sweep does not tell.",
                "At least half of the repetitions reach 95 % of it with `a` after 1 trial, `b` after 1 trial."
            ]
        );
        assert!(said(&[]).is_empty());
    }
}
