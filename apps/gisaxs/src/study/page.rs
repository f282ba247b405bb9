//! The study as an HTML page: rates of each method, measured and predicted, and all numbers.

use super::row::{Case, Row};
use crate::GisaxsError;
use crate::image::headline;
use crate::mesh_form_factor::Precision;
use greenup_meter::Summary;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit,
};
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::{percent, si};
use greenup_report::table::{Cell, Header, Table};

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

/// Name of a method with its precision, if that is not an ordinary one.
pub fn method(case: &Case) -> String {
    let name = case.method.name();
    match case.precision {
        Precision::F16x2 => format!("{name} f16x2"),
        _ => name.to_owned(),
    }
}

fn q_z(case: &Case) -> &'static str {
    if case.im_qz > 0.0 { "complex" } else { "real" }
}

fn name(r: &Row) -> String {
    format!(
        "{}, {} q_z; {} triangles, {} q",
        method(&r.case),
        q_z(&r.case),
        si(r.triangles as f64, "").trim(),
        si(r.points as f64, "").trim()
    )
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
            headline: vec![
                Fact::new("device", self.device),
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
                    tables: vec![self.table()],
                    ..Section::default()
                },
            ],
            provenance: headline(&self.provenance),
            ..Page::default()
        };
        Ok(page.render().map_err(|e| e.to_string())?)
    }

    /// Rates over time and, where energy was measured, over energy.
    pub fn chart(&self) -> Chart {
        let names: Vec<String> = self.rows.iter().rev().map(name).collect();
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
                        tip: format!("{}: {}", name(r), si(pairs / s.median, unit)),
                    });
                }
                if let Some(p) = predicted(r) {
                    expected.push(Mark {
                        x: pairs / p,
                        y,
                        interval: None,
                        tip: format!("{}, predicted: {}", name(r), si(pairs / p, unit)),
                    });
                }
            }
            panel.push(Layer::points(0, marks, 8.0));
            panel.push(Layer::of(
                1,
                greenup_report::chart::What::Points {
                    points: expected,
                    size: 8.0,
                    hollow: true,
                },
            ));
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

    fn table(&self) -> Table {
        let header = [
            ("method", "with the precision of GEMM on tensor cores"),
            ("q_z", "real or complex"),
            ("triangles", "of the sphere"),
            ("q", "of the grid"),
            ("time", "median of one run"),
            ("95 %", "interval of the median"),
            (
                "rate",
                "by the operation counts of direct sums in the paper",
            ),
            ("of peak", "rate over the machine's single-precision peak"),
            ("energy", "median of one run"),
            ("error", "largest, over the largest |F|"),
            ("predicted time", "by the machine model"),
            ("predicted energy", "by the machine model"),
        ];
        let or = |x: Option<f64>, unit: &str| {
            x.map_or_else(|| Cell::text("–"), |v| Cell::number(v, si(v, unit)))
        };
        let rows = self
            .rows
            .iter()
            .map(|r| {
                let t = &r.measured.time_s;
                let energy = r.measured.energy_j.as_ref().map(|e| e.median);
                vec![
                    Cell::text(method(&r.case)),
                    Cell::text(q_z(&r.case)),
                    Cell::number(r.triangles as f64, r.triangles.to_string()),
                    Cell::number(r.points as f64, r.points.to_string()),
                    Cell::number(t.median, si(t.median, "s")),
                    Cell::text(format!("{} … {}", si(t.lo, "s"), si(t.hi, "s"))),
                    Cell::number(r.gflops, si(1e9 * r.gflops, "flop/s")),
                    r.of_peak
                        .map_or_else(|| Cell::text("–"), |p| Cell::number(p, percent(p))),
                    or(energy, "J"),
                    Cell::number(r.error.0, format!("{:.1e}", r.error.0)),
                    or(r.predicted_s, "s"),
                    or(r.predicted_j, "J"),
                ]
            })
            .collect();
        Table {
            caption: "Every method is rated by the operation counts of direct sums (42 n_t + 2 on GPUs, 85 n_t + 16 on \
                      CPUs): a faster one shows more than its own operations."
                .into(),
            header: header.map(|(name, about)| Header::new(name, about)).to_vec(),
            rows,
        }
    }
}
