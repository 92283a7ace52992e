//! Pictures as a terminal shows them.

use super::super::model::{Diagram, Participant};
use super::super::sample::{diagram, hostile};
use super::{TextOptions, text};
use crate::diagram::line_text::width;

const PLAIN: TextOptions = TextOptions { colour: false, width: 90 };

#[test]
fn a_picture_for_a_terminal() {
    let expected = "\
a.jsonl
jsonrpc · 3 messages

                 client                                                             server
┌                │ POST /mcp 200                                                         │
│  0    0.000 s  ├─ initialize id 0 {\"capabilities\":{}} ────────────────────────────────►│
│  1    0.120 s  │◄╌ result of initialize id 0 120 ms SSE id 7 {} ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┤
   2   1:05.000  ├─ call echo id call-1 ✗ never answered {\"message\":\"hello\"} ───────────✗│
                 │   ✗ error jsonrpc.id.null the id is null                              │
                 ⋮ 12 messages folded, 3 to 14: 6 requests, 5 answers, 1 notification    ⋮
  15             │◄╌ error ! orphan ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┤
        0.000 s  │ ○ the server ended                                                    │

✗ rejected: invalid-id
  an id is a string
";
    let drawn = text(&diagram(), PLAIN);
    assert_eq!(drawn, expected, "\n{drawn}");
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
                assert!(width(line) <= columns.max(super::NARROWEST), "{participants} {columns}: {line}");
            }
            let bad =
                |char: char| char.is_control() && char != '\n' || ('\u{202a}'..='\u{202e}').contains(&char);
            assert!(!drawn.contains(bad) && drawn.len() < 40_000);
        }
    }
}

#[test]
fn colours_change_no_text() {
    let coloured = text(&diagram(), TextOptions { colour: true, ..PLAIN });
    assert!(coloured.contains("\u{1b}["));
    let mut bare = String::new();
    let mut parts = coloured.split('\u{1b}');
    bare.push_str(parts.next().unwrap());
    for part in parts {
        bare.push_str(part.split_once('m').unwrap().1);
    }
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&bare), trimmed(&text(&diagram(), PLAIN)));
}

#[test]
fn many_lanes_stand_close_with_their_words_beside_them() {
    let mut many = diagram();
    many.participants.push(Participant { name: "weather".to_owned(), about: "npx weather".to_owned() });
    let drawn = text(&many, PLAIN);
    assert!(drawn.contains("\nC weather: npx weather\n"), "{drawn}");
    let call = drawn.lines().find(|line| line.contains("initialize id 0")).unwrap();
    assert!(call.contains("├──────────►│           │  initialize id 0 {"), "{drawn}");
    let answer = drawn.lines().find(|line| line.contains("result of")).unwrap();
    assert!(answer.contains("│◄╌╌╌╌╌╌╌╌╌╌┤           │  result of initialize"), "{drawn}");
}
