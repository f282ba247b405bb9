//! From the text of a problem file to a problem.

use super::argument::{argument, tolerance};
use super::measure::MeasureText;
use super::written::{CheckText, LaunchText, MapText, ReferenceText, TextureText, hint};
use super::{
    Argument, Baseline, Build, Check, Language, Problem, ProblemError, Reference, Role, Setup,
    ValueError, command, cuda, maps, parts, textures, unused,
};
use crate::command::written::RunText;
use crate::objective::Objective;
use greenup_model::Op;
use greenup_space::expr::{Domain, Expr, Scope, eval, parse, parse_domain};
use greenup_space::{Definition, Facts, SPACE_TABLES, Space, SpaceError, Value, with_line};
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// Tables of a problem beside those of its space.
const TABLES: [&str; 14] = [
    "build",
    "run",
    "launch",
    "maps",
    "textures",
    "compiled",
    "baseline",
    "arguments",
    "setup",
    "reference",
    "check",
    "work",
    "objective",
    "measure",
];

/// The tables of a problem that are not of its space.
#[derive(Deserialize)]
pub(super) struct Written {
    #[serde(default)]
    pub(super) build: Build,
    pub(super) run: Option<RunText>,
    #[serde(default)]
    pub(super) arguments: Vec<Argument>,
    #[serde(default)]
    pub(super) launch: Vec<LaunchText>,
    #[serde(default)]
    maps: Vec<MapText>,
    #[serde(default)]
    textures: Vec<TextureText>,
    #[serde(default)]
    pub(super) compiled: toml::Table,
    #[serde(alias = "rival")]
    pub(super) baseline: Option<Baseline>,
    pub(super) setup: Option<Setup>,
    pub(super) reference: Option<ReferenceText>,
    check: Option<CheckText>,
    #[serde(default)]
    work: toml::Table,
    objective: Option<Objective>,
    #[serde(default)]
    measure: MeasureText,
}

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
        let text = greenup_files::read_text(path).map_err(|e| ProblemError {
            hint: e.hint().map(str::to_owned),
            message: e.to_string(),
            path: String::new(),
        })?;
        let dir = match path.parent() {
            Some(d) if !d.as_os_str().is_empty() => d,
            _ => Path::new("."),
        };
        Self::parse(&text, &path.display().to_string(), dir, facts, named)
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
        parts::rename_old_keys(&mut table);
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
                Ok(op) => Ok((op, work_count(name, count).map_err(of_space)?)),
                Err(e) => Err(fail(format!("[work]: {e}"), None)),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let objective = written.objective.unwrap_or(Objective::Time);
        command::check_objective(command.as_ref(), objective).map_err(of_value)?;
        Ok(Self {
            dir: dir.to_owned(),
            space: Arc::new(space),
            build: written.build,
            data,
            setup: written.setup,
            reference,
            check,
            baseline: written.baseline,
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

/// The expression of an operation count; `name` is the operation's.
fn work_count(name: &str, count: &toml::Value) -> Result<Expr, SpaceError> {
    let text = match count {
        toml::Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    parse(&text).map_err(|e| e.within(&format!("work `{name}`"), &text))
}

/// Replaces values of constants, and restricts parameters to some of their values.
///
/// # Errors
/// A name is neither a constant nor a parameter, or a value is none of the parameter's: the message and a hint.
pub fn set(
    table: &mut toml::Table,
    named: &[(String, toml::Value)],
) -> Result<(), (String, String)> {
    let has = |table: &toml::Table, part: &str, name: &str| {
        let own = table.get(part).and_then(toml::Value::as_table);
        own.is_some_and(|t| t.contains_key(name))
    };
    if let Some((name, _)) = named
        .iter()
        .find(|(name, _)| !has(table, "constants", name) && !has(table, "parameters", name))
    {
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
    // The values of parameters follow from the constants.
    let (constants, parameters): (Vec<_>, Vec<_>) = named
        .iter()
        .partition(|(name, _)| has(table, "constants", name));
    for (part, named) in [("constants", constants), ("parameters", parameters)] {
        let mut new = Vec::with_capacity(named.len());
        for (name, value) in named {
            new.push(match part {
                "parameters" => (name, restricted(table, name, value)?),
                _ => (name, value.clone()),
            });
        }
        if let Some(own) = table.get_mut(part).and_then(toml::Value::as_table_mut) {
            own.extend(new.into_iter().map(|(name, v)| (name.clone(), v)));
        }
    }
    Ok(())
}

/// The values of a parameter that are asked for; as they are asked for where its own depend on other parameters or the device.
fn restricted(
    table: &toml::Table,
    name: &str,
    asked: &toml::Value,
) -> Result<toml::Value, (String, String)> {
    let Some(own) = own_values(table, name) else {
        return Ok(asked.clone());
    };
    let one = |v: &toml::Value| toml_value(v).filter(|v| own.contains(v));
    let several = |v: &toml::Value| match v {
        toml::Value::Array(items) => items.iter().map(one).collect::<Option<Vec<_>>>(),
        v => Some(vec![one(v)?]),
    };
    let text = match asked {
        toml::Value::String(s) => Some(s.clone()),
        toml::Value::Array(_) => None,
        other => Some(other.to_string()),
    };
    let text = text.as_deref();
    let words = |text: &str| {
        let value = |word: &str| {
            let of_text = |v: &&Value| v.to_string() == word || v.literal() == word;
            own.iter().find(of_text).cloned()
        };
        let word = |word: &str| value(word.trim());
        word(text)
            .map(|v| vec![v])
            .or_else(|| text.split(',').map(word).collect())
    };
    let expression = |text: &str| match parse_domain(text).ok()? {
        Domain::Values(e) => {
            let all = eval(&e, &Scope::new(&|_: &str| None)).ok()?;
            if own.contains(&all) {
                return Some(vec![all]);
            }
            match all {
                Value::Tuple(items) => items.iter().all(|v| own.contains(v)).then_some(items),
                _ => None,
            }
        }
        // A range in the place of the values: those of them that it has.
        Domain::Range { .. } => {
            let range = listed(toml::Value::String(text.to_owned()), table, name)?;
            let within: Vec<Value> = range.into_iter().filter(|v| own.contains(v)).collect();
            (!within.is_empty()).then_some(within)
        }
    };
    let found = one(asked)
        .map(|v| vec![v])
        .or_else(|| several(asked))
        .or_else(|| text.and_then(words))
        .or_else(|| text.and_then(expression))
        .or_else(|| text.and_then(|text| expression(&format!("({text},)"))))
        .filter(|found| !found.is_empty());
    let Some(found) = found else {
        const MANY: usize = 20;
        let values: Vec<String> = own.iter().take(MANY).map(Value::literal).collect();
        let more = if own.len() > MANY { ", …" } else { "" };
        let asked = match asked {
            toml::Value::String(s) => s.clone(),
            other => other.to_string(),
        };
        return Err((
            format!(
                "parameter `{name}` cannot be set to {asked}: not all of it is among its values"
            ),
            format!("they are {}{more}", values.join(", ")),
        ));
    };
    // In the parameter's own spelling.
    let found: Vec<&Value> = found
        .iter()
        .map(|v| own.iter().find(|o| *o == v).unwrap_or(v))
        .collect();
    let array: Option<Vec<toml::Value>> = found.iter().map(|v| to_toml(v)).collect();
    Ok(match array {
        Some(array) => toml::Value::Array(array),
        None => {
            let literals: Vec<String> = found.iter().map(|v| v.literal()).collect();
            toml::Value::String(format!("[{}]", literals.join(", ")))
        }
    })
}

/// A value in TOML, which has no `None`.
fn to_toml(v: &Value) -> Option<toml::Value> {
    Some(match v {
        Value::Bool(b) => toml::Value::Boolean(*b),
        Value::Int(i) => toml::Value::Integer(*i),
        Value::Float(f) => toml::Value::Float(*f),
        Value::Str(s) => toml::Value::String(s.clone()),
        Value::Tuple(items) => {
            toml::Value::Array(items.iter().map(to_toml).collect::<Option<_>>()?)
        }
        Value::None => return None,
    })
}

/// The values of a parameter that depend on constants alone.
fn own_values(table: &toml::Table, name: &str) -> Option<Vec<Value>> {
    let own = table.get("parameters")?.as_table()?.get(name)?;
    listed(own.clone(), table, name)
}

/// The values that a parameter has if it is written so.
fn listed(values: toml::Value, table: &toml::Table, name: &str) -> Option<Vec<Value>> {
    let mut alone = toml::Table::new();
    for part in ["constants", "script"] {
        if let Some(v) = table.get(part) {
            alone.insert(part.to_owned(), v.clone());
        }
    }
    let parameter = toml::Table::from_iter([(name.to_owned(), values)]);
    alone.insert("parameters".to_owned(), toml::Value::Table(parameter));
    let d = Definition::from_table(&alone, &Facts::new()).ok()?;
    Space::new(&d).ok()?.list_of(0)
}

fn toml_value(v: &toml::Value) -> Option<Value> {
    Some(match v {
        toml::Value::String(s) => Value::Str(s.clone()),
        toml::Value::Integer(i) => Value::Int(*i),
        toml::Value::Float(f) => Value::Float(*f),
        toml::Value::Boolean(b) => Value::Bool(*b),
        toml::Value::Array(items) => {
            Value::Tuple(items.iter().map(toml_value).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_to(space: &str, name: &str, asked: toml::Value) -> Result<Vec<Value>, String> {
        let mut table: toml::Table = space.parse().unwrap();
        set(&mut table, &[(name.to_owned(), asked)]).map_err(|(m, hint)| format!("{m}; {hint}"))?;
        let d = Definition::from_table(&table, &Facts::new()).unwrap();
        Ok(Space::new(&d).unwrap().list_of(0).unwrap())
    }

    #[test]
    fn a_parameter_is_restricted_to_values_that_it_has() {
        let text = |s: &str| toml::Value::String(s.into());
        let ints = |v: &[i64]| toml::Value::Array(v.iter().map(|i| (*i).into()).collect());
        let pair = |a: i64, b: i64| Value::Tuple(vec![a.into(), b.into()]);
        let pairs = "[parameters]\nx = [[1, 2], [3, 4]]";
        let one = Ok(vec![pair(3, 4)]);
        assert_eq!(set_to(pairs, "x", text("(3,4)")), one);
        assert_eq!(set_to(pairs, "x", text("(3, 4)")), one);
        assert_eq!(set_to(pairs, "x", text("((3,4),)")), one);
        assert_eq!(set_to(pairs, "x", ints(&[3, 4])), one);
        let both = Ok(vec![pair(1, 2), pair(3, 4)]);
        assert_eq!(set_to(pairs, "x", text("(1,2),(3,4)")), both);
        assert!(set_to(pairs, "x", text("(3,5)")).is_err());
        assert!(set_to(pairs, "x", 3.into()).is_err());

        let words = "[parameters]\nx = ['f32', 'f64', 'a,b', '1']";
        let strings = |v: &[&str]| Ok(v.iter().map(|s| Value::from(*s)).collect());
        assert_eq!(set_to(words, "x", text("f32")), strings(&["f32"]));
        assert_eq!(
            set_to(words, "x", text("f64, f32")),
            strings(&["f64", "f32"])
        );
        assert_eq!(set_to(words, "x", text("a,b")), strings(&["a,b"]));
        assert_eq!(set_to(words, "x", 1.into()), strings(&["1"]));
        let e = set_to(words, "x", text("f16")).unwrap_err();
        assert!(
            e.contains("set to f16") && e.contains("'f32', 'f64'"),
            "{e}"
        );

        let numbers = "[constants]\nn = 4\n[parameters]\nx = '1 : n'";
        let some = |v: &[i64]| Ok(v.iter().map(|i| Value::Int(*i)).collect());
        assert_eq!(set_to(numbers, "x", ints(&[3, 2])), some(&[3, 2]));
        assert_eq!(set_to(numbers, "x", text("2:9:2")), some(&[2, 4]));
        assert_eq!(set_to(numbers, "x", toml::Value::Float(2.0)), some(&[2]));
        assert_eq!(set_to(numbers, "n", 2.into()), some(&[1, 2]));
        let e = set_to(numbers, "x", ints(&[2, 5])).unwrap_err();
        assert!(e.contains("they are 1, 2, 3, 4"), "{e}");
        assert!(set_to(numbers, "y", 1.into()).is_err());
    }
}
