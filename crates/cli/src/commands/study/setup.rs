//! How each device of a study is measured.

use crate::args::StudyArgs;
use crate::search::setup::launcher;
use greenup_app::error::Result;
use greenup_app::sensors::{Chosen, Target};
use greenup_app::{folders, print, sensors};
use greenup_calibrate::gpu::suite::policy;
use greenup_calibrate::suite::Depth;
use greenup_device::DeviceSpec;
use greenup_device::cuda::{Gpu, libraries};
use greenup_meter::Policy;
use greenup_study::{CpuOptions, GpuOptions, TuningOptions};

/// Seconds of the searches: CPU, GPU; with several devices, so that a CPU and a GPU take four minutes; with `--full`.
const SEARCH_S: (f64, f64) = (20.0, 30.0);
const SHARED_SEARCH_S: (f64, f64) = (20.0, 16.0);
const FULL_SEARCH_S: (f64, f64) = (120.0, 240.0);

/// How each device is measured.
pub fn options(
    args: &StudyArgs,
    cpu: bool,
    gpus: Vec<Gpu>,
    assumed: bool,
) -> Result<(Option<CpuOptions>, Vec<GpuOptions>)> {
    let several = usize::from(cpu) + gpus.len() > 1;
    let named = args.sensor.sensor.as_deref();
    let search = match (args.full, several) {
        (true, _) => FULL_SEARCH_S,
        (false, true) => SHARED_SEARCH_S,
        (false, false) => SEARCH_S,
    };
    let cpu = cpu
        .then(|| {
            let named = of_device(named, false, several);
            cpu_options(args, named, assumed, several && !args.full, search.0)
        })
        .transpose()?;
    let gpus = gpus
        .into_iter()
        .map(|g| gpu_options(args, g, of_device(named, true, several), search.1))
        .collect::<Result<Vec<_>>>()?;
    Ok((cpu, gpus))
}

/// The sensor that the user named, for a device: with several devices, one of NVML is for GPUs and any other for the CPU.
fn of_device(named: Option<&str>, gpu: bool, several: bool) -> Option<&str> {
    named.filter(|n| !several || *n == "none" || n.starts_with("nvml") == gpu)
}

fn cpu_options(
    args: &StudyArgs,
    named: Option<&str>,
    assumed: bool,
    shared: bool,
    search_s: f64,
) -> Result<CpuOptions> {
    let chosen = sensors::sensors(named, Target::Host, 0.5)?;
    if let Some(why) = &chosen.missing {
        print::note(if assumed {
            format!("cpu: time only: {why}")
        } else {
            format!(
                "cpu: time only: {why}; --assume MACHINE adds labelled estimates by a published machine"
            )
        });
    }
    if chosen.gpu_seen && args.device == DeviceSpec::All && libraries::driver().is_err() {
        print::warn(
            "an NVIDIA GPU is present, but the CUDA driver (libcuda.so) cannot be loaded: it is left out",
        );
    }
    let (mut policy, depth) = if args.full {
        (Policy::thorough(), Depth::Full)
    } else {
        (Policy::quick(), Depth::Quick)
    };
    if shared {
        policy.max_repeats = 5;
    }
    // Next to a GPU the time is for what has energies.
    let timed_only = shared && chosen.main().is_none();
    if timed_only && !args.no_tuning {
        print::note(
            "cpu: no kernel is tuned for its time alone next to a GPU: `greenup study --device cpu` does",
        );
    }
    let tuning = if args.no_tuning || timed_only {
        None
    } else {
        Some(TuningOptions {
            dir: args.out.join("tuning"),
            launcher: worker(&chosen)?,
            seconds: search_s,
            n: 1024,
            energy: chosen.main().is_some(),
        })
    };
    Ok(CpuOptions {
        name: args.name.clone(),
        depth,
        no_sensor: chosen.missing.clone(),
        tuning,
        meter: chosen.meter(policy),
    })
}

fn gpu_options(
    args: &StudyArgs,
    gpu: Gpu,
    named: Option<&str>,
    search_s: f64,
) -> Result<GpuOptions> {
    let device = format!("cuda:{}", gpu.ordinal);
    let chosen = match sensors::sensors(named, sensors::on_gpu(&gpu)?, 0.5) {
        // What the user did not name is no reason to end the study.
        Err(e) if named.is_none() => Chosen {
            sensors: Vec::new(),
            period_s: 0.0,
            missing: Some(match e.hint {
                Some(hint) => format!("{}; {hint}", e.message),
                None => e.message,
            }),
            gpu_seen: true,
        },
        chosen => chosen?,
    };
    if let Some(why) = &chosen.missing {
        print::note(format!("{device}: time only: {why}"));
    }
    Ok(GpuOptions {
        name: format!("{}{}", args.name, greenup_study::device::suffix(&device)),
        gpu,
        no_sensor: chosen.missing.clone(),
        launcher: worker(&chosen)?,
        full: args.full,
        cubins: folders::cache()?.join("cubins"),
        dir: args.out.clone(),
        tuning_s: (!args.no_tuning).then_some(search_s),
        meter: chosen.meter(policy(!args.full)),
    })
}

/// Starts the processes in which kernels run, with the sensor of their device.
fn worker(chosen: &Chosen) -> Result<greenup_tune::worker::launcher::Launcher> {
    let main = chosen.main();
    launcher(main.as_deref().map(|id| (id, chosen.period_s)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_sensor_is_for_the_device_that_it_can_watch() {
        for (named, gpu, several, want) in [
            (Some("nvml:0:energy"), true, true, true),
            (Some("nvml:0:energy"), false, true, false),
            (Some("rapl:package"), false, true, true),
            (Some("rapl:package"), true, true, false),
            (Some("external:watts"), true, false, true),
            (Some("none"), true, true, true),
            (Some("none"), false, true, true),
            (None, false, true, false),
        ] {
            assert_eq!(of_device(named, gpu, several).is_some(), want, "{named:?}");
        }
    }
}
