//! A session that one can look into: every message whole, what was found, and how time went.
//!
//! The model is the session as JSON that a page may hold whatever strangers wrote; [`page()`] is a page of one file around it,
//! whose script draws any such model.

use super::diagram::Diagram;
use super::diagram::model::{Flag, Row, RowContent, Severity, kind_name};
use super::diagram_builder::RowSelection;
use crate::encoding::digest;
use crate::object::{OrderedValue, object};
use crate::plain::{self, counted};
use rules::RuleVerdict;
use rules::record::{CheckedFile, RuleResult};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::io::Write as _;
use tera::{Context, Tera};
use verdict::plain::Escaping;

/// How many bytes of one text are kept, unless everything is asked for.
pub const MOST_TEXT: usize = 256 << 10;

/// The messages that a page shows, unless a range or everything is asked for.
pub const ROWS: RowSelection = RowSelection::Range(0, 99_999);

/// How many characters of a message are shown in its row.
const DETAIL: usize = 160;

/// A session with what was found in it.
#[derive(Debug, Serialize)]
pub(super) struct Model<'s> {
    schema: u32,
    title: &'s str,
    about: Vec<String>,
    participants: Vec<OrderedValue<'s>>,
    rows: Rows<'s>,
    /// Whether anything was judged.
    judged: bool,
    findings: Vec<OrderedValue<'s>>,
    rules: BTreeMap<&'static str, OrderedValue<'static>>,
    foot: Vec<OrderedValue<'s>>,
}

/// Rows, which may be many: each becomes JSON when it is written.
#[derive(Debug)]
struct Rows<'s>(&'s [Row]);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(shown))
    }
}

impl<'s> Model<'s> {
    /// A session, drawn with its sources, and what came of judging each of its recordings, in their order.
    pub(super) fn new(diagram: &'s Diagram, judged: &'s [CheckedFile]) -> Self {
        let mut places: BTreeMap<(usize, u64), usize> = BTreeMap::new();
        for (at, row) in diagram.rows.iter().enumerate() {
            if let Some(source) = &row.source {
                places.entry((source.file, source.offset)).or_insert(at);
            }
        }
        let files = judged.iter().enumerate();
        let lines = files.flat_map(|(file, of)| of.lines.iter().map(move |line| (file, line)));
        let lines: Vec<(usize, &RuleResult)> = lines.filter(|(_, line)| line.is_finding()).collect();
        let finding = |(file, line): &(usize, &'s RuleResult)| {
            finding(line, |offset| places.get(&(*file, offset)).copied())
        };
        let rules = lines.iter().filter_map(|(_, line)| rules::find(line.rule));
        let rule = |rule: &'static rules::rule::Rule| {
            let about = object().with("title", rule.title).with("fix", rule.fix).with("source", rule.source);
            (rule.id, about)
        };
        let participants = diagram.participants.iter();
        let foot = diagram.foot.iter();
        Self {
            schema: 1,
            title: &diagram.title,
            about: diagram.about.iter().cloned().chain(judged.iter().flat_map(about)).collect(),
            participants: participants
                .map(|it| object().with("name", &it.name).with("about", &it.about))
                .collect(),
            rows: Rows(&diagram.rows),
            judged: !judged.is_empty(),
            findings: lines.iter().map(finding).collect(),
            rules: rules.map(rule).collect(),
            foot: foot
                .map(|it| {
                    object()
                        .with("severity", it.severity.name())
                        .with("name", &it.name)
                        .with("text", &it.text)
                })
                .collect(),
        }
    }

    /// The model as JSON that may be in a `script` element: no `<`, and nothing that shows another text than it is.
    ///
    /// # Errors
    /// Where it cannot be spelled.
    fn embedded(&self) -> serde_json::Result<String> {
        let json = serde_json::to_vec(self)?;
        let mut out = Vec::with_capacity(json.len() + json.len() / 16);
        Escaping::new(&mut out).write_all(&json).map_err(serde_json::Error::io)?;
        // In JSON it is only in strings.
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

/// A row. What the recording does not have is left out.
fn shown(row: &Row) -> OrderedValue<'_> {
    let some = |text| Some(text).filter(|text: &&str| !text.is_empty());
    let shown = match &row.content {
        RowContent::Arrow(arrow) => object()
            .with("is", kind_name(arrow.kind))
            .with("number", arrow.number)
            .with("from", arrow.from)
            .with("to", arrow.to)
            .with("name", some(&arrow.name))
            .with("id", arrow.id.as_deref())
            .with("detail", some(beginning(&arrow.detail)))
            .with("time", row.time)
            .with("took", arrow.took)
            .with("answers", arrow.answers)
            .with("flags", OrderedValue::some_of(arrow.flags.iter().map(|flag| Flag::name(*flag).into())))
            .with("band", row.band),
        RowContent::Note(note) => object()
            .with("is", "note")
            .with("name", some(&note.text))
            .with("time", row.time)
            .with("severity", (note.severity != Severity::Note).then(|| note.severity.name()))
            .with("opens", note.opens)
            .with("band", row.band.or(note.opens)),
        RowContent::Fold(fold) => object().with("is", "fold").with("words", fold.words()),
    };
    match &row.source {
        Some(source) => source.describe(shown),
        None => shown,
    }
}

/// What a page shows of a finding; `row` is the row of an entry by the place where that begins.
fn finding<'s>(line: &'s RuleResult, row: impl Fn(u64) -> Option<usize>) -> OrderedValue<'s> {
    let other = line.other.as_ref().map(|other| {
        object()
            .with("what", other.what)
            .with("line", other.line)
            .with("snippet", &other.snippet)
            .with("row", row(other.offset))
    });
    object()
        .with("rule", line.rule)
        .with("level", Severity::of_verdict(line.verdict).name())
        .with("party", line.party)
        .with("message", &line.message)
        .with("link", line.link.as_deref())
        .with("line", line.line)
        .with("pointer", line.pointer.as_deref().filter(|pointer| !pointer.is_empty()))
        .with("within", line.within.as_deref())
        .with("snippet", line.snippet.as_deref())
        .with("row", line.offset.and_then(&row))
        .with("other", other)
        .with("more", Some(line.more).filter(|more| *more > 0))
}

fn beginning(text: &str) -> &str {
    text.char_indices().nth(DETAIL).map_or(text, |(end, _)| &text[..end])
}

const TEMPLATE: &str = include_str!("../../../templates/viewer/page.html");
const STYLE: &str = concat!(
    include_str!("../../../templates/viewer/style.css"),
    include_str!("../../../templates/viewer/narrow.css")
);
const SCRIPT: &str = concat!(
    include_str!("../../../templates/viewer/session.js"),
    include_str!("../../../templates/viewer/details.js"),
    include_str!("../../../templates/viewer/timeline.js"),
    include_str!("../../../templates/viewer/list.js"),
    include_str!("../../../templates/viewer/viewer.js"),
);

/// Where the model goes. No text of the page has a `<` of its own.
const MODEL: &str = "<!-- model -->";
/// How many rows are in words, for a browser that runs no script.
const WORDS: usize = 500;

#[derive(Debug, Serialize)]
struct Words {
    title: String,
    overview: String,
    findings: Vec<String>,
    rows: Vec<String>,
    more: usize,
}

/// The page of a session, drawn with its sources, and of what came of judging each of its recordings, in their order.
///
/// # Errors
/// Where the template cannot be rendered.
pub fn page(diagram: &Diagram, judged: &[CheckedFile]) -> Result<String, tera::Error> {
    let model = Model::new(diagram, judged).embedded().map_err(tera::Error::message)?;
    let found = judged.iter().flat_map(|file| &file.lines).filter(|line| line.is_finding());
    let rejected = diagram.foot.iter().map(|it| format!("{}: {}", it.name, it.text));
    let words = Words {
        title: plain::cut(&diagram.title, 200),
        overview: diagram.overview(),
        findings: rejected
            .chain(found.map(|line| {
                format!("{} {}, by {}: {}", line.level.name(), line.rule, line.party, line.message)
            }))
            .take(WORDS)
            .map(|text| plain::cut(&text, 400))
            .collect(),
        rows: diagram.rows.iter().take(WORDS).map(|row| diagram.sentence(row)).collect(),
        more: diagram.rows.len().saturating_sub(WORDS),
    };
    let mut tera = Tera::new();
    tera.add_raw_template("page.html", TEMPLATE)?;
    let mut context = Context::new();
    context.insert("page", &words);
    context.insert("version", env!("CARGO_PKG_VERSION"));
    context.insert("style", STYLE);
    context.insert("script", SCRIPT);
    context.insert("style_hash", &digest(STYLE));
    context.insert("script_hash", &digest(SCRIPT));
    let mut page = tera.render("page.html", &context)?;
    match page.find(MODEL) {
        Some(at) => page.replace_range(at..at + MODEL.len(), &model),
        None => return Err(tera::Error::message("the page has no place for the session")),
    }
    Ok(page)
}

#[cfg(test)]
mod tests;
