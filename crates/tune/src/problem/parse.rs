//! From the text of a problem file to a problem.

use super::argument::{argument, tolerance};
use super::set::set;
use super::written::{Written, hint};
use super::{
    Check, Language, Problem, ProblemError, ProblemFile, Reference, Role, ValueError,
    check_objective, command, cuda, default, maps, parts, textures, unused,
};
use crate::objective::Objective;
use greenup_model::Op;
use greenup_space::expr::{Expr, parse};
use greenup_space::{Definition, Facts, SPACE_TABLES, Space, SpaceError, with_line};
use std::path::Path;
use std::sync::Arc;

/// Tables of a problem beside those of its space.
const TABLES: [&str; 15] = [
    "build",
    "run",
    "launch",
    "maps",
    "textures",
    "compiled",
    "baseline",
    "default",
    "arguments",
    "setup",
    "reference",
    "check",
    "work",
    "objective",
    "measure",
];

/// Arrays of a problem at most, bytes.
const MAX_BYTES: usize = 16 << 30;

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
        let file = ProblemFile::read(path).map_err(|e| ProblemError {
            hint: e.hint().map(str::to_owned),
            message: e.to_string(),
            path: String::new(),
        })?;
        file.problem(facts, named)
    }

    /// Parses the text of a problem file; `name` names it in errors, sources are looked for in `dir`. `named` sets
    /// constants to other values and parameters to the values of a list.
    ///
    /// # Errors
    /// The text is invalid, a source does not exist, or a name is neither a constant nor a parameter.
    pub fn parse(
        text: &str,
        name: &str,
        dir: &Path,
        facts: &Facts,
        named: &[(String, toml::Value)],
    ) -> Result<Self, ProblemError> {
        let fail = |message: String, hint: Option<String>| ProblemError {
            path: name.to_owned(),
            message,
            hint,
        };
        let of_space = |e: SpaceError| {
            let e = with_line(e, text);
            fail(e.message, e.hint)
        };
        let of_value = |e: ValueError| fail(e.to_string(), e.hint());
        let mut table: toml::Table = text
            .parse()
            .map_err(|e: toml::de::Error| fail(format!("is not valid TOML: {e}"), None))?;
        if !table.contains_key("build") && !table.contains_key("run") {
            return Err(fail(
                "has no [build] and no [run]: it is a space, not a problem".into(),
                Some(
                    "count it with `greenup space`; a problem also says what to build or run"
                        .into(),
                ),
            ));
        }
        let wrong = |(message, hint): (String, String)| fail(message, Some(hint));
        check_tables(&table).map_err(wrong)?;
        set(&mut table, named).map_err(wrong)?;
        let definition = Definition::from_table(&table, facts).map_err(of_space)?;
        check_name(&definition.name, text).map_err(wrong)?;
        let space = Space::new(&definition).map_err(of_space)?;
        let is_set = |name: &str| named.iter().any(|(n, _)| n == name);
        let default = default::default_config(&table, &space, facts, &is_set).map_err(wrong)?;
        let mut written: Written = toml::from_str(text)
            .map_err(|e| fail(e.to_string().trim_end().to_owned(), hint(e.message())))?;
        let command = command::runnable(&mut written, dir, &space).map_err(of_value)?;
        unused::check(&table, written.build.language).map_err(of_value)?;
        check_sources(&written, dir).map_err(wrong)?;
        if written.build.sources.is_empty() && command.is_none() {
            let hint = "name its files: sources = [\"kernel.c\"]; or tune a command: [run] command = \"…\"";
            return Err(fail("[build] names no sources".into(), Some(hint.into())));
        }
        let launches = cuda::launches(&written.build, &written.launch).map_err(of_value)?;
        let compiled_filters = cuda::compiled_filters(&written.compiled).map_err(of_value)?;
        let mut data = Vec::new();
        let mut bytes = 0_usize;
        for a in &written.arguments {
            let d = argument(a, space.constants()).map_err(of_value)?;
            bytes = bytes.saturating_add(d.len.unwrap_or(0).saturating_mul(d.kind.bytes()));
            data.push(d);
        }
        let on_gpu = written.build.language == Language::Cuda;
        if written.build.language == Language::OpenCl {
            not_in_opencl(&written).map_err(of_value)?;
        }
        if written.build.returns.is_some()
            && !matches!(written.build.language, Language::C | Language::Cpp)
        {
            return Err(fail(
                "[build] returns is for functions in C and C++".into(),
                Some("kernels on a device are timed there; a command has [run] time".into()),
            ));
        }
        for (name, none) in [
            ("maps", written.maps.is_empty()),
            ("textures", written.textures.is_empty()),
        ] {
            if !none && !on_gpu {
                let m = format!("has [[{name}]], but its language is not cuda");
                return Err(fail(m, None));
            }
        }
        if data.iter().any(|d| !d.bytes.is_empty()) && written.launch.is_empty() {
            let m = "an argument has `bytes`, but no [[launch]] of a kernel takes it";
            return Err(fail(m.into(), None));
        }
        let maps = maps::maps(&written.maps, &data).map_err(of_value)?;
        let textures = textures::textures(&written.textures, &data).map_err(of_value)?;
        if bytes > MAX_BYTES {
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
                let allowed = tolerance(r.tolerance.as_ref(), space.constants())?;
                Ok(Reference {
                    tolerance: allowed.real,
                    of_integers: allowed.whole,
                    sources: r.sources,
                    entry: r.entry,
                })
            })
            .transpose()
            .map_err(of_value)?;
        let check = written
            .check
            .map(|c| Check::parse(&c, &space))
            .transpose()
            .map_err(of_value)?;
        if check.is_some() && command.is_some() {
            return Err(fail(
                "[check] is for kernels".into(),
                Some("a command has its own: [run] check = \"…\"".into()),
            ));
        }
        if data.iter().any(|d| d.symbol.is_some()) && !on_gpu {
            let m = "an argument has a `symbol`, but the language is not cuda";
            return Err(fail(m.into(), None));
        }
        let m = written.measure.measure(command.is_some());
        if !(m.seconds > 0.0 && m.timeout > m.seconds && m.timeout.is_finite()) {
            return Err(fail("[measure] needs 0 < seconds < timeout".into(), None));
        }
        let work = (written.work.iter())
            .map(|(name, count)| match name.parse::<Op>() {
                Ok(op) => {
                    let count = work_count(name, count).map_err(of_space)?;
                    match unknown_in(&count, &space) {
                        Some(n) => Err(fail(
                            format!(
                                "[work] {op}: `{n}` is no constant, parameter or derived value"
                            ),
                            None,
                        )),
                        None => Ok((op, count)),
                    }
                }
                Err(e) => Err(fail(format!("[work]: {e}"), None)),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let objective = written.objective.unwrap_or(Objective::Time);
        check_objective(command.as_ref(), objective).map_err(of_value)?;
        Ok(Self {
            dir: dir.to_owned(),
            space: Arc::new(space),
            build: written.build,
            data,
            setup: written.setup,
            reference,
            check,
            baseline: written.baseline,
            default,
            objective,
            measure: m,
            command,
            work,
            launches,
            maps,
            textures,
            compiled_filters,
            opencl: None,
            parts: parts::parts(&table),
        })
    }
}

/// Refuses tables that only CUDA has.
fn not_in_opencl(written: &Written) -> Result<(), ValueError> {
    let tables = [
        (
            !written.maps.is_empty(),
            "[[maps]]",
            "tensor maps belong to NVIDIA's copy engine; kernels take the arrays themselves",
        ),
        (
            !written.textures.is_empty(),
            "[[textures]]",
            "texture memory is CUDA's; kernels take the arrays themselves",
        ),
        (
            written.baseline.is_some(),
            "[baseline]",
            "host code does not run on the device",
        ),
        (
            written.build.arch.is_some(),
            "[build] arch",
            "the implementation compiles for its device",
        ),
    ];
    match tables.into_iter().find(|(there, ..)| *there) {
        None => Ok(()),
        Some((_, table, why)) => Err(ValueError::NotInOpenCl(table, why)),
    }
}

/// What is wrong, and what to do about it.
type Wrong = (String, String);

fn check_tables(table: &toml::Table) -> Result<(), Wrong> {
    let known = |k: &str| TABLES.contains(&k) || SPACE_TABLES.contains(&k);
    match table.keys().find(|k| !known(k)) {
        None => Ok(()),
        Some(key) => Err((
            format!("`{key}` is not part of a problem"),
            format!(
                "its parts are {}, {}",
                TABLES.join(", "),
                SPACE_TABLES.join(", ")
            ),
        )),
    }
}

/// The name of a problem is that of its sweeps' folder too.
fn check_name(name: &str, text: &str) -> Result<(), Wrong> {
    if parts::is_plain_name(name) {
        return Ok(());
    }
    let line = text
        .lines()
        .position(|l| l.trim_start().starts_with("name"));
    Err((
        format!(
            "{}`name` is {name:?}, which cannot name the sweep's folder",
            line.map_or_else(String::new, |n| format!("line {}: ", n + 1)),
        ),
        "use letters, digits, spaces and - _ . + ( ), and do not start with . or -".into(),
    ))
}

fn check_sources(written: &Written, dir: &Path) -> Result<(), Wrong> {
    let mut sources = (written.build.sources.iter())
        .chain(written.reference.iter().flat_map(|r| &r.sources))
        .chain(written.setup.iter().flat_map(|s| &s.sources))
        .chain(written.baseline.iter().flat_map(|b| &b.sources));
    match sources.find(|source| !dir.join(source).is_file()) {
        None => Ok(()),
        Some(source) => Err((
            format!("the source {} does not exist", source.display()),
            format!(
                "sources are searched in the problem's folder, {}",
                std::path::absolute(dir)
                    .unwrap_or_else(|_| dir.to_owned())
                    .display()
            ),
        )),
    }
}

/// A name in an expression that no config has.
fn unknown_in(e: &Expr, space: &Space) -> Option<String> {
    let mut unknown = None;
    e.names(&mut |name, _| {
        if unknown.is_none() && !space.knows(name) && !name.starts_with("device.") {
            unknown = Some(name.to_owned());
        }
    });
    unknown
}

/// The expression of an operation count; `name` is the operation's.
fn work_count(name: &str, count: &toml::Value) -> Result<Expr, SpaceError> {
    let text = match count {
        toml::Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    parse(&text).map_err(|e| e.within(&format!("work `{name}`"), &text))
}
