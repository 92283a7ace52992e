//! Strangers' names as keys: a bounded number of them, each of bounded length, and none lost in silence.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

/// How many names have a row of their own.
pub(crate) const MOST: usize = 1_000;

/// How many characters of a name are kept.
const LONGEST: usize = 100;

/// The row that names beyond [`MOST`] share.
pub(crate) const OTHERS: &str = "(others)";

/// A name as it is shown: a blank one would be a row without one.
pub(crate) fn shown(name: &str) -> &str {
    if name.trim().is_empty() { "(empty)" } else { name }
}

/// Which row each name has, in the order in which the names were first seen.
#[derive(Debug, Default)]
pub(crate) struct Names {
    rows: HashMap<String, usize>,
}

impl Names {
    /// The row of a name, and how it is shown.
    pub(crate) fn row(&mut self, name: &str) -> (usize, String) {
        let name = cut(name);
        let next = self.rows.len();
        let name = if next >= MOST && !self.rows.contains_key(&name) { OTHERS.to_owned() } else { name };
        (*self.rows.entry(name.clone()).or_insert(next), name)
    }
}

/// A name of bounded length. One that is cut ends with a digest.
pub(crate) fn cut(name: &str) -> String {
    let Some((end, _)) = name.char_indices().nth(LONGEST) else { return name.to_owned() };
    let mut digest = DefaultHasher::new();
    name.hash(&mut digest);
    format!("{}…#{:08x}", &name[..end], digest.finish() >> 32)
}

#[cfg(test)]
mod tests {
    use super::{MOST, Names, OTHERS, cut};

    #[test]
    fn names_are_bounded_in_number_and_length() {
        let mut names = Names::default();
        for number in 0..MOST + 10 {
            names.row(&format!("tool-{number}"));
        }
        assert_eq!(names.row("tool-0"), (0, "tool-0".to_owned()));
        assert_eq!(names.row("new"), (MOST, OTHERS.to_owned()));
        assert_eq!(names.rows.len(), MOST + 1);
        let (long, other) = ("x".repeat(100_000), "x".repeat(100_001));
        assert!(cut(&long).chars().count() < 120 && cut(&long) != cut(&other));
    }
}
