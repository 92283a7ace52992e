//! What came of judging recordings, for a person at a terminal: each broken rule with its places and what to do, and a
//! summary by party.
//!
//! Columns, colours and how much is too much. Everything that comes from a recording goes through [`crate::plain`]. A
//! recording conforms is said only of a frozen set, and never where a rule is inconclusive.

use super::{Renderer, UNREAD, explain, pointer, rule_of};
use crate::plain::{counted, plain};
use annotate_snippets::{self as snippets, Annotation, Group, Message, Origin, Snippet};
use anstyle::{AnsiColor, Style};
use rules::RuleVerdict;
use rules::record::{CheckedFile, RelatedLocation, RuleResult, Totals};
use rules::rule::Level;
use rules::rule_set::RuleSetResult;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use verdict::text::{Verbosity, paint};

/// How it is to be shown.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// With colours.
    pub colour: bool,
    /// How much.
    pub volume: Verbosity,
}

/// How many places of a rule are shown; with everything, all that were kept.
const PLACES: usize = 3;

/// Lines are shown whole, however wide they are: a snippet has been cut already.
const WIDEST: usize = 10_000;

/// Diagnostics as rustc prints them. It holds each recording's name and totals, for the list at the end; with
/// [`Verbosity::Quiet`] only their sum.
#[derive(Debug)]
pub struct Text {
    version: String,
    options: Options,
    files: Vec<(String, Totals)>,
    count: u64,
    sum: Totals,
    /// Something was shown.
    begun: bool,
}

impl Text {
    /// Nothing was shown so far. The version is that of the program that judges.
    pub fn new(version: &str, options: Options) -> Self {
        let version = version.to_owned();
        Self { version, options, files: Vec::new(), count: 0, sum: Totals::default(), begun: false }
    }

    /// What comes between two parts of the output.
    fn apart(&mut self) -> &'static str {
        if std::mem::replace(&mut self.begun, true) { "\n" } else { "" }
    }
}

impl Renderer for Text {
    fn file(&mut self, file: &CheckedFile, out: &mut dyn Write) -> io::Result<()> {
        let totals = file.totals();
        self.count += 1;
        self.sum += totals;
        if self.options.volume >= Verbosity::Normal {
            self.files.push((plain(&file.name), totals));
        }
        let text = self::file(file, &self.version, self.options);
        if text.is_empty() {
            return Ok(());
        }
        out.write_all(self.apart().as_bytes())?;
        out.write_all(text.as_bytes())
    }

    /// A line for each of several recordings, and their sum.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.count == 0 || self.count == 1 && self.options.volume > Verbosity::Quiet {
            return Ok(());
        }
        out.write_all(self.apart().as_bytes())?;
        let width = self.files.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        for (name, totals) in &self.files {
            writeln!(out, "{name:<width$}  {}", counts(*totals, self.options))?;
        }
        writeln!(out, "{}: {}", counted(self.count, "recording"), counts(self.sum, self.options))
    }
}

/// What came of one recording.
fn file(file: &CheckedFile, version: &str, options: Options) -> String {
    let mut parts: Vec<String> = groups(file).iter().map(|lines| group(file, lines, options)).collect();
    if options.volume >= Verbosity::Loud {
        parts.push(unsure(file, options));
    }
    parts.push(match options.volume {
        Verbosity::Quiet => String::new(),
        _ => summary(file, options),
    });
    if let Some(kept) = &file.required {
        parts.push(format!("{}: {}\n", plain(&file.name), required(kept, version, file.messages)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
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
            .elements(first.link.as_ref().map(|link| row("document", link.clone())))
            .elements(rule.contested.map(|contested| row("contested", contested.to_owned())))
            .element(row("fix", rule.fix.to_owned()));
    }
    group = group
        .element(row("help", explain(first.rule)))
        .elements(first.rerun.as_ref().map(|rerun| row("rerun", plain(rerun))));
    let renderer = if options.colour { snippets::Renderer::styled() } else { snippets::Renderer::plain() };
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
    let messages = counted(file.messages, "message");
    let mut out = format!("{}: {}, {revision}, {messages}\n", plain(&file.name), file.format);
    let parties = file.by_party();
    if file.totals() != Totals::default() {
        let _ = writeln!(out, "  {:<9} {:>6} {:>8} {:>5}", "party", "errors", "warnings", "notes");
        for (party, totals) in &parties {
            let mut row = format!("  {party:<9}");
            for ((count, _, verdict), width) in by_severity(*totals).into_iter().zip([6, 8, 5]) {
                let style = if count > 0 { style(verdict) } else { Style::new() };
                let _ = write!(row, " {}", paint(&format!("{count:>width$}"), style, options.colour));
            }
            let _ = writeln!(out, "{row}");
        }
    } else if file.messages == 0 {
        out.push_str("  no messages: nothing was judged\n");
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

/// Whether a recording conforms to a frozen set. Where a rule is inconclusive, that is not known.
fn required(kept: &RuleSetResult, version: &str, messages: u64) -> String {
    let set = if kept.suite == version { String::new() } else { format!(" (the set of {})", kept.suite) };
    let of = format!("{}{set}", kept.revision);
    let judge = format!("{of} as judged by mcp-concord {version}");
    let mut out = match (kept.whole, kept.broken, kept.inconclusive) {
        (false, ..) => {
            format!("{UNREAD} {judge}")
        }
        (_, 0, _) if messages == 0 => {
            format!("holds no message, so it is unknown whether it conforms to {judge}")
        }
        (_, 0, 0) => format!("conforms to {judge}"),
        (_, 0, _) => format!("no violations of {of} found by mcp-concord {version}"),
        _ => format!("does not conform to {judge}"),
    };
    let _ = write!(out, ": {} kept", counted(kept.kept, "rule"));
    if kept.broken > 0 {
        let _ = write!(out, ", {} broken", kept.broken);
    }
    let _ = write!(out, ", {} not applicable, {} inconclusive", kept.uncalled, kept.inconclusive);
    out
}

fn counts(totals: Totals, options: Options) -> String {
    let cell = |(count, one, verdict)| {
        let text = counted(count, one);
        if count > 0 { paint(&text, style(verdict), options.colour) } else { text }
    };
    by_severity(totals).map(cell).join(", ")
}

/// The counts, what each is of, and the verdict that paints it.
fn by_severity(totals: Totals) -> [(u64, &'static str, RuleVerdict); 3] {
    [
        (totals.errors, "error", RuleVerdict::Fail),
        (totals.warnings, "warning", RuleVerdict::Warn),
        (totals.notes, "note", RuleVerdict::Info),
    ]
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

#[cfg(test)]
mod tests {
    use super::required;
    use rules::rule_set::RuleSetResult;

    #[test]
    fn only_what_was_decided_is_said_to_conform() {
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
            required(&kept, "0.1.0", 5),
            "conforms to 2025-11-25 as judged by mcp-concord 0.1.0: 61 rules kept, 7 not applicable, 0 inconclusive"
        );
        let unsure = required(&RuleSetResult { inconclusive: 3, ..kept.clone() }, "0.2.0", 5);
        assert!(required(&kept, "0.1.0", 0).starts_with("holds no message, so it is unknown"));
        assert!(unsure.starts_with("no violations of 2025-11-25 (the set of 0.1.0) found by"), "{unsure}");
        let broken = required(&RuleSetResult { broken: 1, ..kept.clone() }, "0.1.0", 5);
        assert!(broken.starts_with("does not conform") && broken.contains("1 broken"), "{broken}");
        assert!(
            required(&RuleSetResult { whole: false, ..kept }, "0.1.0", 5)
                .starts_with("could not be read as a whole")
        );
    }
}
