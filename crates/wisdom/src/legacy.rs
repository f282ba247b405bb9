//! The files of earlier versions: `gemm.toml` and `gisaxs.toml` in the user's data folder. They are read, never changed.

use crate::device::{Device, Kind};
use crate::entry::{Entry, Provenance};
use crate::store::{StoreError, brief};
use greenup_files::FileError;
use greenup_space::Value;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// Names of the files.
pub const FILES: [&str; 2] = ["gemm.toml", "gisaxs.toml"];

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gemm {
    #[serde(default)]
    known: Vec<Product>,
}

#[derive(Deserialize)]
struct Product {
    device: String,
    threads: i64,
    m: i64,
    n: i64,
    k: i64,
    objective: String,
    time_s: f64,
    energy_j: Option<f64>,
    compiler: String,
    at: u64,
    config: BTreeMap<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gisaxs {
    #[serde(default)]
    cpu: BTreeMap<String, BTreeMap<String, Value>>,
    #[serde(default)]
    gpu: BTreeMap<String, BTreeMap<String, Value>>,
    #[serde(default)]
    gpu_list: BTreeMap<String, BTreeMap<String, Value>>,
}

/// The time that stands for an unknown one: the config was chosen, its time was not recorded.
pub const UNKNOWN_S: f64 = 1e9;

/// The entries of a file of an earlier version, by its name; empty where there is none.
///
/// # Errors
/// It cannot be read, or its contents are invalid.
pub fn read(path: &Path) -> Result<Vec<Entry>, StoreError> {
    let entries = match path.file_name().and_then(|n| n.to_str()) {
        Some("gemm.toml") => gemm(table(path)?, path),
        Some("gisaxs.toml") => gisaxs(table(path)?, path),
        _ => Vec::new(),
    };
    for e in &entries {
        e.check().map_err(|m| StoreError::Invalid {
            path: path.to_owned(),
            message: format!("entry of `{}`: {m}", e.device.name),
        })?;
    }
    Ok(entries)
}

fn table<T: DeserializeOwned + Default>(path: &Path) -> Result<T, StoreError> {
    match greenup_files::read_text(path) {
        Ok(text) => toml::from_str(&text).map_err(|e| StoreError::Invalid {
            path: path.to_owned(),
            message: brief(&e),
        }),
        Err(FileError::Read { cause, .. }) if cause.kind() == ErrorKind::NotFound => {
            Ok(T::default())
        }
        Err(e) => Err(e.into()),
    }
}

fn device(kind: Kind, name: &str) -> Device {
    match kind {
        Kind::Gpu => Device::of_gpu_name(name, ""),
        Kind::Cpu => Device {
            kind,
            name: name.to_owned(),
            architecture: String::new(),
            facts: BTreeMap::new(),
        },
    }
}

fn entry(problem: &str, precision: &str, device: Device, path: &Path) -> Entry {
    Entry {
        problem: problem.into(),
        precision: precision.into(),
        objective: "time".into(),
        time_s: UNKNOWN_S,
        time_range_s: None,
        energy_j: None,
        energy_range_j: None,
        config: BTreeMap::new(),
        constants: BTreeMap::new(),
        device,
        provenance: Provenance {
            from: path.display().to_string(),
            ..Provenance::default()
        },
    }
}

fn gemm(file: Gemm, path: &Path) -> Vec<Entry> {
    let one = |p: Product| {
        let mut device = device(Kind::Cpu, &p.device);
        device.facts.insert("cores".into(), p.threads);
        let mut out = entry("dgemm", "f64", device, path);
        let size = [("size_m", p.m), ("size_n", p.n), ("size_k", p.k)];
        out.constants = size.map(|(n, v)| (n.to_owned(), Value::Int(v))).into();
        out.objective = p.objective;
        (out.time_s, out.energy_j) = (p.time_s, p.energy_j);
        out.config = p.config;
        out.provenance.compiler = p.compiler;
        out.provenance.at = p.at;
        out
    };
    file.known.into_iter().map(one).collect()
}

fn gisaxs(file: Gisaxs, path: &Path) -> Vec<Entry> {
    let of = |problem, kind, configs: BTreeMap<String, BTreeMap<String, Value>>| {
        let one = move |(name, config): (String, BTreeMap<String, Value>)| Entry {
            config,
            ..entry(problem, "f32", device(kind, &name), path)
        };
        configs.into_iter().map(one)
    };
    // The file had the application's names for the blocks of a CPU.
    let blocks = |old: BTreeMap<String, Value>| -> BTreeMap<String, Value> {
        let name = |n: String| match n.as_str() {
            "nodes" => "h_t".to_owned(),
            "unroll" => "per_lane".to_owned(),
            _ => n,
        };
        old.into_iter().map(|(n, v)| (name(n), v)).collect()
    };
    let cpu = file.cpu.into_iter().map(|(n, c)| (n, blocks(c))).collect();
    of("form_factor_cpu", Kind::Cpu, cpu)
        .chain(of("form_factor_gpu", Kind::Gpu, file.gpu))
        .chain(of("form_factor_list", Kind::Gpu, file.gpu_list))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_earlier_versions_are_read_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gemm.toml");
        assert_eq!(read(&path).unwrap(), []);
        let text = "[[known]]\ndevice = 'd'\nthreads = 2\nm = 1\nn = 2\nk = 3\nobjective = 'time'\ntime_s = 1.5\ncompiler = 'cc'\nat = 7\n[known.config]\nmr = 8\na_inner = true\n";
        std::fs::write(&path, text).unwrap();
        let all = read(&path).unwrap();
        assert_eq!((all[0].time_s, all[0].device.units()), (1.5, Some(2)));
        assert_eq!(all[0].constants["size_k"], Value::Int(3));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        std::fs::write(&path, "known = 3").unwrap();
        let e = read(&path).unwrap_err().to_string();
        assert!(
            e.contains("gemm.toml: invalid wisdom") && e.contains("line 1"),
            "{e}"
        );

        let path = dir.path().join("gisaxs.toml");
        let text =
            "[cpu.x]\npoints = 4096\nnodes = 512\nunroll = 2\n[gpu.'NVIDIA H200']\ndim_y = 64\n";
        std::fs::write(&path, text).unwrap();
        let all = read(&path).unwrap();
        assert_eq!(all[0].config["h_t"], Value::Int(512));
        assert_eq!(all[1].device.architecture, "sm_90");
    }
}
