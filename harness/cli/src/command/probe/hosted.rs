//! `probe --as server`: does this live client keep to the specification?

use super::args::{Args, Aside};
use super::findings::{self, Asked};
use super::shortfalls::last_words;
use crate::command::check::Output;
use crate::command::context::{CommandContext, Failure};
use crate::command::outcome::watch;
use crate::exit;
use app::{CheckOptions, Judge};
use rules::Revision;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use verdict::plain::{counted, cut};
use wire::probe::{Clients, Part, PlayedPart, Probed, SERVER_SCRIPT, Seen, Silence, Unanswered, as_server};
use wire::{Notify, interrupt};

/// How much is shown of a line that is not a message, in characters.
const SHOWN: usize = 60;

/// The rule that a client breaks which falls back to a handshake: only the server's side shows the revision then.
const FALLBACK: &str = "stdio.no-fallback-on-modern-error";

/// What is said of one that writes without end.
const FLOODED: &str = ", and was not listened to beyond 64 MiB";

/// How long a client may run.
const RUN_TIME: Duration = Duration::from_secs(60);

/// Prints the server's script: a line for each step.
pub(super) fn list() -> Result<u8, Failure> {
    let mut out = std::io::stdout().lock();
    for step in SERVER_SCRIPT.iter() {
        let needs = step.needs.split_whitespace().map(|need| {
            let (which, pointer) = need.strip_prefix('!').map_or(("with", need), |need| ("without", need));
            format!("{which} {}", pointer.trim_start_matches('/').replace('/', "."))
        });
        let needs = needs.collect::<Vec<_>>().join(" and ");
        let client = if needs.is_empty() { "" } else { " for a client " };
        writeln!(
            out,
            "{:<8} {:<22} {} {}: {}{client}{needs}",
            step.part.name(),
            step.name,
            step.revisions[0],
            step.tests.join(", "),
            step.act.said(),
        )?;
    }
    Ok(exit::WELL)
}

pub(super) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let unusable = |why: &str| Err(Failure::Unusable(why.to_owned()));
    if args.command.is_empty() && args.listen.is_none() {
        let Some(part) = args.part else {
            return unusable("name the client's command after `--`, or an address with --listen");
        };
        watch()?;
        as_server(part, args.timeout, args.seen.as_deref())?;
        return Ok(interrupt::code().unwrap_or(exit::WELL));
    }
    match (args.listen.is_some(), args.part) {
        (false, Some(part)) if !part.is_over(false) => {
            return unusable("this part needs HTTP: give an address with --listen");
        }
        (true, Some(part)) if !part.is_over(true) => {
            return unusable("this part is played over stdio: leave --listen out");
        }
        _ => {}
    }
    let judge = Judge::new(&args.options("client", context))?;
    let mut renderer = args.renderer(context)?;
    let known = args.known(context)?;
    let aside = args.aside()?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::Unusable(format!("this program cannot be found: {error}")))?;
    // Who waits for clients plays what keeps to the specification, unless another part is asked for.
    let waits = args.command.is_empty().then_some(Part::Session);
    let clients = Clients {
        command: args.command.clone(),
        listen: args.listen.map(|at| (at, args.hosts.at(at))),
        program: program.display().to_string(),
        patience: args.timeout,
        time: args.run_time.unwrap_or(RUN_TIME),
        parts: args.part.or(waits).into_iter().collect(),
        folder: args.folder(aside.as_ref())?,
    };
    watch()?;
    if args.command.is_empty() {
        interrupt::be_gentle();
    }
    let notify: Arc<dyn Notify> = match args.command.is_empty() {
        true => Arc::new(context.terminal),
        false => Arc::new(Aside(context)),
    };
    let parts = clients.run(&notify)?;
    let sessions: Vec<Probed> = parts.iter().flat_map(sessions).collect();
    if let (Some(first), true) = (parts.first(), sessions.is_empty()) {
        let exit = first
            .exit
            .map_or_else(|| "it had to be killed".to_owned(), |exit| format!("it ended with {exit}"));
        let words = last_words(&first.last_words);
        let sent = wrote(first).unwrap_or_else(|| "nothing".to_owned());
        let flood = if first.flooded { FLOODED } else { "" };
        return Err(Failure::NotRun(format!("the client sent {sent}{flood}: {exit}{words}")));
    }
    let listen = args.listen.map_or_else(String::new, |at| format!(" --listen {at}"));
    let time = args.run_time.map_or_else(String::new, |it| format!(" --run-time {}", it.as_secs_f64()));
    let command = if args.command.is_empty() { "" } else { " -- " };
    let asked = Asked {
        require: None,
        kept: args.out.is_some(),
        strict: args.strict,
        patience: args.timeout,
        every: args.output != Output::Text
            || context.terminal.verbosity >= crate::terminal::Verbosity::Verbose,
        server: format!(
            "{}--as server{listen}{time}{command}{}",
            args.patience(),
            shell_words::join(&args.command)
        ),
        rerun: None,
    };
    let of_modern = Judge::new(&CheckOptions {
        spec: Some(Revision::V2026_07_28.name().to_owned()),
        select: vec![FALLBACK.to_owned()],
        ignore: Vec::new(),
        ..args.options("client", context)
    })?;
    let mut files = findings::judged(&asked, &sessions, &judge, Some(&of_modern), context)?;
    let is_stale = args.let_pass(known.as_ref(), &sessions, &mut files, context)?;
    let mut out = args.out();
    findings::render(&asked, &files, Some(0), &mut *renderer, &mut out)?;
    if files.len() > 1 {
        context.terminal.note(&format!("{} were judged", counted(files.len() as u64, "session")));
    }
    tell(&parts, context);
    let rules = findings::rules(&files);
    if !rules.is_empty() && !args.command.is_empty() {
        let again = format!("to rerun only this: mcp-concord probe --select {rules} {}", asked.server);
        context.terminal.note(&again);
    }
    let cut = interrupt::code().filter(|_| !args.command.is_empty());
    let failed = is_stale || files.iter().any(|file| file.is_failure(args.strict));
    Ok(cut.unwrap_or(if failed { exit::FAILED } else { exit::WELL }))
}

/// The recordings of a part in which the client said something.
fn sessions(part: &PlayedPart) -> Vec<Probed> {
    let is_said = |path: &&PathBuf| {
        let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        text.is_ok_and(|text| text.contains(r#""dir":"in""#) || text.contains(r#""request""#))
    };
    let steps = part.seen.iter().filter(|seen| seen.unanswered);
    let mut unanswered: Vec<Unanswered> = steps
        .filter_map(|seen| {
            let step = SERVER_SCRIPT.iter().find(|step| step.name == seen.step)?;
            let (id, why, behind) = (Value::Null, Silence::Timeout, None);
            Some(Unanswered { step: step.name, method: step.act.asks(), behind, id, why })
        })
        .collect();
    let session = |recording: &PathBuf| {
        let name = recording.file_stem().map(|name| name.to_string_lossy().into_owned());
        Probed {
            name: name.unwrap_or_default(),
            recording: recording.clone(),
            is_client: true,
            unanswered: std::mem::take(&mut unanswered),
            ..Probed::default()
        }
    };
    part.recordings.iter().filter(is_said).map(session).collect()
}

/// What a client wrote that is not a message, where it wrote something: how many lines, and the first that is not blank.
fn wrote(part: &PlayedPart) -> Option<String> {
    let texts = part.recordings.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    let lines: Vec<Value> = texts
        .flat_map(|text| text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<_>>())
        .filter(|line: &Value| line["kind"] == "stdio.noise" && line["raw"]["from"] == "client")
        .collect();
    let text = |line: &Value| line["raw"]["text"].as_str().unwrap_or("bytes that are not UTF-8").to_owned();
    let count: u64 = lines.iter().map(|line| line["raw"]["lines"].as_u64().unwrap_or(1)).sum();
    let shown = lines.iter().map(text).find(|text| !text.trim().is_empty());
    let shown = shown.map_or_else(String::new, |text| format!(", such as {}", cut(&text, SHOWN)));
    (count > 0).then(|| format!("no message, only {}{shown}", counted(count, "other line")))
}

/// Says what was seen of each step.
fn tell(parts: &[PlayedPart], context: CommandContext) {
    for part in parts {
        let name = part.part.name();
        let is_same = |seen: &Seen| !seen.reached && seen.text == part.seen[0].text;
        if part.seen.len() > 1 && part.seen.iter().all(is_same) {
            context.terminal.note(&format!("{name}: no step reached, inconclusive: {}", part.seen[0].text));
        } else {
            for seen in &part.seen {
                let state = if seen.reached { "reached" } else { "not reached, inconclusive" };
                let text = if seen.text.is_empty() { String::new() } else { format!(": {}", seen.text) };
                context.terminal.note(&format!("{name}: {}: {state}{text}", seen.step));
            }
        }
        if part.flooded {
            context.terminal.note(&format!("{name}: the client wrote on{FLOODED}"));
        }
        match part.exit {
            None if interrupt::code().is_none() => {
                context.terminal.note(&format!("{name}: the client did not exit, and was killed"));
            }
            Some(exit) if exit.shell_code() != Some(0) => {
                let words = last_words(&part.last_words);
                context.terminal.note(&format!("{name}: the client ended with {exit}{words}"));
            }
            _ => {}
        }
    }
}
