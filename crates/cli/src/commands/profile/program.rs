//! `greenup profile -- CMD`, and the page of an earlier run.

use super::sensors::{Watched, watched};
use super::terminal;
use crate::args::{MethodOfProfile, ProfileArgs};
use greenup_app::error::{AppError, Result};
use greenup_app::{interrupt, machine, print};
use greenup_device::cuda::Gpu;
use greenup_files::{Outputs, Scratch, ours};
use greenup_model::{Label, Machine};
use greenup_profile::activity::library::on_path;
use greenup_profile::activity::{Activity, Injection, library};
use greenup_profile::counters::{self, CountError};
use greenup_profile::record::{ACTIVITY, FILE, GpuFacts, NO_ACTIVITY};
use greenup_profile::run::{Exit, Program, Ran, run as run_program};
use greenup_profile::{Profile, Recorded, attribute, groups, page, table};
use greenup_report::provenance::Provenance;
use std::path::{Path, PathBuf};

pub fn run(args: &ProfileArgs) -> Result {
    let from = Provenance::of_process();
    let program = found(&args.command[0])?;
    let mut outputs = Outputs::new();
    for word in &args.command {
        outputs.input(word);
    }
    if let Some(input) = &args.input {
        outputs.input(input);
        std::fs::File::open(input).map_err(|e| {
            AppError::new(format!("--input {} cannot be read: {e}", input.display()))
        })?;
    }
    let models = Models::load(args, &mut outputs)?;
    let (method, gpus) = method(args)?;
    without_effect(args, method)?;
    let traced = matches!(method, MethodOfProfile::Time | MethodOfProfile::Counters);
    let cupti = if traced {
        Some(
            library::find(args.cupti.as_deref(), &program)
                .map_err(|e| AppError::new(e.to_string()).hint(e.hint()))?,
        )
    } else {
        None
    };
    let ncu = match method {
        MethodOfProfile::Counters => Some(counters::profiler().map_err(refused)?),
        _ => None,
    };
    let out = args.out.as_deref();
    if let Some(dir) = out {
        fresh(dir, &mut outputs)?;
    }
    let scratch = Scratch::create(std::env::temp_dir())?;
    let folder = match out {
        Some(dir) => dir.join(ACTIVITY),
        None => Scratch::folder(scratch.path(), ACTIVITY)?,
    };
    let mut environment = Vec::new();
    if let Some(cupti) = &cupti {
        std::fs::create_dir_all(&folder).map_err(greenup_files::FileError::write(&folder))?;
        if std::env::var_os("CUDA_INJECTION64_PATH").is_some() {
            print::warn(
                "CUDA_INJECTION64_PATH is set: another tool wants to be loaded, and is not",
            );
        }
        print::detail(|| format!("CUPTI: {}", cupti.display()));
        environment = Injection::prepare(cupti, scratch.path(), &folder)?.environment;
    }
    let watched = watched(args, &gpus)?;
    let what = Program {
        command: args.command.clone(),
        environment,
        input: args.input.clone(),
        to_stderr: args.json,
    };
    let Watched {
        sensors,
        gpus,
        host,
        other,
        notes,
    } = watched;
    let ran = run_program(&what, sensors)?;
    // What was measured is kept, also after Ctrl-C.
    let saving = interrupt::saving();
    let activity = if traced {
        Activity::read_all(&folder)?
    } else {
        Vec::new()
    };
    let mut recorded = recorded(args, ran, from, (gpus, host, notes));
    recorded.name_devices(&activity, other);
    if traced && activity.is_empty() {
        recorded.notes.push(NO_ACTIVITY.into());
    }
    if let Some(dir) = out {
        recorded.write(dir)?;
    }
    drop(saving);
    if let Some(ncu) = ncu.filter(|_| !interrupt::requested()) {
        count(args, &ncu, &activity, scratch.path(), &mut recorded)?;
    }
    let _saving = interrupt::saving();
    recorded.interrupted = interrupt::requested();
    if let Some(dir) = out {
        recorded.write(dir)?;
    }
    let profile = finish(args, &recorded, &activity, &models, out)?;
    terminal::print(args, &profile, &recorded)?;
    match (recorded.exit, recorded.interrupted) {
        (_, true) => Err(AppError::interrupted(
            "interrupted: the profile ends where the program was stopped",
        )),
        (Exit::Code(0), _) => Ok(()),
        (Exit::Code(n), _) => Err(AppError::new(format!(
            "`{}` exited with code {n}",
            args.command[0]
        ))),
        (Exit::Signal(n), _) => Err(AppError::new(format!(
            "`{}` was killed by signal {n}",
            args.command[0]
        ))),
    }
}

/// Redraws the page of an earlier run.
pub fn redraw(args: &ProfileArgs, dir: &Path) -> Result {
    let recorded = Recorded::read(dir).map_err(|e| {
        AppError::new(e.to_string())
            .hint("--from is the folder that --out of `greenup profile` wrote, or a table that `ncu --csv` printed")
    })?;
    let mut outputs = Outputs::new();
    let models = Models::load(args, &mut outputs)?;
    let folder = dir.join(ACTIVITY);
    let activity = if folder.is_dir() {
        Activity::read_all(&folder)?
    } else {
        Vec::new()
    };
    if recorded.lacks(&activity) {
        return Err(
            AppError::new(format!("{} holds no records of the GPU", folder.display()))
                .hint("the folder `activity` belongs to run.json: copy both"),
        );
    }
    let out = args.out.as_deref().unwrap_or(dir);
    outputs.folder(out)?;
    ours::check(out, DRAWN)?;
    let profile = finish(args, &recorded, &activity, &models, Some(out))?;
    terminal::print(args, &profile, &recorded)
}

/// The page of a table that `ncu --csv` printed.
pub fn import(args: &ProfileArgs, file: &Path) -> Result {
    if args.cpu_machine.is_some() {
        return Err(AppError::new(
            "--cpu-machine has no effect here: a table of ncu does not tell of the CPU",
        )
        .hint("leave it out; --machine names the model of the GPU"));
    }
    let mut all = table::read(file).map_err(|e| AppError::new(e.to_string()))?;
    all.recorded.provenance = serde_json::to_value(Provenance::of_process())?;
    let mut outputs = Outputs::new();
    outputs.input(file);
    let models = Models::load(args, &mut outputs)?;
    let out = args.out.as_deref();
    if let Some(dir) = out {
        outputs.folder(dir)?;
        ours::check(dir, DRAWN)?;
    }
    let profile = finish(args, &all.recorded, &all.activity, &models, out)?;
    terminal::print(args, &profile, &all.recorded)
}

/// Flags that this method does not use are refused.
fn without_effect(args: &ProfileArgs, method: MethodOfProfile) -> Result {
    let counts = method == MethodOfProfile::Counters;
    let cpu = method == MethodOfProfile::Cpu;
    let given = [
        (
            "--launches",
            args.launches.is_some() && !counts,
            "give --method counters",
        ),
        ("--cupti", args.cupti.is_some() && cpu, "give --method time"),
        (
            "--machine",
            args.machine.is_some() && cpu,
            "it is of a GPU: --cpu-machine is of the CPU",
        ),
    ];
    match given.into_iter().find(|g| g.1) {
        Some((flag, _, fix)) => {
            let how = if cpu {
                ": no GPU is profiled"
            } else {
                " without counters"
            };
            Err(AppError::new(format!("{flag} has no effect here{how}")).hint(fix))
        }
        None => Ok(()),
    }
}

/// What is written from a profile.
const DRAWN: [&str; 3] = ["profile.json", "kernels.csv", "report.html"];

/// The program's file.
fn found(name: &str) -> Result<PathBuf> {
    on_path(name).ok_or_else(|| {
        AppError::new(format!("`{name}` is not a program on the PATH, nor a file that can be run"))
            .hint("name it with its folder, as ./app, or run a script by its interpreter: -- python3 script.py")
    })
}

/// The method, and the GPUs of this host.
fn method(args: &ProfileArgs) -> Result<(MethodOfProfile, Vec<Gpu>)> {
    if args.method == MethodOfProfile::Cpu {
        return Ok((args.method, Vec::new()));
    }
    let gpus = Gpu::all();
    match (args.method, gpus) {
        (MethodOfProfile::Auto, Ok(gpus)) if !gpus.is_empty() => Ok((MethodOfProfile::Time, gpus)),
        (MethodOfProfile::Auto, _) => Ok((MethodOfProfile::Cpu, Vec::new())),
        (method, Ok(gpus)) => Ok((method, gpus)),
        (method, Err(e)) => {
            print::note(format!(
                "no GPU is seen here ({e}): what the program does on one is recorded all the same"
            ));
            Ok((method, Vec::new()))
        }
    }
}

/// A folder without an earlier profile.
fn fresh(dir: &Path, outputs: &mut Outputs) -> Result {
    outputs.folder(dir)?;
    ours::check(dir, DRAWN)?;
    let folder = dir.join(ACTIVITY);
    let used =
        folder.is_symlink() || std::fs::read_dir(&folder).is_ok_and(|mut d| d.next().is_some());
    if dir.join(FILE).symlink_metadata().is_ok() || used {
        return Err(
            AppError::new(format!("{} holds an earlier profile", dir.display()))
                .hint("name another folder; --from draws the page of the earlier one again"),
        );
    }
    Ok(())
}

fn refused(e: CountError) -> AppError {
    AppError::new(e.to_string()).hint(e.hint())
}

type Watching = (Vec<GpuFacts>, Option<String>, Vec<String>);

fn recorded(
    args: &ProfileArgs,
    ran: Ran,
    from: Provenance,
    (gpus, host_sensor, mut notes): Watching,
) -> Recorded {
    notes.extend(ran.notes);
    Recorded {
        version: Recorded::VERSION,
        command: args.command.clone(),
        exit: ran.exit,
        interrupted: interrupt::requested(),
        start_ns: ran.start_ns,
        wall_s: ran.wall_s,
        user_s: ran.user_s,
        system_s: ran.system_s,
        memory_bytes: ran.memory_bytes,
        cpu: ran.counts,
        traces: ran.traces,
        gpus,
        host_sensor,
        from_table: false,
        counters: Vec::new(),
        notes,
        provenance: serde_json::to_value(&from).unwrap_or_default(),
    }
}

/// Counts operations and bytes of the kernels in a second run.
fn count(
    args: &ProfileArgs,
    ncu: &Path,
    activity: &[Activity],
    scratch: &Path,
    recorded: &mut Recorded,
) -> Result {
    let devices = groups::devices(activity);
    let Some(main) = devices.iter().max_by(|a, b| a.busy_s.total_cmp(&b.busy_s)) else {
        print::warn("no kernels were recorded, so there is nothing to count");
        return Ok(());
    };
    print::note(
        "the program runs twice more, under ncu: for bytes and times, and for operations; what is counted there is repeated until all counters are known",
    );
    let mut command = args.command.clone();
    if let Some(input) = &args.input {
        let script = r#"f=$1; shift; exec "$@" < "$f""#;
        let shell = ["sh", "-c", script, "sh"].map(str::to_owned);
        command = shell
            .into_iter()
            .chain([input.display().to_string()])
            .chain(command)
            .collect();
    }
    let each = args.launches.unwrap_or(3) as usize;
    match counters::count(
        ncu,
        &command,
        &main.groups,
        each,
        scratch,
        &interrupt::requested,
    ) {
        Ok(counted) => recorded.counters = counted,
        Err(CountError::Stopped) => recorded
            .notes
            .push("counters were not read: interrupted".into()),
        // The times are there, and worth a page.
        Err(e) => {
            print::warn(format!("no counters: {e}"));
            print::note(e.hint());
            recorded.notes.push(format!("no counters: {e}"));
        }
    }
    Ok(())
}

/// Machine models.
struct Models {
    named: Option<Machine>,
    host: Option<Machine>,
    all: Vec<Machine>,
}

impl Models {
    fn load(args: &ProfileArgs, outputs: &mut Outputs) -> Result<Self> {
        let load = |name: &Option<String>, outputs: &mut Outputs| -> Result<Option<Machine>> {
            Ok(match name {
                Some(name) => Some(machine::input(name, outputs)?),
                None => None,
            })
        };
        Ok(Self {
            named: load(&args.machine, outputs)?,
            host: load(&args.cpu_machine, outputs)?,
            all: machine::all()?,
        })
    }

    /// The model of a GPU: the one that is named, else that whose title or name is the GPU's.
    fn of(&self, gpu: &GpuFacts) -> Option<Machine> {
        let name = gpu.name.to_lowercase();
        let fits = |m: &&Machine| {
            let title = m.title.to_lowercase();
            // Published machines have names of families, such as `titan`.
            let measured = m.label == Label::Measured && title.contains("nvidia");
            (name.len() > 3 && title.contains(&name))
                || (measured && name.contains(&m.name.to_lowercase()))
        };
        self.named
            .clone()
            .or_else(|| self.all.iter().find(fits).cloned())
    }

    fn by_name(&self, name: &str) -> Option<Machine> {
        (self.named.iter().chain(&self.all))
            .find(|m| m.name == name)
            .cloned()
    }
}

/// Splits the joules and writes the files.
fn finish(
    args: &ProfileArgs,
    recorded: &Recorded,
    activity: &[Activity],
    models: &Models,
    out: Option<&Path>,
) -> Result<Profile> {
    let profile = attribute(recorded, activity, &|g| models.of(g), models.host.as_ref());
    let Some(dir) = out else {
        return Ok(profile);
    };
    let mut page = page::page(&profile, &|name| models.by_name(name));
    let facts = recorded.provenance.as_object().into_iter().flatten();
    page.provenance = facts
        .filter_map(|(name, v)| Some(greenup_report::page::Fact::new(name, v.as_str()?)))
        .collect();
    ours::write(
        dir.join("profile.json"),
        terminal::json(&profile, recorded)?,
    )?;
    ours::write(dir.join("kernels.csv"), page::csv(&profile))?;
    let path = dir.join("report.html");
    ours::write(&path, page.render()?)?;
    if !args.json {
        print::note(format!("wrote {}", path.display()));
    }
    Ok(profile)
}
