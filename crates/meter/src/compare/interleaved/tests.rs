//! Interleaved runs of commands that take known times.

use super::*;
use crate::observe::Silent;
use crate::sensor::{Quantity, now_s};
use crate::sensors::simulated::Simulated;

/// Runs nothing: reports the first argument of a command as its time in ms.
struct Mock {
    clock: f64,
    rng: fastrand::Rng,
    exit: Exit,
    scripts: usize,
}

impl Executor for Mock {
    fn run(&mut self, command: &CommandLine) -> Result<CommandRun, CommandError> {
        let ms: f64 = command.args[0].parse().unwrap();
        let start_s = self.clock;
        self.clock += ms * 1e-3 * (1.0 + 0.02 * (self.rng.f64() - 0.5));
        Ok(CommandRun {
            start_s,
            end_s: self.clock,
            user_s: 0.0,
            system_s: 0.0,
            max_rss_bytes: Some(1),
            context_switches: 0,
            run_queue_s: None,
            exit: self.exit,
        })
    }

    fn script(&mut self, script: &str, what: Script) -> Result<(), CommandError> {
        // Time passes, which must not count.
        self.clock += 1000.0;
        self.scripts += 1;
        match script {
            "fail" => Err(CommandError::Script {
                what,
                script: script.into(),
                how: "exited with code 1".into(),
            }),
            _ => Ok(()),
        }
    }
}

fn mock() -> Mock {
    Mock {
        clock: 0.0,
        rng: fastrand::Rng::with_seed(1),
        exit: Exit::Code(0),
        scripts: 0,
    }
}

fn plan(stop: Stop) -> InterleavedPlan {
    InterleavedPlan {
        warmup: 1,
        stop,
        accepted: Accepted::Success,
    }
}

fn commands(list: &[&str]) -> Vec<CommandLine> {
    list.iter()
        .map(|c| CommandLine::parse(c).unwrap())
        .collect()
}

#[test]
fn runs_and_speedup() {
    let r = run_interleaved(
        &commands(&["a 300", "b 100"]),
        &plan(Stop::Runs(20)),
        &mut mock(),
        &mut [],
        0.0,
        &Silent,
    )
    .unwrap();
    assert_eq!(r.results[0].time_s.n, 20);
    let s = r.comparisons[0].speedup;
    assert!(s.lo < 3.0 && 3.0 < s.hi && s.hi - s.lo < 0.1, "{s:?}");
    assert!(r.comparisons[0].greenup.is_none());
}

#[test]
fn a_command_is_prepared_before_each_run_outside_of_its_time() {
    let mut c = commands(&["a 300", "b 100"]);
    c[0].prepare = Some("clear".into());
    let mut m = mock();
    let r = run_interleaved(&c, &plan(Stop::Runs(7)), &mut m, &mut [], 0.0, &Silent).unwrap();
    // Once for the warm-up.
    assert_eq!(m.scripts, 8);
    assert!(r.results[0].time_s.max < 0.31, "{:?}", r.results[0].time_s);
    c[1].prepare = Some("fail".into());
    let e = run_interleaved(&c, &plan(Stop::Runs(7)), &mut m, &mut [], 0.0, &Silent);
    assert!(
        e.unwrap_err()
            .to_string()
            .starts_with("the prepare command")
    );
}

#[test]
fn commands_are_ranked_from_the_fastest() {
    let r = run_interleaved(
        &commands(&["a 300", "b 100", "c 900"]),
        &plan(Stop::Runs(5)),
        &mut mock(),
        &mut [],
        0.0,
        &Silent,
    )
    .unwrap();
    assert_eq!(r.ranking, [1, 0, 2]);
    assert_eq!(r.ranks, [1, 2, 3]);
    assert!(r.comparisons.iter().all(|c| c.differs));
    assert!(r.against_baseline(0).is_none());
    assert_eq!(r.against_baseline(2).unwrap().command, "c 900");
}

#[test]
fn the_ranking_claims_no_more_than_the_intervals() {
    let run = |commands: &[CommandLine], n| {
        let plan = plan(Stop::Runs(n));
        run_interleaved(commands, &plan, &mut mock(), &mut [], 0.0, &Silent).unwrap()
    };
    let c = commands(&["a 300", "b 300.5", "c 301", "d 900"]);
    let r = run(&c, 5);
    assert_eq!(r.ranks, [1, 1, 1, 4], "{:?}", r.results);
    let differs: Vec<bool> = r.comparisons.iter().map(|c| c.differs).collect();
    assert_eq!(differs, [false, false, true]);
    // One run tells nothing.
    assert!(run(&c, 1).comparisons.iter().all(|c| !c.differs));
}

#[test]
fn the_requested_error_is_reached() {
    let c = commands(&["a 320"]);
    let r = run_interleaved(
        &c,
        &plan(Stop::RelError(0.002)),
        &mut mock(),
        &mut [],
        0.0,
        &Silent,
    )
    .unwrap();
    assert!(r.results[0].time_s.relative_error() <= 0.002);
    for (stop, runs) in [
        (Stop::DEFAULT, 10),
        (Stop::Between(14, 20), 14),
        (Stop::Between(2, 4), 4),
    ] {
        let r = run_interleaved(&c, &plan(stop), &mut mock(), &mut [], 0.0, &Silent).unwrap();
        assert_eq!(r.results[0].time_s.n, runs);
    }
}

#[test]
fn failures_stop_unless_ignored() {
    let mut failing = mock();
    failing.exit = Exit::Code(3);
    let c = commands(&["a 300"]);
    let mut p = plan(Stop::Runs(5));
    let e = run_interleaved(&c, &p, &mut failing, &mut [], 0.0, &Silent).unwrap_err();
    assert!(
        e.to_string()
            .contains("exited with code 3 in warm-up run 1")
    );
    p.accepted = Accepted::All;
    let r = run_interleaved(&c, &p, &mut failing, &mut [], 0.0, &Silent).unwrap();
    assert_eq!((r.results[0].failures, &r.ranking[..]), (5, &[][..]));
    assert_eq!(r.results[0].exit_codes, [3; 5]);
    p.accepted = Accepted::Codes(vec![2, 3]);
    let r = run_interleaved(&c, &p, &mut failing, &mut [], 0.0, &Silent).unwrap();
    assert_eq!((r.results[0].failures, &r.ranking[..]), (0, &[0][..]));
    p.accepted = Accepted::Codes(vec![2]);
    assert!(run_interleaved(&c, &p, &mut failing, &mut [], 0.0, &Silent).is_err());
}

/// Succeeds some times, then fails.
struct Breaks(Mock, usize);

impl Executor for Breaks {
    fn run(&mut self, command: &CommandLine) -> Result<CommandRun, CommandError> {
        self.0.exit = Exit::Code(if self.1 == 0 { 7 } else { 0 });
        self.1 = self.1.saturating_sub(1);
        self.0.run(command)
    }

    fn script(&mut self, script: &str, what: Script) -> Result<(), CommandError> {
        self.0.script(script, what)
    }
}

#[test]
fn runs_before_a_failure_are_kept() {
    let c = commands(&["a 300"]);
    let mut later = Breaks(mock(), 4);
    let p = plan(Stop::Runs(9));
    let r = run_interleaved(&c, &p, &mut later, &mut [], 0.0, &Silent).unwrap();
    // One of the four runs that succeed is the warm-up.
    assert_eq!(r.results[0].exit_codes, [0; 3]);
    assert_eq!((r.results[0].failures, r.ranking.len()), (1, 0));
    let said = r.failure.unwrap().to_string();
    assert!(said.contains("exited with code 7 in run 4"), "{said}");
    assert!(r.results[0].warnings[0].contains("runs before it"));
}

#[test]
fn runs_before_a_failure_in_their_block_are_kept() {
    // A block needs ten periods of 0.05 s: five runs of 0.1 s, of which the fourth fails.
    let counter = Simulated::new("sim", Quantity::Energy, |t| Ok(30.0 * t));
    let mut sensors: Vec<Box<dyn Sensor>> = vec![Box::new(counter)];
    let mut later = Breaks(mock(), 4);
    let (c, p) = (commands(&["a 100"]), plan(Stop::Runs(9)));
    let r = run_interleaved(&c, &p, &mut later, &mut sensors, 0.05, &Silent).unwrap();
    assert_eq!(r.results[0].exit_codes, [0; 3]);
    assert!(r.failure.unwrap().to_string().contains("in run 4"));
}

#[test]
fn short_runs_share_a_block_of_ticks() {
    // Real time here: a 30 W machine, counter ticks of 2 ms, runs of about 1 ms.
    struct Spin;
    impl Executor for Spin {
        fn run(&mut self, _: &CommandLine) -> Result<CommandRun, CommandError> {
            let start_s = now_s();
            crate::probe::spin(1e-3);
            Ok(CommandRun {
                start_s,
                end_s: now_s(),
                user_s: 0.0,
                system_s: 0.0,
                max_rss_bytes: None,
                context_switches: 0,
                run_queue_s: None,
                exit: Exit::Code(0),
            })
        }

        fn script(&mut self, _: &str, _: Script) -> Result<(), CommandError> {
            Ok(())
        }
    }
    let counter = Simulated::new("sim", Quantity::Energy, |t| {
        Ok(30.0 * (t / 0.002).floor() * 0.002)
    });
    let mut sensors: Vec<Box<dyn Sensor>> = vec![Box::new(counter)];
    let r = run_interleaved(
        &commands(&["spin 1"]),
        &plan(Stop::Runs(150)),
        &mut Spin,
        &mut sensors,
        0.002,
        &Silent,
    )
    .unwrap();
    let e = r.results[0].energy_j.unwrap();
    // The energy is that of whole blocks, with what a busy machine does between two runs.
    let times = &r.results[0].block_times_s;
    let want = 30.0 * times.iter().sum::<f64>() / times.len() as f64;
    assert!((e.mean / want - 1.0).abs() < 0.15, "{e:?}, not {want}");
    let p = r.results[0].power_w.unwrap();
    assert!((p.median / 30.0 - 1.0).abs() < 0.15, "{p:?}");
}
