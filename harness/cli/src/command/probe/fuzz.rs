//! `probe --fuzz`: tools are called until the server fails, and the session that shows it is shrunk.
//!
//! Bounds: [`BATCH`] calls a session, [`ATTEMPTS`] sessions or [`TIME`] to shrink.

use super::args::Args;
use super::findings::{self, Asked};
use super::fuzz_values::{less, made, mutated};
use super::shortfalls::{ANSWERED, nothing};
use crate::command::context::{CommandContext, Failure};
use crate::exit;
use app::{CheckedFile, Judge};
use generators::rng::Rng;
use reports::check::Renderer;
use rules::rule::Level;
use serde_json::Value;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use verdict::plain::counted;
use wire::probe::{Call, Probe, Probed};
use wire::{Notify, interrupt};

/// How many calls a session has.
const BATCH: usize = 25;

/// How many sessions shrinking may take.
const ATTEMPTS: u32 = 300;

/// How long it may take.
const TIME: Duration = Duration::from_secs(60);

/// What a stack trace begins with, in the languages of most servers.
const TRACES: [&str; 6] = [
    "Traceback (most recent call last)",
    "\n    at ",
    "panicked at ",
    "goroutine 1 [running]",
    "Exception in thread",
    "\\n    at ",
];

/// The kind of a stack trace, for which there is no rule.
const TRACE: &str = "stack trace";

/// The kind of a failure before any call.
const HANDSHAKE: &str = "handshake";

struct Fuzzing<'f> {
    probe: &'f Probe,
    notify: &'f Arc<dyn Notify>,
    judge: &'f Judge,
    context: CommandContext,
    asked: Asked,
}

/// A session that was played: it, its findings, and what kind of failure it shows.
struct Played {
    session: Probed,
    files: Vec<CheckedFile>,
    kind: Option<&'static str>,
}

pub(super) fn run(
    args: &Args,
    count: u64,
    probe: &Probe,
    notify: &Arc<dyn Notify>,
    judge: &Judge,
    renderer: &mut dyn Renderer,
    context: CommandContext,
) -> Result<u8, Failure> {
    let asked = Asked {
        require: None,
        kept: args.out.is_some(),
        strict: args.strict,
        patience: args.timeout,
        every: false,
        server: args.server(),
        rerun: Some(format!("mcp-concord probe --fuzz={count} --seed {} {}", args.seed, args.rerun())),
    };
    if count == 0 && probe.given.is_empty() {
        let why = "--fuzz=0 repeats the calls of a recording: name one that has calls with --from";
        return Err(Failure::Unusable(why.to_owned()));
    }
    let fuzzing = Fuzzing { probe, notify, judge, context, asked };
    let mut rng = Rng::new(args.seed);
    let mut played = fuzzing.play("found", &probe.given)?;
    // What was not called, since nothing says that its tool only reads, is not there to shrink.
    let (mut calls, mut made) = (probe.given.clone(), 0);
    calls.retain(|call| played.session.called.contains(&call.0));
    while played.kind.is_none() && made < count && !interrupt::requested() {
        let wanted = BATCH.min(usize::try_from(count - made).unwrap_or(BATCH));
        (played, calls) = fuzzing.round(wanted, &mut rng)?;
        if calls.is_empty() {
            break;
        }
        made += calls.len() as u64;
    }
    if let Some(why) = nothing(std::slice::from_ref(&played.session)) {
        return Err(Failure::NotRun(format!("nothing could be probed: {why}")));
    }
    if played.session.revision.is_some() && calls.is_empty() && !interrupt::requested() {
        let why = "no tool may be called: none is marked as read-only, and --call names none";
        return Err(Failure::Unusable(why.to_owned()));
    }
    // A failure of the handshake has nothing to shrink.
    let found = played.kind;
    if let Some(kind) = found.filter(|kind| count > 0 && !calls.is_empty() && *kind != HANDSHAKE) {
        let before = calls.len();
        (played, calls) = fuzzing.shrink(kind, calls, played)?;
        if !interrupt::requested() {
            let before = counted(before as u64, "call");
            context.terminal.note(&format!("shrunk from {before} to {}", calls.len()));
        }
    }
    let played = Played { kind: found, ..played };
    fuzzing.tell(args, made, played, &calls, renderer)
}

impl Fuzzing<'_> {
    /// Plays these calls in a session, as far as their tools may be called.
    fn play(&self, name: &str, calls: &[Call]) -> Result<Played, Failure> {
        let mut choose = |tools: &[(Value, Value)]| {
            let may = |call: &&Call| tools.iter().any(|(tool, _)| tool["name"] == *call.0);
            calls.iter().filter(may).cloned().collect()
        };
        self.played(self.probe.call(name, &mut choose, self.notify)?)
    }

    /// Plays calls of tools that may be called, made up; and which they were.
    fn round(&self, count: usize, rng: &mut Rng) -> Result<(Played, Vec<Call>), Failure> {
        let mut calls = Vec::new();
        let given = &self.probe.given;
        let mut choose = |tools: &[(Value, Value)]| {
            for _ in 0..count {
                let Some((tool, least)) = rng.pick(tools) else { break };
                let Some(name) = tool["name"].as_str() else { continue };
                let recorded: Vec<&Value> =
                    given.iter().filter(|(tool, _)| tool == name).map(|(_, arguments)| arguments).collect();
                let arguments = match rng.pick(&recorded).copied() {
                    Some(recorded) if rng.one_in(2) => mutated(recorded, rng),
                    _ if rng.one_in(8) => mutated(least, rng),
                    _ => made(&tool["inputSchema"], rng),
                };
                calls.push((name.to_owned(), arguments));
            }
            calls.clone()
        };
        let session = self.probe.call("found", &mut choose, self.notify)?;
        calls.truncate(session.called.len());
        Ok((self.played(session)?, calls))
    }

    fn played(&self, session: Probed) -> Result<Played, Failure> {
        let sessions = [session];
        let files = findings::judged(&self.asked, &sessions, self.judge, None, self.context)?;
        let [session] = sessions;
        let mut errors = files.iter().flat_map(|file| &file.lines);
        // A machine that is busy may start a server late.
        let mut kind = match session.unanswered.first() {
            Some(request) if request.method == "tools/call" => Some(ANSWERED),
            Some(_) => Some(HANDSHAKE),
            None => None,
        };
        kind = kind.or_else(|| {
            errors.find(|line| line.is_finding() && line.level == Level::Must).map(|line| line.rule)
        });
        let text = fs::read(&session.recording).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let said = |line: &&str| line.contains(r#""dir":"out""#) || !line.contains(r#""dir":"#);
        let tells = text.lines().filter(said).any(|line| TRACES.iter().any(|trace| line.contains(trace)));
        kind = kind.or(tells.then_some(TRACE));
        Ok(Played { session, files, kind })
    }

    /// The fewest calls with the least arguments that still show this kind of failure.
    fn shrink(
        &self,
        kind: &'static str,
        mut calls: Vec<Call>,
        whole: Played,
    ) -> Result<(Played, Vec<Call>), Failure> {
        let (until, mut left, found) = (Instant::now() + TIME, ATTEMPTS, calls.clone());
        let mut shows = |calls: &[Call]| -> Result<bool, Failure> {
            if left == 0 || Instant::now() > until || interrupt::requested() {
                return Ok(false);
            }
            left -= 1;
            Ok(self.play("try", calls)?.kind == Some(kind))
        };
        // Most failures need one call, and where the server ended that is the last.
        for at in (0..calls.len()).rev().filter(|_| calls.len() > 1) {
            if shows(&calls[at..=at])? {
                calls = vec![calls[at].clone()];
                break;
            }
            if kind == ANSWERED {
                break;
            }
        }
        let mut size = calls.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < calls.len() && calls.len() > 1 {
                let mut fewer = calls.clone();
                fewer.drain(at..(at + size).min(calls.len()));
                match shows(&fewer)? {
                    true => calls = fewer,
                    false => at += size,
                }
            }
            size /= 2;
        }
        'again: loop {
            for at in 0..calls.len() {
                let arguments = calls[at].1.clone();
                for arguments in less(&arguments) {
                    let mut smaller = calls.clone();
                    smaller[at].1 = arguments;
                    if shows(&smaller)? {
                        calls = smaller;
                        continue 'again;
                    }
                }
            }
            break;
        }
        for attempt in ["try.jsonl", "try.har"] {
            let _ = fs::remove_file(whole.session.recording.with_file_name(attempt));
        }
        // Nothing is played any more that would take the place of what was found.
        if interrupt::requested() {
            return Ok((whole, found));
        }
        // The recording of the last attempt may be of another one.
        let played = self.play("found", &calls)?;
        if played.kind != Some(kind) {
            self.context.terminal.note("the failure does not show up every time");
        }
        Ok((played, calls))
    }

    /// Prints what was found, and the command that shows it.
    fn tell(
        &self,
        args: &Args,
        made: u64,
        mut played: Played,
        calls: &[Call],
        renderer: &mut dyn Renderer,
    ) -> Result<u8, Failure> {
        let has_none = played.files.iter().flat_map(|file| &file.lines).all(|line| !line.is_finding());
        if played.kind.is_none() && has_none {
            // There is nothing to keep.
            let _ = fs::remove_file(&played.session.recording);
            played.files.iter_mut().for_each(|file| file.name.clone_from(&played.session.name));
        }
        findings::render(&self.asked, &played.files, Some(0), renderer, &mut *args.out())?;
        let terminal = self.context.terminal;
        if played.kind == Some(TRACE) {
            terminal.error("the server sends its client a stack trace");
        }
        let cut = if interrupt::requested() { "interrupted after " } else { "" };
        terminal.note(&format!("{cut}{} with seed {}", counted(made, "call"), args.seed));
        for (tool, arguments) in calls.iter().take(8).filter(|_| played.kind.is_some()) {
            terminal
                .note(&format!("failing call: {tool} {}", verdict::plain::cut(&arguments.to_string(), 200)));
        }
        if let (Some(_), Some(folder)) = (played.kind, &args.out) {
            let mut names: Vec<String> =
                calls.iter().map(|(tool, _)| format!(" --call {}", shell_words::quote(tool))).collect();
            names.dedup();
            terminal.note(&format!(
                "to reproduce it: mcp-concord probe --fuzz=0 --from {}{} {}",
                shell_words::quote(
                    &folder
                        .join(played.session.recording.file_name().unwrap_or_default())
                        .display()
                        .to_string()
                ),
                names.concat(),
                self.asked.server,
            ));
        }
        let failed = played.kind.is_some() || played.files.iter().any(|file| file.is_failure(args.strict));
        Ok(interrupt::code().unwrap_or(if failed { exit::FAILED } else { exit::WELL }))
    }
}
