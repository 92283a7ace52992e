//! The importer that is fuzzed: this test binary, started again by the program under test.
//!
//! It reads with the built-in readers but for what its mode says: a seeded fault of the library, or a misbehaviour here.

use mutants::{Original, catalogue};
use serde_json::{Value, json};
use std::io::Write as _;
use std::{fs, io, process, thread};
use transcript::json::write_compact;
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
        ("fault", name) => fault = catalogue::all().find(|fault| fault.name == name),
        ("dies-on", text) if has(text) => process::exit(7),
        // It dies on small transcripts, which come when a failure is being shrunk.
        ("fault-or-dies", name) => {
            if messages < 3 {
                process::exit(7);
            }
            fault = catalogue::all().find(|fault| fault.name == name);
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
            fault = catalogue::all().find(|fault| fault.name == name);
        }
        _ => {}
    }
    let asked = Original::read(formats::find(format).unwrap(), bytes);
    // What TOOL-NAMELESS leaves to the importer.
    if mode == "names-wanted" && nameless(asked.answer()) {
        return "\"rejection\":{\"message\":\"a call without a name\"}".to_owned();
    }
    let wrong = fault.and_then(|fault| fault.answer(&asked));
    in_json(wrong.as_ref().unwrap_or(asked.answer()))
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
