//! Tuning parameters of the corner-force kernel from wisdom.

use super::config::Config;
use super::shared_bytes;
use crate::HydroError;
use crate::fem::element::Element;
use greenup_device::cuda::Gpu;
use greenup_space::Value;
use greenup_wisdom::{Choice, Device, Query, Wisdom, fits};
use std::collections::BTreeMap;

/// The problem that is tuned: the corner force of hexahedra, with energies of one order less and twice as many quadrature
/// points per direction as the order.
pub const PROBLEM: &str = "hydro_corner";

/// Its file, whose filters say what a GPU can run.
const FILE: &str = include_str!("../kernels/tune/problem.toml");

impl Config {
    /// Overrides of the default config, as [`Config::with`] reads them, from the nearest entry of the element's order that the
    /// GPU can run, which is returned too. `None` for elements and orders without an entry.
    pub fn tuned<'w>(
        wisdom: &'w Wisdom,
        device: &Device,
        e: &Element,
        shared: usize,
    ) -> Option<(String, Choice<'w>)> {
        let points = e.factors.as_ref().map(|f| f.points);
        if e.dim() != 3 || e.energy_order + 1 != e.order || points != Some(2 * e.order) {
            return None;
        }
        let degree = Value::Int(i64::try_from(e.order).ok()?);
        let constants = BTreeMap::from([("degree".to_owned(), degree.clone())]);
        let space = fits::space(FILE, device, &constants).ok()?;
        let query = Query {
            problem: PROBLEM,
            precision: "f64",
            objective: "time",
            device,
            exact: &[("degree", degree)],
            size: &[],
        };
        let (choice, text) = wisdom.choose(&query, |entry| {
            let all = fits::complete(&space, &entry.config)?;
            fits::listed(&space, &all)?;
            fits::check(&space, &all)?;
            let each = (entry.config.iter()).map(|(n, v)| format!("{}={v}", n.to_lowercase()));
            let text = each.collect::<Vec<_>>().join(",");
            let config = Self::default_for(e, shared).with(&text);
            let fits = config.and_then(|c| c.check(e, shared));
            fits.map_err(|e| e.to_string()).map(|()| text)
        })?;
        Some((text, choice))
    }
}

/// The tuning parameters of a run on a GPU: those of the user's wisdom or the shipped one, then `own` ones, as
/// [`Config::with`] reads them.
///
/// # Errors
/// There is no such GPU, or a file of wisdom is invalid.
pub fn parameters(e: &Element, ordinal: usize, own: &str) -> Result<String, HydroError> {
    let wisdom = greenup_app::wisdom::load()?;
    let gpu = Gpu::numbered(ordinal)?;
    let found = Config::tuned(&wisdom, &Device::of_gpu(&gpu), e, shared_bytes(&gpu));
    Ok(match found {
        Some((text, choice)) => {
            greenup_app::wisdom::note("corner force", &choice);
            format!("{text},{own}")
        }
        None => own.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fem::element::Shape;
    use greenup_wisdom::{Map, Origin, shipped};

    #[test]
    fn an_h100_uses_the_config_of_an_h200_for_its_order() {
        let entries = shipped::store().unwrap().entries.into_iter();
        let mut wisdom = Wisdom {
            known: entries.map(|e| (e, Origin::Shipped)).collect(),
            map: Map::shipped(),
        };
        let h100 = Device::of_gpu_name("NVIDIA H100 80GB HBM3", "sm_90");
        let element = |order| Element::new(Shape::Hex, order, order - 1);
        let (text, choice) = Config::tuned(&wisdom, &h100, &element(2), 232_448).unwrap();
        assert_eq!(text, "blocks=5,fused=1,threads=128,zones=2");
        assert!(
            choice.text().contains("config of NVIDIA H200"),
            "{}",
            choice.text()
        );
        assert!(Config::tuned(&wisdom, &h100, &element(3), 232_448).is_none());
        // The zones do not fit.
        assert!(Config::tuned(&wisdom, &h100, &element(2), 16 << 10).is_none());
        for (e, _) in &mut wisdom.known {
            e.config.insert("THREADS".into(), Value::Int(100));
        }
        assert!(Config::tuned(&wisdom, &h100, &element(2), 232_448).is_none());
    }
}
