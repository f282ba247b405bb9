//! The study as an HTML page: rates of each method, measured and predicted, and all numbers.

use super::row::Row;
use crate::GisaxsError;
use crate::image::headline;
use greenup_meter::Summary;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::si::si;
use greenup_report::table::{Cell, Columns};

/// What the page says about the study.
pub struct StudyPage<'a> {
    /// Name of the device.
    pub device: &'a str,
    /// Number of threads.
    pub threads: usize,
    /// Why there is no energy; `None` where there is.
    pub missing: Option<String>,
    /// Rows in order.
    pub rows: &'a [Row],
    /// Date, host, version and the like.
    pub provenance: Vec<(String, String)>,
}

impl StudyPage<'_> {
    /// The document.
    ///
    /// # Errors
    /// The page cannot be rendered.
    pub fn render(&self) -> Result<String, GisaxsError> {
        let missing = self.missing.iter().map(|why| format!("No energy: {why}."));
        let page = Page {
            title: format!("Form factors on {}", self.device),
            subtitle: "Time, rate and energy of each method, as in tables I to III of HipGISAXS".into(),
            answer: self.answer(),
            headline: vec![
                Fact::new("threads", self.threads.to_string()),
                Fact::new("cases", self.rows.len().to_string()),
            ],
            sections: vec![
                Section {
                    id: "rates".into(),
                    title: "Rates".into(),
                    paragraphs: missing.collect(),
                    figures: vec![Figure::chart(
                        &self.chart(),
                        "Pairs of a triangle and a q; lines are 95 % intervals, hollow points predictions.",
                    )
                    .wide()],
                    ..Section::default()
                },
                Section {
                    id: "numbers".into(),
                    title: "Numbers".into(),
                    tables: vec![columns().table(CAPTION, self.rows)],
                    ..Section::default()
                },
            ],
            provenance: headline(&self.provenance),
            ..Page::default()
        };
        Ok(page.render().map_err(|e| e.to_string())?)
    }

    /// The fastest case, and the one that takes the least energy a pair.
    fn answer(&self) -> Answer {
        let best = |of: &dyn Fn(&Row) -> Option<f64>| {
            let known = self.rows.iter().filter_map(|r| Some((r, of(r)?)));
            known.max_by(|a, b| a.1.total_cmp(&b.1))
        };
        let Some((r, _)) = best(&|r| Some(r.rate)) else {
            let sure = "Nothing is known.";
            return Answer::new(
                "No case was measured.",
                sure,
                "Measure again: `gisaxs study`.",
            );
        };
        let fastest = format!(
            "Most pairs of a triangle and a q a second: {}, at {} tri–q/s.",
            r.case.name(),
            pairs(r.rate)
        );
        let green = match best(&|r| r.per_joule) {
            Some((green, rate)) => format!(
                "Most a joule: {}, at {} tri–q/J.",
                green.case.name(),
                pairs(rate)
            ),
            None => "No energy was measured.".into(),
        };
        let error = self.rows.iter().map(|r| r.error.0).max_by(f64::total_cmp);
        let error = error.filter(|e| e.is_finite());
        let error = error.map_or("an unknown part".to_owned(), |e| format!("{e:.1e}"));
        let sure = format!(
            "Each method was compared with double precision: its results are within {error} of the largest |F|. Lines at the dots are 95 % intervals."
        );
        Answer {
            says: vec![fastest, green],
            sure: vec![sure],
            next: vec![
                "Take the method for images of your own: `gisaxs simulate --help` names them."
                    .into(),
            ],
        }
    }

    /// Rates over time and, where energy was measured, over energy.
    pub fn chart(&self) -> Chart {
        let names: Vec<String> = self.rows.iter().rev().map(|r| r.case.name()).collect();
        let panel = |title: &str,
                     unit: &str,
                     measured: &dyn Fn(&Row) -> Option<Summary>,
                     predicted: &dyn Fn(&Row) -> Option<f64>| {
            let mut panel = Panel::new(
                "",
                Axis::new(title, Unit::si(unit), Scale::Log),
                Axis::new("", Unit::None, Scale::Names(names.clone())),
            );
            panel.height = Height::Rows(26.0);
            let (mut marks, mut expected) = (Vec::new(), Vec::new());
            for (k, r) in self.rows.iter().enumerate() {
                let y = (self.rows.len() - 1 - k) as f64;
                let pairs = r.triangles as f64 * r.points as f64;
                if let Some(s) = measured(r) {
                    let ends = vec![(pairs / s.hi, y), (pairs / s.lo, y)];
                    panel.push(Layer::dashed(0, ends, 3.0, "", ""));
                    marks.push(Mark {
                        x: pairs / s.median,
                        y,
                        interval: None,
                        tip: format!("{}: {}", r.case.name(), si(pairs / s.median, unit)),
                    });
                }
                if let Some(p) = predicted(r) {
                    expected.push(Mark {
                        x: pairs / p,
                        y,
                        interval: None,
                        tip: format!("{}, predicted: {}", r.case.name(), si(pairs / p, unit)),
                    });
                }
            }
            panel.push(Layer::points(0, marks, 8.0));
            let hollow = What::Points {
                points: expected,
                size: 8.0,
                hollow: true,
            };
            panel.push(Layer::of(1, hollow));
            panel
        };
        let mut panels = vec![panel(
            "pairs per second",
            "1/s",
            &|r| Some(r.measured.time_s),
            &|r| r.predicted_s,
        )];
        if self.rows.iter().any(|r| r.measured.energy_j.is_some()) {
            panels.push(panel(
                "pairs per joule",
                "1/J",
                &|r| r.measured.energy_j,
                &|r| r.predicted_j,
            ));
        }
        Chart {
            title: match panels.len() {
                1 => "Triangles times q per second",
                _ => "Triangles times q, per second and joule",
            }
            .into(),
            series: vec![
                Series::new("measured", Ink::Series(0), Sign::Dot),
                Series::new("predicted by the machine model", Ink::Series(1), Sign::Dot),
            ],
            panels,
            least_width: 560.0,
            ..Chart::default()
        }
    }
}

/// A number of pairs.
fn pairs(n: f64) -> String {
    format!("{n:.2e}")
}

/// The text below the table.
pub const CAPTION: &str = "Every method is rated by the operation counts of direct sums (42 n_t + 2 on GPUs, 85 n_t + 16 on CPUs): \
                           a faster one shows more than its own operations.";

/// The table of all numbers.
pub fn columns() -> Columns<'static, Row> {
    Columns::<Row>::new()
        .text(
            "method",
            "with the precision of GEMM on tensor cores",
            |r| r.case.method(),
        )
        .text("q_z", "real or complex", |r| r.case.q_z().into())
        .count("triangles", "of the sphere", |r| r.triangles as u64)
        .count("q", "of the grid", |r| r.points as u64)
        .si("time", "median of one run", "s", |r| {
            r.measured.time_s.median
        })
        .text("95 %", "interval of the median", |r| {
            let t = &r.measured.time_s;
            format!("{} … {}", si(t.lo, "s"), si(t.hi, "s"))
        })
        .si(
            "rate",
            "by the operation counts of direct sums in the paper",
            "flop/s",
            |r| 1e9 * r.gflops,
        )
        .percent(
            "of peak",
            "rate over the machine's single-precision peak",
            |r| r.of_peak,
        )
        .si("rate per watt", "", "flop/J", |r| {
            r.gflops_per_watt.map(|g| 1e9 * g)
        })
        .where_known()
        .cell("tri–q/s", "pairs of a triangle and a q per second", |r| {
            Cell::number(r.rate, pairs(r.rate))
        })
        .cell("tri–q/J", "pairs of a triangle and a q per joule", |r| {
            Cell::shown(r.per_joule, pairs)
        })
        .where_known()
        .si("energy", "median of one run", "J", |r| {
            r.measured.energy_j.map(|e| e.median)
        })
        .cell("error", "largest, over the largest |F|", |r| {
            Cell::number(r.error.0, format!("{:.1e}", r.error.0))
        })
        .si("predicted time", "by the machine model", "s", |r| {
            r.predicted_s
        })
        .si("predicted energy", "by the machine model", "J", |r| {
            r.predicted_j
        })
}
