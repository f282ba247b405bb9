//! The fastest kernels of whole steps, as the online tuner found them: to wisdom and from it.

use crate::hydro::Hydro;
use greenup_space::Value;
use greenup_wisdom::{Choice, Device, Entry, Provenance, Query, Wisdom};
use std::collections::BTreeMap;

/// The problem that is tuned: a step of one element and assembly.
pub const PROBLEM: &str = "hydro_step";
/// The one parameter: a candidate by its name.
const KERNELS: &str = "kernels";

fn integer(n: usize) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

/// What a step is tuned for, but for the number of zones.
fn constants(h: &Hydro, full: bool) -> [(&'static str, Value); 4] {
    let e = &h.space.element;
    let assembly = if full { "full" } else { "partial" };
    [
        ("shape", Value::Str(format!("{:?}", e.shape).to_lowercase())),
        ("order", integer(e.order)),
        ("energy_order", integer(e.energy_order)),
        ("assembly", Value::Str(assembly.to_owned())),
    ]
}

/// The entry of the candidate that the tuner kept, the best of `trials`, with its median time of a step.
pub fn entry(
    h: &Hydro,
    full: bool,
    device: Device,
    kernels: &str,
    (time_s, trials): (f64, usize),
) -> Entry {
    let all = constants(h, full).map(|(n, v)| (n.to_owned(), v));
    let mut all = BTreeMap::from(all);
    all.insert("zones".to_owned(), integer(h.space.zones));
    Entry {
        problem: PROBLEM.to_owned(),
        precision: "f64".to_owned(),
        objective: "time".to_owned(),
        time_s,
        time_range_s: None,
        energy_j: None,
        energy_range_j: None,
        config: BTreeMap::from([(KERNELS.to_owned(), Value::Str(kernels.to_owned()))]),
        constants: all,
        device,
        provenance: Provenance {
            trials,
            ..Provenance::default()
        },
    }
}

/// The candidate of the nearest entry that is among the `candidates`, by its number; `None` without one.
pub fn candidate<'w>(
    wisdom: &'w Wisdom,
    h: &Hydro,
    full: bool,
    device: &Device,
    candidates: &[String],
) -> Option<(usize, Choice<'w>)> {
    let zones = i64::try_from(h.space.zones).unwrap_or(i64::MAX);
    let query = Query {
        problem: PROBLEM,
        precision: "f64",
        objective: "time",
        device,
        exact: &constants(h, full),
        size: &[("zones", zones)],
    };
    let found = wisdom.choose(&query, |e| {
        let named = match e.config.get(KERNELS) {
            Some(Value::Str(s)) => Some(s.as_str()),
            _ => None,
        };
        let at = candidates.iter().position(|c| Some(c.as_str()) == named);
        at.ok_or_else(|| format!("its kernels are none of the {} here", candidates.len()))
    });
    found.map(|(choice, n)| (n, choice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::problem::Problem;
    use crate::problem::initial_state::Orders;
    use greenup_wisdom::lookup::Nearness;
    use greenup_wisdom::{DeviceKind, Map, Origin};

    fn hydro() -> Hydro {
        let mesh = Mesh::open("square01_quad", 1).unwrap();
        let orders = Orders {
            kinematic: 2,
            energy: 1,
            cg_tol: 1e-8,
            cg_max: 100,
            cfl: 0.5,
        };
        Hydro::new(&mesh, Problem::of("1").unwrap(), &orders, 1.0)
            .unwrap()
            .0
    }

    #[test]
    fn kept_kernels_are_used_where_they_exist() {
        let h = hydro();
        let device = |name: &str, cores| Device {
            kind: DeviceKind::Cpu,
            name: name.to_owned(),
            architecture: "x86_64-avx2".into(),
            facts: BTreeMap::from([("cores".to_owned(), cores)]),
        };
        let e = entry(&h, false, device("a", 4), "b", (1e-3, 2));
        e.check().unwrap();
        let wisdom = Wisdom {
            known: vec![(e, Origin::Shipped)],
            map: Map::default(),
        };
        let all = ["a", "b"].map(str::to_owned);
        let found = |full, device: &Device, all: &[String]| {
            candidate(&wisdom, &h, full, device, all).map(|(n, c)| (n, c.nearness))
        };
        let own = device("a", 4);
        assert_eq!(found(false, &own, &all), Some((1, Nearness::Device)));
        let other = device("b", 8);
        assert_eq!(
            found(false, &other, &all),
            Some((1, Nearness::Architecture))
        );
        assert_eq!(found(false, &own, &all[..1]), None);
        assert_eq!(found(true, &own, &all), None);
    }
}
