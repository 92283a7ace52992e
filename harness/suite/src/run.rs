//! A run: a plan of readings, asked on several threads and judged in the order of the plan.
//!
//! The record does not depend on how many threads there were.

mod plan;

pub use plan::{PlannedCase, PlannedRead, Selection, Shard, Skip, plan, readings};

use crate::importer::{Importer, ReadPair, STACK};
use crate::place;
use crate::suite::{Case, Transcript};
use formats::Format;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};
use verdict::answer::Answer;
use verdict::consistency::{self, FormatAnswer};
use verdict::expectation::Expectation;
use verdict::jobs::map_in_order;
use verdict::record::{self, CaseNote, CaseResult, Implementation, Record, kept};
use verdict::verdict::{Question, Verdict, unseen};

/// Asks for every reading of the plan, on `jobs` threads, and records what came of it.
///
/// # Errors
/// Where a transcript cannot be read from disk any more, or no thread can be had.
pub fn run(
    plan: &[PlannedCase<'_>],
    importer: &dyn Importer,
    jobs: usize,
    suite: record::Suite,
) -> io::Result<Record> {
    run_until(plan, importer, jobs, suite, &|| false)
}

/// The same until `over` is: what was under way then has no verdict, and the record says how much that is.
///
/// # Errors
/// Where a transcript cannot be read from disk any more, or no thread can be had.
pub fn run_until(
    plan: &[PlannedCase<'_>],
    importer: &dyn Importer,
    jobs: usize,
    suite: record::Suite,
    over: &(dyn Fn() -> bool + Sync),
) -> io::Result<Record> {
    let judge = |planned: &PlannedCase<'_>| {
        let lines = (!over()).then(|| judge_case(planned, importer));
        lines.filter(|_| !over())
    };
    let mut lines = Vec::new();
    let mut cases = BTreeMap::new();
    let mut left = 0;
    for (planned, judged) in plan.iter().zip(map_in_order(plan, jobs, STACK, judge)?) {
        match judged {
            Some(judged) => {
                lines.extend(judged?);
                cases.insert(planned.case.name.clone(), planned.case.note());
            }
            None => left += planned.readings.len(),
        }
    }
    let readings: usize = plan.iter().map(|planned| planned.readings.len()).sum();
    if lines.len() + left != readings {
        let message = format!("{readings} readings were planned, and {} have a verdict", lines.len());
        return Err(io::Error::other(message));
    }
    let mut short: BTreeMap<&str, Vec<&CaseResult>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.verdict.is_failure()) {
        short.entry(&line.case).or_default().push(line);
    }
    for PlannedCase { case, .. } in plan {
        if let Some(failed) = short.get(case.name.as_str()) {
            cases.insert(case.name.clone(), shown(case, failed)?);
        }
    }
    let implementation = implementation(importer);
    Ok(Record { interrupted: left as u64, ..Record::new(suite, implementation, cases, lines) })
}

/// An importer as records name it.
pub fn implementation(importer: &dyn Importer) -> Implementation {
    Implementation::new(importer.name(), importer.version(), importer.level()).in_dialect(importer.dialect())
}

/// What a record says of a case that an importer fell short of: its transcripts too, and where in each of them stands what
/// it got wrong in any of them.
pub(crate) fn shown(case: &Case, failed: &[&CaseResult]) -> io::Result<CaseNote> {
    let mut note = case.note();
    let differences: BTreeSet<&str> =
        failed.iter().filter_map(|line| Some(line.difference.as_ref()?.at.as_str())).collect();
    for Transcript { format, blob } in &case.transcripts {
        let bytes = blob.bytes()?;
        note.transcripts.insert(format.name.to_owned(), kept(&String::from_utf8_lossy(&bytes)));
        let places = differences.iter().filter_map(|at| place::of(at, format, &bytes));
        let lines: BTreeSet<u64> = places.map(|place| place.line).collect();
        if !lines.is_empty() {
            note.lines.insert(format.name.to_owned(), lines.into_iter().collect());
        }
    }
    Ok(note)
}

/// Judges the selected readings of one case, each by itself and, where the clause is open, by the others.
///
/// # Errors
/// Where a transcript cannot be read from disk.
pub fn judge_case(planned: &PlannedCase<'_>, importer: &dyn Importer) -> io::Result<Vec<CaseResult>> {
    let case = planned.case;
    let mut answered = Vec::new();
    for reading in &planned.readings {
        let heard = match reading.what {
            Ok(transcript) => ask(importer, case, reading.format, &transcript.blob.bytes()?),
            Err(skip) => {
                TimedAnswer::plain(Answer::Unsupported { why: skip.why(importer.name(), reading.format) })
            }
        };
        answered.push((reading, question(case, reading.format, importer), heard));
    }
    let asked: Vec<FormatAnswer<'_>> = answered
        .iter()
        .map(|(reading, question, told)| FormatAnswer {
            format: reading.format.name,
            question: *question,
            answer: &told.answer,
        })
        .collect();
    let consistent = match case.expectation {
        Expectation::Either(_) if case.identified.is_none() => consistency::judge(&asked),
        _ => vec![None; asked.len()],
    };
    let mut lines = Vec::new();
    for ((reading, question, told), other) in answered.iter().zip(consistent) {
        let mut judgement = case.judge(question, &told.answer);
        if importer.strict_codes() {
            judgement = judgement.strictly();
        }
        if judgement.verdict == Verdict::Pass {
            judgement = other.or_else(|| unseen(question, &told.answer)).unwrap_or(judgement);
        }
        let mut line = CaseResult::new(&case.name, reading.format.name, &case.clauses, judgement);
        if let Ok(transcript) = reading.what {
            line.file = Some(format!("{}/{}", case.name, reading.format.file));
            (line.bytes, line.took) = (told.bytes, told.took);
            if line.verdict.is_failure() {
                let at = line.difference.as_ref().map(|difference| difference.at.as_str());
                line.place = place::of(at.unwrap_or_default(), reading.format, &transcript.blob.bytes()?);
                line.stderr = Some(told.said.clone()).filter(|said| !said.is_empty());
                line.whole = Some(case.sides(importer.level(), &told.answer));
            }
        }
        lines.push(line);
    }
    Ok(lines)
}

/// What came of one reading.
struct TimedAnswer {
    answer: Answer,
    said: String,
    bytes: Option<u64>,
    took: Option<Duration>,
}

impl TimedAnswer {
    /// An answer for which nobody had to be asked.
    fn plain(answer: Answer) -> Self {
        Self { answer, said: String::new(), bytes: None, took: None }
    }
}

fn ask(importer: &dyn Importer, case: &Case, format: &Format, transcript: &[u8]) -> TimedAnswer {
    let start = Instant::now();
    let ReadPair { answers: [first, second], said } = match case.identified {
        Some(_) => importer.identify_twice(transcript),
        None => importer.read_twice(format.name, transcript),
    };
    let (took, bytes) = (Some(start.elapsed()), Some(transcript.len() as u64));
    TimedAnswer { answer: first.confirmed_by(&second), said, bytes, took }
}

fn question<'c>(case: &'c Case, format: &Format, importer: &dyn Importer) -> Question<'c> {
    Question {
        level: importer.level(),
        challenge: format.carries.challenge,
        redacted: case.redacted.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Selection, plan, run};
    use crate::builtin::Builtin;
    use crate::importer::Importer;
    use crate::suite::{Root, Suite};
    use verdict::answer::{Answer, Level};
    use verdict::meaning::Meaning;
    use verdict::record::{self, Record};
    use verdict::verdict::Verdict;

    /// The built-in reader with a fault put in between.
    struct Faulty(fn(&str, Answer) -> Answer);

    impl Importer for Faulty {
        fn name(&self) -> &str {
            "faulty"
        }

        fn version(&self) -> &str {
            "0"
        }

        fn reads(&self, format: &str) -> bool {
            format != "inspector"
        }

        fn read(&self, format: &str, transcript: &[u8]) -> Answer {
            (self.0)(format, Builtin.read(format, transcript))
        }
    }

    fn judged(filter: &str, importer: &dyn Importer) -> Record {
        let suite = Suite::load(&[Root::Embedded]).unwrap();
        let filters = vec![globset::Glob::new(filter).unwrap().compile_matcher()];
        let plan = plan(&suite, importer, &Selection { filters, ..Selection::default() });
        assert!(!plan.is_empty(), "{filter}");
        let suite = record::Suite::new("", "");
        run(&plan, importer, 3, suite).unwrap()
    }

    fn count(record: &Record, verdict: Verdict) -> u64 {
        record.totals.get(&verdict).copied().unwrap_or_default()
    }

    #[test]
    fn a_format_that_is_not_read_is_skipped_with_the_reason() {
        let record = judged("ids/zero", &Faulty(|_, answer| answer));
        assert_eq!((count(&record, Verdict::Skip), count(&record, Verdict::Pass)), (1, record.planned - 1));
        let skipped = record.results.iter().find(|line| line.verdict == Verdict::Skip).unwrap();
        assert_eq!(skipped.message.as_deref(), Some("faulty does not read inspector"));
    }

    #[test]
    fn a_summary_that_is_not_shown_is_skipped_and_counted_where_one_is_due() {
        let silent = |_: &str, answer| match answer {
            Answer::Meaning(meaning) => {
                let (events, _) = meaning.text().rsplit_once(",\n\"authorization_discovery\"").unwrap();
                Answer::Meaning(Meaning::parse(&format!("{events}}}")).unwrap())
            }
            other => other,
        };
        let record = judged("k2a/both-parameters/{streamable-http,http-sse,har,jsonrpc}", &Faulty(silent));
        assert_eq!((count(&record, Verdict::Skip), count(&record, Verdict::Pass)), (3, 1), "{record:?}");
        let skipped = record.results.iter().filter(|line| line.verdict == Verdict::Skip);
        for line in skipped {
            assert!(line.message.as_ref().unwrap().contains("no `authorization_discovery`"), "{line:?}");
        }
        let record = judged("k2a/neither/{streamable-http,http-sse,har}", &Faulty(silent));
        assert_eq!(count(&record, Verdict::Pass), record.planned, "{record:?}");
    }

    #[test]
    fn a_code_of_another_fault_is_a_remark_and_fails_only_who_is_held_to_codes() {
        let other = |_: &str, _| Answer::Rejection { code: Some("batch".into()), message: "no".into() };
        let record = judged("ids/reject-true-on-a-request/jsonrpc", &Faulty(other));
        let line = &record.results[0];
        assert_eq!((line.verdict, record.planned), (Verdict::Pass, 1));
        assert_eq!(line.remark.as_deref(), Some("it rejects as `batch`, and the fault is `invalid-id`"));
        let [compact, expanded] = [record.compact(), {
            let mut again = record.compact();
            again.expand(|_| None).unwrap();
            again
        }];
        assert_eq!((compact.results.len(), &expanded.results[0].remark), (0, &line.remark));
        let strict = judged("ids/reject-true-on-a-request/jsonrpc", &Strict(Faulty(other)));
        assert_eq!((strict.results[0].verdict, &strict.results[0].remark), (Verdict::Fail, &None));
        let foreign = judged(
            "ids/reject-true-on-a-request/jsonrpc",
            &Strict(Faulty(|_, _| Answer::Rejection { code: Some("E42".into()), message: "no".into() })),
        );
        assert_eq!(foreign.results[0].verdict, Verdict::Pass);
    }

    /// An importer that is held to our codes.
    struct Strict(Faulty);

    impl Importer for Strict {
        fn name(&self) -> &str {
            self.0.name()
        }

        fn version(&self) -> &str {
            self.0.version()
        }

        fn strict_codes(&self) -> bool {
            true
        }

        fn reads(&self, format: &str) -> bool {
            self.0.reads(format)
        }

        fn read(&self, format: &str, transcript: &[u8]) -> Answer {
            self.0.read(format, transcript)
        }
    }

    #[test]
    fn a_panic_costs_one_reading_alone() {
        let record = judged(
            "ids/*",
            &Faulty(|format, answer| match format {
                "http-sse" => panic!("no streams today"),
                _ => answer,
            }),
        );
        let crashed: Vec<_> = record.results.iter().filter(|line| line.verdict == Verdict::Crash).collect();
        assert!(!crashed.is_empty() && crashed.iter().all(|line| line.format == "http-sse"));
        assert!(crashed[0].message.as_deref().unwrap().contains("no streams today"));
        assert_eq!(record.results.iter().filter(|line| line.verdict.is_failure()).count(), crashed.len());
    }

    #[test]
    fn numbers_through_a_float_are_found_out() {
        let rounded = |_: &str, answer| match answer {
            Answer::Meaning(meaning) => {
                let value: serde_json::Value = serde_json::from_str(meaning.text()).unwrap();
                Answer::Meaning(Meaning::parse(&in_floats(value).to_string()).unwrap())
            }
            other => other,
        };
        let record = judged("values/integer-beyond-double/*", &Faulty(rounded));
        assert_eq!(count(&record, Verdict::Pass), 0, "{record:?}");
        assert!(record.results.iter().all(|line| !line.silent_loss));
    }

    fn in_floats(value: serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::Number(number) => number.as_f64().map_or(Value::Null, Into::into),
            Value::Array(items) => items.into_iter().map(in_floats).collect(),
            Value::Object(members) => members.into_iter().map(|(name, it)| (name, in_floats(it))).collect(),
            other => other,
        }
    }

    #[test]
    fn a_lost_answer_is_a_silent_loss_at_every_level() {
        struct Calls(bool);
        impl Importer for Calls {
            fn name(&self) -> &str {
                "calls"
            }

            fn version(&self) -> &str {
                "0"
            }

            fn level(&self) -> Level {
                Level::Calls
            }

            fn reads(&self, format: &str) -> bool {
                format == "jsonrpc"
            }

            fn read(&self, format: &str, transcript: &[u8]) -> Answer {
                let Answer::Meaning(meaning) = Builtin.read(format, transcript) else { panic!("it is read") };
                let calls = meaning.calls().text().to_owned();
                let outcome = calls.find("\"outcome\": {").unwrap();
                let end = outcome + calls[outcome..].find('\n').unwrap();
                let end = if calls[..end].ends_with(',') { end - 1 } else { end };
                let text = match self.0 {
                    true => format!("{}\"outcome\": null}}{}", &calls[..outcome], &calls[end..]),
                    false => calls,
                };
                Answer::Calls(verdict::meaning::Calls::parse(&text).unwrap())
            }
        }
        let whole = judged("correlation/one-call/jsonrpc", &Calls(false));
        assert_eq!(count(&whole, Verdict::Pass), 1, "{whole:?}");
        let lost = judged("correlation/one-call/jsonrpc", &Calls(true));
        assert!(lost.results[0].verdict == Verdict::Fail && lost.results[0].silent_loss, "{lost:?}");
    }

    #[test]
    fn an_open_case_asks_for_one_choice() {
        let torn = |format: &str, answer| match format {
            "http-sse" => Answer::Rejection { code: None, message: "not this one".into() },
            _ => answer,
        };
        let record = judged("envelope/null-sse", &Faulty(torn));
        let verdicts: Vec<_> =
            record.results.iter().map(|line| (line.format.as_str(), line.verdict)).collect();
        assert_eq!(verdicts, [("streamable-http", Verdict::Pass), ("http-sse", Verdict::Fail)]);
        assert_eq!(judged("envelope/null-sse", &Builtin).totals.get(&Verdict::Pass), Some(&2));
    }
}
