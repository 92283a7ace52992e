//! What came of judging recordings, for a person at a terminal: each broken rule with its places and what to do, and a
//! summary by party.
//!
//! Columns, colours and how much is too much. Everything that comes from a recording goes through [`crate::plain`]. A
//! recording conforms is said of a frozen set alone, and never of what could not be told.

use super::{explain, pointer, rule_of};
use crate::plain::plain;
use annotate_snippets::{self as snippets, Annotation, Group, Message, Origin, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use rules::RuleVerdict;
use rules::record::{CheckRecord, CheckedFile, RelatedLocation, RuleResult, Totals};
use rules::rule::Level;
use rules::rule_set::RuleSetResult;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use verdict::text::Verbosity;

/// How it is to be shown.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// With colours.
    pub colour: bool,
    /// How much.
    pub volume: Verbosity,
}

/// So many places of a rule are shown; with everything, all that were kept.
const PLACES: usize = 3;

/// Lines are shown whole, however wide they are: a snippet has been cut already.
const WIDEST: usize = 10_000;

/// What came of one recording.
#[must_use]
pub fn file(file: &CheckedFile, version: &str, options: Options) -> String {
    let mut parts: Vec<String> = groups(file).iter().map(|lines| group(file, lines, options)).collect();
    if options.volume >= Verbosity::Loud {
        parts.push(unsure(file, options));
    }
    parts.push(match options.volume {
        Verbosity::Quiet => String::new(),
        _ => summary(file, options),
    });
    if let Some(kept) = &file.required {
        parts.push(format!("{}: {}\n", plain(&file.name), required(kept, version)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// What came of all of them: a line each, and their sum.
#[must_use]
pub fn total(record: &CheckRecord, options: Options) -> String {
    let mut out = String::new();
    let width = record.files.iter().map(|file| plain(&file.name).chars().count()).max().unwrap_or_default();
    let mut sum = Totals::default();
    for file in &record.files {
        let totals = file.totals();
        sum.errors += totals.errors;
        sum.warnings += totals.warnings;
        sum.notes += totals.notes;
        if options.volume >= Verbosity::Normal {
            let _ = writeln!(out, "{:<width$}  {}", plain(&file.name), counts(totals, options));
        }
    }
    let files = record.files.len();
    let noun = if files == 1 { "recording" } else { "recordings" };
    let _ = writeln!(out, "{files} {noun}: {}", counts(sum, options));
    out
}

/// The findings of a recording, those of one rule and level together; what binds most first, then by place.
fn groups(file: &CheckedFile) -> Vec<Vec<&RuleResult>> {
    let mut groups: Vec<Vec<&RuleResult>> = Vec::new();
    let mut known: BTreeMap<(&str, Level), usize> = BTreeMap::new();
    for line in file.lines.iter().filter(|line| line.is_finding()) {
        let at = *known.entry((line.rule, line.level)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(line);
    }
    groups.sort_by_key(|lines| (lines[0].level, lines[0].line));
    groups
}

fn group(file: &CheckedFile, lines: &[&RuleResult], options: Options) -> String {
    let most = if options.volume >= Verbosity::Loud { usize::MAX } else { PLACES };
    let first = lines[0];
    let shown = &lines[..lines.len().min(most)];
    let level = match first.verdict {
        RuleVerdict::Fail => snippets::Level::ERROR,
        RuleVerdict::Warn => snippets::Level::WARNING,
        _ => snippets::Level::NOTE,
    };
    let title = level.clone().primary_title(plain(&first.message)).id(first.rule);
    let mut group = place(Group::with_title(title), file, first, false);
    let mut groups = Vec::new();
    for line in &shown[1..] {
        groups.push(std::mem::replace(&mut group, Group::with_level(level.clone())));
        group = place(group, file, line, line.message != first.message);
    }
    let folded = lines.len() - shown.len();
    let more = folded as u64 + lines.iter().map(|line| line.more).sum::<u64>();
    if more > 0 {
        let hint = if folded > 0 { " (-v shows them)" } else { "" };
        group = group.element(row("note", format!("and {more} more like this{hint}")));
    }
    if let Some(rule) = rule_of(first) {
        group = group
            .element(row("rule", format!("{} ({}, {})", rule.title, first.level.name(), first.party)))
            .element(row("source", rule.source.to_owned()))
            .elements(rule.contested.map(|contested| row("contested", contested.to_owned())))
            .element(row("fix", rule.fix.to_owned()));
    }
    group = group.element(row("help", explain(first.rule)));
    let renderer = if options.colour { Renderer::styled() } else { Renderer::plain() };
    groups.push(group);
    renderer.term_width(WIDEST).render(&groups) + "\n"
}

/// Where a rule was broken: file, line and pointer, the line itself, and the other message that matters.
fn place<'g>(group: Group<'g>, file: &CheckedFile, line: &'g RuleResult, says: bool) -> Group<'g> {
    let number = line.line.filter(|number| *number > 0);
    let mut at = plain(&file.name);
    at += &number.map(|number| format!(":{number}")).unwrap_or_default();
    let pointer = plain(&pointer(line));
    if !pointer.is_empty() {
        at += &format!(" {pointer}");
    }
    if says {
        at += &format!(": {}", plain(&line.message));
    }
    let group = match line.snippet.as_ref().filter(|snippet| !snippet.is_empty()) {
        Some(text) => {
            let snippet = Snippet::<Annotation<'_>>::source(plain(text)).path(at).fold(false);
            let number = number.and_then(|number| usize::try_from(number).ok());
            group.element(snippet.line_numbering(number.is_some()).line_start(number.unwrap_or(1)))
        }
        None => group.element(Origin::path(at)),
    };
    let other = |other: &'g RelatedLocation| {
        let at = format!("{}:{} {}", plain(&file.name), other.line, plain(&other.pointer));
        row(other.what, format!("{} ({})", at.trim_end(), plain(&other.snippet)))
    };
    group.elements(line.other.as_ref().map(other))
}

/// A named line below the places.
fn row(name: &str, text: String) -> Message<'_> {
    snippets::Level::NOTE.with_name(name).message(text)
}

/// Each inconclusive rule, and what would decide it.
fn unsure(file: &CheckedFile, options: Options) -> String {
    let unsure: Vec<&RuleResult> =
        file.lines.iter().filter(|line| line.verdict == RuleVerdict::Inconclusive).collect();
    if unsure.is_empty() {
        return String::new();
    }
    let width = unsure.iter().map(|line| line.rule.len()).max().unwrap_or_default();
    let mut out = String::from("inconclusive:\n");
    for line in unsure {
        let rule = paint(&format!("{:<width$}", line.rule), style(line.verdict), options.colour);
        let _ = writeln!(out, "  {rule}  {}", plain(&line.message));
    }
    out
}

fn summary(file: &CheckedFile, options: Options) -> String {
    let revision = file.revision.unwrap_or("revision unknown");
    let noun = if file.messages == 1 { "message" } else { "messages" };
    let mut out = format!("{}: {}, {revision}, {} {noun}\n", plain(&file.name), file.format, file.messages);
    let parties = file.by_party();
    if file.totals() != Totals::default() {
        let _ = writeln!(out, "  {:<9} {:>6} {:>8} {:>5}", "party", "errors", "warnings", "notes");
        for (party, totals) in &parties {
            let mut row = format!("  {party:<9}");
            let cells = [
                (totals.errors, 6, RuleVerdict::Fail),
                (totals.warnings, 8, RuleVerdict::Warn),
                (totals.notes, 5, RuleVerdict::Info),
            ];
            for (count, width, verdict) in cells {
                let style = if count > 0 { style(verdict) } else { Style::new() };
                let _ = write!(row, " {}", paint(&format!("{count:>width$}"), style, options.colour));
            }
            let _ = writeln!(out, "{row}");
        }
    } else {
        out.push_str("  no violations found\n");
    }
    let rules = file.rules();
    let of = |verdict| rules.get(&verdict).copied().unwrap_or_default();
    let broken = of(RuleVerdict::Fail) + of(RuleVerdict::Warn) + of(RuleVerdict::Info);
    let hint = if of(RuleVerdict::Inconclusive) > 0 && options.volume < Verbosity::Loud {
        " (-v lists them, and what would decide each)"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "  rules: {} kept, {broken} with findings, {} not applicable, {} inconclusive{hint}",
        of(RuleVerdict::Pass),
        of(RuleVerdict::NotApplicable),
        of(RuleVerdict::Inconclusive)
    );
    if let Some(gave_up) = &file.gave_up {
        let at = format!("line {} {}", gave_up.line, plain(&gave_up.pointer));
        let _ = writeln!(
            out,
            "  reading stopped at {}: {} ({}); the rest is not judged",
            at.trim_end(),
            plain(&gave_up.message),
            gave_up.clause
        );
    }
    if let Some(limit) = file.limit {
        let _ = writeln!(out, "  a limit was reached: {limit}");
    }
    out
}

/// What a frozen set has to say of a recording. Something that could not be told is no conformance.
#[must_use]
pub fn required(kept: &RuleSetResult, version: &str) -> String {
    let set = if kept.suite == version { String::new() } else { format!(" (the set of {})", kept.suite) };
    let judge = format!("{}{set} as judged by mcp-concord {version}", kept.revision);
    let mut out = match (kept.whole, kept.broken, kept.inconclusive) {
        (false, ..) => format!("could not be read to its end, so it is not known to conform to {judge}"),
        (_, 0, 0) => format!("conforms to {judge}"),
        (_, 0, 1) => format!("no violations found (1 rule inconclusive) of {judge}"),
        (_, 0, many) => format!("no violations found ({many} rules inconclusive) of {judge}"),
        _ => format!("does not conform to {judge}"),
    };
    let noun = if kept.kept == 1 { "rule" } else { "rules" };
    let _ = write!(out, ": {} {noun} kept", kept.kept);
    if kept.broken > 0 {
        let _ = write!(out, ", {} broken", kept.broken);
    }
    let _ = write!(out, ", {} not applicable, {} inconclusive", kept.uncalled, kept.inconclusive);
    out
}

fn counts(totals: Totals, options: Options) -> String {
    let cell = |count: u64, one: &str, verdict| {
        let text = format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        if count > 0 { paint(&text, style(verdict), options.colour) } else { text }
    };
    [
        cell(totals.errors, "error", RuleVerdict::Fail),
        cell(totals.warnings, "warning", RuleVerdict::Warn),
        cell(totals.notes, "note", RuleVerdict::Info),
    ]
    .join(", ")
}

fn style(verdict: RuleVerdict) -> Style {
    let colour = match verdict {
        RuleVerdict::Fail => AnsiColor::Red,
        RuleVerdict::Warn | RuleVerdict::Inconclusive => AnsiColor::Yellow,
        _ => AnsiColor::Green,
    };
    let style = Style::new().fg_color(Some(colour.into()));
    if verdict == RuleVerdict::Inconclusive { style } else { style.bold() }
}

fn paint(text: &str, style: Style, colour: bool) -> String {
    if colour { format!("{}{text}{}", style.render(), style.render_reset()) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::{Options, file, required, total};
    use rules::rule_set::RuleSetResult;
    use verdict::text::Verbosity;

    fn shown(volume: Verbosity) -> String {
        let record = sample::record();
        file(&record.files[0], &record.version, Options { colour: false, volume })
    }

    #[test]
    fn a_finding_tells_where_what_whose_and_what_to_do() {
        let text = shown(Verbosity::Normal);
        let rule = rules::find("jsonrpc.id.null").unwrap();
        let expected = format!(
            "\
error[jsonrpc.id.null]: one ::error::two
 --> a, b: 100%.jsonl:3 /raw/id
  |
3 | \\u{{1b}}[31m{{\"id\": null}}
  |
  = the request: a, b: 100%.jsonl:2 /raw (ping with the id 1)
 --> a, b: 100%.jsonl:4 /raw/id: the id is null
  |
4 | {{}}
  = note: and 12 more like this
  = rule: {} (must, client)
  = source: {}
  = fix: {}
  = help: mcp-concord explain jsonrpc.id.null
",
            rule.title, rule.source, rule.fix
        );
        assert!(text.starts_with(&expected), "{text}\nand not\n{expected}");
        let summary = "\
a, b: 100%.jsonl: mcp-replay, 2025-11-25, 4 messages
  party     errors warnings notes
  client        14        0     0
  recorder       0        1     0
  server         0        0     1
  rules: 1 kept, 3 with findings, 1 not applicable, 1 inconclusive (-v lists them, and what would decide each)
";
        assert!(text.ends_with(summary), "{text}\nand not\n{summary}");
        assert!(
            text.contains(" --> a, b: 100%.jsonl:5 /entries/0/sse/data (in the text: /params)"),
            "{text}"
        );
    }

    #[test]
    fn a_recording_without_a_fault_is_not_said_to_conform() {
        let mut record = sample::record();
        record.files[0].lines.retain(|line| !line.is_finding());
        let options = Options { colour: false, volume: Verbosity::Normal };
        let expected = "\
a, b: 100%.jsonl: mcp-replay, 2025-11-25, 4 messages
  no violations found
  rules: 1 kept, 0 with findings, 1 not applicable, 1 inconclusive (-v lists them, and what would decide each)
";
        assert_eq!(file(&record.files[0], &record.version, options), expected);
    }

    #[test]
    fn volume_and_colour_are_the_callers_choice() {
        assert!(shown(Verbosity::Loud).contains("inconclusive:\n  enc.utf8  nothing tells\n"));
        let quiet = shown(Verbosity::Quiet);
        assert!(quiet.contains("error[jsonrpc.id.null]") && !quiet.contains("party"), "{quiet}");
        let record = sample::record();
        let colours = file(&record.files[0], "1", Options { colour: true, volume: Verbosity::Normal });
        assert!(colours.contains("\u{1b}[1m\u{1b}[91merror[jsonrpc.id.null]"), "{colours:?}");
        let whole = total(&record, Options { colour: false, volume: Verbosity::Quiet });
        assert_eq!(whole, "1 recording: 14 errors, 1 warning, 1 note\n");
    }

    #[test]
    fn conforming_is_said_of_what_was_told_alone() {
        let kept = RuleSetResult {
            suite: "0.1.0".into(),
            revision: "2025-11-25",
            kept: 61,
            uncalled: 7,
            inconclusive: 0,
            broken: 0,
            whole: true,
        };
        assert_eq!(
            required(&kept, "0.1.0"),
            "conforms to 2025-11-25 as judged by mcp-concord 0.1.0: 61 rules kept, 7 not applicable, 0 inconclusive"
        );
        let unsure = required(&RuleSetResult { inconclusive: 3, ..kept.clone() }, "0.2.0");
        assert!(
            unsure.starts_with(
                "no violations found (3 rules inconclusive) of 2025-11-25 (the set of 0.1.0) as"
            ),
            "{unsure}"
        );
        let broken = required(&RuleSetResult { broken: 1, ..kept.clone() }, "0.1.0");
        assert!(broken.starts_with("does not conform") && broken.contains("1 broken"), "{broken}");
        assert!(
            required(&RuleSetResult { whole: false, ..kept }, "0.1.0")
                .starts_with("could not be read to its end")
        );
    }
}
