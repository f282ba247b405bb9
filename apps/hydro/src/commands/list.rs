//! The problems and their defaults.

use crate::problem::{Problem, Standard};
use greenup_app::{Result, print};
use greenup_report::table::Columns;
use serde::Serialize;

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
    let rows = Standard::ALL.iter().enumerate().map(|(i, s)| {
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
    let all: Vec<ListedProblem> = rows.collect();
    let columns = Columns::<ListedProblem>::new()
        .text("problem", "", |r| match r.problem {
            Name::Number(n) => n.to_string(),
            Name::Name(n) => n.to_owned(),
        })
        .text("name", "", |r| r.name.to_owned())
        .text("mesh", "", |r| r.mesh.to_owned())
        .count("refine", "", |r| r.refine as u64)
        .shown("t-final", "", |t| t.to_string(), |r| r.t_final)
        .count("order", "", |r| r.order as u64);
    print::table(&columns.table("", all));
    Ok(())
}
