//! Pictures as a parser of XML sees them.

use super::super::model::{Diagram, Participant};
use super::super::sample::{HOSTILE, diagram, hostile};
use super::{SvgOptions, svg};
use crate::plain::plain;
use roxmltree::{Document, Node};
use transcript::meaning::EventKind;

fn texts(document: &Document<'_>, name: &str) -> Vec<String> {
    let found = document.descendants().filter(|node| node.has_tag_name(name));
    found.filter_map(|node| node.text().map(str::to_owned)).collect()
}

#[test]
fn what_happens_stands_in_the_picture() {
    let svg = svg(&diagram(), SvgOptions::default());
    let document = Document::parse(&svg).unwrap();
    let texts = texts(&document, "tspan");
    for part in [
        "a.jsonl",
        "client",
        "server",
        "initialize",
        "id 0",
        "120 ms",
        "SSE id 7",
        "✗ never answered",
        "✗ error jsonrpc.id.null",
        "! orphan",
        "POST /mcp 200",
        "○ the server ended",
        "1:05.000",
        "✗ rejected: invalid-id",
    ] {
        assert!(texts.iter().any(|text| text == part), "{part} is missing in {texts:#?}");
    }
    assert!(texts.iter().any(|text| text.contains("12 messages folded, 3 to 14")));
    for (class, count) in
        [("ask", 2), ("reply", 1), ("wrong", 1), ("bar", 1), ("band", 1), ("cross", 1), ("lane", 2)]
    {
        let found = document.descendants().filter(|node| node.attribute("class") == Some(class)).count();
        assert_eq!(found, count, "{class}");
    }
}

#[test]
fn every_row_is_told_to_whoever_cannot_see_it() {
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
            let svg = svg(&many, SvgOptions { width, standalone: true });
            let document = Document::parse(&svg).unwrap();
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
fn the_same_picture_is_the_same_bytes() {
    assert_eq!(svg(&diagram(), SvgOptions::default()), svg(&diagram(), SvgOptions::default()));
    let rows = vec![super::super::sample::arrow(0, 7, EventKind::Request, "x").into()];
    // An arrow from a participant that is not there is no picture, and no reason to fall over.
    assert!(svg(&Diagram { rows, ..Diagram::default() }, SvgOptions::default()).ends_with("</svg>\n"));
}
