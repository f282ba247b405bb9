//! The ranks of this process.

use crate::session::settings::Settings;
use greenup_app::ranks::{RankTeam, RanksArg};
use greenup_app::{AppError, Result, pool, print};
use greenup_device::cuda::Gpu;
use greenup_ranks::Ranks;
use std::sync::Arc;

/// Runs `work` on each rank of this process: those of a launcher, `--ranks` threads, or one.
pub fn on_all(s: &Settings, work: impl Fn(&Arc<dyn Ranks>) -> Result + Sync) -> Result {
    let asked = greenup_process::threads::check(s.threads.unwrap_or(1));
    asked.map_err(|e| AppError::new(format!("threads: {e}")))?;
    let usual = s.device().gpus((0, 1), Gpu::count()).len();
    let team = RanksArg { ranks: s.ranks }.team(usual)?;
    if !s.device().repeated().is_empty() {
        print::note(format!(
            "--device {}: ranks on the same GPU share its time, so times say nothing of several GPUs",
            s.device()
        ));
    }
    team.run(|ranks| {
        let threads = match &team {
            RankTeam::World(_) => greenup_app::ranks::threads(s.threads, &**ranks),
            RankTeam::Threads(n) => {
                let cores = std::thread::available_parallelism().map_or(1, usize::from);
                (s.threads.unwrap_or(cores) / n).max(1)
            }
        };
        // Inside a pool, tasks start without waking a thread.
        pool::of_own(threads)?.install(|| work(ranks))
    })
}

/// The text of the rank with the largest value. All ranks call it.
pub fn of_all(ranks: &dyn Ranks, value: f64, here: &str) -> String {
    let mut most = [value];
    ranks.max(&mut most);
    let own: &[u8] = if value == most[0] || value.is_nan() {
        here.as_bytes()
    } else {
        &[]
    };
    let all = ranks.gather(own).unwrap_or_default();
    let worst = all.into_iter().find(|t| !t.is_empty());
    worst.map_or_else(
        || here.to_owned(),
        |t| String::from_utf8_lossy(&t).into_owned(),
    )
}
