//! The page of a clause, a dialect, a code or a rule.

use crate::command::help;
use crate::terminal::{cut, plain};
use formats::Input;
use mcp_concord_suite::Case;
use rules::CheckOptions;
use rules::Finding;
use rules::rule::{Level, Rule};
use std::fmt::Write as _;
use transcript::clauses::{self, Clause};
use transcript::dialect::{self, Dialect};
use transcript::rejection::Code;
use verdict::case_file::Judgement;

/// How a clause binds.
pub(super) fn level(clause: &Clause) -> &'static str {
    if clause.open { "open" } else { "must" }
}

/// A clause, with what each dialect puts in its place, and its cases.
pub(super) fn page(clause: &Clause, cases: &[Case]) -> String {
    let mut out = format!("{}: {}\n{}, {}\n", clause.id, clause.title, clause.family, level(clause));
    out.push_str(&body(clause));
    for dialect in dialect::ALL.iter() {
        if let Some(other) = dialect.replacement(clause.id) {
            let _ = write!(out, "\nIn the dialect {}: {}\n{}", dialect.name, other.title, body(other));
        }
    }
    let shows = |case: &&Case| case.clauses.iter().any(|id| id == clause.id);
    out + "\nCases\n" + &named(cases.iter().filter(shows))
}

/// A dialect, with the clauses that it replaces and the cases that it reads otherwise.
pub(super) fn dialect_page(dialect: &Dialect, cases: &[Case]) -> String {
    let mut out = format!("{}: {}\na dialect of the reading contract\n", dialect.name, dialect.title);
    let _ = write!(out, "\nWhat\n{}\nSource\n", wrapped(dialect.about));
    for source in dialect.source {
        let _ = writeln!(out, "  {source}");
    }
    for clause in &dialect.replaces {
        let contracts = clauses::find(clause.id).map_or("", |clause| clause.title);
        let _ = write!(
            out,
            "\n{}: {}\n  instead of: {contracts}\n{}",
            clause.id,
            clause.title,
            wrapped(clause.rule)
        );
    }
    let other = |case: &&Case| case.dialects().any(|(other, _)| other == dialect);
    out + "\nCases that it reads otherwise\n" + &named(cases.iter().filter(other))
}

/// Cases by name and title.
fn named<'c>(cases: impl Iterator<Item = &'c Case>) -> String {
    let shown: Vec<&Case> = cases.collect();
    let width = shown.iter().map(|case| case.name.chars().count()).max().unwrap_or_default();
    let line = |case: &&Case| format!("  {:<width$}  {}\n", case.name, case.title);
    if shown.is_empty() { "  none yet\n".to_owned() } else { shown.iter().map(line).collect() }
}

/// What a clause asks and why, its examples and its sources.
fn body(clause: &Clause) -> String {
    let mut out = String::new();
    for (name, prose) in [("What", clause.rule), ("Why", clause.why)] {
        let _ = write!(out, "\n{name}\n{}", wrapped(prose));
    }
    // Often one transcript can be read in two ways.
    let shared = clause.right.text == clause.wrong.text;
    if shared {
        let _ = write!(out, "\nExample\n{}", quoted(clause.right.text));
    }
    for (name, example) in [("Right", clause.right), ("Wrong", clause.wrong)] {
        let text = if shared { String::new() } else { quoted(example.text) };
        let _ = write!(out, "\n{name}\n{text}{}", wrapped(example.reading));
    }
    out.push_str("\nSource\n");
    for source in &clause.source {
        let _ = writeln!(out, "  {source}");
    }
    out
}

/// A code of a rejection, and how it is used.
pub(super) fn code_page(code: Code) -> String {
    let clause = clauses::find(code.clause()).map_or("", |clause| clause.title);
    let used = "Where a rejection is expected any rejection passes. A code of another fault is a remark beside the pass, \
                and a failure with --strict-codes; a code that is not listed here is ignored.";
    format!(
        "{code}: a rejection code\n\nWhat\n{}\nClause\n  {}: {clause}\n\nUse\n{}",
        wrapped(code.about()),
        code.clause(),
        wrapped(used)
    )
}

/// A level, and what `check` calls a breach of it.
fn severity(level: Level) -> String {
    let breach = match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::Info => "note",
    };
    format!("{} ({breach} of check)", level.name())
}

/// A rule with the cases that break it, each with what was found, and those that keep it.
pub(super) fn rule_page(rule: &Rule, cases: &[Case]) -> String {
    let family = rules::family_of(rule).map_or("", |family| family.title);
    let mut out = format!("{}: {}\n{family}, {}\n", rule.id, rule.title, severity(rule.level));
    for (name, prose) in [("Why", rule.why), ("What to do", rule.fix)] {
        let _ = write!(out, "\n{name}\n{}", wrapped(prose));
    }
    out.push_str("\nApplies\n");
    let _ = write!(out, "{}", wrapped(&format!("in {}, for the {}", rule.span, rule.party.name())));
    if let Some((since, level)) = rule.raised {
        let _ = write!(out, "{}", wrapped(&format!("from {since} on it is a {}", severity(level))));
    }
    for need in rule.needs {
        let _ = write!(out, "{}", wrapped(&format!("where the recording carries {}", need.lack())));
    }
    if let Some(softened) = rule.softened {
        let _ = write!(out, "\nLess strict\n{}", wrapped(softened));
    }
    if let Some(contested) = rule.contested {
        let _ = write!(out, "\nContested\n{}", wrapped(contested));
    }
    let _ = write!(out, "\nSource\n{}", wrapped(rule.source));
    for link in rule.links() {
        let _ = writeln!(out, "  {link}");
    }
    let named = |of: fn(&Judgement) -> &Vec<String>| -> Vec<&Case> {
        let names = |case: &&Case| {
            case.judgement.as_ref().is_some_and(|judgement| of(judgement).iter().any(|id| id == rule.id))
        };
        cases.iter().filter(names).collect()
    };
    let (breaks, keeps) = (named(|judgement| &judgement.breaks), named(|judgement| &judgement.keeps));
    out.push_str("\nCases that break it\n");
    for case in &breaks {
        let _ = writeln!(out, "  {}: {}", case.name, case.title);
        if let Some((file, finding)) = decisive(rule, case) {
            let place = &finding.location;
            let at = format!("{file}:{} {}{}", place.line, place.pointer, place.within);
            let _ = writeln!(out, "    {}: {}", plain(at.trim_end()), plain(&finding.message));
            let _ = writeln!(out, "    | {}", cut(&place.snippet, 92));
        }
    }
    if breaks.is_empty() {
        out.push_str("  none yet\n");
    }
    out.push_str("\nCases that keep it\n");
    for case in &keeps {
        let _ = writeln!(out, "  {}: {}", case.name, case.title);
    }
    if keeps.is_empty() {
        out.push_str("  none yet\n");
    }
    out
}

/// Where a case breaks a rule: the first such place of its first transcript that has one.
fn decisive(rule: &Rule, case: &Case) -> Option<(&'static str, Finding)> {
    case.transcripts.iter().find_map(|transcript| {
        let bytes = transcript.blob.bytes().ok()?;
        let mut reader: &[u8] = &bytes;
        let mut input = Input::new(&mut reader).ok()?;
        let judged = rules::check(transcript.format, &mut input, &CheckOptions::default()).ok()?;
        let outcome = judged.outcomes.into_iter().find(|outcome| outcome.rule.id == rule.id)?;
        Some((transcript.format.file, outcome.findings.into_iter().next()?))
    })
}

/// The lines of a transcript.
fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("  | {line}\n")).collect()
}

/// Prose in lines that fit on a terminal, indented by two.
fn wrapped(prose: &str) -> String {
    help::wrapped(prose, 97).iter().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::body;
    use transcript::clauses;

    #[test]
    fn one_transcript_is_shown_once() {
        for clause in clauses::all() {
            let page = body(clause);
            let first = format!("  | {}\n", clause.right.text.lines().next().unwrap());
            let (_, rest) = page.split_once(&first).unwrap();
            if clause.right.text == clause.wrong.text {
                assert!(!rest.contains("  | ") || clause.right.text.lines().count() > 1, "{page}");
                assert!(page.contains("\nExample\n"), "{page}");
            }
        }
    }
}
