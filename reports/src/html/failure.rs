//! Cases that an implementation fell short of, each with all that is needed to see why.
//!
//! Which readings of a case fell short alike, so that they are told once.

use super::cases;
use super::labels::{WIDTH, anchor, cut, in_lines, named, plain, tone};
use super::text_diff::{self, Row, Span};
use crate::diagram::side_by_side;
use serde::Serialize;
use std::collections::BTreeSet;
use verdict::record::{CaseNote, CaseResult, Record};
use verdict::verdict::Verdict;

/// A case that was fallen short of.
#[derive(Debug, Serialize)]
pub(super) struct Failure {
    id: String,
    case: String,
    title: String,
    reason: String,
    /// Its clauses and the digits of its verdicts, for the filter.
    clause_ids: String,
    codes: String,
    clauses: Vec<Clause>,
    readings: Vec<Reading>,
    /// The session in every format.
    transcripts: Vec<Transcript>,
}

#[derive(Debug, Serialize)]
struct Clause {
    id: String,
    anchor: String,
    title: String,
}

/// Readings that fell short alike.
#[derive(Debug, Serialize)]
struct Reading {
    verdict: &'static str,
    silent_loss: bool,
    at: Option<String>,
    message: Option<String>,
    stderr: Option<String>,
    places: Vec<Location>,
    sides: Vec<Row>,
    /// The session as this reading's format spells it, and as another does.
    spellings: Vec<Transcript>,
    /// Expected and actual as pictures, where there are events to draw.
    drawn: Option<[Option<String>; 2]>,
}

/// One of them.
#[derive(Debug, Serialize)]
struct Location {
    id: String,
    format: String,
    file: Option<String>,
    pointer: Option<String>,
    rerun: String,
}

/// A transcript with the lines marked that matter.
#[derive(Debug, Clone, Serialize)]
struct Transcript {
    format: String,
    /// What its reading came to.
    verdict: &'static str,
    tone: &'static str,
    lines: Vec<Span>,
}

/// The failures of a record, in its order; `rerun` is the command that runs one reading.
pub(super) fn failures(record: &Record, rerun: &dyn Fn(&Record, &CaseResult) -> String) -> Vec<Failure> {
    let formats = cases::formats(&[record]);
    let by_case = record.results.chunk_by(|a, b| a.case == b.case);
    let short = by_case.filter_map(|lines| {
        let short: Vec<&CaseResult> = lines.iter().filter(|line| line.verdict.is_failure()).collect();
        let first = *short.first()?;
        let note = record.cases.get(&first.case);
        let coded: Vec<(usize, &CaseResult)> = short.iter().map(|line| (0, *line)).collect();
        let transcripts = note.map(|note| transcripts(note, lines)).unwrap_or_default();
        let clauses: BTreeSet<&str> =
            short.iter().flat_map(|line| &line.clauses).map(String::as_str).collect();
        Some(Failure {
            id: anchor(&first.case, None),
            case: plain(&first.case),
            title: note.map(|note| plain(&note.title)).unwrap_or_default(),
            reason: note.map(|note| plain(&note.reason)).unwrap_or_default(),
            clause_ids: plain(&clauses.iter().copied().collect::<Vec<_>>().join(" ")),
            codes: cases::codes(&coded, 1, &formats),
            clauses: clauses.into_iter().map(|id| clause(record, id)).collect(),
            readings: readings(record, &short, &transcripts, rerun),
            transcripts,
        })
    });
    short.collect()
}

fn clause(record: &Record, id: &str) -> Clause {
    let title = record.clauses.get(id).map(|title| plain(title)).unwrap_or_default();
    Clause { id: plain(id), anchor: named("clause", id), title }
}

/// What fell short in the same way is told once, with the formats in which it did.
fn readings(
    record: &Record,
    short: &[&CaseResult],
    transcripts: &[Transcript],
    rerun: &dyn Fn(&Record, &CaseResult) -> String,
) -> Vec<Reading> {
    let mut groups: Vec<Vec<&CaseResult>> = Vec::new();
    for line in short {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| alike(first, line))) {
            Some(group) => group.push(line),
            None => groups.push(vec![line]),
        }
    }
    let reading = |group: &Vec<&CaseResult>| {
        let first = *group.first()?;
        let sides = first.whole.as_ref().map(|whole| text_diff::sides(&whole.expected, &whole.actual));
        let at = first.difference.as_ref().map(|difference| match difference.at.as_str() {
            "" => "the whole answer".to_owned(),
            at => plain(at),
        });
        Some(Reading {
            verdict: first.verdict.name(),
            silent_loss: first.silent_loss,
            at,
            message: first.message.as_ref().map(|message| cut(message, WIDTH)),
            stderr: first.stderr.as_ref().map(|said| in_lines(said)),
            places: group.iter().map(|line| place(line, rerun(record, line))).collect(),
            sides: sides.unwrap_or_default(),
            spellings: spellings(transcripts, &plain(&first.format)),
            drawn: first.whole.as_ref().and_then(|whole| {
                let at = first.difference.as_ref().map(|difference| difference.at.as_str());
                // A picture that could not be drawn is no reason to lose the page: the texts stand above it.
                side_by_side(&whole.expected, &whole.actual, at.unwrap_or_default()).ok().flatten()
            }),
        })
    };
    groups.iter().filter_map(reading).collect()
}

fn alike(one: &CaseResult, other: &CaseResult) -> bool {
    let at = |line: &CaseResult| line.difference.as_ref().map(|difference| difference.at.clone());
    one.verdict == other.verdict
        && one.silent_loss == other.silent_loss
        && one.message == other.message
        && one.stderr == other.stderr
        && one.whole == other.whole
        && at(one) == at(other)
}

fn place(line: &CaseResult, rerun: String) -> Location {
    let number = line.place.as_ref().map(|place| format!(":{}", place.line)).unwrap_or_default();
    Location {
        id: anchor(&line.case, Some(&line.format)),
        format: plain(&line.format),
        file: line.file.as_ref().map(|file| plain(file) + &number),
        pointer: line.place.as_ref().map(|place| plain(&place.pointer)).filter(|text| !text.is_empty()),
        rerun: plain(&rerun),
    }
}

/// The session in the format that was read wrongly, and in one that was read rightly, or else in any other.
fn spellings(transcripts: &[Transcript], format: &str) -> Vec<Transcript> {
    let (own, others): (Vec<_>, Vec<_>) = transcripts.iter().partition(|it| it.format == format);
    let right = others.iter().find(|it| it.verdict == Verdict::Pass.name()).or(others.first());
    own.iter().chain(right).map(|it| (*it).clone()).collect()
}

fn transcripts(note: &CaseNote, lines: &[CaseResult]) -> Vec<Transcript> {
    let transcript = |(format, text): (&String, &String)| {
        let of_it = lines.iter().find(|line| line.format == *format);
        let placed = of_it.and_then(|line| line.place.as_ref()).map(|place| place.line);
        let marked: BTreeSet<u64> =
            placed.into_iter().chain(note.lines.get(format).into_iter().flatten().copied()).collect();
        let line = |(number, text): (u64, &str)| Span { text: plain(text), mark: marked.contains(&number) };
        let cut = text_diff::cut(text);
        Transcript {
            format: plain(format),
            verdict: of_it.map_or("not asked", |line| line.verdict.name()),
            tone: of_it.map_or("faint", |line| tone(line.verdict)),
            lines: (1..).zip(cut.lines()).map(line).collect(),
        }
    };
    note.transcripts.iter().map(transcript).collect()
}

#[cfg(test)]
mod tests {
    use super::failures;
    use crate::test_record::{line, record_of};
    use verdict::record::{BothSides, Difference, Place};
    use verdict::verdict::Verdict::{Crash, Fail, Pass};

    #[test]
    fn what_fell_short_alike_is_told_once_with_its_places() {
        let whole = |actual: &str| Some(BothSides { expected: "a\n".into(), actual: actual.into() });
        let mut lines = vec![
            line("a/b", "x", Fail),
            line("a/b", "y", Fail),
            line("a/b", "z", Crash),
            line("a/b", "w", Pass),
            line("a/c", "x", Pass),
        ];
        lines[0].whole = whole("b\n");
        lines[1].whole = whole("b\n");
        lines[1].file = Some("a/b/y.json".into());
        lines[1].place = Some(Place { line: 2, pointer: "/1".into() });
        let mut record = record_of(lines);
        let note = record.cases.get_mut("a/b").unwrap();
        note.transcripts = [("x", "1\n2\n3\n"), ("y", "1\r\n2"), ("w", "1")]
            .map(|(format, text)| (format.to_owned(), text.to_owned()))
            .into();
        note.lines = [("x".to_owned(), vec![3])].into();
        let found = failures(&record, &|_, line| format!("run {}/{}", line.case, line.format));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].codes, "115-");
        let [alike, crash] = found[0].readings.as_slice() else { panic!("{found:#?}") };
        let formats: Vec<&str> = alike.places.iter().map(|place| &*place.format).collect();
        assert_eq!((formats, crash.verdict), (vec!["x", "y"], "crash"));
        let place = &alike.places[1];
        assert_eq!(place.file.as_deref(), Some("a/b/y.json:2"));
        assert_eq!((place.pointer.as_deref(), &*place.rerun), (Some("/1"), "run a/b/y"));
        let spelled = |reading: &super::Reading| -> Vec<(String, &str)> {
            reading.spellings.iter().map(|it| (it.format.clone(), it.verdict)).collect()
        };
        assert_eq!(
            spelled(alike),
            [("x".to_owned(), "fail"), ("w".to_owned(), "pass")],
            "the wrong one first"
        );
        assert_eq!(spelled(crash), [("w".to_owned(), "pass")], "the record has no transcript of the other");
        let marked: Vec<(&str, Vec<bool>)> = found[0]
            .transcripts
            .iter()
            .map(|it| (&*it.format, it.lines.iter().map(|line| line.mark).collect()))
            .collect();
        assert_eq!(marked, [("w", vec![false]), ("x", vec![false, false, true]), ("y", vec![false, true]),]);
    }

    #[test]
    fn expected_and_actual_are_drawn_with_the_first_difference_marked() {
        let event = |id: &str| format!("{{\"kind\": \"request\", \"id\": \"{id}\", \"method\": \"ping\"}}\n");
        let mut lines = vec![line("a/b", "x", Fail), line("a/c", "x", Crash)];
        lines[0].whole =
            Some(BothSides { expected: event("1") + &event("2"), actual: event("1") + &event("3") });
        lines[0].difference = Some(Difference { at: "/events/1/id".into(), expected: None, actual: None });
        lines[1].whole = Some(BothSides { expected: event("1"), actual: "a crash\n".into() });
        let found = failures(&record_of(lines), &|_, _| String::new());
        let Some([Some(expected), Some(actual)]) = &found[0].readings[0].drawn else { panic!("{found:#?}") };
        for (side, id) in [(expected, "id 2"), (actual, "id 3")] {
            let marked = side.find("class=\"here\"").unwrap();
            assert!(side[..marked].contains("id 1") && side[marked..].contains(id), "{side}");
        }
        assert!(matches!(&found[1].readings[0].drawn, Some([Some(_), None])));
    }
}
