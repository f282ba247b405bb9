//! The text of a config in OpenCL C, and whether its kernels can be launched on their device.

use super::cubin::Ready;
use super::launches::matched;
use crate::error::{BuildError, CompileError, EnvironmentFault};
use crate::problem::{ConfigError, Launch, Problem};
use crate::sweep::Failure;
use crate::worker::protocol::{Built, OpenCl, OpenClTarget};
use greenup_device::opencl::{Device, DeviceKind, KernelFacts};
use greenup_space::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// How a worker finds a device.
pub fn target(device: &Device) -> OpenClTarget {
    OpenClTarget {
        address: device.address,
        on_host: device.kind == DeviceKind::Cpu,
    }
}

/// Writes the text of a config into `dir`: its macros, then the first source.
///
/// # Errors
/// A derived value does not exist for the config, or a file cannot be read or written.
pub fn source(
    p: &Problem,
    config: &[Value],
    device: &Device,
    dir: &Path,
) -> Result<OpenCl, BuildError> {
    let folder = p.absolute_dir();
    let first = p.build.sources.first().cloned().unwrap_or_default();
    let unreadable = |what: &Path, source| CompileError::Io {
        what: what.display().to_string(),
        source,
    };
    let mut text = String::new();
    for d in p
        .defines(config)
        .map_err(|e| CompileError::from(ConfigError::from(e)))?
    {
        if let Some((name, value)) = d.strip_prefix("-D").and_then(|d| d.split_once('=')) {
            let _ = writeln!(text, "#define {name} {value}");
        }
    }
    let mut options = p.build.flags();
    if p.build.sources.len() > 1 {
        // Caches of drivers see only the text: changed headers must be compiled anew.
        let mut headers = Vec::new();
        for s in p.build.sources.iter().skip(1) {
            let path = folder.join(s);
            headers.push(std::fs::read(&path).map_err(|e| unreadable(&path, e))?);
        }
        let _ = writeln!(text, "// headers {}", greenup_files::Cache::key(&headers));
        let folder = folder.display().to_string();
        options.push(if folder.contains(' ') {
            format!("-I \"{folder}\"")
        } else {
            format!("-I {folder}")
        });
    }
    let name = first
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let path = folder.join(&first);
    let kernels = std::fs::read_to_string(&path).map_err(|e| unreadable(&path, e))?;
    // Messages of the compiler name the user's file and line.
    let _ = write!(text, "#line 1 \"{name}\"\n{kernels}");
    let options = options.join(" ");
    let key = greenup_files::Cache::key([text.as_bytes(), options.as_bytes()]);
    let file = dir.join(format!("{key}.cl"));
    greenup_files::write(&file, text).map_err(|e| EnvironmentFault(e.to_string()))?;
    Ok(OpenCl {
        file,
        name,
        options,
        target: target(device),
    })
}

/// Checks the launches of a compiled config against the limits of the device, before any launch.
///
/// # Errors
/// A launch names a kernel that does not exist, a kernel takes other arguments, or an expression has no value.
pub fn ready(
    p: &Problem,
    config: &[Value],
    device: &Device,
    of: OpenCl,
    kernels: &[KernelFacts],
) -> Result<Ready, CompileError> {
    let launches = p.launches(config)?;
    let mut facts = BTreeMap::new();
    let mut rejected = None;
    for m in matched(&launches, kernels, |k| &k.name)? {
        let (l, k) = (m.launch, m.kernel);
        check_arguments(p, l, k)?;
        if m.main {
            let mut put = |name: &str, v: f64| facts.insert(name.to_owned(), v);
            put("threads", f64::from(l.shape.threads()));
            put("shared_bytes", local_bytes(l, k) as f64);
            put("private_bytes", k.private_bytes as f64);
            put("max_work_group", k.max_work_group as f64);
        }
        if let Some(why) = cannot(l, k, device) {
            // No work-group of it fits.
            facts.insert("blocks".to_owned(), 0.0);
            rejected.get_or_insert((Failure::Launch, why));
        }
    }
    if rejected.is_none() {
        rejected = (p.rejects(config, &facts)?).map(|why| (Failure::Invalid, why));
    }
    Ok(Ready {
        built: Built::OpenCl {
            program: of,
            launches,
        },
        facts,
        rejected,
    })
}

fn local_bytes(l: &Launch, k: &KernelFacts) -> i64 {
    k.local_bytes + i64::from(l.shape.shared)
}

/// A kernel takes the problem's arguments, and behind them local memory where the launch has `shared`.
fn check_arguments(p: &Problem, l: &Launch, k: &KernelFacts) -> Result<(), CompileError> {
    let (has, takes) = (p.data.len(), k.arguments);
    let local = usize::from(l.shape.shared > 0);
    if takes == has + local || takes == has + 1 && p.launches_share() {
        return Ok(());
    }
    let shared = match local {
        1 => " and `shared`, for which a `__local` pointer stands behind them",
        _ => "",
    };
    Err(CompileError::Rejected(format!(
        "`{}` takes {takes} parameters, the problem has {has} [[arguments]]{shared}",
        l.kernel
    )))
}

/// Why a device cannot launch a kernel.
fn cannot(l: &Launch, k: &KernelFacts, device: &Device) -> Option<String> {
    let threads = i64::from(l.shape.threads());
    let limit = [
        Some(k.max_work_group).filter(|n| *n > 0),
        device.fact("max_work_group_size"),
    ];
    let limit = limit.into_iter().flatten().min().unwrap_or(i64::MAX);
    if threads > limit || threads == 0 {
        return Some(format!(
            "`{}` cannot be launched: {threads} work-items a work-group, the device allows this kernel 1 to {limit}",
            l.kernel
        ));
    }
    for (name, n) in ["max_local_x", "max_local_y", "max_local_z"]
        .into_iter()
        .zip(l.shape.block)
    {
        let most = device.fact(name).unwrap_or(i64::MAX);
        if i64::from(n) > most {
            return Some(format!(
                "`{}` cannot be launched: a work-group of {n} along {}, the device allows {most}",
                l.kernel,
                name.trim_start_matches("max_local_")
            ));
        }
    }
    let (local, most) = (local_bytes(l, k), device.fact("local_bytes")?);
    (local > most).then(|| {
        format!(
            "`{}` cannot be launched: {local} bytes of local memory, the device has {most}",
            l.kernel
        )
    })
}

/// Lines of a build log that name errors, with the user's file in place of the compiler's names for it.
pub(crate) fn brief(log: &str, name: &str) -> String {
    let named = |line: &str| -> String {
        for other in ["<kernel>", "<source>", "<program source>", "<built-in>"] {
            if let Some(rest) = line.strip_prefix(other) {
                return format!("{name}{rest}");
            }
        }
        line.to_owned()
    };
    let errors: Vec<String> = (log.lines().map(str::trim))
        .filter(|l| l.contains("error"))
        .take(3)
        .map(named)
        .collect();
    if errors.is_empty() {
        (log.lines().take(5).map(named))
            .collect::<Vec<_>>()
            .join("\n")
    } else {
        errors.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_cut_to_its_errors_with_the_users_file() {
        let log = "warning: x\n<kernel>:3:7: error: expected ';'\n   y\n1 error generated.\n";
        assert_eq!(
            brief(log, "k.cl"),
            "k.cl:3:7: error: expected ';'\n1 error generated."
        );
        assert_eq!(brief("k.cl:1:2: no\n", "k.cl"), "k.cl:1:2: no");
    }
}
