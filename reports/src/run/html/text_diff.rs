//! Two texts side by side: what both have on one line, and what differs marked.
//!
//! Lines, and the part of a line that differs.

use crate::plain::plain;
use serde::Serialize;
use similar::{DiffOp, TextDiff};

/// How many lines that are alike are shown before and after one that is not.
const AROUND: usize = 4;

/// Longer texts are cut before they are laid side by side, so that a record from anywhere costs little.
const LONGEST: usize = 64 << 10;

/// And texts of more lines, since laying side by side costs more than the lines add up to.
const MOST: usize = 2000;

/// A row of the table.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    /// How many lines that are alike are left out here.
    pub(super) alike: Option<usize>,
    /// The two sides are not the same.
    pub(super) differs: bool,
    pub(super) left: Option<Vec<Span>>,
    pub(super) right: Option<Vec<Span>>,
}

/// A piece of a line, and whether the other side lacks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) mark: bool,
}

/// Lays two texts side by side.
pub(super) fn sides(expected: &str, actual: &str) -> Vec<Row> {
    let (expected, actual) = (cut(expected), cut(actual));
    let (left, right): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let diff = TextDiff::from_slices(&left, &right);
    let mut rows = Vec::new();
    let ops = diff.ops();
    for (number, op) in ops.iter().enumerate() {
        match *op {
            DiffOp::Equal { old_index, len, .. } => {
                let lines = left.get(old_index..old_index + len).unwrap_or_default();
                alike(lines, number == 0, number + 1 == ops.len(), &mut rows);
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                let (olds, news) = (op.old_range(), op.new_range());
                for at in 0..olds.len().max(news.len()) {
                    let side = |lines: &[&'_ str], range: &std::ops::Range<usize>| {
                        range.clone().nth(at).and_then(|at| lines.get(at)).map(|line| (*line).to_owned())
                    };
                    rows.push(pair(side(&left, &olds), side(&right, &news)));
                }
            }
        }
    }
    rows
}

/// Lines that both sides have: all, or those next to a difference.
fn alike(lines: &[&str], first: bool, last: bool, rows: &mut Vec<Row>) {
    let row = |line: &&str| Row {
        alike: None,
        differs: false,
        left: Some(whole(line, false)),
        right: Some(whole(line, false)),
    };
    let before = if first { 0 } else { AROUND };
    let after = if last { 0 } else { AROUND };
    // A line that says how many are missing is worth it only for some lines.
    if lines.len() <= before + after + AROUND {
        return rows.extend(lines.iter().map(row));
    }
    let (head, tail) = (lines.get(..before), lines.get(lines.len() - after..));
    rows.extend(head.unwrap_or_default().iter().map(row));
    rows.push(Row { alike: Some(lines.len() - before - after), differs: false, left: None, right: None });
    rows.extend(tail.unwrap_or_default().iter().map(row));
}

/// Two lines that differ, each with the part marked that the other has not.
fn pair(left: Option<String>, right: Option<String>) -> Row {
    let (left, right) = match (left, right) {
        (Some(left), Some(right)) => {
            let head = common(left.chars(), right.chars());
            let rest = |text: &str| text.chars().count() - head;
            let tail = common(left.chars().rev(), right.chars().rev()).min(rest(&left)).min(rest(&right));
            (Some(spans(&left, head, tail)), Some(spans(&right, head, tail)))
        }
        (left, right) => (left.map(|it| whole(&it, true)), right.map(|it| whole(&it, true))),
    };
    Row { alike: None, differs: true, left, right }
}

fn common(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    one.zip(other).take_while(|(a, b)| a == b).count()
}

fn spans(text: &str, head: usize, tail: usize) -> Vec<Span> {
    let chars: Vec<char> = text.chars().collect();
    let end = chars.len() - tail;
    let piece = |range: std::ops::Range<usize>, mark| {
        let text: String = chars.get(range).unwrap_or_default().iter().collect();
        Span { text: plain(&text), mark }
    };
    let mut spans = vec![piece(0..head, false), piece(head..end, true), piece(end..chars.len(), false)];
    spans.retain(|span| !span.text.is_empty());
    spans
}

fn whole(text: &str, mark: bool) -> Vec<Span> {
    vec![Span { text: plain(text), mark }]
}

/// As much of a text as a page can show.
pub(super) fn cut(text: &str) -> String {
    let long = (text.len() > LONGEST).then(|| text.floor_char_boundary(LONGEST));
    let many = text.match_indices('\n').nth(MOST).map(|(at, _)| at);
    match long.into_iter().chain(many).min() {
        Some(end) => {
            format!("{}\n… ({} bytes in all)", text.get(..end).unwrap_or_default(), text.len())
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, sides};

    /// A row as a line: marks in brackets, sides parted by a bar, a missing side as a tilde.
    fn shown(rows: &[Row]) -> Vec<String> {
        let side = |side: &Option<Vec<super::Span>>| match side {
            None => "~".to_owned(),
            Some(spans) => {
                let text = |span: &super::Span| match span.mark {
                    true => format!("[{}]", span.text),
                    false => span.text.clone(),
                };
                spans.iter().map(text).collect()
            }
        };
        rows.iter()
            .map(|row| match row.alike {
                Some(count) => format!("{count} alike"),
                None => format!("{}|{}", side(&row.left), side(&row.right)),
            })
            .collect()
    }

    #[test]
    fn what_differs_is_marked_and_lines_stay_beside_each_other() {
        assert_eq!(
            shown(&sides("a\nid: 1.0, x\nc\n", "a\nid: 1, x\nc\nd\n")),
            ["a|a", "id: 1[.0], x|id: 1, x", "c|c", "~|[d]",]
        );
        assert_eq!(shown(&sides("a\n\"null\"\n", "a\nnull\n"))[1], "[\"null\"]|[null]");
        assert_eq!(shown(&sides("ab1cd\n", "ab2cd\n")), ["ab[1]cd|ab[2]cd"]);
        assert_eq!(shown(&sides("aaa\n", "aa\n")), ["aa[a]|aa"]);
        assert_eq!(shown(&sides("é→b\n", "é←b\n")), ["é[→]b|é[←]b"]);
        assert_eq!(shown(&sides("a\n", "")), ["[a]|~"]);
        assert!(sides("", "").is_empty());
        let differ: Vec<bool> = sides("a\nbc\n", "a\nb\n").iter().map(|row| row.differs).collect();
        assert_eq!(differ, [false, true], "also where one side has nothing to mark");
    }

    #[test]
    fn long_runs_that_are_alike_are_counted() {
        let many: String = (0..30).map(|number| format!("line {number}\n")).collect();
        let rows = shown(&sides(&format!("{many}x\n{many}"), &format!("{many}y\n{many}")));
        assert_eq!(rows.len(), 1 + 4 + 1 + 4 + 1);
        assert_eq!((rows[0].as_str(), rows[10].as_str()), ("26 alike", "26 alike"));
        assert_eq!(rows[5], "[x]|[y]");
    }

    #[test]
    fn a_text_of_megabytes_is_cut_and_says_so() {
        let rows = sides(&"é".repeat(1 << 20), "b");
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1].left.as_ref().unwrap()[0].text, "… (2097152 bytes in all)");
        assert_eq!(sides(&"\n".repeat(1 << 16), &"a\n".repeat(1 << 15)).len(), super::MOST + 2);
    }
}
