//! Windows of passes on a host that others use too: only passes during which nothing took a core away count.

use greenup_device::team::Passes;
use greenup_meter::stats::median;
use greenup_meter::{Run, Summary};
use greenup_model::Work;

/// Fewest undisturbed passes that tell a time.
const ENOUGH: usize = 5;
/// A window without enough of them is repeated this often at most.
pub const REPEATS: usize = 3;

/// Work that repeats itself in passes: a microbenchmark, or one of a simulated host.
pub trait Repeatable {
    /// Work of one pass of all threads.
    fn work(&self) -> &Work;
    /// Passes for about `seconds`, one at least, ended before where `go` says so.
    fn passes(&self, seconds: f64, go: &(dyn Fn() -> bool + Sync)) -> Passes;
}

/// What a window of passes tells.
#[derive(Clone, Debug)]
pub struct Window {
    /// All passes, each counted with the time of an undisturbed one.
    pub run: Run,
    /// Time of one pass, s: of the undisturbed ones if there are enough, else of all.
    pub pass_s: Summary,
    /// Whether enough passes were undisturbed.
    pub clean: bool,
    /// Time lost to other programs over that of all passes.
    pub lost: f64,
    /// How often the window was repeated, as too few passes were undisturbed.
    pub repeats: usize,
}

/// Runs a window of about `seconds`; up to `most` more while fewer than five passes were undisturbed.
pub fn window(
    work: &dyn Repeatable,
    seconds: f64,
    most: usize,
    go: &(dyn Fn() -> bool + Sync),
) -> Window {
    let mut passes = work.passes(seconds, go);
    let enough = |p: &Passes| {
        // A pass as long as the window: there are no more.
        p.clean_s().len() >= ENOUGH.min(p.seconds.len())
    };
    let mut repeats = 0;
    while !enough(&passes) && repeats < most && go() {
        passes.extend(work.passes(seconds, go));
        repeats += 1;
    }
    let clean = enough(&passes);
    let counted = if clean {
        passes.clean_s()
    } else {
        passes.seconds.clone()
    };
    let all: f64 = passes.seconds.iter().sum();
    let iterations = passes.seconds.len() as f64;
    Window {
        run: Run {
            iterations,
            seconds: iterations * median(&counted),
        },
        // At least one pass was made, and its time is a number.
        pass_s: Summary::of(&counted).unwrap_or(EMPTY),
        clean,
        lost: (passes.lost_s.iter().sum::<f64>() / all).min(1.0),
        repeats,
    }
}

/// Of a window without passes, which does not occur.
const EMPTY: Summary = Summary {
    n: 0,
    median: f64::NAN,
    lo: f64::NAN,
    hi: f64::NAN,
    mean: f64::NAN,
    sd: f64::NAN,
    min: f64::NAN,
    max: f64::NAN,
    mad: f64::NAN,
};
