//! What a clause of the reading contract says of itself.

/// One clause of the reading contract.
#[derive(Debug, PartialEq, Eq)]
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
    pub source: Vec<&'static str>,
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
