//! The config for a device and a size: of the nearest entry of wisdom, else the default.

use crate::{Size, family};
use greenup_device::CpuFacts;
use greenup_setting::setting;
use greenup_space::Value;
use greenup_tune::Problem;
use greenup_wisdom::lookup::Used;
use greenup_wisdom::{Choice, Device, Query, Wisdom, fits};

/// A config, and where it comes from.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Values of the parameters, in the order of the problem.
    pub config: Vec<Value>,
    /// The entry of wisdom; `None` for the default.
    pub used: Option<Used>,
    /// Where it comes from, in words.
    pub source: String,
    /// Entries for this very device that were passed over, with the reason.
    pub rejected: Vec<(String, String)>,
}

/// The config of the family for this host: of the nearest entry whose config its filters allow, with as many threads as
/// the host has cores; else the default.
pub fn choose(
    wisdom: &Wisdom,
    problem: &Problem,
    cpu: &CpuFacts,
    size: Size,
    objective: &str,
) -> Chosen {
    let device = Device::of_cpu(cpu);
    let query = Query {
        problem: &problem.space.name,
        precision: "f64",
        objective,
        device: &device,
        exact: &[],
        size: &sizes(size),
    };
    let cores = Value::Int(cpu.cores.len() as i64);
    let mut refused = Vec::new();
    let found = wisdom.choose(&query, |e| {
        let mut config = e.config.clone();
        config.insert("nthreads".into(), cores.clone());
        let checked = fits::complete(&problem.space, &config)
            .and_then(|c| fits::listed(&problem.space, &c).map(|()| c))
            .and_then(|c| fits::check(&problem.space, &c).map(|()| c));
        checked.inspect_err(|reason| refused.push((e.id(), reason.clone())))
    });
    match found {
        Some((choice, config)) => Chosen {
            config,
            source: source(&choice, size),
            used: Some(choice.used()),
            rejected: choice.rejected,
        },
        None => Chosen {
            config: family::untuned(problem, cpu),
            used: None,
            source: format!("no wisdom: a guess; {} finds better", setting("tune").on()),
            rejected: refused,
        },
    }
}

fn sizes(size: Size) -> [(&'static str, i64); 3] {
    [("size_m", size.m), ("size_n", size.n), ("size_k", size.k)]
        .map(|(n, v)| (n, i64::try_from(v).unwrap_or(i64::MAX)))
}

fn source(choice: &Choice, size: Size) -> String {
    let text = choice.text();
    let int = |n: &str| choice.entry.constants.get(n).and_then(Value::as_int);
    let of = [int("size_m"), int("size_n"), int("size_k")];
    match of {
        [Some(m), Some(n), Some(k)] if sizes(size).map(|s| Some(s.1)) != of => {
            let text = text.trim_end_matches(", another size");
            format!("{text}, tuned for {m} × {n} × {k}")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_wisdom::{Entry, Map, Origin, Provenance};

    #[test]
    fn the_nearest_entry_is_adapted_and_what_cannot_run_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let cpu = CpuFacts::read();
        let size = Size {
            m: 64,
            n: 64,
            k: 64,
        };
        let problem = family::problem(dir.path(), size, &cpu).unwrap();
        let named: Vec<String> = problem.space.names().map(str::to_owned).collect();
        let config = named.iter().cloned().zip(family::untuned(&problem, &cpu));
        let mut device = Device::of_cpu(&cpu);
        device.name = "another".into();
        device.facts.insert("cores".into(), 64);
        let mut entry = Entry {
            problem: "dgemm".into(),
            precision: "f64".into(),
            objective: "time".into(),
            time_s: 1.0,
            time_range_s: None,
            energy_j: None,
            energy_range_j: None,
            config: config.collect(),
            constants: [("size_m", 8), ("size_n", 8), ("size_k", 8)]
                .map(|(n, v)| (n.to_owned(), Value::Int(v)))
                .into(),
            device,
            provenance: Provenance::default(),
        };
        entry.config.insert("nthreads".into(), Value::Int(64));
        let wisdom = |e: &Entry| Wisdom {
            known: vec![(e.clone(), Origin::Shipped)],
            map: Map::default(),
        };
        let got = choose(&wisdom(&entry), &problem, &cpu, size, "time");
        assert_eq!(got.config, family::untuned(&problem, &cpu));
        assert!(
            got.source.contains("config of another, 64 cores"),
            "{}",
            got.source
        );
        assert!(
            got.source.ends_with("tuned for 8 × 8 × 8"),
            "{}",
            got.source
        );
        // A register tile that no processor has.
        entry.config.insert("mr".into(), Value::Int(1_000_000));
        let got = choose(&wisdom(&entry), &problem, &cpu, size, "time");
        assert!(got.used.is_none() && got.source.starts_with("no wisdom"));
        assert!(got.rejected[0].1.contains("mr"), "{:?}", got.rejected);
        assert!(
            choose(&wisdom(&entry), &problem, &cpu, size, "energy")
                .rejected
                .is_empty()
        );
    }
}
