//! How far the power cap slows flops and memory operations over intensity (slides 36 and 95 to 98 of Choi et al.).

use greenup_model::EnergyRoofline;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What,
};

/// Points of a line.
const SAMPLES: usize = 160;

/// Throttling coefficients of machines, named, for intensities from `range.0` to `range.1`; one panel each. Where the cap
/// binds is shaded.
pub fn figure(machines: &[(String, EnergyRoofline)], range: (f64, f64)) -> Chart {
    let (lo, hi) = range;
    let intensities = || (0..=SAMPLES).map(move |k| lo * (hi / lo).powf(k as f64 / SAMPLES as f64));
    let panels = machines.iter().map(|(name, r)| {
        let y = Axis::new("throttling coefficient", Unit::None, Scale::Log2);
        let x = Axis::new("intensity", Unit::plain("flop/B"), Scale::Log2).over(lo, hi);
        let mut panel = Panel::new(name, x, y);
        panel.height = Height::Ratio(0.7);
        let (from, to) = (r.balance_minus().max(lo), r.balance_plus().min(hi));
        if from < to {
            panel.push(Layer::of(2, What::Range { x: (from, to) }));
        }
        let line = |f: &dyn Fn(f64) -> f64| intensities().map(|i| (i, f(i))).collect();
        panel.push(Layer::line(0, line(&|i| r.throttling(i).flop), "flops"));
        let memory = line(&|i| r.throttling(i).mem);
        panel.push(Layer::line(1, memory, "memory operations"));
        panel
    });
    Chart {
        title: "Slowdown against each class's own peak, with the power cap".into(),
        series: vec![
            Series::new("flops", Ink::Series(0), Sign::Line),
            Series::new("memory operations", Ink::Series(1), Sign::Line),
            Series::new("", Ink::Series(2), Sign::Area),
        ],
        notes: vec!["Shaded: the power cap binds.".into()],
        panels: panels.collect(),
        least_width: 330.0,
        ..Chart::default()
    }
}
