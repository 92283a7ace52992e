//! Words that look as if a machine had drawn them: perhaps keys that no pattern describes.

/// Shorter words are seldom keys, and longer ones are data.
const LENGTHS: std::ops::RangeInclusive<usize> = 28..=200;

/// Names change less often between letters and digits.
const CHANGES: usize = 5;

/// In bits a letter: what is spelled by people has less.
const ENTROPY: f64 = 4.2;

/// How many such words a text has.
pub fn random_words(text: &[u8]) -> usize {
    let words = text.split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
    words.filter(|word| is_random(word)).count()
}

fn is_random(word: &[u8]) -> bool {
    // Keys of wallets are written so; a digest seldom is.
    if let Some(digits) = word.strip_prefix(b"0x") {
        return digits.len() == 64 && digits.iter().all(u8::is_ascii_hexdigit);
    }
    LENGTHS.contains(&word.len())
        && word.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count()
            >= CHANGES
        && word.iter().any(u8::is_ascii_uppercase)
        && word.iter().any(u8::is_ascii_lowercase)
        && entropy(word) > ENTROPY
}

#[expect(clippy::cast_precision_loss, reason = "a word is short")]
fn entropy(word: &[u8]) -> f64 {
    let mut counts = [0_usize; 256];
    word.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let share = |count: usize| count as f64 / word.len() as f64;
    counts.into_iter().filter(|count| *count > 0).map(|count| -share(count) * share(count).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::random_words;

    #[test]
    fn a_key_looks_drawn_and_a_name_does_not() {
        for (text, count) in [
            ("x=q8Zr3Tn0VbK5wLdY7mXcJ2hGf9Ps and dWx4N7tR2kJq-9LmB5vZc8HsY1gF0pTe", 2),
            ("getTheUserByIdentifierNumber123FromDatabase", 0),
            ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", 0),
            ("[REDACTED]-1234567890123", 0),
            ("q8Zr3Tn0VbK5", 0),
            ("0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318", 1),
            (
                "0x4c0883a69102937d6231471b5dbb6204fe512961 4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318",
                0,
            ),
        ] {
            assert_eq!(random_words(text.as_bytes()), count, "{text}");
        }
    }
}
