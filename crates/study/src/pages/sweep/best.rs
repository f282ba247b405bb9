//! The first section of the page: the plane of all configs, and beside it the best ones to copy.

use super::answer::{energy_over, speed_over, typical};
use super::plane::{found, ranking};
use super::tables;
use super::winners::Winners;
use greenup_report::page::{Fact, Figure, Section};
use greenup_report::si::si;
use greenup_space::Value;
use greenup_tune::sweep::best::forms::in_toml;

impl Winners<'_> {
    fn config(&self, trial: usize) -> &[Value] {
        &self.sweep.trials[trial].config
    }

    /// The config before tuning.
    fn before(&self) -> Option<&[Value]> {
        Some(&self.sweep.facts.default.as_ref()?.config)
    }

    /// `name = value` a line; lines that differ from another config name its value.
    fn lines(&self, config: &[Value], other: Option<&[Value]>) -> String {
        let shown = |v: &Value| in_toml(v).map_or_else(|_| v.to_string(), |t| t.to_string());
        let names = self.sweep.facts.parameters.iter().zip(config).enumerate();
        let line = |(p, (name, value)): (usize, (&String, &Value))| {
            let old = other.and_then(|o| o.get(p)).filter(|o| *o != value);
            let old = old.map_or(String::new(), |o| format!("  # before: {}", shown(o)));
            format!("{name} = {}{old}", shown(value))
        };
        names.map(line).collect::<Vec<_>>().join("\n")
    }

    /// The best config, what the lowest-energy one has instead, and the command that prints it for a build.
    fn copied(&self, source: &str) -> Vec<Fact> {
        let best = self.config(self.best);
        let name = match self.before() {
            Some(before) => {
                let changed = best.iter().zip(before).filter(|(a, b)| a != b).count();
                format!("Best config: {changed} of {} values changed", best.len())
            }
            None => "Best config".to_owned(),
        };
        let mut out = vec![Fact::new(&name, self.lines(best, self.before()))];
        if let Some((low, _)) = self.low.as_ref().filter(|l| l.0.trial != self.best) {
            let all = self.lines(self.config(low.trial), Some(best));
            let differs: Vec<&str> = (all.lines())
                .filter_map(|l| Some(l.split_once("  # before: ")?.0))
                .collect();
            out.push(Fact::new("Lowest energy: instead", differs.join("\n")));
        }
        out.push(Fact::new("For a build", self.command(source)));
        out
    }

    /// The command that prints the best config; `source` is the sweep as a command line names it.
    pub fn command(&self, source: &str) -> String {
        let own = self.sweep.own_objective().ok();
        let objective = match own == Some(self.objective) {
            true => "",
            false => " --objective time",
        };
        format!("greenup best {source}{objective}")
    }

    /// The first section: the plane, and beside it what to take.
    pub fn section(&self, source: &str) -> Section {
        let figure = match found(self) {
            Some(plane) => {
                let dots = match plane.again.is_empty() {
                    true => "Each dot is a config in its trial.",
                    false => {
                        "Each dot is a config: in the final rounds where it was measured again (bars are 95 % intervals; energies within 1 % are a tie), else in its trial."
                    }
                };
                let caption =
                    format!("{dots} No other dot beats those of the Pareto front in both.");
                Figure::chart(&plane.chart(), &caption)
            }
            None => Figure::chart(
                &ranking(self.analysis, self.sweep).chart(),
                "Each dot is a config. No energy was measured. Brackets above hold 95 % intervals.",
            ),
        };
        let per_j = tables::per_j(self.analysis);
        let rates = [
            Some(si(self.fast.performance, self.analysis.unit)),
            self.fast.efficiency.map(|e| si(e, &per_j)),
            (self.fast.energy_j).map(|e| si(e / self.fast.time_s, "W")),
        ];
        let rates: Vec<String> = rates.into_iter().flatten().collect();
        let mut items = vec![Fact::new("The fastest", rates.join(", "))];
        for r in &self.references {
            items.extend(speed_over(r).into_iter().chain(energy_over(r)));
        }
        if self.references.is_empty() {
            items.extend(typical(self));
        }
        Section {
            id: "winners".into(),
            title: "Best configs".into(),
            label: Some("measured"),
            figures: vec![figure],
            items,
            tables: vec![tables::winners(self)],
            copied: self.copied(source),
            beside: true,
            ..Section::default()
        }
    }
}
