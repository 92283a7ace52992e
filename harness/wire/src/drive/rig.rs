//! The rig around a recorder: what every trial shares, the files of one trial, and what its peers saw.

use super::journals::Journals;
use super::recorder::Recorder;
use super::scenario::{Conditions, Scenario, Transport};
use formats::Format;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{error, fmt, fs, io};
use tempfile::TempDir;

/// What every trial of a run shares.
#[derive(Debug)]
pub struct Rig {
    /// The recorder under test.
    pub recorder: Recorder,
    /// How everybody talks.
    pub transport: Transport,
    /// The format of its recordings, where their content should not decide.
    pub format: Option<&'static Format>,
    /// How much later than it was sent anything may arrive.
    pub patience: Duration,
    /// How long a peer may wait for the next thing to happen.
    pub timeout: Duration,
    /// Where recordings and journals are kept.
    pub save: Option<PathBuf>,
    /// This program, whose `play` is the server.
    pub program: PathBuf,
}

impl Rig {
    /// How long the server waits before each message.
    pub(super) fn delay(&self, conditions: &Conditions) -> Duration {
        self.patience.mul_f64(conditions.pause)
    }

    /// Refuses what would be taken for a recording of this run, and is of no earlier one, whose folder has its session.
    pub(super) fn check_folders(&self, plan: &[Scenario]) -> io::Result<()> {
        if let Some(save) = self.save.as_ref().filter(|save| save.exists() && !save.is_dir()) {
            return Err(io::Error::other(format!("{} is not a folder", save.display())));
        }
        let folders = plan.iter().filter_map(|scenario| Some(self.save.as_ref()?.join(&scenario.name)));
        match folders.filter(|folder| !folder.join(SESSION).exists()).find_map(|it| recording_in(&it)) {
            Some(path) => Err(io::Error::other(format!(
                "{} is there already, and would be judged as what this recorder wrote; move it away, or name another folder with --save",
                path.display()
            ))),
            None => Ok(()),
        }
    }

    /// How long a peer waits for the next event. The pauses of the server, and what a recorder may hold up, are not silence.
    pub(super) fn waits(&self, conditions: &Conditions) -> Duration {
        self.timeout + self.delay(conditions) + self.patience.saturating_sub(Duration::from_secs(1))
    }
}

/// The files of one trial.
#[derive(Debug)]
pub(super) struct Files {
    /// The folder that holds them.
    pub(super) folder: PathBuf,
    /// Taken away at the end, where nobody wants to keep it.
    _temporary: Option<TempDir>,
}

impl Files {
    pub(super) fn temporary() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("mcp-concord-drive").tempdir()?;
        Ok(Self { folder: folder.path().to_owned(), _temporary: Some(folder) })
    }

    /// A folder that stays. What an earlier run left there goes first, since recorders append.
    pub(super) fn kept(folder: &Path) -> io::Result<Self> {
        if folder.join(SESSION).exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.canonicalize()?, _temporary: None })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The recording: its name may have been given an ending.
    pub(super) fn recording(&self) -> PathBuf {
        recording_in(&self.folder).unwrap_or_else(|| self.path(RECORDING))
    }
}

/// What there is under the name of a recording, with an ending or without.
fn recording_in(folder: &Path) -> Option<PathBuf> {
    let named =
        |path: &PathBuf| path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(RECORDING));
    fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).filter(named).min()
}

/// The name of the recording, to which a command line may add an ending.
pub(super) const RECORDING: &str = "recording";

/// The name of the session that is played.
pub(super) const SESSION: &str = "session";

/// The outcome of a played session.
#[derive(Debug)]
pub(super) struct Played {
    /// What the peers wrote down.
    pub(super) journals: Journals,
    /// What the recorder and the server wrote to the standard error.
    pub(super) stderr: String,
    /// Whether the session came to the moment at which the recorder is killed, and it was.
    pub(super) killed: bool,
    /// Where the recorder was asked to end: whether it and the server did.
    pub(super) ended: Option<Result<(), String>>,
    /// Over HTTP, where the client does not see it: how the recorder ended before anybody asked it to.
    pub(super) died: Option<String>,
    /// Why this program itself had to end the recorder.
    pub(super) stopped: Option<String>,
}

/// The recorder cannot be run at all, and why.
#[derive(Debug)]
pub struct NotRun(pub String);

impl fmt::Display for NotRun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl error::Error for NotRun {}
