//! From the tables of a problem file to its command.

use super::source::SourceOfAny;
use super::template::{Words, texts};
use super::written::{RunText, SourceText};
use super::{BUILD, Runnable};
use crate::problem::{Build, ValueError};
use greenup_space::Space;
use std::path::{Path, PathBuf};

/// Names of metrics that have a meaning already.
const RESERVED: [&str; 9] = [
    "time",
    "energy",
    "objective",
    "drift",
    "error",
    "gflops",
    "cpu_s",
    "memory_bytes",
    "wall_s",
];

impl Runnable {
    /// From the tables of a problem file in `dir`; commands name the constants, parameters and derived values of `space`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn new(
        build: &Build,
        run: &RunText,
        baseline: Option<&str>,
        dir: &Path,
        space: &Space,
    ) -> Result<Self, ValueError> {
        let known = |name: &str| space.knows(name);
        let wrong = |what: &str, cause: String| ValueError::Command {
            what: what.to_owned(),
            cause,
        };
        let named = |what: &str, words: &Words| {
            let unknown = words.names().find(|n| *n != BUILD && !known(n));
            unknown.map_or(Ok(()), |name| {
                let cause = format!(
                    "`{{{name}}}` is no constant, parameter or derived value; write {{{{ and }}}} for braces"
                );
                Err(wrong(what, cause))
            })
        };
        let words = |what: &str, text: &str| -> Result<Words, ValueError> {
            let words = Words::parse(text).map_err(|e| wrong(what, e))?;
            named(what, &words)?;
            Ok(words)
        };
        // A file that may depend on constants, such as the size of the problem.
        let file = |what: &str, name: &str| -> Result<PathBuf, ValueError> {
            let values = texts(space.constants());
            let words = Words::one(name).map_err(|e| wrong(what, e))?;
            if let Some(n) = words.names().find(|n| !values.contains_key(*n)) {
                return Err(wrong(what, format!("`{{{n}}}` is no constant")));
            }
            let path = PathBuf::from(words.filled(&values).concat());
            if dir.join(&path).is_file() {
                Ok(path)
            } else {
                Err(wrong(what, format!("there is no file {}", path.display())))
            }
        };
        let builds = (build.command.as_deref())
            .map(|text| words("[build] command", text))
            .transpose()?;
        let run_words = words("[run] command", &run.command)?;
        let uses = |w: &Words| w.names().any(|n| n == BUILD);
        match &builds {
            Some(b) if !uses(b) => {
                return Err(wrong(
                    "[build] command",
                    "it must write into {build}, the folder of its config, e.g. `cc app.c -o {build}/app`".into(),
                ));
            }
            Some(_) if !run.texts().any(|t| Words::one(t).is_ok_and(|w| uses(&w))) => {
                return Err(wrong(
                    "[run] command",
                    "it does not use {build}, the folder of its config, into which [build] command writes: what was built last would run for all configs. Run `{build}/app`".into(),
                ));
            }
            None if uses(&run_words) => {
                return Err(wrong(
                    "[run] command",
                    "{build} is the folder of a build, but there is no [build] command".into(),
                ));
            }
            _ => {}
        }
        if builds.is_some() && known(BUILD) {
            let cause = "`build` is the folder of a config's build; give the value another name";
            return Err(wrong("{build}", cause.into()));
        }
        let source = |what: &str, text: &SourceText| {
            let of = SourceOfAny::new(text).map_err(|e| wrong(what, e))?;
            of.file.iter().try_for_each(|f| named(what, f))?;
            Ok::<_, ValueError>(of)
        };
        let time = run
            .time
            .as_ref()
            .map(|t| source("[run] time", t))
            .transpose()?;
        let mut metrics = Vec::new();
        for (name, text) in &run.metrics {
            let what = format!("[run.metrics.{name}]");
            if RESERVED.contains(&name.as_str()) {
                return Err(wrong(&what, "the name is taken".into()));
            }
            metrics.push((name.clone(), source(&what, &text.source())?, text.goal));
        }
        let optional =
            |what: &str, text: Option<&String>| text.map(|text| words(what, text)).transpose();
        let expect = run.expect.clone();
        if let Some(e) = &expect {
            if e.command.is_some() == e.file.is_some() {
                return Err(wrong("[run.expect]", "give `command` or `file`".into()));
            }
            share(e.tolerance).map_err(|cause| wrong("[run.expect]", cause))?;
            if let Some(Err(cause)) = e.lines.as_ref().map(|l| regex::Regex::new(l)) {
                return Err(wrong("[run.expect] lines", cause.to_string()));
            }
        }
        let expect = match expect {
            Some(e) => Some(e.of_file(|f| file("[run.expect] file", f))?),
            None => None,
        };
        let reference = optional(
            "[run.expect] command",
            expect.as_ref().and_then(|e| e.command.as_ref()),
        )?;
        // Text that is not split into words.
        let one = |what: &str, text: &str| -> Result<Words, ValueError> {
            let words = Words::one(text).map_err(|e| wrong(what, e))?;
            named(what, &words)?;
            Ok(words)
        };
        let of = (expect.as_ref().and_then(|e| e.of.as_deref()))
            .map(|text| one("[run.expect] of", text))
            .transpose()?;
        let input = run
            .input
            .as_deref()
            .map(|f| file("[run] input", f))
            .transpose()?;
        if !(1..=1000).contains(&run.repeats) {
            return Err(wrong("[run] repeats", "give 1 to 1000".into()));
        }
        if !(build.timeout > 0.0 && build.timeout.is_finite()) {
            return Err(wrong(
                "[build] timeout",
                format!("invalid {}", build.timeout),
            ));
        }
        let environment = run
            .environment
            .iter()
            .map(|(name, text)| {
                if name.is_empty() || name.contains(['=', '\0']) {
                    let what = format!("[run.environment] {name:?}");
                    return Err(wrong(&what, "this is no name of a variable".into()));
                }
                Ok((
                    name.clone(),
                    one(&format!("[run.environment] {name}"), text)?,
                ))
            })
            .collect::<Result<_, ValueError>>()?;
        let check = optional("[run] check", run.check.as_ref())?;
        let baseline = baseline
            .map(|text| words("[baseline] command", text))
            .transpose()?;
        if baseline.as_ref().is_some_and(uses) {
            let cause = "{build} is the folder of a config, and the baseline has none";
            return Err(wrong("[baseline] command", cause.into()));
        }
        for program in [
            builds.as_ref(),
            Some(&run_words),
            check.as_ref(),
            reference.as_ref(),
            baseline.as_ref(),
        ] {
            if let Some(missing) = program.and_then(|p| p.missing_program(dir)) {
                return Err(wrong("command", format!("there is no program `{missing}`")));
            }
        }
        let of_shell = [
            ("[build] command", builds.as_ref()),
            ("[run] command", Some(&run_words)),
            ("[run] check", check.as_ref()),
            ("[run.expect] command", reference.as_ref()),
            ("[baseline] command", baseline.as_ref()),
        ];
        let notes = (of_shell.into_iter())
            .filter_map(|(what, words)| Some((what, words?.of_a_shell()?)))
            .map(|(what, word)| {
                format!("{what}: no shell reads it, so `{word}` goes to the program as it is; for a shell write sh -c '…'")
            })
            .collect();
        Ok(Self {
            notes,
            texts: (build.command.clone(), run.command.clone()),
            build: builds,
            build_timeout_s: build.timeout,
            check,
            run: run_words,
            environment,
            input,
            time,
            metrics,
            reference,
            baseline,
            of,
            expect,
            repeats: run.repeats,
        })
    }
}

/// Refuses a tolerance that is no share of the largest number.
fn share(tolerance: f64) -> Result<(), String> {
    if tolerance >= 1.0 {
        return Err(format!(
            "invalid tolerance {tolerance}: it is a share of the largest number, so that 1 allows almost any result; use a number below 1"
        ));
    }
    if tolerance >= 0.0 {
        Ok(())
    } else {
        Err(format!("invalid tolerance {tolerance}"))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_tolerance_that_allows_any_result_is_refused() {
        for good in [0.0, 1e-300, 1e-6, 0.999] {
            assert_eq!(super::share(good), Ok(()));
        }
        for bad in [1.0, 2.0, f64::INFINITY] {
            let e = super::share(bad).unwrap_err();
            assert!(
                e.contains(&format!("invalid tolerance {bad}: it is a share")),
                "{e}"
            );
        }
        for bad in [-1e-9, f64::NAN, f64::NEG_INFINITY] {
            let e = super::share(bad).unwrap_err();
            assert_eq!(e, format!("invalid tolerance {bad}"));
        }
    }
}
