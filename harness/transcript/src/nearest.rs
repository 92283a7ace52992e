//! What somebody may have meant who wrote a name that does not exist.

/// The known names nearest to `wanted`, nearest first: at most three, none that shares too little with it.
#[must_use]
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let length = wanted.chars().count();
    let near = 2.max(length / 3);
    let mut found: Vec<(usize, usize, &str)> = known
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let holds = |outer: &str, inner: &str| inner.len() >= 3 && outer.contains(inner);
            let inside = holds(&lower, &wanted) || holds(&wanted, &lower);
            let apart = lower.chars().count().abs_diff(length);
            let steps = match inside {
                true => 1,
                // Never fewer steps than the lengths differ by; counting them takes time with the product of both.
                false if apart > near => return None,
                false => strsim::levenshtein(&wanted, &lower),
            };
            (steps <= near).then_some((steps, apart, name))
        })
        .collect();
    // Stable: names that are as near stay in the order in which they are listed.
    found.sort_by_key(|(steps, apart, _)| (*steps, *apart));
    found.into_iter().take(3).map(|(.., name)| name).collect()
}

/// `; did you mean A, B or C?`, or nothing.
#[must_use]
pub fn hint<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    hint_or("", wanted, known)
}

/// `; did you mean A, B or C?`, or `otherwise` where no known name is near.
#[must_use]
pub fn hint_or<'a>(otherwise: &str, wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    match nearest(wanted, known).as_slice() {
        [] => otherwise.to_owned(),
        [name] => format!("; did you mean {name}?"),
        [names @ .., last] => format!("; did you mean {} or {last}?", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{hint, nearest};

    #[test]
    fn near_names_are_found_nearest_first() {
        let known = ["ID-NULL", "ID-NUMBER", "ID-NULL-TEXT", "COR-FIRST"];
        assert_eq!(nearest("ID-NUL", known.into_iter())[0], "ID-NULL");
        assert_eq!(nearest("id-null", known.into_iter())[0], "ID-NULL");
        assert_eq!(nearest("COR-FRIST", known.into_iter()), ["COR-FIRST"]);
        let many = hint("ID-NUL", ["ID-NULL", "ID-NULL-TEXT", "ID-NULLS"].into_iter());
        assert_eq!(many, "; did you mean ID-NULL, ID-NULLS or ID-NULL-TEXT?");
        assert_eq!(nearest("XYZ", known.into_iter()), [""; 0]);
        assert_eq!(nearest("nosuch", ["h"].into_iter()), [""; 0], "each text holds its letters");
        // A third of what was written may be wrong, and this much too much.
        assert_eq!(nearest("COR-FIR5TLYX", known.into_iter()), ["COR-FIRST"]);
        assert_eq!(nearest("COR-FIR5TLYXY", known.into_iter()), [""; 0]);
    }
}
