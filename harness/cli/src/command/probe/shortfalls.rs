//! What was refused, not answered or not played, and why nothing could be probed.

use crate::command::context::CommandContext;
use crate::terminal::Terminal;
use app::{CheckedFile, RuleResult};
use rules::{Revision, RuleVerdict};
use std::collections::BTreeSet;
use std::time::Duration;
use verdict::plain::{cut, plain};
use wire::probe::{Probed, RECORDER, Refusal, SCRIPT, Silence, Step, Unanswered};

/// The rule that a request without an answer breaks.
pub(super) const ANSWERED: &str = "jsonrpc.request.answered";

/// What else is said of a batch without an answer.
pub(super) const RECEIVABLE: &str = "jsonrpc.batch.receivable";

/// Rules, and others that tell the same of the same place, where an earlier revision has only those.
const TWICE: [[&str; 2]; 3] = [
    ["tools.schema.valid", "jsonrpc.schema.typed"],
    ["http.sse.ends-with-response", "http.sse.close-after-response"],
    [RECEIVABLE, "http.request.content-type"],
];

/// Findings, a rule and words of each, and others that show the same fault.
const SAME: [[(&str, &str); 2]; 12] = [
    [("jsonrpc.notification.no-response", ""), ("jsonrpc.response.id-match", "the result has no id")],
    [(ANSWERED, BROKE), ("enc.json.parse", "the text ends")],
    [(ANSWERED, "ended the stream without"), ("http.sse.responds", "")],
    [("jsonrpc.notification.no-response", ""), ("http.reject.status", "with a JSON-RPC error")],
    [("http.get.no-response", ""), ("http.request.content-type", "answered with 202")],
    [("http.version.bad-400", "the answer is 404"), ("http.session.404-after-end", "")],
    [("http.sse.framing", "none of its lines"), (ANSWERED, "ended the stream without")],
    [("jsonrpc.response.duplicate", ""), ("sse.response.via-stream", "")],
    [("jsonrpc.version", ""), ("http.json.single", "not a JSON-RPC message")],
    [("tools.structured.object", ""), ("tools.output.conforms", "it is not of type")],
    [("page.cursor-advances", ""), ("tools.name.unique", "")],
    [("http.json.single", "an array"), ("jsonrpc.batch.unsupported", "an array of 1 ")],
];

/// The method of a subscription, whose acknowledgment comes long before its answer.
const LISTEN: &str = "subscriptions/listen";

/// The rule that a subscription breaks which is not acknowledged.
const ACKNOWLEDGED: &str = "sub.ack-first";

/// What a server did whose answer is not whole.
const BROKE: &str = "broke off its answer";

/// How much of what was sent is repeated, in characters.
const SHOWN: usize = 60;

/// Names each step that was not played; that of something declared without being asked.
pub(super) fn left(sessions: &[Probed], terminal: Terminal) {
    for session in sessions {
        for (step, why) in &session.left {
            let text = format!("{}: {step} was not played: {why}", session.name);
            match session.untold.iter().find(|untold| untold.name == *step) {
                Some(untold) => {
                    terminal.note(&format!("{text}; {} cannot be judged", untold.tests.join(", ")))
                }
                None => terminal.detail(&text),
            }
        }
    }
}

/// Leaves open what nothing in a session called for, since the only step was not played that does.
pub(super) fn untold(file: &mut CheckedFile, session: &Probed) {
    for line in file.lines.iter_mut().filter(|line| line.verdict == RuleVerdict::NotApplicable) {
        let Some(step) = session.untold.iter().find(|step| step.judges(line.rule)) else { continue };
        line.verdict = RuleVerdict::Inconclusive;
        line.message = format!("the server declares it, and the step {} was not played", step.name);
        if let Some(required) = &mut file.required {
            (required.uncalled, required.inconclusive) = (required.uncalled - 1, required.inconclusive + 1);
        }
    }
}

/// Why nothing could be probed, where that is so.
pub(super) fn nothing(sessions: &[Probed]) -> Option<String> {
    let first = sessions.first().filter(|_| sessions.iter().all(|session| session.revision.is_none()))?;
    if let Some(version) = &first.unknown {
        return Some(format!(
            "`initialize` is answered with {}, which is not a known version",
            plain(version)
        ));
    }
    let said = first.refused.as_ref()?;
    let why = said.trim_start_matches(RECORDER);
    let unreached = why.strip_prefix("HTTP 502 Bad Gateway: ").and_then(|why| why.strip_prefix(RECORDER));
    let shown = plain(why);
    Some(match unreached {
        // It was reached, and its answer is not read.
        Some(why) if why.contains("its answer has") => plain(why).to_string(),
        Some(why) => {
            format!("the server cannot be reached: {}; is it running, and at this address?", plain(why))
        }
        None if why.contains("where to post") => {
            format!("{shown}; see `mcp-concord explain sse.endpoint.sent`")
        }
        None if said.starts_with(RECORDER) && !why.starts_with("HTTP ") => shown,
        None => {
            let also = first.undiscovered.as_ref().filter(|other| *other != why);
            let also =
                also.map_or_else(String::new, |other| format!("; and `server/discover`: {}", plain(other)));
            format!("the server refuses `initialize`: {shown}{}{also}", hint(why))
        }
    })
}

/// That the server does not speak the revision that is required, where no session was held against it.
pub(super) fn unspoken(
    required: Option<Revision>,
    sessions: &[Probed],
    files: &[CheckedFile],
) -> Option<String> {
    let required = required.filter(|_| files.iter().all(|file| file.required.is_none()))?;
    let first = sessions.first()?;
    let how = match (required.has_handshake(), first.revision, &first.refused) {
        (false, ..) => "`server/discover` does not name it".to_owned(),
        (_, Some(other), _) => format!("`initialize` is answered with {other}"),
        (.., Some(why)) => format!("`initialize` is refused: {}", refusal(why)),
        _ => match &first.unknown {
            Some(other) => format!("`initialize` is answered with {}", plain(other)),
            None => "`initialize` is not answered".to_owned(),
        },
    };
    Some(format!("the server does not speak {required}: {how}"))
}

/// Who is put to the test.
pub(super) fn party(session: &Probed) -> &'static str {
    if session.is_client { "client" } else { "server" }
}

/// The rule that a request without an answer breaks: what its step puts to the test, where only HTTP has such a step, and of a
/// subscription the one on its acknowledgment.
pub(super) fn broken(request: &Unanswered) -> &'static str {
    if request.method == LISTEN {
        return ACKNOWLEDGED;
    }
    let is_its = |step: &&Step<_>| step.name == request.step && ["GET", "DELETE"].contains(&request.method);
    SCRIPT.iter().find(is_its).map_or(ANSWERED, |step| step.tests[0])
}

/// What is wrong where a request was not answered.
pub(super) fn silence(request: &Unanswered, session: &Probed, patience: Duration) -> String {
    let Unanswered { step, method, behind, why, .. } = request;
    let posted = SCRIPT.iter().find(|it| it.name == *step && *method == "POST").and_then(Step::posts);
    let quoted = |sent: &str| format!("`{}`", cut(sent, SHOWN));
    let asked = posted.map_or_else(|| quoted(method), |body| format!("a POST of {}", quoted(body)));
    let sent = behind.map_or_else(|| asked.clone(), quoted);
    let ended = session.exit.as_deref().unwrap_or("was gone");
    let mut text = match why {
        Silence::Broken => {
            format!("the server {BROKE} to `{method}`: less of its body came than its head announces")
        }
        Silence::Ended => format!("the server {ended} when it got {sent}"),
        Silence::Timeout | Silence::Fallen => {
            let time = patience.as_secs_f64();
            let what = if *method == LISTEN { "acknowledgment" } else { "answer" };
            format!("the {} sent no {what} in {time} s to {asked}", party(session))
        }
        _ => format!("the {} {} to {asked}", party(session), why.said()),
    };
    match (why, behind) {
        // A text is listened behind for a while, and a request follows a notification at once.
        (Silence::Ended, Some(sent)) if !sent.starts_with(['{', '[']) => {
            text.push_str(&format!(" or the `{method}` after it"));
        }
        (Silence::Ended, _) | (_, None) => {}
        _ => text.push_str(&format!(" after {sent}")),
    }
    if *why == Silence::Fallen {
        text.push_str(&format!(", and {ended} when it got a `ping`"));
    }
    text.push_str(&format!(" (step {step})"));
    let begins = ["initialize", "server/discover"].contains(method);
    if *why == Silence::Timeout && begins && *step == "handshake" && !session.is_client {
        text.push_str("; a longer --timeout lets a slow one begin");
    }
    if [Silence::Ended, Silence::Fallen].contains(why) {
        text.push_str(&last_words(&session.last_words));
    }
    text
}

/// What a finding on how messages travel says, without the ids, methods and texts in it, which differ from session to session. What
/// is wrong with a shape, and who gives no answer, those show.
pub(super) fn cause(rule: &str, said: &str) -> String {
    let travels =
        ["jsonrpc.", "http.", "sse.", "stdio.", "enc."].iter().any(|family| rule.starts_with(family));
    if !travels || rule.starts_with("jsonrpc.schema") || rule == ANSWERED && !said.contains(BROKE) {
        return said.to_owned();
    }
    let (text, mut before) = (said.replace("\\\"", ""), "");
    let unquoted = text.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
    let differs = |word: &str, before: &str| {
        let name = word.trim_matches('`');
        before == "id" || name.contains('/') || ["ping", "initialize"].contains(&name)
    };
    let words = unquoted.split(' ').filter(|word| !differs(word, std::mem::replace(&mut before, word)));
    words.collect::<Vec<_>>().join(" ")
}

/// What other rules may tell again: those of [`SAME`] that were found, and those of [`TWICE`], each with its place.
#[derive(Default)]
pub(super) struct Reported {
    same: [bool; SAME.len()],
    twice: Vec<(usize, String)>,
}

/// Leaves out the findings of which another rule tells, here or in a session before.
pub(super) fn without_repeats(lines: &mut Vec<RuleResult>, reported: &mut Reported) {
    let is = |line: &RuleResult, (rule, says): (&str, &str)| {
        line.is_finding() && line.rule == rule && line.message.contains(says)
    };
    for (pair, [first, again]) in SAME.into_iter().enumerate() {
        reported.same[pair] |= lines.iter().any(|line| is(line, first));
        if reported.same[pair] {
            lines.retain(|line| !is(line, again));
        }
    }
    for line in lines.iter().filter(|line| line.is_finding()) {
        let pair = TWICE.iter().position(|[rule, _]| *rule == line.rule);
        reported.twice.extend(pair.zip(line.pointer.clone()));
    }
    lines.retain(|line| !line.is_finding() || !is_reported(line, &reported.twice));
}

/// Whether another rule tells the same: which of [`TWICE`] did, and where, in the place itself or in an exchange's parts.
fn is_reported(line: &RuleResult, reported: &[(usize, String)]) -> bool {
    let Some(own) = line.pointer.as_deref() else { return false };
    let is_there =
        |rest: &str| rest.is_empty() || rest.starts_with("/request/") || rest.starts_with("/response/");
    let is_same = |place: &str| place.strip_prefix(own).is_some_and(is_there);
    reported.iter().any(|(pair, place)| TWICE[*pair][1] == line.rule && is_same(place))
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

/// Notes which requests were refused that should not have been, those of one reason together: of each method the first, and each
/// step; and where the server failed over HTTP, each tool, prompt and resource.
pub(super) fn refusals(sessions: &[Probed], context: CommandContext) {
    let (mut reasons, mut noted, mut steps) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for session in sessions {
        for Refusal { why, .. } in &session.turned_away {
            if !reasons.insert((&session.name, why)) {
                continue;
            }
            let has_failed = why.starts_with("HTTP 5");
            let mut asked: Vec<(&str, &str, Vec<String>)> = Vec::new();
            for Refusal { step, method, of, .. } in session.turned_away.iter().filter(|it| it.why == *why) {
                let of = of.as_ref().filter(|_| has_failed);
                if !noted.insert((method, why, of)) {
                    continue;
                }
                if !steps.insert((method, step)) && !has_failed {
                    context.terminal.detail(&refused(session, &[(method, step, Vec::new())], why));
                    continue;
                }
                let named = of.map(|of| format!("`{}`", plain(of)));
                match asked.iter_mut().find(|it| (it.0, it.1) == (*method, *step)) {
                    Some((.., names)) => names.extend(named),
                    None => asked.push((method, step, named.into_iter().collect())),
                }
            }
            if !asked.is_empty() {
                context.terminal.note(&refused(session, &asked, why));
            }
        }
    }
}

/// That requests were refused: their methods, their steps, and what they asked for.
fn refused(session: &Probed, asked: &[(&str, &str, Vec<String>)], why: &str) -> String {
    let what = |method: &str, of: &[String]| match of {
        [] => format!("`{method}`"),
        of => format!("`{method}` of {}", of.join(", ")),
    };
    let refused = match asked {
        [(method, step, of)] => format!("{} was refused (step {step})", what(method, of)),
        several => {
            let each = several.iter().map(|(method, step, of)| format!("{} (step {step})", what(method, of)));
            format!("{} were refused", each.collect::<Vec<_>>().join(", "))
        }
    };
    format!("{}: {refused}: {}", session.name, plain(why))
}

/// Why something was refused, in the server's words, or with its status.
pub(super) fn refusal(why: &str) -> String {
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
