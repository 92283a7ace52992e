//! A session and what was found in it as plain data for the script of the page.
//!
//! Where findings belong: each to the row whose entry begins where the rule was broken, and to another one where it cites that.

use crate::diagram::{Annotation, Diagram, Flag, Participant, Row, Severity, Source};
use crate::plain::counted;
use rules::RuleVerdict;
use rules::record::{CheckedFile, RuleResult};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::io::Write as _;
use verdict::plain::Escaping;

/// So much of a message is shown in its row, in characters.
const DETAIL: usize = 160;

/// A session with what was found in it.
#[derive(Debug, Serialize)]
pub struct Model<'s> {
    schema: u32,
    title: &'s str,
    about: Vec<String>,
    participants: &'s [Participant],
    rows: Vec<Shown<'s>>,
    /// Whether anything was judged.
    judged: bool,
    findings: Vec<Finding<'s>>,
    rules: BTreeMap<&'static str, About>,
    foot: &'s [Annotation],
}

/// A row. What the recording does not have is left out.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'s> {
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<usize>,
    /// The tool or the method; of a note or a fold, its words.
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'s str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    took: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    band: Option<u64>,
    #[serde(flatten)]
    source: Option<&'s Source>,
}

#[derive(Debug, Serialize)]
struct Finding<'s> {
    rule: &'static str,
    level: &'static str,
    party: &'static str,
    message: &'s str,
    /// The page of the rule's document, in the recording's revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<&'s str>,
    /// Its row, by its place among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Other<'s>>,
    #[serde(skip_serializing_if = "crate::diagram::is_default")]
    more: u64,
}

#[derive(Debug, Serialize)]
struct Other<'s> {
    what: &'static str,
    line: u64,
    snippet: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
}

#[derive(Debug, Serialize)]
struct About {
    title: &'static str,
    fix: &'static str,
    source: &'static str,
}

impl<'s> Model<'s> {
    /// A session, drawn with its sources, and what came of judging each of its recordings, in their order.
    #[must_use]
    pub fn new(diagram: &'s Diagram, judged: &'s [CheckedFile]) -> Self {
        let mut places: BTreeMap<(usize, u64), usize> = BTreeMap::new();
        for (at, row) in diagram.rows.iter().enumerate() {
            if let Some(source) = row.source() {
                places.entry((source.file, source.offset)).or_insert(at);
            }
        }
        let lines =
            judged.iter().enumerate().flat_map(|(file, of)| of.lines.iter().map(move |line| (file, line)));
        let findings: Vec<Finding<'_>> = lines
            .filter_map(|(file, line)| Finding::new(line, |offset| places.get(&(file, offset)).copied()))
            .collect();
        let rules = findings.iter().filter_map(|finding| rules::find(finding.rule));
        let told = |rule: &rules::rule::Rule| About { title: rule.title, fix: rule.fix, source: rule.source };
        Self {
            schema: 1,
            title: &diagram.title,
            about: diagram.about.iter().cloned().chain(judged.iter().flat_map(about)).collect(),
            participants: &diagram.participants,
            rows: diagram.rows.iter().map(Shown::new).collect(),
            judged: !judged.is_empty(),
            rules: rules.map(|rule| (rule.id, told(rule))).collect(),
            findings,
            foot: &diagram.foot,
        }
    }

    /// The model as JSON that may stand in a `script` element: no `<`, and nothing that shows another text than it is.
    ///
    /// # Errors
    /// Where it cannot be spelled.
    pub fn embedded(&self) -> serde_json::Result<String> {
        let json = serde_json::to_vec(self)?;
        let mut out = Vec::with_capacity(json.len() + json.len() / 16);
        Escaping::new(&mut out).write_all(&json).map_err(serde_json::Error::io)?;
        // In JSON it stands only in strings.
        Ok(String::from_utf8_lossy(&out).replace('<', "\\u003c"))
    }
}

/// How a recording was judged, and what was not, each in a few words.
fn about(file: &CheckedFile) -> Vec<String> {
    let revision = file.revision.map(|revision| format!("judged by {revision}"));
    let required = file.required.as_ref().map(|required| match required.conforms() {
        true => "conforms to the required rules".to_owned(),
        false => "does not conform to the required rules".to_owned(),
    });
    let unsure = file.lines.iter().filter(|line| line.verdict == RuleVerdict::Inconclusive).count();
    let unsure =
        (unsure > 0).then(|| format!("{} inconclusive (check -v says why)", counted(unsure, "rule")));
    let limit = file.limit.map(|limit| format!("a limit was reached: {limit}"));
    [revision, required, unsure, limit].into_iter().flatten().collect()
}

impl<'s> Shown<'s> {
    fn new(row: &'s Row) -> Self {
        match row {
            Row::Arrow(arrow) => Self {
                is: arrow.kind.name(),
                number: Some(arrow.number),
                from: Some(arrow.from),
                to: Some(arrow.to),
                name: &arrow.name,
                id: arrow.id.as_deref(),
                detail: beginning(&arrow.detail),
                time: arrow.time,
                took: arrow.took,
                answers: arrow.answers,
                flags: arrow.flags.iter().map(|flag| Flag::name(*flag)).collect(),
                band: arrow.band,
                source: arrow.source.as_deref(),
                ..Self::default()
            },
            Row::Note(note) => Self {
                is: "note",
                name: &note.text,
                time: note.time,
                severity: (note.severity != Severity::Note).then(|| note.severity.name()),
                opens: note.opens,
                band: note.band.or(note.opens),
                source: note.source.as_deref(),
                ..Self::default()
            },
            Row::Fold(fold) => Self { is: "fold", words: Some(fold.words()), ..Self::default() },
        }
    }
}

impl<'s> Finding<'s> {
    /// What a page shows of a line, if it is a finding; `row` tells the row of an entry by the place where that begins.
    fn new(line: &'s RuleResult, row: impl Fn(u64) -> Option<usize>) -> Option<Self> {
        let level = match line.verdict {
            RuleVerdict::Fail => Severity::Error,
            RuleVerdict::Warn => Severity::Warning,
            RuleVerdict::Info => Severity::Note,
            _ => return None,
        };
        Some(Self {
            rule: line.rule,
            level: level.name(),
            party: line.party,
            message: &line.message,
            link: line.link.as_deref(),
            line: line.line,
            pointer: line.pointer.as_deref().filter(|pointer| !pointer.is_empty()),
            within: line.within.as_deref(),
            snippet: line.snippet.as_deref(),
            row: line.offset.and_then(&row),
            other: line.other.as_ref().map(|other| Other {
                what: other.what,
                line: other.line,
                snippet: &other.snippet,
                row: row(other.offset),
            }),
            more: line.more,
        })
    }
}

fn beginning(text: &str) -> &str {
    text.char_indices().nth(DETAIL).map_or(text, |(end, _)| &text[..end])
}

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
