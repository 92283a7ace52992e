//! The suite of mcp-concord against the importer of this crate: each case is one test.
//!
//! How the importer's answer is spelled for the suite, and which of its failures are known. It corrects nothing: what
//! the importer got wrong must be seen.

use mcp_concord_suite::{Format, Harness, Importer, Level, Reading, Rejection, Value, answer};
use naive_importer::{Call, Outcome, import};
use std::process::ExitCode;

struct Naive;

impl Importer for Naive {
    fn name(&self) -> &str {
        env!("CARGO_PKG_NAME")
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn level(&self) -> Level {
        Level::Calls
    }

    fn reads(&self, format: Format) -> bool {
        format == Format::JSONRPC
    }

    fn read(&self, _: Format, transcript: &[u8]) -> Result<Reading, Rejection> {
        let calls = import(str::from_utf8(transcript)?).map_err(Rejection::new)?;
        Ok(calls.into_iter().map(typed).collect::<Vec<_>>().into())
    }
}

fn typed(call: Call) -> answer::Call {
    let outcome = |outcome| match outcome {
        Outcome::Result(result) => answer::Outcome::Result(Value::from(result)),
        Outcome::Error(error) => answer::Outcome::Error(Value::from(error)),
    };
    answer::Call {
        tool: call.tool.map(Value::from),
        arguments: call.arguments.map(Value::from),
        outcome: call.outcome.map(outcome),
    }
}

const FLOATS: &str =
    "serde_json reads a number that no 64-bit integer holds as an f64, which changes its digits.";

/// What is known to fail, and why that is let pass.
const KNOWN: &[(&str, &str)] = &[
    (
        "batches/{answered-one-by-one,handshake-of-no-revision,handshake-the-other-way-round,in-order,initialize-in-a-batch,later-handshake-*,long,of-one,one-id-twice-in-a-batch,revision-changes-inside-of-a-batch,values-in-batches,values-that-readers-mend-in-batches,version-in-another-answer}/jsonrpc",
        "A line is taken to be one message; the batches of 2025-03-26 are not taken apart.",
    ),
    (
        "correlation/list-and-call-share-an-id/jsonrpc",
        "Only tool calls are remembered, so a call takes tools/list's answer.",
    ),
    ("correlation/{ids-of-4101-characters,ids-that-are-near-to-each-other,sixteen-ids}/jsonrpc", FLOATS),
    ("recorded/python?-http-json/jsonrpc", FLOATS),
    ("sse/string-keeps-numbers/jsonrpc", "serde_json rejects 1e400: it is out of the range of an f64."),
    ("text/form-feed-line/jsonrpc", "`trim_ascii` takes a form feed for blank, which JSON does not."),
    ("text/{strings-of-yaml-pointers-and-addresses,wide-numbers-and-odd-spaces}/jsonrpc", FLOATS),
    (
        "values/beyond-fifty-digits-and-the-smallest-double/jsonrpc",
        "serde_json rejects 1e400: it is out of the range of an f64.",
    ),
    ("values/decimal-fractions/jsonrpc", FLOATS),
    ("values/huge-exponents/jsonrpc", "serde_json rejects 1e400: it is out of the range of an f64."),
    ("values/integer-beyond-double/jsonrpc", FLOATS),
    ("values/numbers-of-4401-digits/jsonrpc", "serde_json rejects what an f64 cannot hold."),
    (
        "{correlation/every-method-while-a-call-is-open,values/errors-with-long-messages-and-odd-codes,values/values-that-readers-mend-in-every-place}/jsonrpc",
        "serde_json rejects 1e400: it is out of the range of an f64.",
    ),
    (
        "values/values-in-{every-carrier,other-answers,other-params}/jsonrpc",
        "serde_json rejects 1e400: it is out of the range of an f64.",
    ),
];

fn main() -> ExitCode {
    KNOWN.iter().fold(Harness::new(Naive), |harness, (trials, why)| harness.known(*trials, *why)).run()
}
