//! The files that commands write: some grow while a session goes on, others are written at once.
//!
//! A file that grows ([`Growing`]) has one writer, which holds a lock on it. It is new, or was empty, or is overwritten on
//! request. A piece that could not be written whole is cut off again. A file written at once ([`replace`]) is written
//! aside and then renamed, so that its name never refers to half of it. Only its owner may read a session: mode 0600.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// How many links a name may lead over, as systems have it.
const MOST_LINKS: usize = 40;

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only its owner: it holds a session.
    Private,
    /// As the system's defaults, or the permissions of the file that it replaces, allow.
    Usual,
}

impl Access {
    /// The access to a copy of this file: a private file stays private.
    pub fn of_copy(original: &Path) -> Self {
        #[cfg(unix)]
        if fs::metadata(original).is_ok_and(|it| it.is_file() && is_private(&it)) {
            return Self::Private;
        }
        Self::Usual
    }
}

/// Whether nobody but its owner may do anything with it.
#[cfg(unix)]
fn is_private(file: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & 0o077 == 0
}

/// A file that grows by whole pieces, such as lines.
#[derive(Debug)]
pub struct Growing {
    file: File,
    /// Its length up to the last whole piece; none where it cannot be cut, such as a pipe or a device.
    whole: Option<u64>,
    made: bool,
}

impl Growing {
    /// Opens `path`, readable only by its owner; `force` overwrites a file that is there.
    ///
    /// # Errors
    /// A sentence, where something is there already, somebody else writes it, or it cannot be written.
    pub fn create(path: &Path, force: bool) -> Result<Self, String> {
        let name = path.display();
        let before = may_write(path, force)?;
        if before.as_ref().is_some_and(|it| !it.is_file()) {
            return Ok(Self { file: open_special(path)?, whole: None, made: false });
        }
        let made = private(OpenOptions::new().write(true).create_new(true)).open(path);
        let is_made = made.is_ok();
        let file = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                private(OpenOptions::new().write(true)).open(path)
            }
            made => made,
        };
        let file = file.map_err(|error| cannot_open(path, &error))?;
        lock(&file, is_made, force).map_err(|why| format!("{name} {why}"))?;
        // The last holder of the lock may have written.
        may_write(path, force)?;
        let cut = file.set_len(0).and_then(|()| restrict(&file));
        cut.map_err(|error| cannot_open(path, &error))?;
        Ok(Self { file, whole: Some(0), made: is_made })
    }

    /// Whether there was no such file before.
    pub fn is_new(&self) -> bool {
        self.made
    }

    /// Where the file ends now, if another program has shortened it: there it goes on.
    pub(crate) fn cut(&mut self) -> Option<u64> {
        let whole = self.whole.as_mut()?;
        let length = self.file.metadata().ok()?.len();
        if length >= *whole {
            return None;
        }
        *whole = self.file.seek(io::SeekFrom::Start(length)).ok()?;
        Some(length)
    }

    /// Runs `write`, which appends a whole piece; what it wrote is taken back where it fails, or that fails where it cannot be.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let done = write(&mut self.file);
        let Some(whole) = &mut self.whole else { return done };
        match &done {
            Ok(()) => *whole = self.file.stream_position()?,
            Err(_) => {
                // On a full disk there is room to cut.
                self.file.set_len(*whole)?;
                self.file.seek(io::SeekFrom::Start(*whole))?;
            }
        }
        done
    }

    /// The file itself, to be written in place; none where it is a pipe or a device.
    pub(crate) fn into_file(self) -> Option<File> {
        self.whole.map(|_| self.file)
    }
}

/// What tells the file of this name from every other one for as long as somebody has it open; none where nothing is there.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    let there = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let identity = (std::os::unix::fs::MetadataExt::dev(&there), std::os::unix::fs::MetadataExt::ino(&there));
    // An open file is neither removed nor replaced elsewhere.
    #[cfg(not(unix))]
    let identity = (u64::from(there.is_file()), 0);
    Some(identity)
}

/// Whether both are one file, also through links, and also where it is not there yet.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok();
    place(one).is_some_and(|one| place(other) == Some(one))
}

/// How long somebody else may take who changes a file.
const TURN: Duration = Duration::from_secs(10);

/// Waits for the turn to read and replace a file, which lasts as long as what is returned: that locks the file's folder, as the
/// file itself is another one afterwards. It is nothing where folders have no locks.
///
/// # Errors
/// Where somebody else has the turn for long.
pub fn turn(path: &Path) -> io::Result<Option<File>> {
    let path = fs::canonicalize(path)?;
    let Some(Ok(folder)) = path.parent().map(File::open) else { return Ok(None) };
    let since = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(Some(folder)),
            Err(fs::TryLockError::Error(_)) => return Ok(None),
            Err(fs::TryLockError::WouldBlock) if since.elapsed() < TURN => thread::sleep(TURN / 1000),
            Err(fs::TryLockError::WouldBlock) => {
                return Err(io::Error::other("another program is changing a file of its folder"));
            }
        }
    }
}

/// Writes a file aside and renames it over whatever has its name. A pipe or a device is written to directly.
///
/// # Errors
/// Where it cannot be written; an earlier file is still there.
pub fn replace(
    path: &Path,
    access: Access,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    put(path, access, true, write)
}

/// The same where no file of that name is there, also not one that somebody else made meanwhile.
///
/// # Errors
/// As [`replace`], and where one is there that holds something.
pub fn create(
    path: &Path,
    access: Access,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_file() && there.len() > 0 => Err(io::ErrorKind::AlreadyExists.into()),
        there => put(path, access, there.is_ok(), write),
    }
}

/// Where a name leads, also where nothing is there yet.
fn destination(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(to) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(&path).join(to);
    }
    path
}

fn put(
    path: &Path,
    access: Access,
    over: bool,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    // A link stays one: what it leads to is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| destination(path));
    let before = fs::metadata(&path).ok();
    if before.as_ref().is_some_and(|it| !it.is_file()) {
        let mut out = BufWriter::new(open_special(&path).map_err(io::Error::other)?);
        write(&mut out)?;
        return out.flush();
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let before = before.filter(|_| access == Access::Usual);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mcp-concord-").suffix(".part");
    // It is never more readable than what it becomes.
    #[cfg(unix)]
    let mode = {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = match (&before, access) {
            (Some(before), _) => before.permissions().mode() & 0o777,
            (None, Access::Usual) => 0o666,
            (None, Access::Private) => 0o600,
        };
        builder.permissions(fs::Permissions::from_mode(mode));
        mode
    };
    let fill = |aside: &File| {
        let mut out = BufWriter::new(aside);
        write(&mut out)?;
        out.flush()?;
        drop(out);
        before.as_ref().map_or(Ok(()), |before| aside.set_permissions(before.permissions()))
    };
    #[cfg(target_os = "linux")]
    if let Some(aside) = nameless(folder, mode) {
        fill(&aside)?;
        return give(builder.make_in(folder, |name| give_name(&aside, name))?, &path, over);
    }
    let aside = builder.tempfile_in(folder)?;
    fill(aside.as_file())?;
    give(aside, &path, over)
}

/// Gives a file its name, `over` one that is there.
fn give<F>(file: NamedTempFile<F>, path: &Path, over: bool) -> io::Result<()> {
    let given = if over { file.persist(path) } else { file.persist_noclobber(path) };
    given.map(drop).map_err(|error| error.error)
}

/// The same where the folder may have to be made. Folders that were made for nothing go again.
///
/// # Errors
/// Where the folder cannot be made, or the file cannot be written.
pub fn replace_in_folder(
    path: &Path,
    access: Access,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let made: Vec<&Path> = folder.ancestors().take_while(|it| !it.exists()).collect();
    let written = fs::create_dir_all(folder).and_then(|()| replace(path, access, write));
    if written.is_err() {
        // What holds something stays.
        made.into_iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
    written
}

/// A file without a name, so that nothing of it is left where this process is killed; none where a file system has no such
/// files.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path, mode: u32) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::TMPFILE.bits().cast_signed();
    let file = OpenOptions::new().write(true).mode(mode).custom_flags(flags).open(folder).ok()?;
    own_name(&file).exists().then_some(file)
}

#[cfg(target_os = "linux")]
fn own_name(file: &File) -> std::path::PathBuf {
    format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)).into()
}

#[cfg(target_os = "linux")]
fn give_name(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, own_name(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Whether `path` may be written, and what is there. An empty file holds nothing that could be lost.
///
/// # Errors
/// A sentence, where a folder or a file that holds something is there.
pub fn may_write(path: &Path, force: bool) -> Result<Option<Metadata>, String> {
    let name = path.display();
    let there = path.metadata().ok();
    match &there {
        Some(there) if there.is_dir() => Err(format!("{name} is a folder; a recording is one file")),
        Some(there) if there.is_file() && there.len() > 0 && !force => Err(format!(
            "{name} exists already; choose another name (`{{time}}` in it becomes the time), or overwrite it \
             with --force"
        )),
        _ => Ok(there),
    }
}

/// Opens what is not a regular file. A pipe that nobody reads would keep its writer waiting for ever.
fn open_special(path: &Path) -> Result<File, String> {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let file = options.open(path).map_err(|error| match error.raw_os_error() {
            Some(code) if code == rustix::io::Errno::NXIO.raw_os_error() => {
                format!("{} is a pipe that nobody reads, or a socket; name a file", path.display())
            }
            _ => cannot_open(path, &error),
        })?;
        rustix::fs::fcntl_setfl(&file, OFlags::empty()).map_err(|error| cannot_open(path, &error.into()))?;
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path).map_err(|error| cannot_open(path, &error))
}

/// Locks the file for this writer until it is closed.
///
/// # Errors
/// Why not, where another program has it.
#[cfg(unix)]
fn lock(file: &File, made: bool, force: bool) -> Result<(), String> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(fs::TryLockError::WouldBlock) => {
            Err("is being written by another program; choose another name".to_owned())
        }
        // Not every file system has locks. Of two that make a file there, one finds it.
        Err(fs::TryLockError::Error(_)) if made || force => Ok(()),
        Err(fs::TryLockError::Error(error)) => {
            Err(format!("exists already and cannot be locked ({error}); overwrite it with --force"))
        }
    }
}

/// Elsewhere a file that is open for writing here cannot be opened for writing again; see [`private`].
#[cfg(not(unix))]
fn lock(_: &File, _: bool, _: bool) -> Result<(), String> {
    Ok(())
}

/// Makes files that only their owner may read.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(options, 1); // FILE_SHARE_READ
    options
}

/// Opens a regular file for reading, made by somebody else: opening a pipe would wait, and a device might never end.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Keeps a file that was there before from others, as a new one is kept.
fn restrict(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

fn cannot_open(path: &Path, error: &io::Error) -> String {
    let name = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("{name} cannot be created: its folder does not exist"),
        io::ErrorKind::PermissionDenied => format!("{name} cannot be written: this user has no permission"),
        _ => format!("{name} cannot be opened: {error}"),
    }
}

#[cfg(test)]
mod tests;
