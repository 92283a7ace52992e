//! A file with fewer lines and fewer bytes.

use super::Outcome;

/// The smallest file on the way down that `ask` says still shows what it is about: lines go first, then bytes.
pub fn shrink_text(bytes: Vec<u8>, ask: &mut dyn FnMut(&[u8]) -> Outcome) -> Vec<u8> {
    let lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let mut over = false;
    let mut ask = |bytes: &[u8]| {
        let outcome = if over { Outcome::Enough } else { ask(bytes) };
        over |= outcome == Outcome::Enough;
        outcome
    };
    let lines = cut(lines, &mut |lines| ask(&lines.concat()));
    let bytes: Vec<u8> = lines.concat();
    cut(bytes, &mut ask)
}

/// Takes away chunks, large ones first, until no single part can go.
fn cut<T: Clone>(mut parts: Vec<T>, ask: &mut dyn FnMut(&[T]) -> Outcome) -> Vec<T> {
    let mut size = parts.len() / 2;
    while size > 0 {
        let (mut end, mut took) = (parts.len(), false);
        while end > 0 {
            let start = end.saturating_sub(size);
            let less = [&parts[..start], &parts[end..]].concat();
            match if less.is_empty() { Outcome::Other } else { ask(&less) } {
                Outcome::Same => (parts, took) = (less, true),
                Outcome::Other => {}
                Outcome::Enough => return parts,
            }
            end = start;
        }
        // What goes may let go what was tried before; the same size again, but never larger.
        size = if took && size == 1 { 1 } else { size / 2 };
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{Outcome, shrink_text};

    #[test]
    fn what_matters_is_left() {
        let text = format!("{}needle in\n{}hay\n", "straw\n".repeat(40), "more\n".repeat(17)).into_bytes();
        let mut asked = 0;
        let left = shrink_text(text.clone(), &mut |bytes| {
            asked += 1;
            let text = String::from_utf8_lossy(bytes);
            if text.contains("need") && text.contains('h') { Outcome::Same } else { Outcome::Other }
        });
        assert_eq!(String::from_utf8(left).unwrap(), "needh");
        assert!(asked < 200, "{asked}");
        assert_eq!(shrink_text(text.clone(), &mut |_| Outcome::Enough), text);
    }
}
