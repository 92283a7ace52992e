//! What the sessions of a probe show: judged, each cause once, and printed.

use super::args::Args;
use crate::command::baseline;
use crate::command::context::{CommandContext, Failure};
use crate::command::input::open_kept;
use crate::exit;
use app::{CheckedFile, Judge, RuleResult};
use reports::check::Renderer;
use rules::rule::Level;
use rules::{Revision, RuleVerdict};
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::io::Write;
use verdict::baseline::Baseline;
use verdict::plain::{counted, plain};
use wire::interrupt;
use wire::probe::{Probed, SCRIPT, Silence, Unanswered};

/// What is asked of the sessions.
pub(super) struct Asked {
    /// The revision that the session in it should conform to.
    pub(super) require: Option<Revision>,
    /// The recordings are kept, and found under their paths.
    pub(super) kept: bool,
    /// Warnings count as errors.
    pub(super) strict: bool,
    /// Sessions without findings are shown too.
    pub(super) every: bool,
    /// The server, as the command line named it, and what may be called there.
    pub(super) server: String,
    /// The command that shows every finding again, where selecting its rule is not enough.
    pub(super) rerun: Option<String>,
}

/// The rule that a request without an answer breaks.
pub(super) const ANSWERED: &str = "jsonrpc.request.answered";

/// The rule that a batch without an answer breaks.
const COVERED: &str = "jsonrpc.batch.response-cover";

/// How an error begins that the recorder answers with in the server's place.
const RECORDER: &str = "mcp-concord record: ";

/// How many tools are named that were not called.
const NAMED: usize = 8;

/// Judges each session, and those of one revision also by the frozen set that is asked for.
pub(super) fn judged(
    asked: &Asked,
    sessions: &[Probed],
    judge: &Judge,
    required: Option<&Judge>,
    context: CommandContext,
) -> Result<Vec<CheckedFile>, Failure> {
    let (mut files, mut seen) = (Vec::new(), BTreeMap::new());
    let frozen = asked.require.and_then(|it| sessions.iter().position(|one| one.revision == Some(it)));
    for (number, session) in sessions.iter().enumerate() {
        let judge = required.filter(|_| frozen == Some(number)).unwrap_or(judge);
        let mut file = judge.judge(&mut open_kept(&session.recording, None, context.terminal)?)?;
        file.name = if asked.kept { session.recording.display().to_string() } else { session.name.clone() };
        file.lines = unanswered(&mut file, session);
        // A finding that an earlier session has, or an earlier step, has the same cause.
        file.lines.retain_mut(|line| {
            line.file.clone_from(&file.name);
            if !line.is_finding() {
                return true;
            }
            let selected = || format!("mcp-concord probe --select {} {}", line.rule, asked.server);
            line.rerun = Some(asked.rerun.clone().unwrap_or_else(selected));
            let (cause, step) = line.message.split_once(" (step ").unwrap_or((&line.message, ""));
            let step = step.split_once(')').map(|(step, _)| step);
            is_new(&mut seen, number, line.rule, cause)
                && step.is_none_or(|step| is_new(&mut seen, number, line.rule, step))
        });
        files.push(file);
    }
    Ok(files)
}

/// Takes out what the baseline in this file lets pass; whether an entry of it is stale, which is only said where all was judged.
pub(super) fn let_pass(
    args: &Args,
    known: Option<&Baseline>,
    sessions: &[Probed],
    files: &mut [CheckedFile],
    context: CommandContext,
) -> bool {
    let (Some(path), Some(known)) = (&args.baseline, known) else { return false };
    let all = args.select.is_empty() && args.ignore.is_empty() && args.part.is_none();
    let whole = all && args.level == Level::Info.name();
    let findings = sessions.iter().zip(&*files).flat_map(|(session, file)| {
        file.lines.iter().filter(|line| line.is_finding()).map(|line| (line.rule, session.name.as_str()))
    });
    let (reasons, stale) = known.excuses(&findings.collect::<Vec<_>>(), whole);
    let mut each = reasons.iter();
    for file in files {
        file.lines.retain(|line| {
            let reason = if line.is_finding() { each.next().copied().flatten() } else { None };
            if let Some(reason) = reason {
                let of_it = format!("{} in {} is known: {}", line.rule, line.file, reason.reason);
                context.terminal.note(&of_it);
            }
            reason.is_none()
        });
    }
    baseline::say(&stale, path, context);
    !stale.is_empty()
}

/// Whether no earlier session has this finding, and where a request was not answered, no earlier step.
fn is_new(
    seen: &mut BTreeMap<(&'static str, String), usize>,
    session: usize,
    rule: &'static str,
    cause: &str,
) -> bool {
    match seen.entry((rule, cause.to_owned())) {
        Entry::Occupied(first) => *first.get() == session && rule != ANSWERED,
        Entry::Vacant(place) => {
            place.insert(session);
            true
        }
    }
}

/// The lines of a session, with a finding for each request that was not answered in place of what the recording shows of it.
fn unanswered(file: &mut CheckedFile, session: &Probed) -> Vec<RuleResult> {
    let mut lines = std::mem::take(&mut file.lines);
    let Some(rule) = rules::find(ANSWERED).filter(|_| !session.unanswered.is_empty()) else { return lines };
    let is_batch = session.unanswered.iter().any(|request| request.step == "batch");
    lines.retain(|line| line.rule != ANSWERED && !(is_batch && line.rule == COVERED));
    lines.extend(session.unanswered.iter().map(|request| RuleResult {
        rule: rule.id,
        verdict: RuleVerdict::Fail,
        level: Level::Must,
        party: party(session),
        file: file.name.clone(),
        line: None,
        pointer: None,
        offset: None,
        within: None,
        message: silence(request, session),
        link: rule.link(session.revision),
        snippet: None,
        other: None,
        rerun: None,
        more: 0,
    }));
    lines
}

/// Who is put to the test.
fn party(session: &Probed) -> &'static str {
    if session.is_client { "client" } else { "server" }
}

/// What is wrong where a request was not answered.
fn silence(request: &Unanswered, session: &Probed) -> String {
    let Unanswered { step, method, why, .. } = request;
    let mut text = match (why, &session.exit) {
        (Silence::Ended, Some(exit)) => {
            format!("the server ended with {exit} when it got `{method}`")
        }
        (Silence::Ended, None) => format!("the server was gone when it got `{method}`"),
        _ => format!("the {} {} to `{method}`", party(session), why.said()),
    };
    text.push_str(&format!(" (step {step})"));
    if *why == Silence::Ended {
        text.push_str(&last_words(&session.last_words));
    }
    text
}

/// What a program said last on its standard error that tells why it ended, behind a semicolon.
pub(super) fn last_words(said: &str) -> String {
    // Behind the error many programs print how they are used, where more can be read, or what it was made of.
    let lines = || said.lines().rev().map(str::trim);
    let says = |words: &'static str| lines().find(|line| line.to_ascii_lowercase().contains(words));
    let has_words = |line: &&str| line.contains(char::is_alphabetic);
    let last = says("error:").or_else(|| says("error")).or_else(|| lines().find(has_words));
    last.map_or_else(String::new, |last| format!("; its stderr ends with: {last}"))
}

/// Why something was refused, in the server's words, or with its status.
fn refusal(why: &str) -> String {
    plain(why.trim_start_matches(RECORDER)).to_string()
}

/// What to look at where a server over HTTP refuses the first request.
fn hint(why: &str) -> &'static str {
    match why.strip_prefix("HTTP ").and_then(|status| status.get(..3)) {
        Some("401") => "; it requires a login, which probe does not support",
        Some("301" | "302" | "307" | "308") => "; name that address with --url",
        Some("404" | "405") => {
            "; is this the path of its endpoint? Many servers use /mcp, or /sse for HTTP+SSE"
        }
        _ => "",
    }
}

/// Prints what was found, and what was not put to the test.
pub(super) fn print(
    asked: &Asked,
    sessions: &[Probed],
    files: &[CheckedFile],
    renderer: &mut dyn Renderer,
    out: &mut dyn Write,
    context: CommandContext,
) -> Result<u8, Failure> {
    let shows_first = sessions.first().is_none_or(|session| session.refused.is_none());
    render(asked, files, shows_first, renderer, out)?;
    let terminal = context.terminal;
    let [first, ..] = sessions else { return Ok(exit::NOT_RUN) };
    for session in sessions {
        for (step, why) in &session.left {
            terminal.detail(&format!("{}: {step} was not played: {why}", session.name));
        }
    }
    let mut noted = BTreeSet::new();
    for session in sessions {
        for (step, method, why) in &session.turned_away {
            if noted.insert((method, why)) {
                let why = plain(why);
                terminal.note(&format!("{}: `{method}` was refused (step {step}): {why}", session.name));
            }
        }
        for method in &session.endless {
            terminal.note(&format!("{}: `{method}` had not ended after 50 pages", session.name));
        }
    }
    if !first.spared.is_empty() {
        let more = first.spared.len().saturating_sub(NAMED);
        let mut names = first.spared.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        if more > 0 {
            names.push_str(&format!(" and {more} more"));
        }
        terminal.note(&format!(
            "not called, since they are not marked as read-only: {names}; --call NAME calls one, and --call all calls every tool"
        ));
    }
    if !first.slow.is_empty() {
        let names = first.slow.join(", ");
        terminal.note(&format!("cancelled after 2 s without an answer: {names}"));
    }
    if let Some(session) = sessions.iter().find(|session| session.killed) {
        terminal.note(&format!(
            "{}: the server did not end within 2 s after its input was closed, and was killed",
            session.name
        ));
    }
    let spoken: Vec<&str> =
        sessions.iter().filter_map(|session| session.revision).map(Revision::name).collect();
    let known = spoken.iter().collect::<BTreeSet<_>>();
    let played = sessions.iter().flat_map(|session| &session.played).collect::<BTreeSet<_>>();
    terminal.note(&format!(
        "{} of the script's {} steps were played, in {}{}",
        played.len(),
        SCRIPT.len(),
        counted(sessions.len() as u64, "session"),
        if known.is_empty() {
            String::new()
        } else {
            format!("; the server speaks {}", known.iter().map(|name| **name).collect::<Vec<_>>().join(", "))
        }
    ));
    let rules = rules(files);
    if !rules.is_empty() {
        terminal.note(&format!("to rerun only this: mcp-concord probe --select {rules} {}", asked.server));
    }
    if let Some(code) = interrupt::code() {
        return Ok(code);
    }
    if let Some(required) = asked.require.filter(|_| files.iter().all(|file| file.required.is_none())) {
        let how = match (required.has_handshake(), first.revision, &first.refused) {
            (false, ..) => "`server/discover` does not name it".to_owned(),
            (_, Some(other), _) => format!("`initialize` is answered with {other}"),
            (.., Some(why)) => format!("`initialize` is refused: {}", refusal(why)),
            _ => "`initialize` is not answered".to_owned(),
        };
        terminal.error(&format!("the server does not speak {required}: {how}"));
        return Ok(exit::FAILED);
    }
    let is_silent = known.is_empty()
        && (first.refused.is_some() || first.unanswered.iter().any(|request| request.why == Silence::Ended));
    if let Some(why) = first.refused.as_ref().filter(|_| is_silent) {
        let why = why.trim_start_matches(RECORDER);
        let unreached = why.strip_prefix("HTTP 502 Bad Gateway: ").and_then(|why| why.strip_prefix(RECORDER));
        let words = match unreached {
            Some(why) => {
                format!("the server cannot be reached: {}; is it running, and at this address?", plain(why))
            }
            None => format!("the server refuses `initialize`: {}{}", plain(why), hint(why)),
        };
        terminal.error(&format!("nothing could be probed: {words}"));
    }
    let begins = sessions.iter().filter_map(|session| session.revision).any(Revision::has_handshake);
    if let Some(why) = first.refused.as_ref().filter(|_| begins) {
        let why = refusal(why);
        terminal.error(&format!("the main session was not played: `initialize` was refused twice: {why}"));
    }
    let failed = files.iter().any(|file| file.is_failure(asked.strict));
    if let ([name, ..], false) = (&*first.unlisted, failed) {
        return Err(Failure::Unusable(format!("--call: the server lists no tool `{name}`")));
    }
    Ok(match (is_silent, failed) {
        (true, _) => exit::NOT_RUN,
        (_, true) => exit::FAILED,
        _ => exit::WELL,
    })
}

/// Prints the recordings with findings, and the first if asked for.
pub(super) fn render(
    asked: &Asked,
    files: &[CheckedFile],
    shows_first: bool,
    renderer: &mut dyn Renderer,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let is_shown = |file: &CheckedFile| {
        asked.every || file.required.is_some() || file.lines.iter().any(RuleResult::is_finding)
    };
    for (_, file) in
        files.iter().enumerate().filter(|(number, file)| shows_first && *number == 0 || is_shown(file))
    {
        renderer.file(file, out)?;
    }
    renderer.finish(out)?;
    Ok(out.flush()?)
}

/// The rules that findings are of, with commas between.
pub(super) fn rules(files: &[CheckedFile]) -> String {
    let lines = files.iter().flat_map(|file| &file.lines).filter(|line| line.is_finding());
    lines.map(|line| line.rule).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(",")
}
