//! What the sessions of a probe show: judged, each cause once, and printed.

use super::shortfalls::{
    ANSWERED, RECEIVABLE, Reported, broken, cause, left, nothing, party, refusal, refusals, silence,
    unspoken, untold, without_repeats,
};
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
use std::time::Duration;
use verdict::plain::{counted, cut, plain};
use wire::interrupt;
use wire::probe::{Part, Probed, SCRIPT, Silence, Unanswered, plays};

/// What is asked of the sessions.
pub(super) struct Asked {
    /// The revision that the session in it should conform to.
    pub(super) require: Option<Revision>,
    /// The recordings are kept, and found under their paths.
    pub(super) kept: bool,
    /// Warnings count as errors.
    pub(super) strict: bool,
    /// How long an answer was waited for.
    pub(super) patience: Duration,
    /// Sessions without findings are shown too.
    pub(super) every: bool,
    /// The server, as the command line named it, and what may be called there.
    pub(super) server: String,
    /// The command that shows every finding again, where selecting its rule is not enough.
    pub(super) rerun: Option<String>,
}

/// What comes before the first request of a session.
const INITIALIZED: &str = "notifications/initialized";

/// The rule that a batch without an answer breaks.
const COVERED: &str = "jsonrpc.batch.response-cover";

/// How the rules begin that tell why what came is not an answer.
const ASTRAY: [&str; 4] = ["jsonrpc.response.id-", "jsonrpc.error.id-", "stdio.", "enc."];

/// How the rules begin whose finding has the same cause at every step.
const ONCE: [&str; 4] = [ANSWERED, ASTRAY[0], ASTRAY[1], "http.get.405-or-sse"];

/// The rule that a message over several lines breaks, and those that each of the lines breaks.
const SPREAD: &str = "stdio.no-embedded-newline";
const OF_LINES: [&str; 2] = ["enc.json.parse", "stdio.stdout-purity"];

/// The rule that a session id breaks which is not unique.
const UNIQUE: &str = "http.session.entropy";

/// The rule that cannot be judged where nothing was said.
pub(super) const MESSAGES: &str = "rec.messages";

/// What stands in a command before the rules that it plays.
const SELECT: &str = "--select ";

/// How to judge what follows a login.
const JUDGES_LOGIN: &str =
    "for what follows a login, `check` a session that `record --listen` keeps of a client with a token";

/// How much is said of metadata, in characters.
const LONGEST_METADATA: usize = 500;

/// How many tools are named that were not called.
const NAMED: usize = 8;

/// Judges each session: the first in a required revision by its frozen set, and what a client does where only the server shows the
/// revision by the rules of that one, too.
pub(super) fn judged(
    asked: &Asked,
    sessions: &[Probed],
    judge: &Judge,
    of_revision: Option<&Judge>,
    context: CommandContext,
) -> Result<Vec<CheckedFile>, Failure> {
    let (mut files, mut seen, mut given) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
    let mut reported = Reported::default();
    // Who is silent to a request by itself does not show by that what the text before it did.
    let is_alone =
        |it: &&Unanswered| it.why == Silence::Timeout && it.behind.is_none_or(|sent| sent == INITIALIZED);
    let mute: BTreeSet<_> =
        sessions.iter().flat_map(|it| &it.unanswered).filter(is_alone).map(|it| it.method).collect();
    let frozen = asked.require.and_then(|it| sessions.iter().position(|one| one.revision == Some(it)));
    for (number, session) in sessions.iter().enumerate() {
        let judge = of_revision.filter(|_| frozen == Some(number)).unwrap_or(judge);
        let mut file = judge.judge(&mut open_kept(&session.recording, None, context.terminal)?)?;
        if let Some(judge) =
            of_revision.filter(|_| session.is_client && session.name.starts_with(Part::Modern.name()))
        {
            let judged = judge.judge(&mut open_kept(&session.recording, None, context.terminal)?)?;
            for line in judged.lines.into_iter().filter(RuleResult::is_finding) {
                file.lines.iter_mut().filter(|it| it.rule == line.rule).for_each(|it| it.clone_from(&line));
            }
        }
        file.name = if asked.kept { session.recording.display().to_string() } else { session.name.clone() };
        file.lines = unanswered(&mut file, session, &mute, asked.patience);
        untold(&mut file, session);
        for id in session.ids.iter().filter(|id| !given.insert(*id)) {
            let is_judged = |line: &RuleResult| line.rule == UNIQUE && !line.is_finding();
            if let Some(place) = file.lines.iter().position(is_judged) {
                let text = format!("the session id `{}` was given to another session before", plain(id));
                file.lines[place] = finding(UNIQUE, RuleVerdict::Warn, &file.name, session, text);
            }
        }
        without_repeats(&mut file.lines, &mut reported);
        // A finding that an earlier session has, or an earlier step, has the same cause.
        file.lines.retain_mut(|line| {
            line.file.clone_from(&file.name);
            if !line.is_finding() {
                return true;
            }
            let (cause, step) = without_step(&line.message);
            // Each session has an id of its own.
            let cause = session.ids.iter().fold(cause, |cause, id| cause.replace(id.as_str(), ""));
            let cause = self::cause(line.rule, &cause);
            let is_new = is_new(&mut seen, number, line.rule, &cause)
                && step.is_none_or(|step| is_new(&mut seen, number, line.rule, step));
            if is_new {
                // Its own rule may not have the step played on which it stands.
                let place = || session.step_at(line.offset?, line.pointer.as_deref().unwrap_or_default());
                let step = step.or_else(place).filter(|_| !session.is_client);
                let select = [Some(line.rule), step.and_then(|step| plays(step, line.rule))];
                let select = select.into_iter().flatten().collect::<Vec<_>>().join(",");
                let selected = || format!("mcp-concord probe {SELECT}{select} {}", asked.server);
                line.rerun = Some(asked.rerun.clone().unwrap_or_else(selected));
            }
            is_new
        });
        files.push(file);
    }
    let why = nothing(sessions).or_else(|| unspoken(asked.require, sessions, &files));
    if let ([first, ..], Some(file), Some(why)) = (sessions, files.first_mut(), why) {
        file.lines.retain(|line| line.rule != MESSAGES);
        file.lines.push(finding(MESSAGES, RuleVerdict::Inconclusive, &file.name, first, why));
    }
    Ok(files)
}

/// What a finding says without the step that it names, and the step.
fn without_step(message: &str) -> (String, Option<&str>) {
    let Some((before, rest)) = message.split_once(" (step ") else { return (message.to_owned(), None) };
    let (step, behind) = rest.split_once(')').unwrap_or((rest, ""));
    (format!("{before}{behind}"), Some(step))
}

/// Whether no earlier session has this finding, and of some rules no earlier step.
fn is_new(
    seen: &mut BTreeMap<(&'static str, String), usize>,
    session: usize,
    rule: &'static str,
    cause: &str,
) -> bool {
    match seen.entry((rule, cause.to_owned())) {
        Entry::Occupied(first) => *first.get() == session && !ONCE.iter().any(|once| rule.starts_with(once)),
        Entry::Vacant(place) => {
            place.insert(session);
            true
        }
    }
}

/// The lines of a session, with a finding for each request that was not answered in place of what the recording shows of it.
fn unanswered(
    file: &mut CheckedFile,
    session: &Probed,
    mute: &BTreeSet<&str>,
    patience: Duration,
) -> Vec<RuleResult> {
    let mut lines = std::mem::take(&mut file.lines);
    let explains =
        |line: &RuleResult| line.is_finding() && ASTRAY.iter().any(|rule| line.rule.starts_with(rule));
    let astray: Vec<_> = lines.iter().filter(|line| explains(line)).map(|line| line.line).collect();
    if session.astray && !astray.is_empty() {
        let is_spread = lines.iter().any(|line| line.is_finding() && line.rule == SPREAD);
        // An error that refuses a batch as a whole is an answer to it, whatever id it has.
        let refuses = |line: &RuleResult| line.rule == RECEIVABLE && astray.contains(&line.line);
        let follows =
            |rule| [ANSWERED, COVERED, RECEIVABLE].contains(&rule) || is_spread && OF_LINES.contains(&rule);
        lines.retain(|line| !line.is_finding() || refuses(line) || !follows(line.rule));
    }
    if session.unanswered.is_empty() {
        return lines;
    }
    let is_batch = session.unanswered.iter().any(|request| request.step == "batch");
    lines.retain(|line| line.rule != ANSWERED && !(is_batch && line.rule == COVERED));
    for request in &session.unanswered {
        let is_mute = request.why == Silence::Timeout && mute.contains(request.method);
        let request = &Unanswered { behind: request.behind.filter(|_| !is_mute), ..request.clone() };
        let rule = broken(request);
        let is_hard = rules::find(rule).is_none_or(|rule| rule.level == Level::Must);
        let verdict = if is_hard { RuleVerdict::Fail } else { RuleVerdict::Warn };
        lines.retain(|line| line.rule != rule || line.is_finding());
        lines.push(finding(rule, verdict, &file.name, session, silence(request, session, patience)));
    }
    lines
}

/// A finding, or what cannot be judged, without a place in the recording.
pub(super) fn finding(
    rule: &'static str,
    verdict: RuleVerdict,
    file: &str,
    session: &Probed,
    message: String,
) -> RuleResult {
    // A session that did not begin was asked for in the newest revision that has a handshake.
    let asked = (!session.is_client).then_some(Revision::V2025_11_25);
    RuleResult {
        rule,
        verdict,
        level: if verdict == RuleVerdict::Warn { Level::Should } else { Level::Must },
        party: party(session),
        file: file.to_owned(),
        line: None,
        pointer: None,
        offset: None,
        within: None,
        message,
        link: rules::find(rule).and_then(|rule| rule.link(session.revision.or(asked))),
        snippet: None,
        other: None,
        rerun: None,
        more: 0,
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
    // Where a server refuses the handshake and speaks without one, that session is the first that shows what it does.
    let is_modern = |one: &Probed| one.revision.is_some_and(|it| !it.has_handshake());
    let is_refused = sessions.first().is_some_and(|first| first.refused.is_some());
    let first = if is_refused { sessions.iter().position(is_modern) } else { Some(0) };
    render(asked, files, first, renderer, out)?;
    let terminal = context.terminal;
    let [first, ..] = sessions else { return Ok(exit::NOT_RUN) };
    left(sessions, terminal);
    refusals(sessions, context);
    if let Some(metadata) = sessions.iter().find_map(|session| session.metadata.as_ref()) {
        terminal.note(&format!("the server's metadata, {}; {JUDGES_LOGIN}", cut(metadata, LONGEST_METADATA)));
    }
    let mut noted = BTreeSet::new();
    for session in sessions {
        for method in session.endless.iter().filter(|method| noted.insert(**method)) {
            terminal.note(&format!("{}: `{method}` had not ended after 50 pages", session.name));
        }
    }
    // The last session renews itself on purpose.
    for session in sessions.iter().filter(|it| it.ids.len() > 1 && !it.name.starts_with(Part::Http.name())) {
        let (name, times) = (&session.name, counted(session.ids.len() as u64 - 1, "time"));
        terminal
            .note(&format!("{name}: the server answered 404 to its session {times}, and another was opened"));
    }
    if let Some(session) = sessions.iter().find(|session| session.renamed) {
        let name = &session.name;
        terminal.note(&format!("{name}: an answer in mid-session named another session id, and the first was kept: a client takes it from the answer to `initialize`"));
    }
    for (tool, why) in first.unfit.iter().take(NAMED) {
        let why = plain(why);
        terminal.note(&format!("not called: {tool}, as its schema {why}; --from FILE gives arguments"));
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
    match asked.kept {
        true => terminal.note("the probe itself breaks rules: check --profile server judges only the server"),
        false if rules.is_empty() => {}
        false => terminal.note("the sessions named here were not kept: -o DIR keeps their recordings"),
    }
    if !rules.is_empty() {
        terminal.note(&format!("to rerun only this: mcp-concord probe --select {rules} {}", asked.server));
    }
    if let Some(code) = interrupt::code() {
        return Ok(code);
    }
    if let Some(why) = unspoken(asked.require, sessions, files) {
        terminal.error(&why);
        return Ok(exit::FAILED);
    }
    let is_silent = known.is_empty()
        && (first.refused.is_some()
            || first.unknown.is_some()
            || first.unanswered.iter().any(|request| request.why == Silence::Ended));
    if let Some(why) = nothing(sessions) {
        terminal.error(&format!("nothing could be probed: {why}"));
    }
    let begins = sessions.iter().filter_map(|session| session.revision).any(Revision::has_handshake);
    if let Some(why) = first.refused.as_ref().filter(|_| begins) {
        let why = refusal(why);
        terminal.error(&format!("the main session was not played: `initialize` was refused twice: {why}"));
    }
    for name in &first.unlisted {
        terminal.error(&format!("--call: the server lists no tool `{name}`"));
    }
    let failed = files.iter().any(|file| file.is_failure(asked.strict));
    Ok(match (is_silent, failed) {
        (true, _) => exit::NOT_RUN,
        (_, true) => exit::FAILED,
        _ if !first.unlisted.is_empty() => exit::UNUSABLE,
        _ => exit::WELL,
    })
}

/// Prints the recordings with findings, and the first if asked for.
pub(super) fn render(
    asked: &Asked,
    files: &[CheckedFile],
    first: Option<usize>,
    renderer: &mut dyn Renderer,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let is_shown = |file: &CheckedFile| {
        asked.every || file.required.is_some() || file.lines.iter().any(RuleResult::is_finding)
    };
    for (_, file) in
        files.iter().enumerate().filter(|(number, file)| first == Some(*number) || is_shown(file))
    {
        renderer.file(file, out)?;
    }
    renderer.finish(out)?;
    Ok(out.flush()?)
}

/// What to select to have the findings again, with commas between: what their own commands select.
pub(super) fn rules(files: &[CheckedFile]) -> String {
    let lines = files.iter().flat_map(|file| &file.lines).filter_map(|line| line.rerun.as_deref());
    let selected = lines.filter_map(|rerun| rerun.split_once(SELECT)?.1.split(' ').next());
    selected
        .flat_map(|rules| rules.split(','))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
        .join(",")
}
