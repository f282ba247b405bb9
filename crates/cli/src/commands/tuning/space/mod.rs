//! `greenup space`.

mod text;

use crate::args::SpaceArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::stdout;
use greenup_app::{interrupt, output, print};
use greenup_files::{AtomicFile, FileError, Outputs, read_text};
use greenup_space::{
    Estimate, Funnel, Index, Limits, Space, SpaceError, Stop, Value, count, funnel, visit,
};
use greenup_study::pages::pruning::figure;
use greenup_tune::problem::ProblemFile;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Serialize)]
struct FilterJson<'a> {
    name: &'a str,
    kind: &'static str,
    expression: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'a str>,
    before: Option<u128>,
    after: Option<u128>,
    /// Of `after`, where it was not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<Estimated>,
}

#[derive(Serialize)]
struct Estimated {
    points: f64,
    standard_error: f64,
}

#[derive(Serialize)]
struct SpaceJson<'a> {
    name: &'a str,
    cartesian: Option<u128>,
    /// `None` where the time or the memory did not suffice to count.
    valid: Option<u128>,
    /// Of `valid`, where it was not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<Estimated>,
    /// Reading, compiling and indexing (or counting, when the space is too large to index).
    seconds: f64,
    peak_bytes: u64,
    indexed: bool,
    nest: Vec<&'a str>,
    filters: Vec<FilterJson<'a>>,
    /// Of `--sample`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<Vec<Sampled<'a>>>,
}

#[derive(Serialize)]
struct Sampled<'a> {
    point: u64,
    config: BTreeMap<&'a str, Value>,
}

pub fn run(args: &SpaceArgs) -> Result {
    let mut outputs = Outputs::new();
    outputs.input(&args.file);
    let drawn = output::figure(&mut outputs, args.out.as_deref(), args.json)?;
    let listed = output::optional(&mut outputs, args.points.as_deref(), &["csv"], args.json)?;
    let file = ProblemFile::of(&args.file, set(read_text(&args.file)?, args)?);
    let before = resident();
    let start = Instant::now();
    let space = Arc::new(read(&file, args.gpu.as_deref())?);
    let limits = Limits {
        bytes: usize::try_from(args.memory).unwrap_or(usize::MAX),
        cancelled: &interrupt::requested,
        ..Limits::default()
    };
    let spinner = greenup_app::progress::spinner("counting the valid points");
    let counted = points(&space, &limits, start + valid_time(args));
    spinner.finish_and_clear();
    let (index, valid) = counted?;
    let seconds = start.elapsed().as_secs_f64();
    let peak_bytes = peak()
        .saturating_sub(before)
        .max(index.as_ref().map_or(0, |i| i.bytes() as u64));
    let time = match args.time {
        Some(all) => limited(all).saturating_sub(start.elapsed()),
        None => Duration::from_secs(if args.json { 1 } else { 5 }),
    };
    let spinner = greenup_app::progress::spinner("counting the points left by each filter");
    let funnel = funnel(&space, valid, time, &limits).map_err(stopped);
    spinner.finish_and_clear();
    let funnel = funnel?;
    // A later stage counts what the time of the first did not suffice for.
    let last = funnel.rows.last();
    let valid = valid.or_else(|| last.map_or(funnel.cartesian, |r| r.after));

    let sampled = index
        .as_ref()
        .filter(|_| args.sample > 0)
        .map(|index| sample(index, args))
        .transpose()?;
    let names: Vec<&str> = space.names().collect();
    let to_stdout = [&drawn, &listed].map(|o| o.as_ref().is_some_and(Output::is_stdout));
    if args.json {
        print::json(&SpaceJson {
            name: &space.name,
            cartesian: funnel.cartesian,
            valid,
            estimate: text::estimate(&funnel).map(Estimated::from),
            seconds,
            peak_bytes,
            indexed: index.is_some(),
            nest: space.nest().collect(),
            filters: filters(&space, &funnel),
            sample: sampled.map(|points| {
                let config = |p: Vec<Value>| names.iter().copied().zip(p).collect();
                points
                    .into_iter()
                    .map(|(point, p)| Sampled {
                        point,
                        config: config(p),
                    })
                    .collect()
            }),
        })?;
    } else if to_stdout == [false, false] {
        text::summary(&space, &funnel, valid, seconds);
        if let Some(points) = sampled {
            text::sample(&names, &points);
        }
    }
    if let Some(to) = &listed {
        export(&space, to)?;
    }
    if let Some(to) = &drawn {
        to.write_chart(
            &figure(&space, &funnel, index.as_ref()).chart(),
            &args.look.look(),
        )?;
    }
    if args.sample > 0 && index.is_none() {
        return Err(
            AppError::new("the space is too large to sample within these limits")
                .hint("raise them, as in --memory 4G --time 600"),
        );
    }
    if valid == Some(0) && !args.json {
        let killer = funnel
            .rows
            .iter()
            .find(|r| r.after == Some(0) && r.before != Some(0))
            .map(|r| space.filters()[r.filter].name.as_str());
        let e = AppError::new("no point of the space passes its filters");
        return Err(match killer {
            Some(name) => e.hint(format!("nothing is left after `{name}`: it contradicts a filter above it or the values themselves")),
            None => e,
        });
    }
    Ok(())
}

/// Time for the valid points: three fifths of what there is, so that they can still be estimated.
fn valid_time(args: &SpaceArgs) -> Duration {
    args.time
        .map_or(Duration::from_secs(30), |all| limited(all) * 3 / 5)
}

/// A century at most: a sum of instants and longer times may overflow.
fn limited(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.min(100.0 * 365.0 * 86_400.0))
}

/// The index of the space, and the number of its valid points: `None` where memory or time does not suffice.
fn points(
    space: &Arc<Space>,
    limits: &Limits,
    until: Instant,
) -> Result<(Option<Index>, Option<u128>)> {
    let late = || Instant::now() >= until || interrupt::requested();
    let limits = Limits {
        cancelled: &late,
        ..limits.clone()
    };
    match Index::build(space, &limits) {
        Ok(i) => {
            let points = u128::from(i.len());
            return Ok((Some(i), Some(points)));
        }
        Err(Stop::Memory) => {}
        Err(Stop::Cancelled) if !interrupt::requested() => return Ok((None, None)),
        Err(e) => return Err(stopped(e)),
    }
    match count(space, |_| true, &limits) {
        Ok(points) => Ok((None, Some(points))),
        Err(Stop::Memory) => Ok((None, None)),
        Err(Stop::Cancelled) if !interrupt::requested() => Ok((None, None)),
        Err(e) => Err(stopped(e)),
    }
}

impl From<Estimate> for Estimated {
    fn from(e: Estimate) -> Self {
        Self {
            points: e.points,
            standard_error: e.error,
        }
    }
}

fn filters<'a>(space: &'a Space, funnel: &Funnel) -> Vec<FilterJson<'a>> {
    funnel
        .rows
        .iter()
        .map(|r| {
            let f = &space.filters()[r.filter];
            FilterJson {
                name: &f.name,
                kind: f.strength.name(),
                expression: &f.expression,
                because: f.because.as_deref(),
                before: r.before,
                after: r.after,
                estimate: r.estimate.map(Estimated::from),
            }
        })
        .collect()
}

/// The text with what `--set` changes.
fn set(text: String, args: &SpaceArgs) -> Result<String> {
    if args.named.is_empty() {
        return Ok(text);
    }
    let of = |message: String| AppError::new(format!("{}: {message}", args.file.display()));
    let mut table: toml::Table = text
        .parse()
        .map_err(|e| of(format!("--set needs TOML: {e}")))?;
    greenup_tune::problem::set(&mut table, &args.named).map_err(|(m, hint)| of(m).hint(hint))?;
    Ok(table.to_string())
}

/// Reads a space with the facts of this host or a GPU, errors naming the file.
fn read(file: &ProblemFile, gpu: Option<&str>) -> Result<Space> {
    let facts = crate::search::facts::to_count(file, gpu)?;
    Space::read(file.text(), &facts).map_err(|e| named(e, &file.path))
}

fn named(e: SpaceError, path: &std::path::Path) -> AppError {
    AppError {
        hint: e.hint,
        ..AppError::new(format!("{}: {}", path.display(), e.message))
    }
}

fn stopped(e: Stop) -> AppError {
    match e {
        Stop::Fault(e) => AppError {
            hint: e.hint,
            ..AppError::new(e.message)
        },
        Stop::Cancelled => AppError::interrupted("stopped"),
        Stop::Memory => AppError::new("the space needs more than --memory").hint("raise it"),
    }
}

/// Points chosen uniformly, with their numbers.
fn sample(index: &Index, args: &SpaceArgs) -> Result<Vec<(u64, Vec<Value>)>> {
    let mut rng = fastrand::Rng::with_seed(args.seed);
    let chosen = index.sample(args.sample, &mut rng, &interrupt::requested);
    let chosen = chosen.map_err(|e| match e {
        Stop::Memory => AppError::new(format!("no memory for --sample {}", args.sample)),
        e => stopped(e),
    })?;
    Ok(chosen
        .into_iter()
        .filter_map(|i| Some((i, index.get(i)?)))
        .collect())
}

/// All points as CSV, streamed.
fn export(space: &Space, to: &Output) -> Result {
    match to {
        Output::Stdout => {
            stream(space, stdout::Writer, "standard output", &stdout::lost)?;
        }
        Output::File(path, _) => {
            let file = AtomicFile::create(path)?;
            stream(space, file, &path.display().to_string(), &|| false)?.commit()?;
        }
    }
    to.print_name();
    Ok(())
}

/// Gives the writer back when all points are in it.
fn stream<W: Write>(space: &Space, to: W, name: &str, lost: &dyn Fn() -> bool) -> Result<W> {
    let mut w = csv::Writer::from_writer(to);
    let names: Vec<&str> = space.names().collect();
    let mut failed = w.write_record(&names).err();
    visit(space, &mut |p| {
        if failed.is_none() {
            failed = w.write_record(p.iter().map(Value::to_string)).err();
        }
        failed.is_none() && !lost() && !interrupt::requested()
    })?;
    let failed_to =
        |e: std::io::Error| AppError::from(FileError::write(std::path::Path::new(name))(e));
    if let Some(e) = failed {
        return Err(match e.into_kind() {
            csv::ErrorKind::Io(e) => failed_to(e),
            e => AppError::new(format!("{name}: a row of points cannot be written: {e:?}")),
        });
    }
    if interrupt::requested() {
        return Err(AppError::interrupted("stopped"));
    }
    w.into_inner().map_err(|e| failed_to(e.into_error()))
}

/// A line of /proc/self/status in bytes; 0 where there is none.
fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines()
        .find_map(|l| {
            l.strip_prefix(key)?
                .trim()
                .strip_suffix("kB")?
                .trim()
                .parse::<u64>()
                .ok()
        })
        .map_or(0, |kb| kb * 1024)
}

fn resident() -> u64 {
    status("VmRSS:")
}

fn peak() -> u64 {
    status("VmHWM:")
}
