//! Compiles a config for a GPU and checks its launches against the GPU's limits.

use super::launches::matched;
use crate::error::CompileError;
use crate::plan::GpuTarget;
use crate::problem::{ConfigError, Launch, Problem};
use crate::sweep::Failure;
use crate::worker::protocol::{Built, Cuda};
use greenup_device::cuda::{Capability, Gpu, Resources};
use greenup_space::Value;
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// What is to be compiled for a config.
///
/// # Errors
/// A derived value of the problem does not exist for this config.
pub fn source(p: &Problem, config: &[Value], on: &GpuTarget) -> Result<Cuda, CompileError> {
    let first = p.build.sources.first();
    let dir = p.absolute_dir();
    let mut options = p.build.flags();
    // Changed headers must be compiled anew; the cache sees only the first source.
    let mut h = DefaultHasher::new();
    for s in p.build.sources.iter().skip(1) {
        std::fs::read(dir.join(s)).unwrap_or_default().hash(&mut h);
    }
    if p.build.sources.len() > 1 {
        options.push(format!("--include-path={}", dir.display()));
        options.push(format!("-DGREENUP_HEADERS=0x{:016x}", h.finish()));
    }
    options.extend(p.defines(config).map_err(ConfigError::from)?);
    Ok(Cuda {
        source: dir.join(first.map_or(Path::new(""), PathBuf::as_path)),
        arch: arch(p, &on.gpu),
        options,
        cache: on.cubins.clone(),
    })
}

/// The problem's own architecture (`sm_90a`) where it is of the GPU's family, else the GPU's.
fn arch(p: &Problem, gpu: &Gpu) -> String {
    match &p.build.arch {
        Some(a) if a.starts_with(&gpu.arch) => a.clone(),
        _ => gpu.arch.clone(),
    }
}

/// A compiled config: how to run it, what it needs, and why it should not be run.
pub struct Ready {
    /// The compiled kernels with their launches.
    pub built: Built,
    /// By name: registers, shared_bytes, spill_bytes, threads, blocks, occupancy.
    pub facts: BTreeMap<String, f64>,
    /// Why it is not measured: it cannot be launched, or a filter is against it.
    pub rejected: Option<(Failure, String)>,
}

/// Checks the launches of a compiled config against the GPU's limits, before any launch.
///
/// # Errors
/// A launch names a kernel that does not exist, or an expression has no value for this config.
pub fn ready(
    p: &Problem,
    config: &[Value],
    on: &GpuTarget,
    file: PathBuf,
    kernels: &[Resources],
) -> Result<Ready, CompileError> {
    let launches = p.launches(config)?;
    let mut facts = BTreeMap::new();
    let mut rejected = None;
    let capability = Capability::of(&on.gpu.arch);
    for m in matched(&launches, kernels, |k| &k.name)? {
        let (l, k) = (m.launch, m.kernel);
        let (threads, dynamic) = (l.shape.threads(), l.shape.shared);
        let occupancy = capability.map(|c| c.occupancy(k, threads, dynamic));
        if let Some(o) = occupancy
            && o.blocks == 0
            && rejected.is_none()
        {
            rejected = Some((Failure::Launch, cannot(l, k, o)));
        }
        if m.main {
            let mut put = |name: &str, v: f64| facts.insert(name.to_owned(), v);
            put("registers", f64::from(k.registers));
            put("shared_bytes", f64::from(k.shared_bytes + dynamic));
            put(
                "spill_bytes",
                f64::from(k.spill_store_bytes + k.spill_load_bytes),
            );
            put("threads", f64::from(threads));
            if let Some(o) = occupancy {
                put("blocks", f64::from(o.blocks));
                put("occupancy", o.share);
            }
        }
    }
    if rejected.is_none() {
        rejected = (p.rejects(config, &facts)?).map(|why| (Failure::Invalid, why));
    }
    Ok(Ready {
        built: Built::Cubin {
            file,
            launches,
            maps: p.maps(config)?,
            textures: p.textures(config)?,
        },
        facts,
        rejected,
    })
}

fn cannot(l: &Launch, k: &Resources, o: greenup_device::cuda::Occupancy) -> String {
    format!(
        "`{}` cannot be launched: {} threads a block with {} registers each and {} bytes of shared memory exceed the {}",
        l.kernel,
        l.shape.threads(),
        k.registers,
        k.shared_bytes + l.shape.shared,
        o.limit
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_space::Facts;

    fn problem(more: &str) -> Result<Problem, String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("k.cu"), "").unwrap();
        let file = dir.path().join("problem.toml");
        let text = format!(
            "[parameters]\ntile = [32, 2048]\nsplit = [1, 2]\n[build]\nlanguage = \"cuda\"\nsources = [\"k.cu\"]\n{more}"
        );
        std::fs::write(&file, text).unwrap();
        Problem::read(&file, &Facts::new()).map_err(|e| e.message)
    }

    const LAUNCHES: &str = r#"
[compiled]
no_spills = { keep = "spill_bytes == 0", because = "slow" }
[[launch]]
kernel = "zero"
grid = [1]
block = [32]
when = "split > 1"
[[launch]]
kernel = "main"
grid = ["tile // 2", 3]
block = ["tile"]
shared = "8 * tile"
"#;

    fn kernel(name: &str, spill: u32) -> Resources {
        Resources {
            name: name.into(),
            registers: 40,
            spill_store_bytes: spill,
            ..Resources::default()
        }
    }

    fn tried(config: [i64; 2], kernels: &[Resources]) -> Result<Ready, CompileError> {
        let p = problem(LAUNCHES).unwrap();
        let on = GpuTarget {
            gpu: Gpu::known("h200").unwrap(),
            cubins: PathBuf::new(),
        };
        let config = config.map(Value::Int);
        ready(&p, &config, &on, PathBuf::from("k.cubin"), kernels)
    }

    #[test]
    fn launches_follow_the_config() {
        let both = [kernel("zero", 0), kernel("main", 0)];
        let r = tried([32, 2], &both).unwrap();
        let Built::Cubin { launches, .. } = &r.built else {
            panic!("no cubin")
        };
        assert_eq!(launches.len(), 2);
        assert_eq!(launches[1].shape.grid, [16, 3, 1]);
        assert_eq!(
            (launches[1].shape.block[0], launches[1].shape.shared),
            (32, 256)
        );
        assert_eq!(
            (r.rejected, r.facts["threads"], r.facts["registers"]),
            (None, 32.0, 40.0)
        );
        let r = tried([32, 1], &both).unwrap();
        assert!(matches!(r.built, Built::Cubin { launches, .. } if launches.len() == 1));
    }

    #[test]
    fn what_cannot_be_launched_or_is_not_worth_it_is_known_before() {
        // No block has 2048 threads.
        let r = tried([2048, 1], &[kernel("main", 0)]).unwrap();
        assert!(r.rejected.unwrap().1.contains("cannot be launched"));
        let r = tried([32, 1], &[kernel("main", 8)]).unwrap();
        assert_eq!(
            r.rejected.unwrap(),
            (Failure::Invalid, "no_spills: slow".to_owned())
        );
        assert_eq!(r.facts["spill_bytes"], 8.0);
        let missing = tried([32, 1], &[kernel("other", 0)])
            .err()
            .unwrap()
            .to_string();
        assert!(missing.contains("no kernel `main`") && missing.contains("other"));
    }

    #[test]
    fn bad_launches_are_refused_in_words() {
        let says = |more: &str, what: &str| {
            let m = problem(more).err().unwrap();
            assert!(m.contains(what), "{m}");
        };
        says("", "no [[launch]]");
        says(
            "[[launch]]\nkernel = \"k\"\ngrid = []\nblock = [1]\n",
            "1 to 3 numbers",
        );
        says(
            "[[launch]]\nkernel = \"k\"\ngrid = [\"2 *\"]\nblock = [1]\n",
            "grid `2 *`",
        );
        says(
            "[compiled]\nx = \"spill ==\"\n[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n",
            "[compiled] `x`",
        );
        says(
            "returns = \"ms\"\n[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n",
            "returns is for functions in C and C++",
        );
        let p = problem("[[launch]]\nkernel = \"k\"\ngrid = [\"-tile\"]\nblock = [1]\n").unwrap();
        assert!(
            p.launches(&[Value::Int(32), Value::Int(1)])
                .unwrap_err()
                .to_string()
                .contains("-32")
        );
    }
}
