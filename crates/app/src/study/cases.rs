//! The loop over the cases of a study.

use super::record::{Case, Record};
use crate::progress::bar;
use crate::{AppError, Result, interrupt};
use greenup_report::provenance::Provenance;
use greenup_tune::sweep::Trial;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What was found of a case: a trial and a row for each of its configs; `None` if the user interrupts.
pub type Found<R> = Result<Option<Vec<(Trial, R)>>>;

/// Checks that all cases were measured.
///
/// # Errors
/// The user interrupted before the last.
pub fn complete() -> Result {
    if !interrupt::requested() {
        return Ok(());
    }
    let why = "interrupted: a folder keeps the measurements, and the same command continues";
    Err(AppError::interrupted(why))
}

/// Measures the cases that the record lacks, under a progress bar, until the user interrupts, which drops the case under way.
/// Each is recorded when it ends, so that a kill loses one only; `keep` gets the rows so far.
///
/// # Errors
/// Those of a case, of the record, and of `keep`.
pub fn measure<C: Case, R: Clone + Serialize + DeserializeOwned>(
    cases: &[C],
    record: &mut Record<R>,
    provenance: &mut Provenance,
    mut one: impl FnMut(&C) -> Found<R>,
    mut keep: impl FnMut(&[R], &Provenance) -> Result,
) -> Result<Vec<R>> {
    let left: Vec<&C> = (cases.iter()).filter(|c| record.of(*c).is_none()).collect();
    let (begin, bar) = (Instant::now(), bar(left.len() as u64, "cases"));
    provenance.took("measurements", 0.0);
    let known = record.rows(cases);
    if !known.is_empty() {
        keep(&known, provenance)?;
    }
    for case in left {
        if interrupt::requested() {
            break;
        }
        bar.set_message(case.name());
        let start = Instant::now();
        let found = one(case);
        if interrupt::requested() {
            break;
        }
        let Some(mut found) = found? else { break };
        let took = start.elapsed().as_secs_f64() / found.len().max(1) as f64;
        for (trial, _) in &mut found {
            trial.measure_s = took - trial.build_s;
            trial.at =
                (SystemTime::now().duration_since(UNIX_EPOCH)).map_or(0.0, |d| d.as_secs_f64());
        }
        record.add(found)?;
        provenance.took("measurements", begin.elapsed().as_secs_f64());
        keep(&record.rows(cases), provenance)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(record.rows(cases))
}

#[cfg(test)]
mod tests {
    use super::super::record::facts;
    use super::super::trial::timed;
    use super::*;
    use greenup_space::Value;

    impl Case for i64 {
        fn name(&self) -> String {
            self.to_string()
        }

        fn configs(&self) -> Vec<Vec<Value>> {
            vec![vec![Value::Int(*self)]]
        }
    }

    #[test]
    fn results_are_kept_after_each_case_and_not_measured_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut p = Provenance::of_process();
        let about = facts(("s", "d"), &["n"], None, &p);
        let mut study = |last: i64| {
            let mut kept = Vec::new();
            let mut record = Record::open(Some(dir.path()), &about).unwrap();
            let one = |c: &i64| {
                let trial = timed(c.configs().remove(0), vec![1.0, 2.0, 3.0], None);
                Ok((*c < last).then(|| vec![(trial, 10 * c)]))
            };
            let found = measure(&[4, 1, 2], &mut record, &mut p, one, |rows, _| {
                kept.push(rows.to_vec());
                Ok(())
            });
            (found.unwrap(), kept)
        };
        assert_eq!(study(0), (vec![], vec![]));
        let all = vec![40, 10, 20];
        let each = vec![vec![40], vec![40, 10], all.clone()];
        assert_eq!(study(5), (all.clone(), each));
        assert_eq!(study(0), (all.clone(), vec![all]));
        assert!(p.durations_s.contains_key("measurements"));
        let refused = |name: &str, device: &str, machine: Option<&String>| {
            let about = facts((name, device), &["n"], machine.map(|m| ("machine", m)), &p);
            Record::<i64>::open(Some(dir.path()), &about)
                .err()
                .unwrap()
                .message
        };
        assert!(refused("s", "e", None).contains("is a study of d, not of e"));
        assert!(refused("t", "e", None).contains("it is of `s`, not `t`"));
        assert!(refused("s", "d", Some(&"h200".to_owned())).contains("machine"));
        // Rows of another form.
        assert!(Record::<String>::open(Some(dir.path()), &about).is_err());
    }
}
