//! Two readings of one session, drawn side by side.
//!
//! The first event in which they differ is the one to look at.

use super::model::Diagram;
use super::svg::{SvgOptions, svg};

/// How wide each of two pictures is, in their units.
const WIDTH: u16 = 620;

/// What was expected and what came, each as SVG for a page that has [`super::STYLE`]; both with the first event marked
/// in which they differ. A side that holds no events, such as a rejection, has no picture; none where neither has one.
/// `at` is the pointer of the difference, such as `/events/3/id`.
pub(crate) fn side_by_side(expected: &str, actual: &str, at: &str) -> Option<[Option<String>; 2]> {
    let mut parts = at.split('/').skip(1);
    let marked = match parts.next() {
        Some("events" | "calls") => parts.next().and_then(|index| index.parse().ok()),
        _ => None,
    };
    let look = SvgOptions { width: WIDTH, standalone: false };
    let draw = |title: &str, text: &str| Diagram::of_meaning(title, text, marked).map(|it| svg(&it, look));
    let sides = [draw("expected", expected), draw("actual", actual)];
    sides.iter().any(Option::is_some).then_some(sides)
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn a_side_without_events_has_no_picture() {
        let one = "{\"kind\": \"notification\", \"method\": \"a\"}\n";
        let [left, right] = side_by_side("a rejection\n", one, "/rejection/code").unwrap();
        assert!(left.is_none() && right.is_some_and(|right| !right.contains("class=\"here\"")));
        assert!(side_by_side("a rejection\n", "crash\n", "").is_none());
    }
}
