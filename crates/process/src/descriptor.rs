//! Descriptors of a library in a foreign program, which may close them: daemons close all, and the numbers become those of the
//! program's own files. So a descriptor is kept at a high number, closed by exec, and used only while it is the file that was
//! opened.

use std::ffi::CString;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Lowest number that is tried: loops that close descriptors seldom come so far.
const HIGH: u64 = 4096;
/// Numbers below the limit of the process that are left to us.
const ROOM: u64 = 100;

/// Which file a descriptor is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    device: libc::dev_t,
    inode: libc::ino_t,
    mode: libc::mode_t,
}

impl Identity {
    /// That of an open descriptor; `None` for one that is closed.
    pub fn of(fd: RawFd) -> Option<Self> {
        // SAFETY: stat is plain data for which all zeros is valid, and the pointer is valid for writes.
        let stat = unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            (libc::fstat(fd, &raw mut stat) == 0).then_some(stat)
        }?;
        Some(Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            mode: stat.st_mode & libc::S_IFMT,
        })
    }

    /// Whether it is a plain file, or a device such as `/dev/null`.
    fn is_file_or_device(self) -> bool {
        self.mode == libc::S_IFREG || self.mode == libc::S_IFCHR
    }
}

/// A descriptor that somebody else may close. Dropping it closes it only if it is still its own.
#[derive(Debug)]
pub struct Descriptor {
    fd: RawFd,
    identity: Identity,
}

impl Descriptor {
    /// Opens a file for appending, made if it does not exist. It never waits for the other end of a pipe.
    ///
    /// # Errors
    /// It cannot be opened, or is a pipe, a socket or a folder.
    pub fn append(path: &Path) -> io::Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)?;
        let how = libc::O_WRONLY
            | libc::O_APPEND
            | libc::O_CREAT
            | libc::O_CLOEXEC
            | libc::O_NONBLOCK
            | libc::O_NOCTTY;
        // SAFETY: the name ends with a zero byte.
        let fd = unsafe { libc::open(name.as_ptr(), how, 0o666) };
        if fd < 0 {
            let e = io::Error::last_os_error();
            return Err(match e.raw_os_error() {
                // A pipe that nobody reads.
                Some(libc::ENXIO) => not_plain(),
                _ => e,
            });
        }
        let out = Self::raised(fd)?;
        if !out.identity.is_file_or_device() {
            return Err(not_plain());
        }
        Ok(out)
    }

    /// A duplicate of an open descriptor.
    ///
    /// # Errors
    /// It is closed, or there is no room.
    pub fn duplicate(fd: RawFd) -> io::Result<Self> {
        let identity = Identity::of(fd).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
        let fd = high(fd).ok_or_else(io::Error::last_os_error)?;
        Ok(Self { fd, identity })
    }

    /// Takes a descriptor over and moves it to a high number, where there is room.
    ///
    /// # Errors
    /// It is closed.
    pub fn raised(fd: RawFd) -> io::Result<Self> {
        let identity = Identity::of(fd).ok_or_else(io::Error::last_os_error)?;
        let fd = match high(fd) {
            Some(up) => {
                // SAFETY: the low number was given over to this function.
                unsafe { libc::close(fd) };
                up
            }
            None => fd,
        };
        Ok(Self { fd, identity })
    }

    /// Whether it is still the file that was opened.
    pub fn is_own(&self) -> bool {
        Identity::of(self.fd) == Some(self.identity)
    }

    /// The number.
    pub fn number(&self) -> RawFd {
        self.fd
    }

    /// Which file it is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Reads what is there.
    ///
    /// # Errors
    /// The system's own, or the number is another file's.
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        // SAFETY: the buffer is valid for its length.
        let n = unsafe { libc::read(self.fd, into.as_mut_ptr().cast(), into.len()) };
        usize::try_from(n).map_err(|_| io::Error::last_os_error())
    }

    /// Writes some of the bytes.
    ///
    /// # Errors
    /// The system's own, or the number is another file's.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        write_to(self.fd, bytes)
    }

    /// Length of its file, bytes.
    pub fn length(&self) -> Option<u64> {
        // SAFETY: stat is plain data for which all zeros is valid, and the pointer is valid for writes.
        let stat = unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            (libc::fstat(self.fd, &raw mut stat) == 0).then_some(stat)
        }?;
        u64::try_from(stat.st_size).ok()
    }

    /// Goes back to the start of its file.
    ///
    /// # Errors
    /// The system's own, or the number is another file's.
    pub fn rewind(&self) -> io::Result<()> {
        self.check()?;
        // SAFETY: only moves the position.
        match unsafe { libc::lseek(self.fd, 0, libc::SEEK_SET) } {
            0.. => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn check(&self) -> io::Result<()> {
        if self.is_own() { Ok(()) } else { Err(taken()) }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if self.is_own() {
            // SAFETY: it is the descriptor that was opened here.
            unsafe { libc::close(self.fd) };
        }
    }
}

/// Writes some of the bytes to a number.
///
/// # Errors
/// The system's own.
pub fn write_to(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let n = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

fn taken() -> io::Error {
    io::Error::other("the program closed its descriptor")
}

fn not_plain() -> io::Error {
    io::Error::other("not a plain file")
}

/// A duplicate at a high number, closed by exec.
fn high(fd: RawFd) -> Option<RawFd> {
    // SAFETY: rlimit is plain data for which all zeros is valid, and the pointer is valid for writes.
    let soft = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        limit.rlim_cur
    };
    #[allow(clippy::unnecessary_cast)] // Its type differs between systems.
    let least = (soft as u64).min(HIGH + ROOM).saturating_sub(ROOM).max(3);
    let least = RawFd::try_from(least).ok()?;
    // SAFETY: only makes a descriptor.
    let up = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, least) };
    (up >= 0).then_some(up)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsRawFd as _, IntoRawFd as _};

    #[test]
    fn a_number_that_became_another_files_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let own = Descriptor::append(&dir.path().join("own")).unwrap();
        assert!(own.number() > 100, "{}", own.number());
        assert_eq!(own.write(b"one\n").unwrap(), 4);
        let other = std::fs::File::create(dir.path().join("other")).unwrap();
        // SAFETY: puts the other file at this number, as a program does that closes and opens.
        unsafe { libc::dup2(other.as_raw_fd(), own.number()) };
        let e = own.write(b"two\n").unwrap_err();
        assert!(e.to_string().contains("closed its descriptor"), "{e}");
        let number = own.number();
        drop(own);
        assert!(Identity::of(number).is_some(), "the other file stays open");
        // SAFETY: made above.
        unsafe { libc::close(number) };
        let text = |name| std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(
            (text("own").as_str(), text("other").as_str()),
            ("one\n", "")
        );
    }

    #[test]
    fn pipes_and_folders_are_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        let name = CString::new(fifo.as_os_str().as_bytes()).unwrap();
        // SAFETY: the name ends with a zero byte.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let e = Descriptor::append(&fifo).unwrap_err();
        assert!(e.to_string().contains("not a plain file"), "{e}");
        // Also one that somebody reads.
        let reader = std::fs::File::options()
            .read(true)
            .write(true)
            .open(&fifo)
            .unwrap()
            .into_raw_fd();
        assert!(Descriptor::append(&fifo).is_err());
        // SAFETY: made above.
        unsafe { libc::close(reader) };
        assert!(Descriptor::append(dir.path()).is_err());
        assert!(Descriptor::append(Path::new("/dev/null")).is_ok());
    }
}
