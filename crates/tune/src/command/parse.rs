//! From the tables of a problem file to its command.

use super::source::SourceOfAny;
use super::template::Words;
use super::written::{RunText, SourceText};
use super::{BUILD, Runnable};
use crate::problem::{Build, ValueError};
use std::path::Path;

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
    /// From the tables of a problem file in `dir`; `known` says whether a name has a value for every config.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn new(
        build: &Build,
        run: &RunText,
        baseline: Option<&str>,
        dir: &Path,
        known: &dyn Fn(&str) -> bool,
    ) -> Result<Self, ValueError> {
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
            if !(e.tolerance >= 0.0 && e.tolerance.is_finite()) {
                return Err(wrong(
                    "[run.expect]",
                    format!("invalid tolerance {}", e.tolerance),
                ));
            }
            if let Some(Err(cause)) = e.lines.as_ref().map(|l| regex::Regex::new(l)) {
                return Err(wrong("[run.expect] lines", cause.to_string()));
            }
            if let Some(f) = e.file.as_ref().filter(|f| !dir.join(f).is_file()) {
                return Err(wrong(
                    "[run.expect]",
                    format!("there is no file {}", f.display()),
                ));
            }
        }
        let reference = optional(
            "[run.expect] command",
            expect.as_ref().and_then(|e| e.command.as_ref()),
        )?;
        let of = optional(
            "[run.expect] of",
            expect.as_ref().and_then(|e| e.of.as_ref()),
        )?;
        if let Some(f) = run.input.as_ref().filter(|f| !dir.join(f).is_file()) {
            return Err(wrong(
                "[run] input",
                format!("there is no file {}", f.display()),
            ));
        }
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
                Ok((
                    name.clone(),
                    words(&format!("[run.environment] {name}"), text)?,
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
        Ok(Self {
            texts: (build.command.clone(), run.command.clone()),
            build: builds,
            build_timeout_s: build.timeout,
            check,
            run: run_words,
            environment,
            input: run.input.clone(),
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
