//! `explain`: what a clause asks, why, where it comes from, and which cases show it.

use super::{Around, Failure};
use crate::exit;
use crate::suite::{Case, Root, Suite, nearest};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use transcript::clauses::{self, Clause, Example};

/// Explains a clause of the reading contract; without an id, lists all of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord explain                     every clause, a line each
  mcp-concord explain COR-FIRST           one of them, with its examples and cases
  mcp-concord explain --output json       for programs

Exit code 0: explained; 2: there is no such id.")]
pub struct Args {
    /// The id, such as COR-FIRST.
    id: Option<String>,
    /// For whom it is printed.
    #[arg(long, value_enum, default_value = "text", value_name = "KIND")]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// A clause as programs get it.
#[derive(Debug, Serialize)]
struct Entry {
    id: &'static str,
    kind: &'static str,
    level: &'static str,
    title: &'static str,
    source: String,
}

/// Runs the command.
///
/// # Errors
/// Where there is no such id, or the output cannot be written.
pub fn run(args: &Args, around: Around) -> Result<u8, Failure> {
    let chosen: Vec<&Clause> = match &args.id {
        None => clauses::all().collect(),
        Some(id) => vec![find(id)?],
    };
    let text = match (args.output, args.id.is_some()) {
        (Output::Json, _) => {
            let entries: Vec<Entry> = chosen.iter().map(|clause| entry(clause)).collect();
            serde_json::to_string_pretty(&entries).map_err(io::Error::from)? + "\n"
        }
        (Output::Text, false) => list(&chosen),
        (Output::Text, true) => {
            let suite = Suite::load(&[Root::Embedded]);
            if suite.is_err() {
                around.voice.note("the cases are not listed, since the embedded suite cannot be used");
            }
            let cases = suite.map(|suite| suite.cases).unwrap_or_default();
            chosen.iter().map(|clause| page(clause, &cases)).collect()
        }
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(exit::WELL)
}

/// The clause that was asked for, in any case of letters.
fn find(id: &str) -> Result<&'static Clause, Failure> {
    let known = || clauses::all().map(|clause| clause.id);
    clauses::all().find(|clause| clause.id.eq_ignore_ascii_case(id)).ok_or_else(|| {
        let hint = match nearest(id, known()).as_slice() {
            [] => "`mcp-concord explain` lists all of them".to_owned(),
            names => format!("did you mean {}?", names.join(" or ")),
        };
        Failure::Unusable(format!("there is no clause `{id}`; {hint}"))
    })
}

fn entry(clause: &Clause) -> Entry {
    let Clause { id, title, source, .. } = *clause;
    Entry { id, kind: "clause", level: level(clause), title, source: source.join("; ") }
}

fn level(clause: &Clause) -> &'static str {
    if clause.open { "open" } else { "must" }
}

fn list(clauses: &[&Clause]) -> String {
    let width = clauses.iter().map(|clause| clause.id.len()).max().unwrap_or_default();
    let mut out = String::new();
    for clause in clauses {
        let _ = writeln!(out, "{:<width$}  {}  {}", clause.id, level(clause), clause.title);
    }
    out
}

fn page(clause: &Clause, cases: &[Case]) -> String {
    let mut out = format!("{}: {}\n{}, {}\n", clause.id, clause.title, clause.family, level(clause));
    for (name, prose) in [("What", clause.rule), ("Why", clause.why)] {
        let _ = write!(out, "\n{name}\n{}", wrapped(prose));
    }
    for (name, example) in [("Right", clause.right), ("Wrong", clause.wrong)] {
        let _ = write!(out, "\n{name}\n{}", shown(example));
    }
    out.push_str("\nSource\n");
    for source in clause.source {
        let _ = writeln!(out, "  {source}");
    }
    let shows = |case: &&Case| case.clauses.iter().any(|id| id == clause.id);
    let shown: Vec<&Case> = cases.iter().filter(shows).collect();
    let width = shown.iter().map(|case| case.name.chars().count()).max().unwrap_or_default();
    out.push_str("\nCases\n");
    for case in &shown {
        let _ = writeln!(out, "  {:<width$}  {}", case.name, case.title);
    }
    if shown.is_empty() {
        out.push_str("  none yet\n");
    }
    out
}

fn shown(example: Example) -> String {
    let mut out = String::new();
    for line in example.text.lines() {
        let _ = writeln!(out, "  | {line}");
    }
    out + &wrapped(example.reading)
}

/// Prose in lines that fit on a terminal, indented by two.
fn wrapped(prose: &str) -> String {
    const WIDTH: usize = 98;
    let mut out = String::new();
    let mut column = 0;
    for word in prose.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            out.push('\n');
            column = 0;
        }
        out.push_str(if column == 0 { "  " } else { " " });
        out.push_str(word);
        column += 1 + length;
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::{Failure, entry, find, page, wrapped};
    use transcript::clauses;

    #[test]
    fn an_unknown_id_is_answered_with_its_neighbours() {
        assert_eq!(find("cor-first").unwrap().id, "COR-FIRST");
        let Err(Failure::Unusable(message)) = find("COR-FRST") else { panic!("COR-FRST is no clause") };
        assert!(message.contains("COR-FIRST"), "{message}");
    }

    #[test]
    fn every_clause_has_a_page_and_an_entry() {
        for clause in clauses::all() {
            let page = page(clause, &[]);
            for part in [clause.id, clause.title, clause.source[0]] {
                assert!(page.contains(part), "{part} is missing in\n{page}");
            }
            let entry = serde_json::to_value(entry(clause)).unwrap();
            assert_eq!(entry["level"], if clause.open { "open" } else { "must" });
            assert_eq!(entry.as_object().unwrap().len(), 5);
        }
    }

    #[test]
    fn prose_is_wrapped_between_words() {
        let prose = "word ".repeat(50);
        let lines = wrapped(&prose);
        assert!(lines.lines().all(|line| line.chars().count() <= 100 && line.starts_with("  word")));
        assert_eq!(lines.split_whitespace().count(), 50);
    }
}
