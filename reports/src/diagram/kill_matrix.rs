//! The kill matrix as a picture: which part of a suite kills how many mutants of which family.
//!
//! A grid of counts, each with its number and a shade.

use super::canvas::{Canvas, Group};
use super::line_text::{fit, width};
use super::svg::SvgOptions;
use crate::plain::counted;

/// The matrix as plain data.
#[derive(Debug, Clone, Default)]
pub struct KillMatrix {
    /// In a few words.
    pub title: String,
    /// What a row is, such as "mutants of the family".
    pub row_word: String,
    /// What a column is, such as "cases of the topic".
    pub column_word: String,
    /// The columns, from left to right.
    pub columns: Vec<String>,
    /// The rows, from top to bottom.
    pub rows: Vec<KillMatrixRow>,
}

/// A row: mutants that belong together, and what killed how many of them.
#[derive(Debug, Clone, Default)]
pub struct KillMatrixRow {
    /// What they have in common.
    pub name: String,
    /// How many there are.
    pub mutants: u64,
    /// How many of them anything kills.
    pub killed: u64,
    /// How many of them each column kills, in the order of the columns.
    pub cells: Vec<u64>,
}

const CELL: i32 = 42;
const LINE: i32 = 24;
const MARGIN: i32 = 12;
const COLUMN: i32 = 74;
/// Longer names are cut, in columns of text.
const NAME: usize = 28;

/// The matrix as SVG. A cell is the darker the more of its row's mutants it kills; its number says how many.
#[must_use]
pub fn kill_matrix(kills: &KillMatrix, look: SvgOptions) -> String {
    let name = |text: &String| fit(text, NAME);
    let extent = |columns: usize| i32::try_from(columns).unwrap_or_default() * COLUMN / 10;
    let rows: Vec<String> = kills.rows.iter().map(|row| name(&row.name)).collect();
    let left = MARGIN + extent(rows.iter().map(|name| width(name)).max().unwrap_or_default()).max(80) + 12;
    let heads: Vec<String> = kills.columns.iter().map(name).collect();
    // The names of columns climb to the right, a character taking about as much height as width.
    let climb = extent(heads.iter().map(|head| width(head)).max().unwrap_or_default()) * 7 / 10 + 16;
    let columns = i32::try_from(heads.len()).unwrap_or_default();
    let totals = left + columns * CELL + 14;
    let top = MARGIN + 52 + climb;
    let (mutants, killed) =
        kills.rows.iter().fold((0, 0), |(mutants, killed), row| (mutants + row.mutants, killed + row.killed));
    let alive = mutants.saturating_sub(killed);
    let survive = if alive == 1 { "survives" } else { "survive" };
    let sum = format!("{killed} of {} killed, {alive} {survive}", counted(mutants, "mutant"));

    let mut head = Group::default();
    head.text("h", (MARGIN, MARGIN + 14), "start", fit(&kills.title, 90));
    let legend =
        format!("{sum}. Rows: {}; columns: {}.", fit(&kills.row_word, 40), fit(&kills.column_word, 40));
    head.text("f", (MARGIN, MARGIN + 34), "start", legend.clone());
    for (text, at) in heads.iter().zip(0..) {
        head.slanted("f", (left + at * CELL + CELL / 2, top - 8), text.clone());
    }
    head.slanted("b", (totals + 30, top - 8), "killed".to_owned());

    let mut groups = vec![head];
    let mut said = vec![legend];
    for ((row, name), at) in kills.rows.iter().zip(rows).zip(0..) {
        let y = top + at * LINE;
        let survive = row.mutants.saturating_sub(row.killed);
        let mut sentence = format!("{name}: {} of {} killed", row.killed, row.mutants);
        let mut group = Group { bare: true, ..Group::default() };
        group.text("f", (left - 10, y + 16), "end", name);
        for ((&cell, column), at) in row.cells.iter().zip(&heads).zip(0..) {
            let x = left + at * CELL;
            group.area(shade(cell, row.mutants), (x + 1, y + 1), (CELL - 2, LINE - 2), 2);
            let class = if cell == 0 { "s" } else { "cell b" };
            let text = if cell == 0 { "·".to_owned() } else { cell.to_string() };
            group.text(class, (x + CELL / 2, y + 16), "middle", text);
            if cell > 0 {
                sentence.push_str(&format!(", {cell} by {column}"));
            }
        }
        let (class, text) = match survive {
            0 => ("good", format!("✓ {}/{}", row.killed, row.mutants)),
            _ => ("bad", format!("✗ {}/{}", row.killed, row.mutants)),
        };
        group.text(class, (totals, y + 16), "start", text);
        sentence.push('.');
        group.title.clone_from(&sentence);
        said.push(sentence);
        groups.push(group);
    }
    let canvas = Canvas {
        width: (totals + 90).max(720) + climb / 2,
        height: top + i32::try_from(kills.rows.len()).unwrap_or_default() * LINE + MARGIN,
        title: fit(&kills.title, 90),
        desc: if look.standalone { said.join("\n") } else { said.swap_remove(0) },
        groups,
    };
    canvas.spell(look.standalone)
}

fn shade(cell: u64, of: u64) -> &'static str {
    match (cell, cell.saturating_mul(4) / of.max(1)) {
        (0, _) => "h0",
        (_, 0) => "h1",
        (_, 1) => "h2",
        (_, 2 | 3) => "h3",
        _ => "h4",
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SvgOptions, sample::HOSTILE};
    use super::{KillMatrix, KillMatrixRow, kill_matrix, shade};

    fn matrix() -> KillMatrix {
        let row = |name: &str, mutants, killed, cells: &[u64]| KillMatrixRow {
            name: name.to_owned(),
            mutants,
            killed,
            cells: cells.to_vec(),
        };
        KillMatrix {
            title: "Mutants".to_owned(),
            row_word: "families of mutants".to_owned(),
            column_word: "topics of cases".to_owned(),
            columns: vec!["ids".to_owned(), "sse".to_owned()],
            rows: vec![row("correlation", 8, 8, &[8, 1]), row("streams", 4, 3, &[0, 3])],
        }
    }

    #[test]
    fn every_count_stands_in_the_picture_and_in_its_words() {
        let svg = kill_matrix(&matrix(), SvgOptions::default());
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("tspan"))
            .filter_map(|node| node.text())
            .collect();
        for part in ["8", "1", "3", "·", "✓ 8/8", "✗ 3/4", "ids", "streams"] {
            assert!(texts.contains(&part), "{part} is missing in {texts:?}");
        }
        assert!(svg.contains("11 of 12 mutants killed, 1 survives"), "{svg}");
        assert!(svg.contains("streams: 3 of 4 killed, 3 by sse."));
    }

    #[test]
    fn shades_grow_with_the_share_and_nothing_is_paler_than_something() {
        let of: Vec<&str> = [0, 1, 2, 4, 7, 8].into_iter().map(|cell| shade(cell, 8)).collect();
        assert_eq!(of, ["h0", "h1", "h2", "h3", "h3", "h4"]);
        assert_eq!(shade(1, 1_000), "h1");
        assert_eq!(shade(u64::MAX, 0), "h4");
    }

    #[test]
    fn a_strangers_names_are_text() {
        let mut hostile = matrix();
        hostile.title = HOSTILE.to_owned();
        hostile.columns = vec![HOSTILE.repeat(10_000); 2];
        hostile.rows[0].name = HOSTILE.to_owned();
        let svg = kill_matrix(&hostile, SvgOptions::default());
        roxmltree::Document::parse(&svg).unwrap();
        assert!(!svg.contains("<script") && !svg.contains(['\u{202e}', '\0']) && svg.len() < 30_000);
    }
}
