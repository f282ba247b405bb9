//! Workers that a launcher starts, often on another host: how they introduce themselves, and the files that they get.

use super::protocol::Sent;
use crate::error::EnvironmentFault;
use crate::problem::Fill;
use crate::worker::protocol::{Built, Job, Task};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use greenup_files::Cache;
use greenup_files::read::read_plain;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Version of this program, which a worker must have too.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Bytes of a file that is sent at most: it is one line of text there.
const MOST_BYTES: u64 = 1 << 30;

/// Writes the files of a job into the worker's folder.
///
/// # Errors
/// A name is not made of a hash, or a file cannot be written.
pub fn store(files: &[Sent], folder: &Path) -> Result<(), String> {
    for file in files {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
        if file.name.is_empty() || file.name.starts_with('.') || !file.name.chars().all(plain) {
            return Err(format!("`{}` is no name of a sent file", file.name));
        }
        let path = folder.join(&file.name);
        let bytes = STANDARD
            .decode(&file.contents)
            .map_err(|e| format!("`{}` came damaged: {e}", file.name))?;
        greenup_files::write(&path, bytes).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Sends what a kernel needs; a command's build goes into the worker's folder.
fn built(
    kernel: &mut Built,
    send: &mut dyn FnMut(&mut PathBuf) -> Result<(), EnvironmentFault>,
    there: &Path,
) -> Result<(), EnvironmentFault> {
    if let Built::Command(command) = kernel {
        let builds = command.build.as_ref().and_then(|b| b.folder.parent());
        if let Some(builds) = builds.map(Path::to_owned) {
            command.moved(&builds, there);
        }
        return match &mut command.expectation {
            Some(e) => send(&mut e.text),
            None => Ok(()),
        };
    }
    kernel.file_mut().map_or(Ok(()), send)
}

/// A file as it was when its hash was taken.
type Seen = (PathBuf, u64, Option<SystemTime>);

/// Files that a worker has.
pub(crate) struct Files {
    folder: PathBuf,
    names: HashMap<Seen, String>,
    sent: HashSet<String>,
}

impl Files {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            names: HashMap::new(),
            sent: HashSet::new(),
        }
    }

    /// The job with the paths of the worker's folder, and with the files that the worker does not have.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn job(&mut self, job: &Job) -> Result<Job, EnvironmentFault> {
        let mut out = job.clone();
        let (mut files, there) = (Vec::new(), self.folder.clone());
        let mut send = |path: &mut PathBuf| self.send(path, &mut files);
        if let Some(setup) = &mut out.inputs.setup {
            send(setup)?;
        }
        let dir = out.inputs.dir.clone();
        for data in &mut out.inputs.data {
            if let Fill::Named(name) = &mut data.fill
                && let Some(file) = name.strip_prefix("file:")
            {
                let mut path = dir.join(file);
                send(&mut path)?;
                *name = format!("file:{}", path.display());
            }
            if let Some(answer) = &mut data.answer {
                let mut path = dir.join(&answer.file);
                send(&mut path)?;
                answer.file = path;
            }
        }
        match &mut out.task {
            Task::Trial {
                kernel,
                reference,
                baseline,
                check,
                ..
            } => {
                built(kernel, &mut send, &there)?;
                if let Some(baseline) = baseline {
                    built(baseline, &mut send, &there)?;
                }
                if let Some(check) = check {
                    check.moved(&there);
                }
                if let Some(expected) = reference {
                    send(&mut expected.first)?;
                    send(&mut expected.fresh)?;
                }
            }
            Task::Show { kernel, .. } => built(kernel, &mut send, &there)?,
            Task::Interleaved { kernels, .. } => {
                for kernel in kernels {
                    built(kernel, &mut send, &there)?;
                }
            }
            Task::Compile(_)
            | Task::BuildOpenCl(_)
            | Task::Reference { .. }
            | Task::Introduce(_)
            | Task::Fill => {}
        }
        out.files = files;
        Ok(out)
    }

    fn send(&mut self, path: &mut PathBuf, out: &mut Vec<Sent>) -> Result<(), EnvironmentFault> {
        let failed = |e: &dyn std::fmt::Display| {
            EnvironmentFault(format!("cannot send {} to a worker: {e}", path.display()))
        };
        let about = std::fs::metadata(&*path).map_err(|e| failed(&e))?;
        let seen = (path.clone(), about.len(), about.modified().ok());
        let known = self.names.get(&seen).filter(|n| self.sent.contains(*n));
        let name = match known {
            Some(name) => name.clone(),
            None => {
                let bytes = read_plain(&*path, MOST_BYTES).map_err(|e| failed(&e))?;
                let mut name = Cache::key([&bytes]);
                if let Some(ending) = path.extension().and_then(|e| e.to_str()) {
                    name = format!("{name}.{ending}");
                }
                if self.sent.insert(name.clone()) {
                    out.push(Sent {
                        name: name.clone(),
                        contents: STANDARD.encode(&bytes),
                    });
                }
                self.names.insert(seen, name.clone());
                name
            }
        };
        *path = self.folder.join(name);
        Ok(())
    }
}
