//! Keeps the list in `docs/contract.md` the same as the clauses.

use std::fmt::Write as _;

use super::all;
use crate::rejection::Code;
use crate::revision::Revision;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/contract.md");
const SEAM: &str = "<!-- From here on the page is derived from the clauses; a test compares the two. -->\n";

#[test]
fn the_page_lists_the_clauses_as_they_are() {
    let page = std::fs::read_to_string(PAGE).unwrap().replace("\r\n", "\n");
    let (_, listed) = page.split_once(SEAM).unwrap();
    let derived = derived();
    assert!(listed == derived, "docs/contract.md is out of date; below its seam it should read:\n{derived}");
}

/// Which versions EQ-BATCH believes.
#[test]
fn the_page_names_every_revision() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (last, others) = Revision::ALL.split_last().unwrap();
    let others: Vec<&str> = others.iter().map(|revision| revision.name()).collect();
    let sentence = format!("The published revisions are {} and {last}.", others.join(", "));
    assert!(page.contains(&sentence), "docs/contract.md should say: {sentence}");
}

fn derived() -> String {
    let mut page = String::new();
    let mut family = "";
    for clause in all() {
        if clause.family != family {
            family = clause.family;
            write!(page, "\n### {family}\n\n| id | clause |\n| --- | --- |\n").unwrap();
        }
        let open = if clause.open { "*Open.* " } else { "" };
        let rule = clause.rule.replace('|', r"\|");
        writeln!(page, "| `{}` | **{}.** {open}{rule} |", clause.id, clause.title).unwrap();
    }
    page.push_str(CODES);
    for code in Code::all() {
        writeln!(page, "| `{}` | `{}` | {} |", code.name(), code.clause(), code.about()).unwrap();
    }
    page
}

const CODES: &str = "
### Codes of rejections

A rejection may name its kind by one of these codes. They are this project's: where a rejection is expected any rejection
passes, a code that is not in this list is ignored, and one that names another fault than the case shows is a *remark* beside
the pass. `mcp-concord run --strict-codes` makes it a failure; the built-in readers are held to that. The clause is the usual one;
a rejection may name another. What is cut off is not valid JSON either, so `truncated` and `invalid-json` stand for each other.

| code | clause | what is wrong |
| --- | --- | --- |
";
