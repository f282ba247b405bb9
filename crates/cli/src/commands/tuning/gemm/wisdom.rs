//! Tuning for a size, which adds to the wisdom.

use crate::args::GemmArgs;
use crate::search::{self, Request};
use greenup_app::error::Result;
use greenup_gemm::Size;
use greenup_space::Value;
use greenup_tune::Problem;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tunes for a size, beside the config that is used until now, and keeps the winner; without the problem when the user stopped it
/// before anything was found.
pub fn tuned(
    args: &GemmArgs,
    problem: Problem,
    file: PathBuf,
    size: Size,
    cache: &Path,
    used: Vec<Value>,
) -> Result<Option<Problem>> {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs());
    let dir: PathBuf = args
        .out
        .clone()
        .unwrap_or_else(|| cache.join(format!("sweep-{}x{}x{}-{seconds}", size.m, size.n, size.k)));
    let mut request = Request::new(problem, file, &args.search, dir.clone())?;
    request.options.default = Some(used);
    request.quiet = args.json;
    let done = request.run()?;
    if !args.json {
        search::result::print(&done);
    }
    search::result::interrupted(&done.found);
    if done.found.finalists.is_empty() {
        return Ok(None);
    }
    search::wisdom::winner(&done, &dir);
    Ok(Some(done.problem))
}
