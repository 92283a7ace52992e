//! The folder that `fuzz` writes its finds into, and the command that does.

use super::ADAPTER;
use crate::support;
use mcp_concord_suite::{Root, Suite};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder for finds.
pub(super) struct Place {
    pub(super) folder: TempDir,
}

impl Place {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(super) fn out(&self) -> PathBuf {
        self.folder.path().join("finds")
    }

    pub(super) fn note(&self) -> PathBuf {
        self.folder.path().join("note")
    }

    pub(super) fn fuzz(&self, mode: &str, flags: &[&str]) -> Output {
        self.command(mode, &self.note(), flags).output().unwrap()
    }

    pub(super) fn command(&self, mode: &str, note: &Path, flags: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
        command.arg("fuzz").arg("--out").arg(self.out()).args(flags);
        command.args(["--adapter", &adapter_command(mode, note)]);
        command
    }

    /// Every file of every find.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for case in fs::read_dir(self.out()).unwrap() {
            let case = case.unwrap().path();
            for file in fs::read_dir(&case).unwrap() {
                let file = file.unwrap().path();
                let name = file.strip_prefix(self.out()).unwrap().display().to_string();
                files.insert(name, fs::read(file).unwrap());
            }
        }
        files
    }

    pub(super) fn suite(&self) -> Suite {
        Suite::load(&[Root::Disk(self.out())]).unwrap()
    }
}

/// The adapter that goes wrong in this way, and writes its number into a file.
pub(super) fn adapter_command(mode: &str, note: &Path) -> String {
    support::command(ADAPTER, &[mode, &note.display().to_string()])
}
