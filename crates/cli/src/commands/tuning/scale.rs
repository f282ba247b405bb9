//! `greenup scale`.

use crate::args::{ScaleArgs, Sizes};
use crate::search::{self, setup};
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_app::progress::Bars;
use greenup_files::outputs::unused;
use greenup_report::si::{percent, si};
use greenup_report::table::Columns;
use greenup_report::text;
use greenup_space::Value;
use greenup_tune::problem::ProblemFile;
use greenup_tune::sweep::Folder;
use greenup_tune::trial::scaling::{Scaling, SizePoint, scaling, select};
use greenup_tune::{Plan, Problem, SessionOptions};

/// Refuses sizes that no command takes: all would measure the same.
fn differ(over: &str, problems: &[(f64, Problem)], config: &[Value]) -> Result {
    let made = |p: &Problem| p.command.as_ref()?.made_from(p, config);
    for pair in problems.windows(2) {
        let [(a, first), (b, second)] = pair else {
            continue;
        };
        if let (Some(one), Some(other)) = (made(first), made(second))
            && one == other
        {
            return Err(AppError::new(format!(
                "the commands are the same at {over} = {a} and {b}: all sizes would measure the same"
            ))
            .hint("name the constant in braces where [run] command, [build] command, its environment or input takes the size, as in `./app {n}`"));
        }
    }
    Ok(())
}

pub fn run(args: &ScaleArgs) -> Result {
    if !Folder::exists(&args.sweep) {
        return Err(
            AppError::new(format!("{} is not a sweep folder", args.sweep.display()))
                .hint("`greenup tune` makes one; its problem's configs are what is scaled"),
        );
    }
    let sweep = search::recorded(&args.sweep)?;
    let file = ProblemFile::read(&args.problem)?;
    let Sizes { names, values } = &args.over;
    let mut problems = Vec::new();
    for v in values {
        let set: Vec<(String, toml::Value)> = (args.named.iter().cloned())
            .chain(names.iter().map(|n| (n.clone(), toml::Value::Integer(*v))))
            .collect();
        let mut problem = search::problem(&file, &set, args.gpu.as_deref())?;
        search::set_measure(&mut problem, args.measure)?;
        problems.push((*v as f64, problem));
    }
    let parameters: Vec<&str> = problems[0].1.space.names().collect();
    let of = Filled::new(&parameters, &sweep.facts.parameters, &args.named)?;
    let configs: Vec<(String, Vec<Value>)> = select(&sweep, args.configs.max(1))
        .into_iter()
        .map(|(why, config)| (why, of.config(&config)))
        .collect();
    if configs.is_empty() {
        return Err(AppError::new("no trial of the sweep succeeded")
            .hint("`greenup sweeps show DIR` counts its failures"));
    }
    differ(&names.join("+"), &problems, &configs[0].1)?;
    let setup = setup::setup(
        &problems[0].1,
        args.gpu.as_deref(),
        args.sensor.sensor.as_deref(),
        setup::launcher(None)?,
    )?;
    let each = problems[0].1.measure.trial_s();
    let trials = problems.len() * configs.len();
    print::at_least(
        trials as f64 * each,
        format!(
            "{} sizes of {} configs measure {} each; builds and verification come on top",
            problems.len(),
            configs.len(),
            print::duration(each)
        ),
    );
    let bars = Bars::new();
    let plan = Plan::new(
        &problems[0].1,
        SessionOptions::default(),
        setup,
        args.sweep.clone(),
    );
    let file = args.sweep.join(Scaling::FILE);
    // Sizes of a run that was killed stay too.
    let half = unused(args.sweep.join(Scaling::UNFINISHED), "json");
    let mut sizes = 0;
    let result = scaling(
        &names.join("+"),
        &problems,
        configs,
        &plan,
        &bars,
        &mut |s| {
            let text = serde_json::to_string_pretty(s)?;
            greenup_files::write(&half, text)?;
            sizes = s.sizes.len();
            Ok(())
        },
    );
    drop(bars);
    let (result, complete) = result.map_err(|e| {
        let mut e = search::failed(e, &args.sweep);
        if sizes > 0 {
            e.message
                .push_str(&format!("; {sizes} sizes are in {}", half.display()));
        }
        e
    })?;
    // Half of the sizes must not take the place of all of them.
    let kept = complete || !file.exists();
    if kept {
        greenup_files::write(&file, serde_json::to_string_pretty(&result)?.as_bytes())?;
        if sizes > 0 {
            let _ = std::fs::remove_file(&half);
        }
    }
    if args.json {
        return print::json(&result);
    }
    print(
        &result,
        if sweep.facts.flops.is_some() {
            "flop"
        } else {
            "runs"
        },
    );
    print::note(if kept {
        format!(
            "kept in {}; `greenup analyze {} --out DIR` draws it",
            file.display(),
            args.sweep.display()
        )
    } else {
        let words = format!("stopped; {} stays as it was", file.display());
        match sizes {
            0 => words,
            _ => format!("{words}, the sizes measured now are in {}", half.display()),
        }
    });
    Ok(())
}

/// Where each parameter of a problem gets its value: from the sweep, or as given.
struct Filled(Vec<std::result::Result<usize, Value>>);

impl Filled {
    fn new(
        parameters: &[&str],
        of_sweep: &[String],
        given: &[(String, toml::Value)],
    ) -> Result<Self> {
        let differ = || {
            format!(
                "the sweep's parameters are {}, the problem's {}",
                of_sweep.join(", "),
                parameters.join(", ")
            )
        };
        if of_sweep.iter().any(|n| !parameters.contains(&n.as_str())) {
            return Err(AppError::new(differ()).hint("give the problem that the sweep was made of"));
        }
        let from = |name: &&str| {
            if let Some(i) = of_sweep.iter().position(|n| n == name) {
                return Ok(Ok(i));
            }
            let value = given.iter().rev().find(|(n, _)| n == name);
            match value.and_then(|(_, v)| v.as_integer()) {
                Some(v) => Ok(Err(Value::Int(v))),
                None => Err(AppError::new(differ()).hint(format!(
                    "give the problem that the sweep was made of, or the value of `{name}` with --set {name}=VALUE"
                ))),
            }
        };
        parameters.iter().map(from).collect::<Result<_>>().map(Self)
    }

    fn config(&self, recorded: &[Value]) -> Vec<Value> {
        let value = |from: &std::result::Result<usize, Value>| match from {
            Ok(i) => recorded[*i].clone(),
            Err(v) => v.clone(),
        };
        self.0.iter().map(value).collect()
    }
}

fn print(s: &Scaling, unit: &str) {
    for (i, (why, config)) in s.configs.iter().enumerate() {
        let config = text::named(s.parameters.iter().zip(config));
        print::line(format!("{}: {why}: {config}", letter(i)));
    }
    let failure = |at: &SizePoint, c: usize| {
        let failure = at.trials[c].as_ref().and_then(|t| t.failure());
        failure
            .map_or("no config of this size", |f| f.0.name())
            .into()
    };
    let columns = Columns::<SizePoint>::new()
        .text(&s.over, "", |at| at.size.to_string())
        .and_each(0..s.configs.len(), |all, c| {
            all.text(letter(c), "", move |at| {
                s.rates(at, c).map_or_else(
                    || failure(at, c),
                    |r| {
                        let speed = si(r.per_second, &format!("{unit}/s"));
                        let green = r.per_joule.map_or_else(String::new, |e| {
                            format!(", {}", si(e, &format!("{unit}/J")))
                        });
                        format!("{speed} ±{}{green}", percent(r.relative_error))
                    },
                )
            })
        });
    print::line("");
    print::table(&columns.table("", &s.sizes));
    // Why, where no config works: most likely the size itself.
    for at in &s.sizes {
        let mut failures = at.trials.iter().map(|t| t.as_ref()?.failure());
        let first = at.trials.iter().find_map(|t| t.as_ref()?.failure());
        if let Some((failure, message)) = first.filter(|_| failures.all(|f| f.is_some())) {
            print::note(format!(
                "no config works at {} = {}: {}: {message}",
                s.over,
                at.size,
                failure.name()
            ));
        }
    }
}

fn letter(i: usize) -> String {
    char::from_u32('A' as u32 + i as u32 % 26).map_or_else(|| i.to_string(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_a_sweep_does_not_have_are_given() {
        let of_sweep = ["tile".to_owned(), "unroll".to_owned()];
        let set = |v: i64| vec![("texture".to_owned(), toml::Value::Integer(v))];
        let parameters = ["tile", "texture", "unroll"];
        let of = Filled::new(&parameters, &of_sweep, &set(1)).unwrap();
        let config = of.config(&[Value::Int(16), Value::Int(4)]);
        assert_eq!(config, [Value::Int(16), Value::Int(1), Value::Int(4)]);
        for (parameters, given) in [
            (&["tile", "texture", "unroll"][..], Vec::new()),
            (&["tile", "texture"][..], set(0)),
        ] {
            let e = Filled::new(parameters, &of_sweep, &given).err().unwrap();
            assert!(
                e.message
                    .contains("the sweep's parameters are tile, unroll")
            );
        }
    }
}
