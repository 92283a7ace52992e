//! What a `case.toml` must say, and what the errors say where it does not.

use super::{Expect, OtherReading, read};
use transcript::rejection::Code;

const GOOD: &str = "title = \"t\"\nclauses = [\"ID-NULL\"]\nexpect = \"meaning\"\nreason = \"r\"\norigin = \"o\"\n\
    [formats.two]\ncarries = false\nwhy = \"COR-DIRECTION-FLAT\"\n";

#[test]
fn a_format_is_one_of_the_names_that_are_given() {
    let file = read(GOOD, &["one", "two"]).unwrap();
    assert_eq!((file.expect, file.uncarried), (Expect::Meaning, vec![("two", "COR-DIRECTION-FLAT".into())]));
    let [slip] = read(GOOD, &["one", "tow"]).unwrap_err().try_into().unwrap();
    assert_eq!((slip.line, slip.message.contains("did you mean tow?")), (Some(6), true), "{slip:?}");
}

#[test]
fn what_is_empty_is_told_with_its_line_and_what_to_write() {
    let empty = GOOD.replace("\"t\"", "\" \"").replace("[\"ID-NULL\"]", "[]").replace("\"o\"", "\"\"");
    let slips = read(&empty, &["two"]).unwrap_err();
    let said: Vec<_> =
        slips.iter().map(|slip| (slip.line, slip.message.split(';').next().unwrap())).collect();
    assert_eq!(
        said,
        [
            (Some(1), "`title` is empty"),
            (Some(2), "a case needs at least one clause"),
            (Some(5), "`origin` is empty")
        ]
    );
    assert!(slips.iter().all(|slip| slip.message.contains("; write ")), "{slips:?}");
}

#[test]
fn a_dialect_is_one_that_there_is_and_says_what_it_makes_of_the_case() {
    let with = |note: &str| read(&format!("{GOOD}[dialects.{note}\n"), &["two"]);
    let expect = |note: &str| with(note).unwrap().dialects[0].expect;
    assert_eq!(expect("typed-ids]\nreason = \"r\""), OtherReading::Meaning);
    let rejection = expect("typed-ids]\nreason = \"r\"\nreject = \"invalid-id\"");
    assert_eq!(rejection, OtherReading::Rejection(Code::InvalidId));
    assert_eq!(expect("typed-ids]\nreason = \"r\"\njudged = false"), OtherReading::Unjudged);
    for (note, part) in [
        ("typed-id]\nreason = \"r\"", "did you mean typed-ids?"),
        ("default]\nreason = \"r\"", "`default` needs no table"),
        ("typed-ids]", "needs a `reason`"),
        ("typed-ids]\nreason = \"r\"\nreject = \"invalid-di\"", "did you mean invalid-id"),
        ("typed-ids]\nreason = \"r\"\njudged = true", "takes only `judged = false`"),
        (
            "typed-ids]\nreason = \"r\"\nreject = \"invalid-id\"\njudged = false",
            "takes only `judged = false`",
        ),
    ] {
        let [slip] = with(note).unwrap_err().try_into().unwrap();
        assert!(slip.line.is_some() && slip.message.contains(part), "{part} is missing in: {slip:?}");
    }
}
