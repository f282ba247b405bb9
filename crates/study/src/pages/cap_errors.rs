//! Errors of the model with and without the power cap, device by device (thesis, fig. 11).

use greenup_calibrate::fit::caps::{CapErrors, ModelErrors};
use greenup_report::box_figure::Spread;
use greenup_report::chart::{
    Axis, Bar, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_report::si::{percent, three};

/// Level below which a Kolmogorov–Smirnov test calls two distributions different.
pub const SIGNIFICANT: f64 = 0.05;

/// Names of the models, in the order drawn.
const MODELS: [&str; 3] = ["without a cap", "flat cap", "clock that follows the cap"];

/// One device with its errors.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Errors by model.
    pub errors: CapErrors,
}

/// The models of a device that have errors, from the first drawn.
pub fn models(e: &CapErrors) -> Vec<(usize, &'static str, &ModelErrors)> {
    let all = [Some(&e.uncapped), Some(&e.capped), e.clocked.as_ref()];
    let known = all.into_iter().enumerate().zip(MODELS);
    known.filter_map(|((k, m), n)| Some((k, n, m?))).collect()
}

/// Two panels, errors in performance and in energy: a box of the quartiles with its median for each device and model, and all
/// errors as dots below it. The name of a device has the p-value of its test, and two asterisks where the distributions
/// without a cap and with the flat one differ.
pub fn figure(title: &str, devices: &[Device]) -> Chart {
    let panels = [
        ("Performance", "error of the performance, %"),
        ("Energy", "error of the energy, %"),
    ];
    Chart {
        title: title.to_owned(),
        series: Series::all(MODELS, Sign::Area),
        panels: (panels.iter().enumerate())
            .map(|(k, (name, quantity))| panel(name, quantity, k == 0, devices))
            .collect(),
        notes: vec![
            "Box: middle half with the median; dots: benchmarks. p: Kolmogorov–Smirnov test of flat cap against no cap; **: p < 0.05."
                .into(),
        ],
        least_width: 430.0,
        ..Chart::default()
    }
}

/// Two digits behind the point suffice for a p-value.
fn rounded(p: f64) -> String {
    if p < 0.01 {
        "< 0.01".to_owned()
    } else {
        format!("{p:.2}")
    }
}

fn panel(name: &str, quantity: &str, performance: bool, devices: &[Device]) -> Panel {
    let mut names = Vec::new();
    let mut boxes: [Vec<Bar>; 3] = Default::default();
    let mut dots: [Vec<Mark>; 3] = Default::default();
    let mut medians = Vec::new();
    const BREAK: (f64, f64) = (f64::NAN, f64::NAN);
    // The first device on top, and its first model.
    for d in devices.iter().rev() {
        let test = if performance {
            &d.errors.performance_test
        } else {
            &d.errors.energy_test
        };
        let star = if test.p_value < SIGNIFICANT {
            " **"
        } else {
            ""
        };
        names.push(String::new());
        let of = models(&d.errors);
        for (row, (k, model, errors)) in of.iter().rev().enumerate() {
            let values = if performance {
                &errors.performance
            } else {
                &errors.energy
            };
            let Some(s) = Spread::of(values.iter().map(|v| 100.0 * v).collect()) else {
                continue;
            };
            let at = names.len() as f64;
            // One name for the models of a device, at its middle.
            names.push(if row == of.len() / 2 {
                format!("{}: p {}{star}", d.name, rounded(test.p_value))
            } else {
                String::new()
            });
            let tip = format!(
                "{}, {model}: median {} %, middle half {} … {} %, n = {}",
                d.name,
                three(s.median),
                three(s.q1),
                three(s.q3),
                s.n
            );
            boxes[*k].push(Bar {
                at: at + 0.12,
                thick: 0.5,
                from: s.q1,
                to: s.q3,
                tip,
                ..Bar::default()
            });
            medians.extend([(s.median, at - 0.13), (s.median, at + 0.37), BREAK]);
            dots[*k].extend(values.iter().zip(&d.errors.benchmarks).map(|(v, b)| Mark {
                x: 100.0 * v,
                y: at - 0.3,
                interval: None,
                tip: format!("{b}: {}", percent(*v)),
            }));
        }
    }
    names.push(String::new());
    let mut panel = Panel::new(
        name,
        Axis::new(quantity, Unit::None, Scale::Linear),
        Axis::new("", Unit::None, Scale::Names(names)),
    );
    panel.height = Height::Rows(17.0);
    let zero = What::Rule {
        x: Some(0.0),
        y: None,
        dash: "",
    };
    panel.push(Layer::of(0, zero).inked(Ink::Quiet));
    for (k, bars) in boxes.into_iter().enumerate() {
        panel.push(Layer::bars(k, bars));
    }
    panel.push(Layer::dashed(0, medians.clone(), 4.0, "", "").inked(Ink::Paper));
    panel.push(Layer::dashed(0, medians, 2.0, "", "").inked(Ink::Text));
    for (k, marks) in dots.into_iter().enumerate() {
        panel.push(Layer::points(k, marks, 4.0));
    }
    panel
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_calibrate::fit::KsTest;

    fn device(p_value: f64, clocked: bool) -> Device {
        let test = KsTest {
            statistic: 0.3,
            p_value,
            mean_abs_error_capped: 0.02,
            mean_abs_error_uncapped: 0.1,
        };
        let errors = |x: f64| ModelErrors {
            performance: (0..9).map(|k| x * f64::from(k)).collect(),
            energy: (0..9).map(|k| x * f64::from(k - 4)).collect(),
        };
        Device {
            name: format!("device {p_value}"),
            errors: CapErrors {
                benchmarks: (0..9).map(|k| format!("f64 I={k}")).collect(),
                uncapped: errors(0.03),
                capped: errors(0.01),
                clocked: clocked.then(|| errors(0.005)),
                usable_power_w: 100.0,
                performance_test: test,
                energy_test: test,
            },
        }
    }

    #[test]
    fn devices_have_a_box_a_model_and_asterisks_where_they_differ() {
        let c = figure("errors", &[device(0.001, true), device(0.4, false)]);
        for width in [420.0, 900.0] {
            assert!(c.faults(width).is_empty(), "{:?}", c.faults(width));
        }
        for panel in &c.panels {
            let bars = panel.layers.iter().filter_map(|l| match &l.what {
                What::Bars { bars, .. } => Some(bars.len()),
                _ => None,
            });
            assert_eq!(bars.collect::<Vec<_>>(), [2, 2, 1]);
            let Scale::Names(names) = &panel.y.scale else {
                panic!()
            };
            assert!(
                names.contains(&"device 0.001: p < 0.01 **".to_owned()),
                "{names:?}"
            );
            assert!(
                names.contains(&"device 0.4: p 0.40".to_owned()),
                "{names:?}"
            );
        }
        // Every error is a dot.
        let dots: usize = (c.panels[0].layers.iter())
            .map(|l| match &l.what {
                What::Points { points, .. } => points.len(),
                _ => 0,
            })
            .sum();
        assert_eq!(dots, 9 * 5);
    }
}
