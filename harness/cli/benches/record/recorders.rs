//! Who stands between the two ends, and how it is started.

use super::root;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A recorder's command, with the holes that `drive --recorder` has too.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) name: &'static str,
    /// Its program under `target/strangers`; none where it is ours.
    program: Option<&'static str>,
    arguments: &'static str,
    pub(super) installed_by: &'static str,
}

pub(super) const STDIO: &[Recorder] = &[
    Recorder {
        name: "mcp-concord record",
        program: None,
        arguments: "record --force -o {out}.jsonl --",
        installed_by: "",
    },
    Recorder {
        name: "mcp-rec 0.1.1",
        program: Some("mcp-rec-0.1.1/bin/mcp-rec"),
        arguments: "record -o {out}.jsonl --",
        installed_by: "adapters/mcp-rec/ci.sh",
    },
];

pub(super) const HTTP: &[Recorder] = &[
    Recorder {
        name: "mcp-concord record",
        program: None,
        arguments: "record --force -o {out}.har --listen 127.0.0.1:{port} --to {upstream}",
        installed_by: "",
    },
    Recorder {
        name: "mitmproxy 11.0.2",
        program: Some("mitmproxy-11.0.2/bin/mitmdump"),
        arguments: "--quiet --mode reverse:{origin} --listen-host 127.0.0.1 --listen-port {port} --set hardump={out}.har",
        installed_by: "adapters/recorders/mitmproxy/drive.sh",
    },
    Recorder {
        name: "mcp-recorder 0.5.0",
        program: Some("mcp-recorder-0.5.0/bin/mcp-recorder"),
        arguments: "record --target {origin} --port {port} --output {out}.json",
        installed_by: "adapters/mcp-recorder/ci.sh",
    },
];

impl Recorder {
    pub(super) fn is_own(&self) -> bool {
        self.program.is_none()
    }

    pub(super) fn is_there(&self) -> bool {
        self.path().is_file()
    }

    fn path(&self) -> PathBuf {
        match self.program {
            Some(program) => root().join("target/strangers").join(program),
            None => env!("CARGO_BIN_EXE_mcp-concord").into(),
        }
    }

    /// The command with its holes filled, `(hole, value)` each.
    pub(super) fn command(&self, out: &Path, holes: &[(&str, &str)]) -> Command {
        let mut command = Command::new(self.path());
        command.args(self.arguments.split(' ').map(|argument| {
            let argument = argument.replace("{out}", &out.join("recording").display().to_string());
            holes.iter().fold(argument, |argument, (hole, value)| argument.replace(hole, value))
        }));
        command
    }
}
