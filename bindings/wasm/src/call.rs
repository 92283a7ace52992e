//! A request and its reply.

use app::{
    Cause, CheckOptions, Checked, Command, ConvertOptions, DiffOptions, Error, IdentifyOptions, ReadOptions,
    Recording, ShowOptions, SummaryOptions, answer,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Which function is asked, and how.
#[derive(Deserialize)]
#[serde(tag = "function", content = "options", rename_all = "camelCase")]
enum Call {
    Read(ReadOptions),
    Identify(IdentifyOptions),
    Summary(SummaryOptions),
    Check(Box<CheckOptions>),
    Diff(DiffOptions),
    Convert(ConvertOptions),
    Show(ShowOptions),
    /// What a fault of this library looks like to JavaScript, for its tests.
    Panic,
}

#[derive(Deserialize)]
struct Request {
    #[serde(flatten)]
    call: Call,
    /// What to call the recordings.
    names: [String; 2],
}

/// An answer: its bytes, notes on it, and what else there is to say.
type Answered = (Vec<u8>, Vec<String>, Value);

/// Whether to stop, asked before each MiB is read.
type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// The reply to a request: a JSON object on a line, with `error` or with `notes` and `also`, and then the bytes of the answer.
pub(crate) fn reply(request: &[u8], a: &[u8], b: &[u8], stop: Stop<'_>) -> Vec<u8> {
    let answered = serde_json::from_slice(request)
        .map_err(|error| bad_option(&error))
        .and_then(|request| answered(request, a, b, stop));
    let (head, body) = match answered {
        Ok((body, notes, also)) => (json!({"notes": notes, "also": also}).to_string(), body),
        Err(error) => {
            let text = Value::from(error.to_string());
            (format!(r#"{{"error": {}, "text": {text}}}"#, error.json()), Vec::new())
        }
    };
    [head.as_bytes(), b"\n", &body].concat()
}

/// What is wrong with an option, without the place in the request, which its caller did not write.
fn bad_option(error: &serde_json::Error) -> Error {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message).to_owned();
    Cause::BadRequest(message).into()
}

fn answered(Request { call, names }: Request, a: &[u8], b: &[u8], stop: Stop<'_>) -> Result<Answered, Error> {
    let [mut a, b] =
        [(&names[0], a), (&names[1], b)].map(|(name, bytes)| Recording::stoppable(name, bytes, stop));
    let mut recordings = Vec::new();
    let command: &dyn Command = match &call {
        Call::Check(options) => {
            let checked = app::check(&mut a, options)?;
            return Ok((checked.json().into_bytes(), Vec::new(), judged(&checked)));
        }
        Call::Diff(options) => {
            recordings.push(b);
            options
        }
        Call::Read(options) => options,
        Call::Identify(options) => options,
        Call::Summary(options) => options,
        Call::Convert(options) => options,
        Call::Show(options) => options,
        Call::Panic => unreachable!("somebody asked for it"),
    };
    recordings.insert(0, a);
    answer(command, recordings).map(|answer| (answer.bytes, answer.notes, Value::Null))
}

/// What is known of a judged recording beside its findings.
fn judged(checked: &Checked) -> Value {
    let file = &checked.file;
    json!({
        "ok": checked.is_well(),
        "format": file.format,
        "revision": file.revision,
        "messages": file.messages,
        "limit": file.limit,
        "stopped": file.gave_up.as_ref().map(|place| json!({
            "line": place.line, "pointer": place.pointer, "clause": place.clause, "message": place.message,
        })),
        "required": file.required.as_ref().map(|set| json!({
            "suite": set.suite, "revision": set.revision, "kept": set.kept, "uncalled": set.uncalled,
            "inconclusive": set.inconclusive, "broken": set.broken, "whole": set.whole,
        })),
    })
}
