//! The options that name the importer under test, and its limits.

use super::context::{CommandContext, Failure};
use super::scaling::Scaling;
use super::values::{bytes, quoted, seconds};
use crate::adapter::{Adapter, Check, Command, Limits, NotRun, verify};
use crate::exit;
use crate::terminal::plain;
use mcp_concord_suite::builtin::Builtin;
use mcp_concord_suite::importer::Importer;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::Duration;
use transcript::dialect::{self, Dialect};

#[derive(Debug, Clone, clap::Args)]
pub(super) struct ImporterArgs {
    /// Test this program: a long-lived adapter that speaks JSON lines on stdin and stdout. The command is split
    /// into words as in a shell.
    #[arg(long, value_name = "CMD", value_parser = Command::parse, group = "program")]
    adapter: Option<Command>,
    /// Test this program: started once for each transcript, with {file} and {format} filled in. It prints one answer
    /// object and exits with 0, or exits with 65 for a rejection.
    #[arg(long, value_name = "CMD", value_parser = Command::parse_one_shot, group = "program")]
    exec: Option<Command>,
    /// Read and judge by this dialect of the contract: default, or typed-ids [default: the one that an adapter names].
    #[arg(long, value_name = "NAME", value_parser = dialect::find)]
    dialect: Option<&'static Dialect>,
    /// Fail a rejection whose code names another fault. Without this it passes with a remark. Codes that this program does not
    /// know are ignored.
    #[arg(long, requires = "program")]
    strict_codes: bool,
    /// Run a smoke test instead of the suite: does the program answer, reject, survive, stop?
    #[arg(long)]
    verify: bool,
    /// The time limit for one answer [default: 10].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// The memory limit of the program and its children, such as 512MiB; enforced only on Linux [default: 2GiB].
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<u64>,
}

/// The importer under test.
pub(super) enum Judged {
    Builtin(Builtin),
    Program(Box<Adapter>),
}

impl Judged {
    /// The dialect that it is judged in.
    pub(super) fn dialect(&self) -> &'static Dialect {
        // What was started speaks a dialect that there is.
        dialect::find(self.as_importer().dialect()).unwrap_or(&dialect::ALL[0])
    }

    pub(super) fn as_importer(&self) -> &dyn Importer {
        match self {
            Self::Builtin(builtin) => builtin,
            Self::Program(adapter) => &**adapter,
        }
    }
}

impl ImporterArgs {
    /// Starts what is to be judged.
    pub(super) fn start(&self) -> Result<Judged, Failure> {
        Ok(match self.program(false)? {
            Some(adapter) => Judged::Program(Box::new(adapter)),
            None if self.timeout.is_some() || self.memory.is_some() => {
                return Err(
                    "--timeout and --memory limit a program: name one with --adapter or --exec".into()
                );
            }
            None => Judged::Builtin(Builtin(self.dialect.unwrap_or(&dialect::ALL[0]))),
        })
    }

    fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            timeout: self.timeout.unwrap_or(usual.timeout),
            memory: self.memory.unwrap_or(usual.memory),
            ..usual
        }
    }

    /// Starts the program that is named; `watched` is whether its memory is.
    fn program(&self, watched: bool) -> Result<Option<Adapter>, Failure> {
        let limits = Limits { watched, ..self.limits() };
        let started = match (&self.adapter, &self.exec) {
            (Some(command), _) => Adapter::start(command.clone(), limits, self.dialect),
            (_, Some(command)) => Adapter::one_shot(command.clone(), limits, self.dialect),
            _ => return Ok(None),
        };
        let mut adapter = started.map_err(|NotRun(why)| Failure::NotRun(why))?;
        adapter.strict = self.strict_codes;
        Ok(Some(adapter))
    }

    /// Starts the program and measures it. The built-in readers are measured as a program of their own, so that their memory
    /// can be seen.
    pub(super) fn measure(&self, scaling: &Scaling<'_>, context: CommandContext) -> Result<u8, Failure> {
        let adapter = match self.program(true)? {
            Some(adapter) => adapter,
            None => {
                let own = std::env::current_exe()?;
                let own = shell_words::quote(&own.to_string_lossy()).into_owned();
                let own = Command::parse(&format!("{own} read --answer --format {{format}} {{file}}"));
                let own = Self { exec: Some(own?), ..self.clone() };
                return own.measure(scaling, context);
            }
        };
        let code = scaling.run(&adapter, context)?;
        if let Some(note) = adapter.stop() {
            context.terminal.note(&note);
        }
        Ok(code)
    }

    /// Starts another adapter beside it, within the same limits and in the same dialect where one is given.
    pub(super) fn beside(&self, command: &Command) -> Result<Adapter, Failure> {
        Adapter::start(command.clone(), self.limits(), self.dialect)
            .map_err(|NotRun(why)| Failure::NotRun(why))
    }

    /// Tries the program where that was asked for: a line for each check, and the exit code.
    pub(super) fn verify(&self, judged: &Judged) -> Result<Option<u8>, Failure> {
        if !self.verify {
            return Ok(None);
        }
        let checks = match judged {
            Judged::Program(adapter) => verify(adapter),
            Judged::Builtin(_) => {
                return Err("--verify tries a program: name one with --adapter or --exec".into());
            }
        };
        let checks = checks.map_err(|error| format!("no transcript can be written for it: {error}"))?;
        let mut out = String::new();
        for Check { what, outcome } in &checks {
            let (sign, words) = match outcome {
                Ok(words) => ("ok    ", words),
                Err(words) => ("FAILED", words),
            };
            let lines: Vec<String> = words.lines().map(plain).collect();
            let _ = writeln!(out, "{sign} {what}: {}", lines.join("\n         "));
        }
        io::stdout().lock().write_all(out.as_bytes())?;
        let well = checks.iter().all(|check| check.outcome.is_ok());
        Ok(Some(if well { exit::WELL } else { exit::NOT_RUN }))
    }

    /// The options again, for a command line that can be pasted.
    pub(super) fn flags(&self) -> String {
        let mut out = String::new();
        for (flag, command) in [("--adapter", &self.adapter), ("--exec", &self.exec)] {
            if let Some(command) = command {
                let _ = write!(out, " {flag} {}", quoted(command.text()));
            }
        }
        if let Some(dialect) = self.dialect {
            let _ = write!(out, " --dialect {}", dialect.name);
        }
        if self.strict_codes {
            out.push_str(" --strict-codes");
        }
        if let Some(timeout) = self.timeout {
            let _ = write!(out, " --timeout {}", timeout.as_secs_f64());
        }
        if let Some(memory) = self.memory {
            let _ = write!(out, " --memory {memory}");
        }
        out
    }
}
