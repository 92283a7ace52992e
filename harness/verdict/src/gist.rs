//! What the messages of failures of one kind have in common: their words, without what is particular to one session.

/// The most characters of a message that belong to a kind.
const LONGEST: usize = 100;

/// The words of a message up to its particulars, which follow a colon.
pub fn gist(message: &str) -> String {
    let words = message.lines().next().unwrap_or_default();
    let open = |end: &usize| words[..*end].matches('(').count() > words[..*end].matches(')').count();
    // A colon in parentheses explains the words before them.
    let end = words.match_indices(": ").map(|(at, _)| at).find(|at| !open(at)).unwrap_or(words.len());
    unparticular(&words[..end])
}

/// Words without numbers and quoted text. The names of encodings stay.
pub fn unparticular(words: impl AsRef<str>) -> String {
    let mut out = String::new();
    let mut rest = words.as_ref().chars();
    while let Some(char) = rest.next() {
        match char {
            _ if out.chars().count() >= LONGEST => break,
            '0'..='9' if out.trim_end_matches(|it: char| it.is_ascii_digit()).ends_with("UTF-") => {
                out.push(char)
            }
            '0'..='9' if out.ends_with('*') => {}
            '0'..='9' => out.push('*'),
            '"' | '`' | '\'' if rest.as_str().contains(char) => {
                rest.by_ref().take_while(|other| *other != char).for_each(drop);
                out.push('…');
            }
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::gist;

    #[test]
    fn words_are_cut_where_they_become_particular() {
        assert_eq!(gist("it answered 12 when 3 was asked: x"), "it answered * when * was asked");
        assert_eq!(gist("byte 7 is not UTF-8, and not UTF-16"), "byte * is not UTF-8, and not UTF-16");
        assert_eq!(gist("no \"a\" here (at: 7)\nmore"), "no … here (at: *)");
    }
}
