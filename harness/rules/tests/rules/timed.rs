//! Exchanges that say when the parts of their answers came, as those of `record` do, are judged like those that do not.

use crate::{SUITE, judged_as};
use rules::{CheckOptions, CheckResult};
use serde_json::{Value, json};

/// Every HAR of the suite, with a time for each part of each answer: at once.
pub(crate) fn judged_like_others() {
    let (mut compared, mut differences) = (0, Vec::new());
    for case in SUITE.judged.iter().chain(&SUITE.cases) {
        for transcript in case.transcripts.iter().filter(|transcript| transcript.format.live) {
            let bytes = transcript.blob.bytes().unwrap();
            let Some(timed) = with_times(&bytes) else { continue };
            let judged = |bytes: &[u8]| judged_as(transcript.format, bytes, &CheckOptions::default());
            let (Some(plain), Some(timed)) = (judged(&bytes), judged(timed.to_string().as_bytes())) else {
                continue;
            };
            compared += 1;
            let [plain, timed] = [&plain, &timed].map(outcomes);
            let other = plain.iter().zip(&timed).filter(|(plain, timed)| plain != timed);
            differences.extend(other.map(|(plain, timed)| format!("{}: {plain}, {timed}", case.name)));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 300, "only {compared} archives were compared");
}

/// The rules by what came of them, and how often.
fn outcomes(judged: &CheckResult) -> Vec<String> {
    let of = judged.outcomes.iter();
    of.map(|outcome| format!("{} {:?} {:?}", outcome.rule.id, outcome.verdict, outcome.counts)).collect()
}

/// None where the archive is none, has times already, or exchanges that overlap.
fn with_times(bytes: &[u8]) -> Option<Value> {
    let mut har: Value = serde_json::from_slice(bytes).ok()?;
    let entries = har.pointer_mut("/log/entries")?.as_array_mut()?;
    let mut over = i64::MIN;
    for entry in entries.iter_mut() {
        let start = formats::time::parse(entry.get("startedDateTime")?.as_str()?)?;
        // Nothing of one comes while another is open.
        if start <= over {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the cases take no years")]
        let took = entry.get("time").and_then(Value::as_f64).unwrap_or_default().ceil() as i64;
        over = start + took;
        let Some(content) = entry.pointer("/response/content") else { continue };
        if entry.get("_events").is_some() || content.get("encoding").is_some() {
            return None;
        }
        let Some(text) = content.get("text").and_then(Value::as_str) else { continue };
        let is_stream = content.get("mimeType")?.as_str()?.starts_with("text/event-stream");
        // A time says of an answer of no bytes that it was whole, which without one nobody knows.
        if text.is_empty() && !is_stream {
            continue;
        }
        // Where nothing tells when a stream of HTTP+SSE said what, an answer is placed behind its request.
        let is_placed = text.contains("event: endpoint");
        if is_stream && (text.contains('\r') || text.contains("\n\n\n") || is_placed) {
            return None;
        }
        let places = if is_stream { blocks(text) } else { vec![0] };
        let events = places.into_iter().map(|at| json!({"at": at, "time": 0})).collect();
        entry.as_object_mut()?.insert("_events".to_owned(), Value::Array(events));
    }
    Some(har)
}

/// Where the blocks of a stream begin.
fn blocks(stream: &str) -> Vec<usize> {
    let ends = stream.match_indices("\n\n").map(|(at, _)| at + 2).filter(|at| *at < stream.len());
    if stream.is_empty() { Vec::new() } else { std::iter::once(0).chain(ends).collect() }
}
