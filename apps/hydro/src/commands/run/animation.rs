//! Animations of a run: frames at equal intervals of time, written when the run ends or is stopped.

use crate::HydroError;
use crate::engine::State;
use crate::hydro::Hydro;
use crate::output::animation::{ENDINGS, apng, delay_ms};
use crate::output::{Common, Pixels, Scene, View};
use crate::session::settings::Settings;
use greenup_app::progress::bar;
use greenup_app::{AppError, Result, print};
use greenup_files::AtomicFile;
use greenup_process::capture::{Capture, output};
use greenup_process::group::{Group, OnInterrupt};
use greenup_report::chart::FileStyle;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Pixels an inch of a frame, as on a screen.
const DPI: f64 = 96.0;

/// The frames of a run so far.
pub struct Animation {
    path: PathBuf,
    ending: String,
    view: View,
    look: FileStyle,
    every: f64,
    next: f64,
    scenes: Vec<Scene>,
}

impl Animation {
    /// Starts an animation at time `now`, if one is wanted.
    ///
    /// # Errors
    /// The format needs ffmpeg, and there is none.
    pub fn new(s: &Settings, now: f64) -> Result<Option<Self>> {
        let Some(path) = &s.figures.animation else {
            return Ok(None);
        };
        let ending = greenup_files::outputs::ending(path, &ENDINGS)?;
        if ending != ENDINGS[0] {
            check_ffmpeg(path)?;
        }
        Ok(Some(Self {
            path: path.clone(),
            ending,
            view: s.figures.view(s.e0()),
            look: FileStyle {
                dpi: DPI,
                ..s.figures.look.look()
            },
            every: (s.t_final() - now) / s.figures.frames() as f64,
            next: now,
            scenes: Vec::new(),
        }))
    }

    /// Whether a frame is due at time `t`.
    pub fn due(&self, t: f64) -> bool {
        t >= self.next * (1.0 - 1e-12)
    }

    /// Adds a frame.
    pub fn add(&mut self, h: &Hydro, s: &State, (t, step): (f64, usize)) {
        let size = Pixels {
            width: self.look.width,
            scale: 1.0,
        };
        self.scenes
            .push(Scene::new(h, s, &self.view, (t, step), size));
        // A long step skips frames.
        while self.every > 0.0 && self.due(t) {
            self.next += self.every;
        }
    }

    /// Writes all frames so far, with where they come from: names and values.
    ///
    /// # Errors
    /// The file cannot be written, or ffmpeg fails.
    pub fn write(self, origin: &[(String, String)]) -> Result {
        let Some(last) = self.scenes.len().checked_sub(1) else {
            return Ok(());
        };
        let common = Common::of(&self.view, &self.scenes);
        let bar = bar(self.scenes.len() as u64, "frames");
        let mut frame = |k: usize| {
            bar.set_position(k as u64);
            self.scenes[k.min(last)]
                .chart(&common, self.look.style)
                .file("png", &self.look)
                .map_err(|e| HydroError::Output(e.to_string()))
        };
        let count = self.scenes.len();
        if self.ending == ENDINGS[0] {
            let mut file = AtomicFile::create(&self.path)?;
            apng(&mut file, origin, count, &mut frame)?;
            file.commit()?;
        } else {
            // Frames for ffmpeg, deleted at the end of this block.
            let mut frames = AtomicFile::create(self.path.with_extension("frames.png"))?;
            apng(&mut frames, &[], count, &mut frame)?;
            let failed = |cause| greenup_files::FileError::Write {
                path: self.path.clone(),
                cause,
            };
            frames.flush().map_err(failed)?;
            let file = AtomicFile::create(&self.path)?;
            convert(frames.temporary(), file.temporary(), &self.ending, count)?;
            file.commit()?;
        }
        bar.finish_and_clear();
        print::note(format!("wrote {}, {count} frames", self.path.display()));
        Ok(())
    }
}

fn check_ffmpeg(path: &Path) -> Result {
    let found = output(
        Command::new("ffmpeg").arg("-version"),
        Duration::from_secs(20),
        &|| false,
    );
    if found.is_ok_and(|o| o.success()) {
        return Ok(());
    }
    Err(AppError::new(format!(
        "{}: ffmpeg writes this format, and it is not in PATH",
        path.display()
    ))
    .hint("install ffmpeg, or name a file *.png for an animated PNG, which browsers show"))
}

/// Converts an animated PNG. What a user has waited for is finished after Ctrl-C too.
fn convert(from: &Path, to: &Path, ending: &str, frames: usize) -> Result {
    let filter = match ending {
        "gif" => "split[a][b];[a]palettegen[p];[b][p]paletteuse",
        // This format has even sizes only.
        _ => "pad=ceil(iw/2)*2:ceil(ih/2)*2",
    };
    let rate = format!("1000/{}", delay_ms(frames));
    let mut command = Command::new("ffmpeg");
    command
        .args(["-nostdin", "-loglevel", "error", "-y", "-f", "apng", "-i"])
        .arg(from)
        .args(["-vf", filter, "-r", &rate]);
    if ending == "mp4" {
        command.args(["-pix_fmt", "yuv420p", "-movflags", "+faststart"]);
    }
    command
        .args(["-f", ending])
        .arg(to)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let cannot = |e: std::io::Error| {
        AppError::new(format!(
            "ffmpeg, which draws the animation, cannot be run: {e}"
        ))
        .hint("install ffmpeg, or name a .png file")
    };
    let mut group = Group::spawn(&mut command, OnInterrupt::Keep).map_err(cannot)?;
    let errors = group.take_stderr().map(|p| Capture::of(p, 2000));
    group.wait().map_err(cannot)?;
    let (status, _) = group.reap_with_usage().map_err(cannot)?;
    if status.success() {
        return Ok(());
    }
    let said = errors.map_or_else(String::new, |e| e.text());
    Err(AppError::new(format!("ffmpeg failed: {}", said.trim()))
        .hint("name a file *.png for an animated PNG"))
}
