//! Tuning parameters of the P2P kernel from wisdom.

use super::config::Config;
use crate::kernel::Kernel;
use crate::precision::Real;
use greenup_space::Value;
use greenup_wisdom::{Choice, Device, Query, Wisdom, fits};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The problem that is tuned: potentials of Laplace.
pub const PROBLEM: &str = "fmm_ulist";

/// Its file, whose filters say what a GPU can run.
const FILE: &str = include_str!("../kernels/tune/problem.toml");

impl Config {
    /// The config for a GPU: of the nearest entry that the GPU can run, which is returned too; else the default. Only
    /// potentials of Laplace are tuned.
    pub fn tuned<'w, R: Real>(
        wisdom: &'w Wisdom,
        device: &Device,
        kernel: Kernel,
        gradient: bool,
    ) -> (Self, Option<Choice<'w>>) {
        let default = Self::default_for::<R>(kernel, gradient);
        if kernel != Kernel::Laplace || gradient {
            return (default, None);
        }
        let elem = Value::Int(i64::from(R::DOUBLE));
        let of_precision = BTreeMap::from([("elem".to_owned(), elem)]);
        let Ok(space) = fits::space(FILE, device, &of_precision) else {
            return (default, None);
        };
        let query = Query {
            problem: PROBLEM,
            precision: R::NAME,
            objective: "time",
            device,
            exact: &[],
            size: &[],
        };
        let found = wisdom.choose(&query, |e| {
            let all = fits::complete(&space, &e.config)?;
            fits::listed(&space, &all)?;
            fits::check(&space, &all)?;
            let mut text = String::new();
            for (name, value) in &e.config {
                let _ = write!(text, "{name}={value},");
            }
            default.with(&text).map_err(|e| e.to_string())
        });
        match found {
            Some((choice, config)) => (config, Some(choice)),
            None => (default, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_wisdom::{Map, Origin, shipped};

    fn shipped() -> Wisdom {
        let entries = shipped::store().unwrap().entries.into_iter();
        Wisdom {
            known: entries.map(|e| (e, Origin::Shipped)).collect(),
            map: Map::shipped(),
        }
    }

    #[test]
    fn an_h100_uses_the_config_of_an_h200() {
        let wisdom = shipped();
        let h100 = Device::of_gpu_name("NVIDIA H100 80GB HBM3", "sm_90");
        let (config, choice) = Config::tuned::<f64>(&wisdom, &h100, Kernel::Laplace, false);
        let choice = choice.unwrap();
        assert!(
            choice.text().contains("config of NVIDIA H200"),
            "{}",
            choice.text()
        );
        assert_eq!(choice.entry.precision, "f64");
        assert_eq!((config.threads, config.targets, config.tile), (32, 2, 32));
        let h200 = Device::of_gpu_name("NVIDIA H200", "sm_90");
        let (_, choice) = Config::tuned::<f32>(&wisdom, &h200, Kernel::Laplace, false);
        assert_eq!(choice.unwrap().text(), "wisdom of this device");
        // Not tuned, or nothing known.
        assert!(
            Config::tuned::<f32>(&wisdom, &h200, Kernel::Laplace, true)
                .1
                .is_none()
        );
        let empty = Wisdom::default();
        let (config, choice) = Config::tuned::<f64>(&empty, &h200, Kernel::Laplace, false);
        assert!(choice.is_none());
        assert_eq!(config, Config::default_for::<f64>(Kernel::Laplace, false));
    }

    #[test]
    fn what_a_gpu_cannot_run_is_passed_over() {
        let mut wisdom = shipped();
        wisdom
            .known
            .retain(|(e, _)| e.problem == PROBLEM && e.objective == "time" && e.precision == "f64");
        let h200 = Device::of_gpu_name("NVIDIA H200", "sm_90");
        for (name, value) in [
            ("THREADS", 4096),
            ("ROOT", 3),
            ("UNROLL", 1 << 40),
            ("TARGETS", -1),
        ] {
            let mut bad = wisdom.clone();
            for (e, _) in &mut bad.known {
                e.config.insert(name.into(), Value::Int(value));
            }
            let (config, choice) = Config::tuned::<f64>(&bad, &h200, Kernel::Laplace, false);
            assert!(choice.is_none(), "{name}");
            assert_eq!(config, Config::default_for::<f64>(Kernel::Laplace, false));
        }
    }
}
