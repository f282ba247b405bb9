//! The problems and their defaults.

use crate::problem::{Problem, Standard};
use greenup_app::{Result, print, stdout};
use serde::Serialize;
use std::fmt::Write as _;

#[derive(Serialize)]
struct ListedProblem {
    /// As `--problem` takes it.
    problem: Name,
    name: &'static str,
    mesh: &'static str,
    refine: usize,
    t_final: f64,
    order: usize,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Name {
    Number(usize),
    Name(&'static str),
}

pub fn list(json: bool) -> Result {
    let rows = Standard::ALL.into_iter().enumerate().map(|(i, s)| {
        let d = s.defaults();
        ListedProblem {
            problem: match i {
                0..Problem::NUMBERED => Name::Number(i),
                _ => Name::Name(s.name()),
            },
            name: s.name(),
            mesh: d.mesh,
            refine: d.refine,
            t_final: d.t_final,
            order: d.order,
        }
    });
    if json {
        let all: Vec<ListedProblem> = rows.collect();
        return print::json(&all);
    }
    let mut out =
        String::from("problem   name             mesh              refine  t-final     order\n");
    for r in rows {
        let problem = match r.problem {
            Name::Number(n) => n.to_string(),
            Name::Name(n) => n.to_owned(),
        };
        let _ = writeln!(
            out,
            "{problem:<10}{:<17}{:<18}{:>6}  {:<12}{:>5}",
            r.name, r.mesh, r.refine, r.t_final, r.order
        );
    }
    stdout::bytes(out.as_bytes());
    Ok(())
}
