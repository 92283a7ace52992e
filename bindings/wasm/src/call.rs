//! A request and its reply.

use app::{
    CheckOptions, Checked, ConvertOptions, DiffOptions, Error, IdentifyOptions, ReadOptions, Recording,
    ShowOptions, SummaryOptions,
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
struct Answered {
    body: Vec<u8>,
    notes: Vec<String>,
    also: Value,
}

/// Whether to stop, asked before each MiB is read.
type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// The reply to a request: a JSON object on a line, with `error` or with `notes` and `also`, and then the bytes of the answer.
pub(crate) fn reply(request: &[u8], a: &[u8], b: &[u8], stop: Stop<'_>) -> Vec<u8> {
    let answered = serde_json::from_slice(request)
        .map_err(|error| bad_option(&error))
        .and_then(|request| answered(request, a, b, stop));
    let (head, body) = match answered {
        Ok(Answered { body, notes, also }) => (json!({"notes": notes, "also": also}).to_string(), body),
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
    Error { code: Error::BAD_OPTION, message, name: None, place: None }
}

fn answered(Request { call, names }: Request, a: &[u8], b: &[u8], stop: Stop<'_>) -> Result<Answered, Error> {
    let [a, b] =
        [(&names[0], a), (&names[1], b)].map(|(name, bytes)| Recording { name, bytes, stop: Some(stop) });
    let told = |answer: app::Answer| Answered {
        body: answer.text.into_bytes(),
        notes: answer.notes,
        also: Value::Null,
    };
    match call {
        Call::Read(options) => app::read(&a, &options).map(told),
        Call::Identify(options) => app::identify(&a, &options).map(told),
        Call::Summary(options) => app::summary(&[a], &options).map(told),
        Call::Show(options) => app::show(&a, &options).map(told),
        Call::Check(options) => app::check(&a, &options).map(|checked| Answered {
            body: checked.json().into_bytes(),
            notes: Vec::new(),
            also: judged(&checked),
        }),
        Call::Diff(options) => app::diff(&a, &b, &options).map(|compared| Answered {
            body: compared.json.into_bytes(),
            notes: compared.notes,
            also: Value::Null,
        }),
        Call::Convert(options) => app::convert(&a, &options).map(|converted| Answered {
            body: converted.bytes,
            notes: converted.notes,
            also: Value::Null,
        }),
        Call::Panic => unreachable!("somebody asked for it"),
    }
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
