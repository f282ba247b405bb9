//! What makes a sweep reproducible, recorded beside it.

use super::compile::{Unit, compiler_version};
use super::plan::{DATA_SEED, Plan};
use crate::problem::{Fill, Problem, Role};
use crate::sweep::SweepFacts;

pub(super) fn facts(problem: &Problem, plan: &Plan) -> SweepFacts {
    let mut more = plan.facts.clone();
    let fixed: String = [
        Unit::of_reference(problem),
        Unit::of_setup(problem),
        Unit::of_rival(problem),
    ]
    .iter()
    .flatten()
    .map(|u| format!(" {}", u.key()))
    .collect();
    let kernel = Unit::of_sources(problem);
    let constants: Vec<String> = problem
        .space
        .constants()
        .iter()
        .map(|(n, v)| format!("{n}={v}"))
        .collect();
    more.insert("constants".into(), constants.join(" "));
    more.insert("sources".into(), format!("{}{fixed}", kernel.key()));
    more.insert("compiler".into(), compiler_version(&problem.build));
    more.insert("flags".into(), problem.build.flags().join(" "));
    more.insert("seed of data".into(), DATA_SEED.to_string());
    if let Some(on) = &plan.gpu {
        more.insert("architecture".into(), on.gpu.arch.clone());
        more.insert("gpu".into(), on.gpu.name.clone());
    }
    let fills: Vec<String> = problem
        .data
        .iter()
        .filter(|d| d.len.is_some() && d.role == Role::In)
        .map(|d| match &d.fill {
            Fill::Number(x) => format!("{} {x}", d.name),
            Fill::Named(f) => format!("{} {f}", d.name),
        })
        .collect();
    more.insert("data".into(), fills.join(", "));
    let flops = plan_flops(problem);
    SweepFacts {
        name: problem.space.name.clone(),
        device: plan.device.clone(),
        parameters: problem.space.names().map(str::to_owned).collect(),
        flops,
        objective: plan.objectives.first().map(ToString::to_string),
        more,
    }
}

/// Flops of a run, where they do not depend on the config.
fn plan_flops(problem: &Problem) -> Option<f64> {
    if !problem.has_work() {
        return None;
    }
    problem
        .work(&[])
        .ok()
        .map(|w| w.flops())
        .filter(|f| *f > 0.0)
}
