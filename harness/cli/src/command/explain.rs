//! `explain`: what a clause or a rule asks, why, where it comes from, and which cases show it; and the list of
//! rules in `docs/rules.md`, derived from the rules and from the cases that break and keep them.

mod pages;

use super::context::{CommandContext, Failure};
use super::suites;
use super::values::words;
use crate::exit;
use mcp_concord_suite::{Case, Suite};
use pages::{code_page, dialect_page, level, page, rule_page};
use rules::FAMILIES;
use rules::rule::Rule;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use transcript::clauses::{self, Clause};
use transcript::dialect::{self, Dialect};
use transcript::nearest::hint_or;
use transcript::rejection::Code;
use verdict::case_file::Judgement;
use verdict::plain::counted;

/// Explains a clause of the reading contract, a dialect of it, a rule of `check` or a rejection code; lists a family of
/// rules, those whose ids begin alike, or, without an id, all of them.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/explain.txt"))]
pub(crate) struct Args {
    /// The id or the name of a dialect or a family, or how ids begin: COR-FIRST, typed-ids, jsonrpc.id.null, lifecycle,
    /// jsonrpc.error.
    id: Option<String>,
    /// The output format.
    #[arg(long, value_parser = words(&OUTPUTS), default_value = "text", value_name = "KIND")]
    output: String,
}

const OUTPUTS: [(&str, &str); 3] = [
    ("text", "For people"),
    ("json", "For programs"),
    ("markdown", "For the documentation: the rules by family"),
];

/// A clause or a rule as programs get it.
#[derive(Debug, Serialize)]
struct Entry {
    id: &'static str,
    kind: &'static str,
    level: &'static str,
    title: &'static str,
    source: String,
    /// The page of a rule's document.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

/// Something that can be explained.
#[derive(Debug, Clone, Copy)]
enum Topic {
    Clause(&'static Clause),
    Dialect(&'static Dialect),
    Rule(&'static Rule),
    Code(Code),
}

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let chosen: Vec<Topic> = match &args.id {
        None => topics().collect(),
        Some(id) => find(id)?,
    };
    // An id has a page; a family is listed even where it has one member.
    let one = chosen.first().filter(|topic| args.id.as_ref().is_some_and(|id| topic.is_named(id)));
    let mut text = match (args.output.as_str(), one) {
        ("json", _) => {
            let entries: Vec<Entry> = chosen.iter().map(|topic| topic.entry()).collect();
            serde_json::to_string_pretty(&entries).map_err(io::Error::from)? + "\n"
        }
        ("markdown", _) => derived(&suites::embedded()?.judged),
        (_, Some(Topic::Clause(clause))) => page(clause, &suite(context).cases),
        (_, Some(Topic::Dialect(dialect))) => dialect_page(dialect, &suite(context).cases),
        (_, Some(Topic::Code(code))) => code_page(*code),
        (_, Some(Topic::Rule(rule))) => rule_page(rule, &suite(context).judged),
        (_, None) => list(&chosen),
    };
    if args.output == "text" && one.is_some() && chosen.len() > 1 {
        text += "\nThe family of this name:\n";
        text += &list(&chosen[1..]);
    }
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(exit::WELL)
}

fn suite(context: CommandContext) -> Suite {
    suites::embedded().unwrap_or_else(|_| {
        context.terminal.note("the cases are not listed, since the built-in suite cannot be used");
        Suite { cases: Vec::new(), judged: Vec::new(), identified: Vec::new() }
    })
}

fn topics() -> impl Iterator<Item = Topic> {
    let dialects = dialect::ALL.iter().map(Topic::Dialect);
    let codes = Code::all().map(Topic::Code);
    clauses::all().map(Topic::Clause).chain(dialects).chain(rules::all().map(Topic::Rule)).chain(codes)
}

impl Topic {
    fn id(self) -> &'static str {
        match self {
            Self::Clause(clause) => clause.id,
            Self::Dialect(dialect) => dialect.name,
            Self::Rule(rule) => rule.id,
            Self::Code(code) => code.name(),
        }
    }

    fn is_named(self, id: &str) -> bool {
        self.id().eq_ignore_ascii_case(id)
    }

    /// Whether its id goes on behind this one, as that of `jsonrpc.error.shape` does behind `jsonrpc.error`.
    fn is_under(self, id: &str) -> bool {
        let start = self.id().get(..id.len()).filter(|start| start.eq_ignore_ascii_case(id));
        start.is_some() && self.id()[id.len()..].starts_with(['.', '-'])
    }

    fn entry(self) -> Entry {
        let (kind, level, title, source) = match self {
            Self::Clause(clause) => ("clause", level(clause), clause.title, clause.source.join("; ")),
            Self::Dialect(dialect) => ("dialect", "chosen", dialect.title, dialect.source.join("; ")),
            Self::Code(code) => {
                ("code", "code", code.about(), format!("reading contract, {}", code.clause()))
            }
            Self::Rule(rule) => ("rule", rule.level.name(), rule.title, rule.source.to_owned()),
        };
        let link = match self {
            Self::Rule(rule) => rule.link(None),
            _ => None,
        };
        Entry { id: self.id(), kind, level, title, source, link }
    }
}

/// The topic of this id in any letter case, or the members of the family of this name, or else the topics whose ids
/// begin with it.
fn find(id: &str) -> Result<Vec<Topic>, Failure> {
    // A code and a family may have one name, such as `batch`.
    let mut members: Vec<Topic> = topics().find(|topic| topic.is_named(id)).into_iter().collect();
    let family = FAMILIES.iter().find(|family| family.name.eq_ignore_ascii_case(id));
    members.extend(family.into_iter().flat_map(|family| family.rules).map(|rule| Topic::Rule(rule)));
    members.extend(clauses::all().filter(|it| it.family.eq_ignore_ascii_case(id)).map(Topic::Clause));
    if members.is_empty() {
        members.extend(topics().filter(|topic| topic.is_under(id)));
    }
    if !members.is_empty() {
        return Ok(members);
    }
    let families = FAMILIES.iter().map(|family| family.name);
    let known = topics().map(Topic::id).chain(families);
    let hint = hint_or("; `mcp-concord explain` lists all of them", id, known);
    Err(format!("there is no clause, dialect, rule, family or code `{id}`{hint}").into())
}

fn list(topics: &[Topic]) -> String {
    let width = topics.iter().map(|topic| topic.id().len()).max().unwrap_or_default();
    let mut out = String::new();
    for entry in topics.iter().map(|topic| topic.entry()) {
        let _ = writeln!(out, "{:<width$}  {:<6}  {}", entry.id, entry.level, entry.title);
    }
    out
}

/// The part of the page below its seam: a table for each family.
fn derived(cases: &[Case]) -> String {
    let mut page = String::new();
    for family in FAMILIES.iter().filter(|family| !family.rules.is_empty()) {
        let _ = write!(
            page,
            "\n### {}\n\n`{}`: {}\n\n| id | level | party | revisions | rule | breaks | keeps |\n\
             | --- | --- | --- | --- | --- | ---: | ---: |\n",
            family.title,
            family.name,
            counted(family.rules.len(), "rule")
        );
        for rule in family.rules {
            let _ = writeln!(page, "{}", row(rule, cases));
        }
    }
    page
}

fn row(rule: &Rule, cases: &[Case]) -> String {
    let count = |of: fn(&Judgement) -> &Vec<String>| {
        let judgements = cases.iter().filter_map(|case| case.judgement.as_ref());
        judgements.filter(|judgement| of(judgement).iter().any(|id| id == rule.id)).count()
    };
    let mut level = rule.level.name().to_owned();
    if let Some((since, raised)) = rule.raised {
        let _ = write!(level, ", {} from {since} on", raised.name());
    }
    if let Some(softened) = rule.softened {
        let _ = write!(level, "; {softened}");
    }
    let contested = if rule.contested.is_some() { " *Contested.*" } else { "" };
    format!(
        "| `{}` | {level} | {} | {} | {}{contested} | {} | {} |",
        rule.id,
        rule.party.name(),
        rule.span,
        rule.title.replace('|', r"\|"),
        count(|judgement| &judgement.breaks),
        count(|judgement| &judgement.keeps)
    )
}

#[cfg(test)]
mod tests {
    use super::{dialect_page, find, list, page, rule_page, suites, topics};
    use transcript::{clauses, dialect};

    #[test]
    fn a_replaced_clause_is_told_in_both_readings_and_a_dialect_with_its_cases() {
        let suite = suites::embedded().unwrap();
        for dialect in &dialect::ALL[1..] {
            let about = dialect_page(dialect, &suite.cases);
            assert!(about.contains("\n  ids/") && !about.contains("none yet"), "{about}");
            for own in &dialect.replaces {
                let both = page(clauses::find(own.id).unwrap(), &suite.cases);
                let (plain, other) =
                    both.split_once(&format!("\nIn the dialect {}: ", dialect.name)).unwrap();
                assert!(plain.contains("\nSource\n") && !plain.contains(own.title), "{plain}");
                assert!(other.starts_with(own.title) && other.contains(own.source[0]), "{other}");
                assert!(about.contains(own.title), "{about}");
            }
        }
        assert_eq!(find("TYPED-ids").unwrap()[0].id(), "typed-ids");
        assert!(!page(clauses::find("ID-STRING").unwrap(), &[]).contains("In the dialect"));
    }

    #[test]
    fn every_clause_and_every_rule_has_a_page_and_an_entry() {
        for clause in clauses::all() {
            let page = page(clause, &[]);
            for part in [clause.id, clause.title, clause.source[0]] {
                assert!(page.contains(part), "{part} is missing in\n{page}");
            }
            let entry = serde_json::to_value(find(clause.id).unwrap()[0].entry()).unwrap();
            assert_eq!(entry["level"], if clause.open { "open" } else { "must" });
            assert_eq!((&entry["kind"], entry.as_object().unwrap().len()), (&"clause".into(), 5));
        }
        for rule in rules::all() {
            let page = rule_page(rule, &[]);
            for part in [rule.id, rule.title, rule.level.name(), rule.party.name()] {
                assert!(page.contains(part), "{part} is missing in\n{page}");
            }
            for link in rule.links() {
                assert!(page.contains(&format!("\n  {link}\n")), "{link} is missing in\n{page}");
            }
            let entry = serde_json::to_value(find(rule.id).unwrap()[0].entry()).unwrap();
            assert_eq!((&entry["kind"], &entry["source"]), (&"rule".into(), &rule.source.into()));
            assert_eq!(entry.get("link").and_then(|link| link.as_str()), rule.link(None).as_deref());
        }
        for family in rules::FAMILIES {
            let members: Vec<_> = find(family.name).unwrap().iter().map(|topic| topic.id()).collect();
            assert!(family.rules.iter().all(|rule| members.contains(&rule.id)), "{}", family.name);
        }
        assert_eq!(
            list(&topics().collect::<Vec<_>>()).lines().count(),
            clauses::all().count()
                + dialect::ALL.len()
                + rules::all().count()
                + transcript::rejection::Code::all().count()
        );
    }
}
