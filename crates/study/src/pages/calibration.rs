//! The page of a calibration: the fitted machine, and the microbenchmarks that it is fitted to.

use crate::pages::cap_errors::{Device, figure};
use crate::pages::study::lines::{Classes, limits};
use crate::pages::study::machine::{constants_table, errors, name_of, records_table};
use greenup_calibrate::Record;
use greenup_calibrate::fit::Fit;
use greenup_calibrate::fit::caps::cap_errors;
use greenup_calibrate::suite::noise::DISTURBED;
use greenup_model::{Machine, MachineError, Op, predict};
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::residual_figure::{Residual, residuals};
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::si::{percent, si, three};

/// A calibrated machine with what it was fitted to.
pub struct Calibrated<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The fit.
    pub fit: &'a Fit,
    /// The microbenchmarks.
    pub records: &'a [Record],
    /// Whether the device is a GPU.
    pub gpu: bool,
    /// The file of the machine as a command line names it, if one is written.
    pub file: Option<String>,
}

/// Error of the performance with a power cap over that without one, below which there is one.
const CAPPED: f64 = 0.75;

impl Calibrated<'_> {
    /// Roofline, arch line and power line with the microbenchmarks.
    ///
    /// # Errors
    /// The machine lacks a cost that the figure needs.
    pub fn figure(&self) -> Result<RooflineFigure, MachineError> {
        let classes = Classes::of(self.machine, self.gpu)?;
        let points = classes.calibration(self.records);
        Ok(limits(self.machine.title.clone(), classes, points))
    }

    /// Builds the page.
    ///
    /// # Errors
    /// The machine lacks a cost that the page needs.
    pub fn page(&self) -> Result<Page, MachineError> {
        let figure = self.figure()?;
        let caption = "Lines: the fitted machine with its 95 % band. Dots: the microbenchmarks with slow memory on the whole device, with their 95 % intervals. Times are roofs: the best rate that any benchmark sustained.";
        let above = figure.above_roof();
        let about = match above.is_empty() {
            true => Vec::new(),
            false => vec![format!("Above the roof: {}.", above.join(", "))],
        };
        let m = self.machine;
        Ok(Page {
            title: format!("Calibration of {}", m.name),
            subtitle: m.title.clone(),
            banner: (m.warnings.iter())
                .filter(|w| w.starts_with(DISTURBED))
                .cloned()
                .collect(),
            answer: self.answer(),
            headline: self.headline(),
            sections: vec![
                Section {
                    id: "lines".into(),
                    title: "The fitted lines and what was measured".into(),
                    label: Some("measured"),
                    paragraphs: about,
                    figures: vec![Figure::chart(&figure.chart(), caption).wide()],
                    ..Section::default()
                },
                Section {
                    id: "constants".into(),
                    title: "Machine constants".into(),
                    label: Some("measured"),
                    paragraphs: m.warnings.iter().cloned().chain(errors(self.fit)).collect(),
                    tables: vec![constants_table(m, "The whole device, with 95 % intervals")],
                    ..Section::default()
                },
                self.residuals(),
                self.with_and_without_cap(),
                Section {
                    id: "points".into(),
                    title: "Microbenchmarks".into(),
                    folded: true,
                    label: Some("measured"),
                    tables: vec![records_table(
                        self.records,
                        "In the random order in which they ran",
                    )],
                    ..Section::default()
                },
                Section {
                    id: "facts".into(),
                    title: "Machine facts".into(),
                    folded: true,
                    items: (m.facts.iter())
                        .map(|(k, v)| Fact::new(&name_of(k), v.clone()))
                        .collect(),
                    ..Section::default()
                },
            ],
            footer: "Medians with 95 % intervals.".into(),
            ..Page::default()
        })
    }

    /// How well the machine explains what was measured.
    fn answer(&self) -> Answer {
        let (mut says, mut sure) = (Vec::new(), Vec::new());
        let errors = self.errors();
        let size = |r: &&Residual| r.errors[0].map_or(0.0, |e| e.0.abs());
        let worst = errors.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        if self.fit.time_errors.is_none() {
            let n = self.records.len();
            says.push(format!("The machine is fitted to {n} benchmarks."));
        }
        if let Some(e) = &self.fit.time_errors {
            says.push(format!(
                "The fitted machine explains the times of {} benchmarks with a mean error of {}; the largest is {}{}.",
                e.n,
                percent(e.mean_abs),
                percent(e.max_abs),
                worst.map_or_else(String::new, |r| format!(", of `{}`", r.name))
            ));
        }
        if let Some(e) = mean_error(&errors, 1) {
            sure.push(format!(
                "Energies on the whole device have a mean error of {}.",
                percent(e)
            ));
        }
        let capless = cap_errors(self.records).is_ok_and(|e| {
            let t = e.performance_test;
            t.mean_abs_error_capped < CAPPED * t.mean_abs_error_uncapped
        });
        let capless =
            capless && self.machine.usable_power_w.is_none() && self.machine.clock.is_none();
        if capless {
            sure.push("A power cap explains the times better, and the fitted machine has none: it predicts too much power where flops and bytes take about as long.".into());
        }
        if self.machine.constant_power_w.is_none() {
            sure.push("Constant power is not known: energies are not predicted.".into());
        } else {
            sure.push("Each constant has its 95 % interval below.".into());
        }
        let of = self.file.as_deref().unwrap_or("FILE");
        let clocked = capless && self.records.iter().any(|r| r.note("_clock_hz").is_some());
        let first = match (clocked, &self.file) {
            (true, Some(file)) => format!(
                "Fit the clocks at the cap: `greenup fit RECORDS.csv --clocked -o {file}`. Then "
            ),
            (true, None) => {
                "Fit the clocks at the cap: `greenup fit RECORDS.csv --clocked -o FILE`. Then "
                    .into()
            }
            (false, Some(_)) => String::new(),
            (false, None) => "Write the machine with `-o FILE`; then ".into(),
        };
        let tells = match self.machine.constant_power_w.is_some() {
            true => "the time, energy and power",
            false => "the time",
        };
        let flop = match self.machine.cost.contains_key(&Op::F64) {
            true => Op::F64,
            false => Op::F32,
        };
        Answer {
            says,
            sure,
            next: vec![format!(
                "{first}`greenup predict --machine {of} --op {flop}=1e12 --op dram=1e11` tells {tells} of such work: put in the counts of your own."
            )],
        }
    }

    fn headline(&self) -> Vec<Fact> {
        let m = self.machine;
        let mut facts: Vec<Fact> = (m.cost.iter())
            .filter_map(|(op, c)| {
                let tau = c.time_s.as_ref()?.value;
                let unit = format!("{}/s", op.unit_name());
                Some(Fact::new(op.name(), si(1.0 / tau, &unit)))
            })
            .collect();
        match &m.constant_power_w {
            Some(p) => facts.push(Fact::new("constant power", si(p.value, "W"))),
            None => facts.push(Fact::new("energy", "not measured")),
        }
        let errors = self.fit.time_errors.as_ref();
        facts.extend(errors.map(|e| Fact::new("largest error of a time", percent(e.max_abs))));
        facts
    }

    /// Errors of the model with and without a power cap, with the test of whether they differ.
    fn with_and_without_cap(&self) -> Section {
        let (mut paragraphs, mut figures) = (Vec::new(), Vec::new());
        match cap_errors(self.records) {
            Ok(errors) => {
                let t = errors.performance_test;
                paragraphs.push(format!(
                    "A flat cap of {} above constant power, by least squares of the times, against none: mean error of the performance {} against {}; Kolmogorov–Smirnov D = {}, p = {}.",
                    si(errors.usable_power_w, "W"),
                    percent(t.mean_abs_error_capped),
                    percent(t.mean_abs_error_uncapped),
                    three(t.statistic),
                    three(t.p_value)
                ));
                let device = Device {
                    name: self.machine.name.clone(),
                    errors,
                };
                let chart = figure("Errors with and without the power cap", &[device]);
                figures.push(Figure::chart(&chart, "").wide());
            }
            Err(_) => paragraphs.push("No cap can be fitted without energies.".into()),
        }
        Section {
            id: "cap".into(),
            title: "With and without the power cap".into(),
            label: Some("derived"),
            paragraphs,
            figures,
            ..Section::default()
        }
    }

    /// What the machine misses of each microbenchmark on the whole device: in time, and in energy.
    fn errors(&self) -> Vec<Residual> {
        (self.records.iter())
            .filter(|r| r.occupancy >= 1.0)
            .filter_map(|r| {
                let p = predict(self.machine, &r.work).ok()?;
                let error = |predicted: f64, (value, lo, hi): (f64, f64, f64)| {
                    (
                        predicted / value - 1.0,
                        predicted / hi - 1.0,
                        predicted / lo - 1.0,
                    )
                };
                let ends = (r.note("_time_lo_s").zip(r.note("_time_hi_s")))
                    .unwrap_or((r.time_s, r.time_s));
                let energy = p.energy_j.zip(r.energy_j);
                Some(Residual {
                    name: r.benchmark.clone(),
                    setting: r.setting.clone(),
                    errors: vec![
                        Some(error(p.time_s, (r.time_s, ends.0, ends.1))),
                        energy.map(|(p, e)| error(p, (e, e, e))),
                    ],
                })
            })
            .collect()
    }

    /// What the machine predicts from the work alone, against what was measured.
    fn residuals(&self) -> Section {
        let mut all = self.errors();
        // Benchmarks of a kind together, by rising intensity.
        all.sort_by(|a, b| {
            let kind = |r: &Residual| match r.name.split_once(" I=") {
                Some((kind, number)) => (kind.to_owned(), number.parse().unwrap_or(f64::INFINITY)),
                None => (r.name.clone(), f64::INFINITY),
            };
            let ((a, x), (b, y)) = (kind(a), kind(b));
            a.cmp(&b).then(x.total_cmp(&y))
        });
        let has_energy = all.iter().any(|r| r.errors[1].is_some());
        let quantities: &[&str] = if has_energy {
            &["time", "energy"]
        } else {
            &["time"]
        };
        let mean = |(k, what): (usize, &&str)| {
            Some(Fact::new(
                &format!("mean error, {what}"),
                percent(mean_error(&all, k)?),
            ))
        };
        let items = quantities.iter().enumerate().filter_map(mean).collect();
        let text = "The machine's prediction from the counts of each microbenchmark on the whole device, over what was measured. Times are roofs: a benchmark that is slower than the roof lies at the left of zero.";
        let chart = residuals("What the machine misses", quantities, &all);
        Section {
            id: "residuals".into(),
            title: "Residuals".into(),
            label: Some("derived"),
            paragraphs: vec![text.into()],
            items,
            figures: vec![Figure::chart(&chart, "").wide()],
            ..Section::default()
        }
    }
}

/// Mean size of an error; `None` where none is known.
fn mean_error(all: &[Residual], k: usize) -> Option<f64> {
    let each: Vec<f64> = (all.iter())
        .filter_map(|r| Some(r.errors[k]?.0.abs()))
        .collect();
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_calibrate::fit::FitOptions;
    use greenup_calibrate::machine::of_records;
    use greenup_model::{Op, Work};

    fn record(name: &str, flops: f64, bytes: f64, occupancy: f64) -> Record {
        let time_s = (flops * 1e-11).max(bytes * 1e-10);
        Record {
            benchmark: name.into(),
            setting: "all cores".into(),
            work: Work::new()
                .with(Op::F64, flops)
                .and_then(|w| w.with(Op::Dram, bytes))
                .unwrap(),
            time_s,
            energy_j: Some(flops * 2e-11 + bytes * 3e-10 + 50.0 * time_s),
            occupancy,
            notes: vec![
                ("_time_lo_s".into(), format!("{}", 0.9 * time_s)),
                ("_time_hi_s".into(), format!("{}", 1.1 * time_s)),
            ],
        }
    }

    #[test]
    fn the_page_shows_points_constants_and_what_is_missed() {
        let records: Vec<Record> = (0..8)
            .map(|k| record(&format!("f64 I={k}"), 1e9 * f64::from(1 << k), 1e9, 1.0))
            .chain([record("on one core", 1e9, 1e9, 0.5)])
            .collect();
        let (machine, fit, _) =
            of_records("m", "A machine", &records, &FitOptions::default()).unwrap();
        let calibrated = Calibrated {
            machine: &machine,
            fit: &fit,
            records: &records,
            gpu: false,
            file: Some("m.toml".into()),
        };
        let points = calibrated.figure().unwrap().points;
        assert_eq!(points.len(), 8, "those of the whole device");
        assert!(points.iter().all(|p| p.calibration && p.power_w.is_some()));
        let page = calibrated.page().unwrap();
        let ids: Vec<&str> = page.sections.iter().map(|s| s.id.as_str()).collect();
        assert_eq!(
            ids,
            ["lines", "constants", "residuals", "cap", "points", "facts"]
        );
        let cap = &page.sections[3];
        assert!(cap.paragraphs[0].contains("p = ") && cap.figures.len() == 1);
        let residuals = &page.sections[2];
        let names: Vec<&str> = residuals.items.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["mean error, time", "mean error, energy"]);
        assert_eq!(page.sections[4].tables[0].rows.len(), 9);
        let drawn = page.sections.iter().flat_map(|s| &s.figures);
        assert!(drawn.into_iter().all(|f| !f.html.contains("NaN")));
    }
}
