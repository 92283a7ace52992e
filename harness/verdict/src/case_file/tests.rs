//! What a `case.toml` must say, and what is told where it does not.

use super::{Expect, read};

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
    let told: Vec<_> =
        slips.iter().map(|slip| (slip.line, slip.message.split(';').next().unwrap())).collect();
    assert_eq!(
        told,
        [
            (Some(1), "`title` is empty"),
            (Some(2), "a case shows at least one clause"),
            (Some(5), "`origin` is empty")
        ]
    );
    assert!(slips.iter().all(|slip| slip.message.contains("; write ")), "{slips:?}");
}
