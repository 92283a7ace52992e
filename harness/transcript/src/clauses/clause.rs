//! What a clause of the reading contract says of itself, and how the tables of clauses are read, which is done while this
//! crate is compiled.

#![expect(clippy::panic, reason = "the compiler shows it as an error")]

use crate::tables::{Item, next, same};

/// One clause of the reading contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clause {
    /// The stable id that cases, rejections and reports cite, such as `COR-FIRST`.
    pub id: &'static str,
    /// The family it is listed under, such as `Ids and correlation`.
    pub family: &'static str,
    /// A line that fits in a list.
    pub title: &'static str,
    /// What an importer must make of it, in one to three sentences.
    pub rule: &'static str,
    /// Why it is so, for the person whose importer falls short of it.
    pub why: &'static str,
    /// The documents and headings it follows, one a line.
    pub source: &'static str,
    /// The sources are silent or torn, on all of it or on the part that `rule` leaves free: an importer may do
    /// either there, the same in every format.
    pub open: bool,
    /// A spelling, and how it reads under this clause.
    pub right: Example,
    /// The same or a near spelling, and the mistake that is made with it.
    pub wrong: Example,
}

/// A fragment of a transcript and what is made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// Transcript text, verbatim; lines of one capture format.
    pub text: &'static str,
    /// What is read from it (in a right example) or mistaken (in a wrong one), in a sentence.
    pub reading: &'static str,
}

const EMPTY: Example = Example { text: "", reading: "" };

const BLANK: Clause = Clause {
    id: "",
    family: "",
    title: "",
    rule: "",
    why: "",
    source: "",
    open: false,
    right: EMPTY,
    wrong: EMPTY,
};

/// The clauses of a table, in its order. Before the first stands what they have in common.
pub(super) const fn read<const COUNT: usize>(mut text: &'static str) -> [Clause; COUNT] {
    let (mut common, mut clauses, mut count) = (BLANK, [BLANK; COUNT], 0);
    while let Some((item, rest)) = next(text) {
        match item {
            Item::Header(id) => {
                clauses[count] = Clause { id, ..common };
                count += 1;
            }
            Item::Field(key, value) if count == 0 => set(&mut common, key, value),
            Item::Field(key, value) => set(&mut clauses[count - 1], key, value),
        }
        text = rest;
    }
    clauses
}

const fn set(clause: &mut Clause, key: &str, value: &'static str) {
    match key.as_bytes() {
        b"family" => clause.family = value,
        b"title" => clause.title = value,
        b"open" => clause.open = same(value, "true"),
        b"rule" => clause.rule = value,
        b"why" => clause.why = value,
        b"source" => clause.source = value,
        // The mistake is one with the same text, unless another is given.
        b"right" => (clause.right.text, clause.wrong.text) = (value, value),
        b"right-reading" => clause.right.reading = value,
        b"wrong" => clause.wrong.text = value,
        b"wrong-reading" => clause.wrong.reading = value,
        _ => panic!("a clause has no such key"),
    }
}

/// The bytes of a table as text.
pub(super) const fn text(bytes: &'static [u8]) -> &'static str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("a table is UTF-8"),
    }
}
