//! Runs in the order of time as a picture: a stacked bar for each, with its counts.
//!
//! Knows: a list of counts. Refuses to know: what was run, and when; whoever hands the runs over names them.

use super::Look;
use super::canvas::{Anchor, Canvas, Group, part};
use super::words::{fit, width};

/// The runs as plain data.
#[derive(Debug, Clone, Default)]
pub struct Trend {
    /// In a few words.
    pub title: String,
    /// The oldest first.
    pub runs: Vec<Run>,
}

/// What one run came to.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// What to call it: a version, a date.
    pub name: String,
    /// How many readings passed.
    pub pass: u64,
    /// How many fell short.
    pub fail: u64,
    /// How many did neither: skipped, or known to fail.
    pub other: u64,
}

/// So many runs are drawn; of more, the latest.
const MOST: usize = 40;
const BAR: i32 = 420;
const LINE: i32 = 26;
const MARGIN: i32 = 12;
const COLUMN: i32 = 74;
/// Longer names are cut, in columns of text.
const NAME: usize = 30;
/// How wide a count that is not nought is drawn at least.
const LEAST: i32 = 4;

/// The runs as SVG, the oldest at the top, all by one scale.
///
/// # Errors
/// Where the template cannot be rendered.
pub fn trend(trend: &Trend, look: Look) -> Result<String, tera::Error> {
    let left_out = trend.runs.len().saturating_sub(MOST);
    let runs = &trend.runs[left_out..];
    let names: Vec<String> = runs.iter().map(|run| fit(&run.name, NAME)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or_default();
    let left = MARGIN + (i32::try_from(widest).unwrap_or_default() * COLUMN / 10).max(60) + 12;
    let most = runs.iter().map(all).max().unwrap_or_default().max(1);
    let top = MARGIN + 48;

    let mut head = Group::default();
    head.text("h", (MARGIN, MARGIN + 14), Anchor::Start, fit(&trend.title, 90));
    let legend = match left_out {
        0 => {
            "From the oldest run to the latest: how many readings passed, fell short, did neither.".to_owned()
        }
        1 => "The latest runs; 1 older run is left out.".to_owned(),
        more => format!("The latest runs; {more} older runs are left out."),
    };
    head.text("f", (MARGIN, MARGIN + 34), Anchor::Start, legend.clone());

    let mut groups = vec![head];
    let mut said = vec![legend];
    for ((run, name), at) in runs.iter().zip(names).zip(0..) {
        let y = top + at * LINE;
        let sentence = format!("{name}: {} passed, {} fell short, {} other.", run.pass, run.fail, run.other);
        let mut group = Group { title: sentence.clone(), ..Group::default() };
        group.text("f", (left - 10, y + 15), Anchor::End, name);
        let mut x = left;
        for (class, count) in [("pass", run.pass), ("fail", run.fail), ("other", run.other)] {
            if count > 0 {
                let wide = scaled(count, most).max(LEAST);
                group.area(class, (x, y + 2), (wide, LINE - 8), 0);
                x += wide;
            }
        }
        let fail = if run.fail > 0 { "bad" } else { "f" };
        let sign = if run.fail > 0 { "✗ " } else { "" };
        let words = vec![
            part("good", format!("{} pass", run.pass)),
            part(fail, format!("{sign}{} fail", run.fail)),
            part("f", format!("{} other", run.other)),
        ];
        group.parts((left + BAR + 20, y + 15), Anchor::Start, words);
        groups.push(group);
        said.push(sentence);
    }
    let canvas = Canvas {
        width: left + BAR + 300,
        height: top + i32::try_from(runs.len()).unwrap_or_default() * LINE + MARGIN,
        title: fit(&trend.title, 90),
        desc: if look.alone { said.join("\n") } else { said.swap_remove(0) },
        groups,
    };
    canvas.spell(look.alone)
}

fn all(run: &Run) -> u64 {
    run.pass.saturating_add(run.fail).saturating_add(run.other)
}

fn scaled(count: u64, most: u64) -> i32 {
    i32::try_from(u128::from(count) * u128::from(BAR.unsigned_abs()) / u128::from(most)).unwrap_or(BAR)
}

#[cfg(test)]
mod tests {
    use super::super::{Look, sample::HOSTILE};
    use super::{MOST, Run, Trend, trend};

    fn runs(count: usize) -> Trend {
        let run = |at: usize| Run { name: format!("0.{at}.0"), pass: 1_800 + at as u64, fail: 1, other: 40 };
        Trend { title: "Runs".to_owned(), runs: (0..count).map(run).collect() }
    }

    #[test]
    fn runs_stand_in_order_with_their_counts_and_a_single_failure_is_seen() {
        let svg = trend(&runs(3), Look::default()).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("tspan"))
            .filter_map(|node| node.text())
            .collect();
        let at = |wanted: &str| texts.iter().position(|text| *text == wanted).unwrap();
        assert!(at("0.0.0") < at("0.2.0") && at("1800 pass") < at("1802 pass"));
        let fails: Vec<i32> = document
            .descendants()
            .filter(|node| node.attribute("class") == Some("fail"))
            .filter_map(|node| node.attribute("width")?.parse().ok())
            .collect();
        assert_eq!(fails, [super::LEAST; 3]);
        assert!(svg.contains("0.1.0: 1801 passed, 1 fell short, 40 other."));
    }

    #[test]
    fn more_runs_than_fit_are_left_out_and_counted() {
        let svg = trend(&runs(MOST + 2), Look::default()).unwrap();
        assert_eq!(svg.matches("class=\"fail\"").count(), MOST);
        assert!(
            svg.contains("2 older runs are left out") && !svg.contains(">0.1.0<") && svg.contains(">0.2.0<")
        );
    }

    #[test]
    fn no_runs_extreme_counts_and_a_strangers_names_are_drawn() {
        trend(&Trend::default(), Look::default()).unwrap();
        let run = Run { name: HOSTILE.repeat(10_000), pass: u64::MAX, fail: u64::MAX, other: 0 };
        let svg = trend(&Trend { title: HOSTILE.to_owned(), runs: vec![run] }, Look::default()).unwrap();
        roxmltree::Document::parse(&svg).unwrap();
        assert!(!svg.contains("<script") && svg.len() < 20_000);
    }
}
