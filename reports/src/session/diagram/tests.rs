//! Pictures as a terminal and a parser of XML see them.

use super::line_text::width;
use super::meaning::tests::MEANING;
use super::model::{Diagram, Fold, Participant, RowContent};
use super::sample::{HOSTILE, arrow, diagram, hostile};
use super::{SvgOptions, TextOptions, svg, text};
use crate::golden::golden;
use crate::plain::plain;
use roxmltree::{Document, Node};
use transcript::meaning::EventKind;

const PLAIN: TextOptions = TextOptions { colour: false, width: 90 };

fn texts(document: &Document<'_>, name: &str) -> Vec<String> {
    let found = document.descendants().filter(|node| node.has_tag_name(name));
    found.filter_map(|node| node.text().map(str::to_owned)).collect()
}

#[test]
fn painters_draw_what_a_person_once_looked_at() {
    let inside = SvgOptions { width: 620, standalone: false };
    let meaning = |said: &str, marked| {
        text(&Diagram::of_meaning("expected", said, marked).unwrap(), TextOptions { width: 120, ..PLAIN })
    };
    let mut many = diagram();
    many.participants.push(Participant { name: "weather".to_owned(), about: "npx weather".to_owned() });
    golden(
        "diagram.txt",
        [
            ("for a terminal", text(&diagram(), PLAIN)),
            ("for a terminal in colours", text(&diagram(), TextOptions { colour: true, ..PLAIN })),
            ("for a terminal, of three", text(&many, PLAIN)),
            ("in a page", svg(&diagram(), inside)),
            ("in a page, of three", svg(&many, inside)),
            ("of a meaning", meaning(MEANING, Some(2))),
            ("of calls", meaning("{\"tool\": \"a\", \"arguments\": {}, \"outcome\": null}\n", None)),
        ],
    );
}

#[test]
fn every_row_is_in_the_description() {
    let drawn = diagram();
    let standalone = svg(&drawn, SvgOptions::default());
    let document = Document::parse(&standalone).unwrap();
    let desc = &texts(&document, "desc")[0];
    for row in &drawn.rows {
        assert!(desc.contains(&drawn.sentence(row)), "{row:?}");
    }
    assert!(desc.contains("rejected: invalid-id: an id is a string."));
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    assert_eq!(root.children().find(Node::is_element).unwrap().text(), Some("a.jsonl"));
    // A page says the rows itself, and has the style.
    let inside = svg(&drawn, SvgOptions { width: 620, standalone: false });
    assert!(!inside.contains("<style") && !inside.contains("xmlns") && inside.len() < standalone.len());
}

#[test]
fn a_strangers_text_is_text() {
    let hostile = svg(&hostile(), SvgOptions::default());
    let document = Document::parse(&hostile).unwrap();
    let plain_svg = svg(&diagram(), SvgOptions::default());
    let names = |document: &Document<'_>| {
        let mut names: Vec<String> = document
            .descendants()
            .filter(Node::is_element)
            .map(|node| node.tag_name().name().to_owned())
            .collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(names(&document), names(&Document::parse(&plain_svg).unwrap()));
    for node in document.descendants() {
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(!name.starts_with("on") && !["href", "style", "id"].contains(&name), "{name}");
            assert!(!attribute.value().contains("alert"), "{name}");
        }
    }
    assert!(
        texts(&document, "tspan")
            .iter()
            .any(|text| plain(HOSTILE).starts_with(text.trim_end_matches('…')) && text.contains("<script>"))
    );
    assert!(!hostile.contains(['\u{202e}', '\u{2028}', '\u{61c}', '\u{1b}', '\0', '\u{fffe}', '\u{e0041}']));
    assert!(hostile.len() < 60_000, "{}", hostile.len());
}

#[test]
fn nothing_leaves_the_picture_and_words_stay_inside() {
    for participants in [1, 2, 5, 30] {
        let participant = Participant { name: "a server with a long name".to_owned(), about: String::new() };
        let many = Diagram { participants: vec![participant; participants], ..diagram() };
        for width in [0, 320, 620, 960, u16::MAX] {
            let drawn = svg(&many, SvgOptions { width, standalone: true });
            let document = Document::parse(&drawn).unwrap();
            let wide: i32 = document.root_element().attribute("width").unwrap().parse().unwrap();
            for node in document.descendants() {
                let number = |name: &str| node.attribute(name).and_then(|value| value.parse::<i32>().ok());
                let end = number("x").unwrap_or_default() + number("width").unwrap_or_default();
                assert!(
                    (0..=wide).contains(&end) && number("x").is_none_or(|x| x >= 0),
                    "{participants} {width}: {node:?}"
                );
            }
        }
    }
    assert!(!svg(&diagram(), SvgOptions::default()).replace("http://www.w3.org/2000/svg", "").contains("//"));
}

#[test]
fn no_line_is_wider_than_the_terminal_and_no_text_has_power_over_it() {
    for participants in [0, 1, 2, 3, 6] {
        for columns in [0, 50, 80, 120, 300] {
            let participant = Participant {
                name: "日本のサーバー with a long name".repeat(20),
                about: String::new(),
            };
            let many = Diagram { participants: vec![participant; participants], ..hostile() };
            let drawn = text(&many, TextOptions { colour: false, width: columns });
            for line in drawn.lines() {
                assert!(width(line) <= columns.max(50), "{participants} {columns}: {line}");
            }
            let bad =
                |char: char| char.is_control() && char != '\n' || ('\u{202a}'..='\u{202e}').contains(&char);
            assert!(!drawn.contains(bad) && drawn.len() < 40_000);
        }
    }
}

#[test]
fn folds_add_up() {
    let mut one = Fold { span: Some((3, 5)), requests: 2, answers: 1, ..Fold::default() };
    one.join(&Fold { notes: 2, ..Fold::default() });
    one.join(&Fold { span: Some((6, 6)), notifications: 1, ..Fold::default() });
    assert_eq!(one.words(), "4 messages folded, 3 to 6: 2 requests, 1 answer, 1 notification, 2 notes");
    assert_eq!(
        Fold { notes: 2, odd: 1, ..Fold::default() }.words(),
        "folded: 2 notes, 1 of these out of the ordinary"
    );
    let row = RowContent::Fold(Fold { span: Some((9, 9)), answers: 1, ..Fold::default() }).into();
    assert_eq!(diagram().sentence(&row), "message 9 folded: 1 answer.");
}

#[test]
fn an_arrow_from_a_participant_that_is_not_there_is_not_drawn() {
    let rows = vec![arrow(0, 7, EventKind::Request, "x").into()];
    assert!(svg(&Diagram { rows, ..Diagram::default() }, SvgOptions::default()).ends_with("</svg>\n"));
}
