//! A small session that every importer reads, in each format.

use formats::{Format, ReadOptions, Session};

/// A session that every importer reads: a call and its answer.
pub(super) const GOOD: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"add","arguments":{"a":1}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"a","result":{"content":[]}}"#,
    "\n"
);

/// The good session as a transcript of `format`, which is written; empty where it cannot be, which a test rules out.
pub(super) fn good(format: &Format) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(plainest) = formats::plainest()
        && let Ok(session) = Session::of(plainest, GOOD.as_bytes(), ReadOptions::default())
        && format.write(&session, &mut out).is_err()
    {
        out.clear();
    }
    out
}
