//! The record as `results.json`, and its times as `times.json`; the schemas beside this folder say what is in them.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use verdict::record::Record;
use verdict::timings::Times;

/// The record as indented JSON with a newline at its end. Values of a difference keep their spelling.
///
/// # Errors
/// Where the record holds what JSON cannot.
pub fn render(record: &Record) -> Result<String, serde_json::Error> {
    indented(record)
}

/// The times as indented JSON with a newline at its end.
///
/// # Errors
/// Where they hold what JSON cannot.
pub fn times(times: &Times) -> Result<String, serde_json::Error> {
    indented(times)
}

/// One space for each level: published records are most of all lines of cases, three levels deep.
fn indented(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut out = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(b" ")))?;
    out.push(b'\n');
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use std::collections::BTreeSet;
    use transcript::diff::Difference;
    use verdict::answer::Level;
    use verdict::record::{
        BothSides, CaseNote, CaseResult, Implementation, Place, Reason, Record, ShardPart, Subject, Suite,
    };
    use verdict::verdict::{Judgement, Verdict};

    /// A record with every member that there is, or only with those that are always there.
    fn record(full: bool) -> Value {
        let difference =
            Difference { pointer: "/events/0".into(), left: Some("1".into()), right: Some("2".into()) };
        let fail = Judgement {
            difference: Some(difference),
            silent_loss: true,
            redacted: 1,
            ..plain(Verdict::Fail)
        };
        let judgement = if full { fail } else { plain(Verdict::Pass) };
        let mut line = CaseResult::new("ids/a", "x", &["ID-NULL".to_owned()], judgement);
        line.file = full.then(|| "ids/a/x.json".into());
        line.bytes = full.then_some(2);
        line.place = full.then(|| Place { line: 1, pointer: "/events/0".into() });
        line.stderr = full.then(|| "Oh!".into());
        line.known = full.then(|| Reason { reason: "So it is.".into(), issue: Some("https://x".into()) });
        line.message = full.then(|| "no".into());
        line.remark = full.then(|| "Under another code.".into());
        line.whole = full.then(|| BothSides { expected: "a".into(), actual: "b".into() });
        let mut note = CaseNote::new("A", "B.");
        if full {
            note.transcripts.insert("x".into(), "{}".into());
            note.lines.insert("x".into(), vec![1]);
        }
        let suite = Suite { seed: full.then_some(7), ..Suite::new("1", "sha256:0") };
        let implementation = Implementation::new("i", "2", Level::Calls).in_dialect(if full {
            "typed-ids"
        } else {
            "default"
        });
        let mut record = Record::new(suite, implementation, [("ids/a".to_owned(), note)].into(), vec![line]);
        record.interrupted = u64::from(full);
        record.max_failures = full.then_some(1);
        record.shard = full.then_some(ShardPart { part: 1, of: 2 });
        if full {
            record.subject = Subject::Recorder;
        }
        record.implementation.digest = full.then(|| format!("sha256:{:064}", 0));
        [record.date, record.expires] = ["2026-11-27", "2026-12-27"].map(|day| full.then(|| day.into()));
        record.command = full.then(|| "mcp-concord run".into());
        record.compact = record.compact().compact.filter(|_| full);
        if let Some(compact) = &mut record.compact {
            compact.skipped.insert("why".into(), vec!["*/x".into()]);
        }
        serde_json::from_str(&super::render(&record).unwrap()).unwrap()
    }

    fn plain(verdict: Verdict) -> Judgement {
        Judgement::plain(verdict, None)
    }

    #[test]
    fn the_schema_names_what_a_record_has_and_nothing_else() {
        let schema: Value = serde_json::from_str(include_str!("../../results.schema.json")).unwrap();
        for (full, keyword) in [(true, "properties"), (false, "required")] {
            let record = record(full);
            let mut waiting = vec![(String::new(), &record, &schema)];
            while let Some((at, value, part)) = waiting.pop() {
                let part = match part["$ref"].as_str() {
                    Some(name) => schema.pointer(name.trim_start_matches('#')).unwrap(),
                    None => part,
                };
                if let (Some(members), true) = (value.as_object(), part.get("properties").is_some()) {
                    let named: BTreeSet<&str> = match &part[keyword] {
                        Value::Array(names) => names.iter().map(|name| name.as_str().unwrap()).collect(),
                        names => names.as_object().unwrap().keys().map(String::as_str).collect(),
                    };
                    assert_eq!(
                        members.keys().map(String::as_str).collect::<BTreeSet<_>>(),
                        named,
                        "{keyword} at {at}/"
                    );
                }
                let below =
                    |name: &str| part["properties"].get(name).or_else(|| part.get("additionalProperties"));
                for (name, member) in value.as_object().into_iter().flatten() {
                    waiting.extend(below(name).map(|part| (format!("{at}/{name}"), member, part)));
                }
                for item in value.as_array().into_iter().flatten() {
                    waiting.push((format!("{at}/-"), item, &part["items"]));
                }
            }
        }
        let verdicts: Vec<&str> = Verdict::ALL.iter().map(|verdict| verdict.name()).collect();
        assert_eq!(schema["$defs"]["verdict"]["enum"], serde_json::json!(verdicts));
    }
}
