//! The importer that is fuzzed: this test binary, started again by the program under test.
//!
//! It reads with the built-in readers but for what its mode says: a fault in what it answers, or a misbehaviour.

use mcp_concord_suite::builtin::Builtin;
use mcp_concord_suite::importer::Importer as _;
use serde_json::{Value, json};
use std::io::Write as _;
use std::{fs, io, process, thread};
use transcript::json::{Json, same_number, write_compact};
use verdict::answer::Answer;

/// `fault:NAME`, `dies-on:TEXT`, `fault-or-dies:NAME`, `names-wanted`, `once-wrong`, `hangs`, `sabotage:NAME` or `clean`; `note` is a path that some of them need.
pub(crate) fn serve(mode: &str, note: &str) {
    for line in io::stdin().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match request["cmd"].as_str().unwrap() {
            "start" => say(&json!({"protocol": 1, "name": "faulty", "version": "1.2.3", "level": "events",
                "formats": formats::FORMATS.iter().map(|format| format.name).collect::<Vec<_>>()})
            .to_string()),
            "read" => {
                let bytes = fs::read(request["path"].as_str().unwrap()).unwrap();
                let answer = answer(mode, note, request["format"].as_str().unwrap(), &bytes);
                say(&format!("{{\"seq\":{},{answer}}}", request["seq"]));
            }
            _ => return,
        }
    }
}

/// The one-shot command.
pub(crate) fn once(mode: &str, file: &str, format: &str) {
    let answer = answer(mode, "", format, &fs::read(file).unwrap());
    say(&format!("{{{answer}}}"));
    if answer.starts_with("\"rejection\"") {
        process::exit(65);
    }
}

fn answer(mode: &str, note: &str, format: &str, bytes: &[u8]) -> String {
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let messages = bytes.windows(9).filter(|window| window == b"\"jsonrpc\"").count();
    let mut fault = None;
    match mode.split_once(':').unwrap_or((mode, "")) {
        ("fault", name) => fault = Some(name),
        ("dies-on", text) if has(text) => process::exit(7),
        // It dies on small transcripts, which come when a failure is being shrunk.
        ("fault-or-dies", name) => {
            if messages < 3 {
                process::exit(7);
            }
            fault = Some(name);
        }
        ("hangs", _) => {
            fs::write(note, process::id().to_string()).unwrap();
            thread::sleep(std::time::Duration::from_secs(600));
        }
        // The first answer of each of the two processes is wrong.
        ("once-wrong", _) => {
            let count = fs::read_to_string(note).unwrap().len();
            if count < 2 {
                let mut file = fs::OpenOptions::new().append(true).open(note).unwrap();
                file.write_all(b"x").unwrap();
                return "\"rejection\":{\"code\":\"limit\",\"message\":\"not today\"}".to_owned();
            }
        }
        // What was a folder when the run began is a file when something is to be saved there.
        ("sabotage", name) => {
            if fs::remove_dir_all(note).is_ok() {
                fs::write(note, "").unwrap();
            }
            fault = Some(name);
        }
        _ => {}
    }
    let answer = Builtin::default().read(format, bytes);
    // What TOOL-NAMELESS leaves to the importer.
    if mode == "names-wanted" && nameless(&answer) {
        return "\"rejection\":{\"message\":\"a call without a name\"}".to_owned();
    }
    match (fault, &answer) {
        (Some("survival/rejects-everything"), _) => "\"rejection\":{\"message\":\"no\"}".to_owned(),
        (Some(fault), Answer::Meaning(meaning)) => format!("\"meaning\":{}", wrong(fault, meaning.json())),
        _ => in_json(&answer),
    }
}

/// The meaning as a reader with this fault has it.
fn wrong(fault: &str, meaning: Json<'_>) -> String {
    let mut events: Vec<Vec<(String, String)>> =
        meaning.member("events").unwrap().items().map(members).collect();
    match fault {
        "ids/zero-is-none" => {
            events.iter_mut().filter(|event| value(event, "id") == Some("\"0\"")).for_each(zero_is_none)
        }
        "correlation/newest-first" => newest_first(&mut events),
        "values/doubles-in-arguments" => {
            let arguments = |(name, _): &&mut (String, String)| name == "arguments";
            events.iter_mut().flatten().filter(arguments).for_each(|(_, text)| *text = in_doubles(text));
        }
        other => panic!("{other}"),
    }
    let object = |members: &Vec<(String, String)>| {
        let members: Vec<_> = members.iter().map(|(name, text)| format!("\"{name}\":{text}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let mut whole = members(meaning);
    let all: Vec<_> = events.iter().map(object).collect();
    whole
        .iter_mut()
        .filter(|(name, _)| name == "events")
        .for_each(|(_, text)| *text = format!("[{}]", all.join(",")));
    object(&whole)
}

fn members(object: Json<'_>) -> Vec<(String, String)> {
    let compact = |value: Json<'_>| {
        let mut out = Vec::new();
        write_compact(value, &mut out);
        String::from_utf8(out).unwrap()
    };
    object.members().map(|(name, value)| (name.raw().to_owned(), compact(value))).collect()
}

fn value<'e>(event: &'e [(String, String)], member: &str) -> Option<&'e str> {
    event.iter().find(|(name, _)| name == member).map(|(_, text)| text.as_str())
}

fn zero_is_none(event: &mut Vec<(String, String)>) {
    event.retain(|(name, _)| name != "id");
    for (name, text) in event {
        match (name.as_str(), text.as_str()) {
            ("answers", _) => *text = "null".to_owned(),
            ("kind", "\"request\"") => *text = "\"notification\"".to_owned(),
            _ => {}
        }
    }
}

/// Each answer belongs to the newest request with its id that has none yet.
fn newest_first(events: &mut [Vec<(String, String)>]) {
    let mut answered = Vec::new();
    for at in 0..events.len() {
        if value(&events[at], "answers").is_none_or(|asked| asked == "null") {
            continue;
        }
        let open = |asked: &usize| {
            let (request, answer) = (&events[*asked], &events[at]);
            let alike = value(request, "id") == value(answer, "id") && value(request, "answers").is_none();
            alike && !answered.contains(asked)
        };
        let Some(asked) = (0..at).rev().find(open) else { continue };
        answered.push(asked);
        let answers = |(name, _): &&mut (String, String)| name == "answers";
        events[at].iter_mut().filter(answers).for_each(|(_, text)| *text = asked.to_string());
    }
}

/// JSON text with its numbers as doubles hold them.
fn in_doubles(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let mut escaped = true;
                let end = rest.find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                end.unwrap() + 1
            }
            '-' | '0'..='9' => rest.find([',', ']', '}']).unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        let double =
            token.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| format!("{number:?}"));
        out.push_str(double.filter(|double| !same_number(double, token)).as_deref().unwrap_or(token));
        rest = behind;
    }
    out
}

fn nameless(answer: &Answer) -> bool {
    let Answer::Meaning(meaning) = answer else { return false };
    let events = meaning.json().member("events").unwrap();
    events.items().any(|event| {
        let call = event.member("kind").is_some_and(|kind| kind.text() == "\"tool_call\"");
        call && event.member("tool").is_none_or(|tool| tool.as_text().is_none())
    })
}

fn in_json(answer: &Answer) -> String {
    match answer {
        Answer::Meaning(meaning) => {
            let mut out = Vec::new();
            write_compact(meaning.json(), &mut out);
            format!("\"meaning\":{}", String::from_utf8(out).unwrap())
        }
        Answer::Rejection { code, message } => {
            format!("\"rejection\":{}", json!({"code": code, "message": message}))
        }
        other => panic!("{other:?}"),
    }
}

fn say(line: &str) {
    let mut out = io::stdout().lock();
    // Whoever is killed while it talks has nobody to tell.
    if out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).is_err() {
        process::exit(9);
    }
}
