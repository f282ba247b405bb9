//! A tunable kernel, as its problem file describes it.

mod argument;
mod cuda;
mod maps;
pub mod parts;
mod setting;
mod written;

pub use cuda::Launch;
pub use maps::Map;
pub use written::{Argument, Build, Data, Fill, Language, Measure, Rival, Role, Setup, Type};

use argument::{argument, check_fill, tolerance};
use cuda::{Kept, Launching};
use maps::Mapping;
use written::{LaunchText, MapText, ReferenceText};

use crate::objective::Objective;
use greenup_model::{Op, Work};
use greenup_space::expr::{Expr, parse};
use greenup_space::{Definition, Facts, SPACE_TABLES, Space, SpaceError, Value, with_line};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A problem file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct ProblemError {
    pub path: String,
    pub message: String,
    pub hint: Option<String>,
}

/// The kernel whose results are right.
#[derive(Clone, Debug)]
pub struct Reference {
    pub sources: Vec<PathBuf>,
    pub entry: String,
    /// Largest error allowed, over the largest value of the array.
    pub tolerance: f64,
}

/// A problem, ready to tune.
pub struct Problem {
    pub dir: PathBuf,
    pub space: Space,
    pub build: Build,
    pub data: Vec<Data>,
    pub setup: Option<Setup>,
    pub reference: Option<Reference>,
    pub rival: Option<Rival>,
    pub objective: Objective,
    pub measure: Measure,
    work: Vec<(Op, Expr)>,
    launches: Vec<Launching>,
    maps: Vec<Mapping>,
    kept: Vec<Kept>,
    /// What was written, by name.
    parts: BTreeMap<String, String>,
}

/// Tables of a problem beside those of its space.
const TABLES: [&str; 11] = [
    "build",
    "launch",
    "maps",
    "compiled",
    "rival",
    "arguments",
    "setup",
    "reference",
    "work",
    "objective",
    "measure",
];

/// The tables of a problem that are not of its space.
#[derive(Deserialize)]
struct Written {
    build: Build,
    #[serde(default)]
    arguments: Vec<Argument>,
    #[serde(default)]
    launch: Vec<LaunchText>,
    #[serde(default)]
    maps: Vec<MapText>,
    #[serde(default)]
    compiled: toml::Table,
    rival: Option<Rival>,
    setup: Option<Setup>,
    reference: Option<ReferenceText>,
    #[serde(default)]
    work: toml::Table,
    objective: Option<Objective>,
    #[serde(default)]
    measure: Measure,
}

/// Arrays of a problem at most, bytes.
const MOST_BYTES: usize = 16 << 30;

impl Problem {
    /// Reads a problem file.
    ///
    /// # Errors
    /// What is wrong in it.
    pub fn read(path: &Path, facts: &Facts) -> Result<Self, ProblemError> {
        Self::read_with(path, facts, &[])
    }

    /// Reads a problem file with some of its constants set to other values, and some of its
    /// parameters to values of this list.
    ///
    /// # Errors
    /// What is wrong in it, or a name that is neither.
    pub fn read_with(
        path: &Path,
        facts: &Facts,
        named: &[(String, toml::Value)],
    ) -> Result<Self, ProblemError> {
        let fail = |message: String, hint: Option<String>| ProblemError {
            path: path.display().to_string(),
            message,
            hint,
        };
        let text = greenup_files::read_text(path).map_err(|e| ProblemError {
            hint: e.hint().map(str::to_owned),
            message: e.to_string(),
            path: String::new(),
        })?;
        let of_space = |e: SpaceError| {
            let e = with_line(e, &text);
            fail(e.message, e.hint)
        };
        let mut table: toml::Table = text
            .parse()
            .map_err(|e: toml::de::Error| fail(format!("is not valid TOML: {e}"), None))?;
        if !table.contains_key("build") {
            return Err(fail(
                "has no [build]: it is a space, not a problem".into(),
                Some("count it with `greenup space`; a problem also says what to build".into()),
            ));
        }
        if let Some(key) = table
            .keys()
            .find(|k| !TABLES.contains(&k.as_str()) && !SPACE_TABLES.contains(&k.as_str()))
        {
            return Err(fail(
                format!("`{key}` is no part of a problem"),
                Some(format!(
                    "its parts are {}, {}",
                    TABLES.join(", "),
                    SPACE_TABLES.join(", ")
                )),
            ));
        }
        set(&mut table, named).map_err(|(m, h)| fail(m, Some(h)))?;
        let definition = Definition::from_table(&table, facts).map_err(of_space)?;
        if !parts::is_plain_name(&definition.name) {
            let line = text
                .lines()
                .position(|l| l.trim_start().starts_with("name"));
            return Err(fail(
                format!(
                    "{}`name` is {:?}, which cannot name the sweep's folder",
                    line.map_or_else(String::new, |n| format!("line {}: ", n + 1)),
                    definition.name
                ),
                Some(
                    "use letters, digits, spaces and - _ . + ( ), and do not start with . or -"
                        .into(),
                ),
            ));
        }
        let space = Space::new(&definition).map_err(of_space)?;
        let written: Written = toml::from_str(&text).map_err(|e| {
            fail(
                e.to_string().trim_end().to_owned(),
                written::hint(e.message()),
            )
        })?;
        let dir = match path.parent() {
            Some(d) if !d.as_os_str().is_empty() => d.to_owned(),
            _ => PathBuf::from("."),
        };
        for source in written
            .build
            .sources
            .iter()
            .chain(written.reference.iter().flat_map(|r| &r.sources))
            .chain(written.setup.iter().flat_map(|s| &s.sources))
            .chain(written.rival.iter().flat_map(|r| &r.sources))
        {
            if !dir.join(source).is_file() {
                return Err(fail(
                    format!("the source {} does not exist", source.display()),
                    Some(format!(
                        "sources are looked for beside the problem, in {}",
                        std::path::absolute(&dir)
                            .unwrap_or_else(|_| dir.clone())
                            .display()
                    )),
                ));
            }
        }
        if written.build.sources.is_empty() {
            return Err(fail("[build] names no sources".into(), None));
        }
        let launches =
            cuda::launches(&written.build, &written.launch).map_err(|(m, h)| fail(m, h))?;
        let kept = cuda::kept(&written.compiled).map_err(|m| fail(m, None))?;
        let mut data = Vec::new();
        let mut bytes = 0_usize;
        for a in &written.arguments {
            let d = argument(a, space.constants()).map_err(|m| fail(m, None))?;
            bytes = bytes.saturating_add(d.len.unwrap_or(0).saturating_mul(d.kind.bytes()));
            data.push(d);
        }
        if !written.maps.is_empty() && written.build.language != Language::Cuda {
            let m = "has [[maps]], but its language is not cuda";
            return Err(fail(m.into(), None));
        }
        let maps = maps::maps(&written.maps, &data).map_err(|m| fail(m, None))?;
        if bytes > MOST_BYTES {
            return Err(fail(
                format!("its arrays take {} GiB", bytes >> 30),
                Some("make them smaller".into()),
            ));
        }
        if written.reference.is_some() && !data.iter().any(|d| d.role != Role::In) {
            return Err(fail(
                "there is a [reference] but no argument with role `out` or `inout` to compare"
                    .into(),
                None,
            ));
        }
        let reference = written
            .reference
            .map(|r| {
                Ok(Reference {
                    tolerance: tolerance(r.tolerance.as_ref(), space.constants())?,
                    sources: r.sources,
                    entry: r.entry,
                })
            })
            .transpose()
            .map_err(|m: String| fail(m, None))?;
        let m = written.measure;
        if !(m.seconds > 0.0 && m.timeout > m.seconds && m.timeout.is_finite()) {
            return Err(fail("[measure] needs 0 < seconds < timeout".into(), None));
        }
        let mut work = Vec::new();
        for (name, e) in &written.work {
            let op: Op = name
                .parse()
                .map_err(|e: greenup_model::op::UnknownOp| fail(format!("[work]: {e}"), None))?;
            let text = match e {
                toml::Value::String(s) => s.clone(),
                other => other.to_string(),
            };
            let e =
                parse(&text).map_err(|e| of_space(e.within(&format!("work `{name}`"), &text)))?;
            work.push((op, e));
        }
        Ok(Self {
            dir,
            space,
            build: written.build,
            data,
            setup: written.setup,
            reference,
            rival: written.rival,
            objective: written.objective.unwrap_or(Objective::Time),
            measure: m,
            work,
            launches,
            maps,
            kept,
            parts: parts::parts(&table),
        })
    }

    /// Fills the arrays that kernels only read with something else.
    ///
    /// # Errors
    /// It is no fill.
    pub fn fill_inputs(&mut self, fill: &str) -> Result<(), String> {
        let fill = fill
            .parse()
            .map_or_else(|_| Fill::Named(fill.to_owned()), Fill::Number);
        check_fill(&fill)?;
        for d in &mut self.data {
            if d.len.is_some() && d.role == Role::In {
                d.fill = fill.clone();
            }
        }
        Ok(())
    }

    /// The parts of its file that decide what a trial measures, by name.
    pub fn parts(&self) -> &BTreeMap<String, String> {
        &self.parts
    }

    /// Whether its kernels run on a GPU.
    pub fn on_gpu(&self) -> bool {
        self.build.language == Language::Cuda
    }

    /// The work of one run with a config.
    ///
    /// # Errors
    /// A count that has no value, or is no count.
    pub fn work(&self, config: &[Value]) -> Result<Work, String> {
        let mut out = Work::new();
        for (op, e) in &self.work {
            let v = self.space.evaluate(e, config).map_err(|e| e.message)?;
            let count = v
                .as_float()
                .ok_or_else(|| format!("the count of `{op}` is no number"))?;
            out.add(*op, count).map_err(|e| e.to_string())?;
        }
        Ok(out)
    }

    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// `-DNAME=value` for every constant, parameter and derived value of a config.
    ///
    /// # Errors
    /// A derived value that does not exist for the config.
    pub fn defines(&self, config: &[Value]) -> Result<Vec<String>, SpaceError> {
        let named = self
            .space
            .constants()
            .iter()
            .cloned()
            .chain(
                self.space
                    .names()
                    .map(str::to_owned)
                    .zip(config.iter().cloned()),
            )
            .chain(self.space.derived(config)?);
        Ok(named
            .map(|(n, v)| match v {
                Value::Bool(b) => format!("-D{n}={}", i32::from(b)),
                v => format!("-D{n}={v}"),
            })
            .collect())
    }
}

/// Puts other values in place of constants, and fewer or others in place of parameters' own.
///
/// # Errors
/// What is wrong and its cure: a name that is neither.
pub fn set(
    table: &mut toml::Table,
    named: &[(String, toml::Value)],
) -> Result<(), (String, String)> {
    for (name, value) in named {
        let place = ["constants", "parameters"].into_iter().find(|part| {
            let own = table.get(*part).and_then(toml::Value::as_table);
            own.is_some_and(|t| t.contains_key(name))
        });
        let own = place
            .and_then(|part| table.get_mut(part))
            .and_then(toml::Value::as_table_mut)
            .and_then(|t| t.get_mut(name));
        match own {
            Some(v) => v.clone_from(value),
            None => {
                let known = |part: &str| -> Vec<&str> {
                    table
                        .get(part)
                        .and_then(toml::Value::as_table)
                        .into_iter()
                        .flat_map(|t| t.keys())
                        .map(String::as_str)
                        .collect()
                };
                return Err((
                    format!("has no constant or parameter `{name}` to set"),
                    format!(
                        "its constants are {}; its parameters {}",
                        known("constants").join(", "),
                        known("parameters").join(", ")
                    ),
                ));
            }
        }
    }
    Ok(())
}
