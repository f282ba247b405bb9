//! What tuning found: the best configs by what is known of them, and what they are compared with.

use greenup_tune::analyze::{Analysis, MeasuredConfig};
use greenup_tune::sweep::{Compared, DefaultConfig};
use greenup_tune::{Objective, Sweep};

/// What the best config is compared with in the final rounds.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Name in figures and tables.
    pub name: &'static str,
    /// Name in sentences.
    pub whom: String,
    /// Its measurements, and those of the best config over them.
    pub compared: Compared,
}

/// The best configs of a sweep.
pub struct Winners<'a> {
    /// The analysis.
    pub analysis: &'a Analysis,
    /// The sweep.
    pub sweep: &'a Sweep,
    /// Objective of the sweep, if it has a winner by it.
    pub objective: Objective,
    /// Trial of the best config by the objective.
    pub best: usize,
    /// The fastest config: by the final rounds if it was measured there.
    pub fast: MeasuredConfig,
    /// The config of the lowest energy, and whether the final rounds measured it; `None` where the fastest is it, or
    /// without energies.
    pub low: Option<(MeasuredConfig, bool)>,
    /// The config before tuning and the baseline, as far as the final rounds measured them.
    pub references: Vec<Reference>,
    /// The config before tuning, if that is the best itself.
    pub best_before: Option<&'a DefaultConfig>,
}

/// Largest ratio of energies that is a difference.
const TIE: f64 = 0.99;

/// The config of the lowest energy, if that is less than the fastest's, by the final rounds where they measured both.
fn lowest(a: &Analysis, sweep: &Sweep, fast: &MeasuredConfig) -> Option<(MeasuredConfig, bool)> {
    let place = |r: &MeasuredConfig| {
        let config = &sweep.trials[r.trial].config;
        let rounds = sweep.finals.as_ref()?;
        Some((rounds, rounds.configs.iter().position(|c| c == config)?))
    };
    // Within 1 % is a tie: energies are known no better as a rule.
    let apart = |r: &MeasuredConfig| {
        let ratio = || {
            let ((rounds, i), (_, of)) = place(r).zip(place(fast))?;
            rounds.compared(i, of, false)?.energy_ratio
        };
        ratio().is_none_or(|e| e.hi < 1.0 && e.median < TIE)
    };
    let best = &sweep.trials[sweep.winner(Objective::Energy)?].config;
    let mut rows = a.rows.iter();
    let best = rows.find(|r| &sweep.trials[r.trial].config == best)?;
    let (low, again) = best.as_known(sweep);
    let less = (low.energy_j).is_some_and(|e| fast.energy_j.is_none_or(|f| e < f));
    (low.trial != fast.trial && less && apart(&low)).then_some((low, again))
}

impl<'a> Winners<'a> {
    /// Of a sweep.
    pub fn of(analysis: &'a Analysis, sweep: &'a Sweep) -> Self {
        let (fast, _) = analysis.rows[analysis.fastest].as_known(sweep);
        let own = sweep.own_objective().ok();
        // Of a metric the values may be recorded under its name.
        let winner = own.and_then(|o| Some((o, sweep.aimed(o).ok()?.winner(o)?)));
        let (objective, best) = winner.unwrap_or((Objective::Time, fast.trial));
        let gain = sweep.gain();
        let before = gain.as_ref().filter(|g| !g.is_best).map(|g| Reference {
            name: "before tuning",
            whom: g.over.origin.to_string(),
            compared: g.compared.clone(),
        });
        let baseline = sweep.against_baseline().map(|compared| Reference {
            name: "baseline",
            whom: "the baseline".into(),
            compared,
        });
        Self {
            analysis,
            sweep,
            objective,
            best,
            low: lowest(analysis, sweep, &fast),
            fast,
            references: before.into_iter().chain(baseline).collect(),
            best_before: (gain.is_some_and(|g| g.is_best))
                .then_some(sweep.facts.default.as_ref())
                .flatten(),
        }
    }

    /// Whether one config is the fastest and has the lowest energy.
    pub fn one_wins_both(&self) -> bool {
        self.fast.energy_j.is_some() && self.low.is_none()
    }

    /// That no config takes less energy than the fastest, as far as energies are known; `None` where one does, or the fastest's
    /// is the only one.
    pub fn none_takes_less(&self) -> Option<String> {
        let rows = &self.analysis.rows;
        let known = rows.iter().filter(|r| r.energy_j.is_some()).count();
        (self.one_wins_both() && known > 1).then(|| match known == rows.len() {
            true => "No config is known to take over 1 % less energy than the fastest.".to_owned(),
            false => format!(
                "Of the {known} configs whose energy was measured, none is known to take over 1 % less than the fastest."
            ),
        })
    }

    /// Name of the fastest config.
    pub fn first_name(&self) -> &'static str {
        match self.one_wins_both() {
            true => "fastest, lowest energy",
            false => "fastest",
        }
    }
}
