//! Writing a value out again, token for token.

use super::value::Json;

/// Appends `value` without insignificant white space: every token keeps its spelling, so that number text,
/// escapes and twice-named members survive, and the result stands on one line.
pub fn write_compact(value: Json<'_>, out: &mut Vec<u8>) {
    let bytes = value.text().as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            b'"' => {
                let end = string_end(bytes, at);
                out.extend_from_slice(&bytes[at..end]);
                at = end;
            }
            _ => {
                let end = bytes[at..]
                    .iter()
                    .position(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'"'))
                    .map_or(bytes.len(), |length| at + length);
                out.extend_from_slice(&bytes[at..end]);
                at = end;
            }
        }
    }
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::super::Json;
    use super::write_compact;

    #[test]
    fn only_white_space_between_tokens_goes() {
        let text = " { \"a b\" : [ 1.0 ,\n -0 , true ] , \"\\\" \\\\\" : \"  \\u0020 \" , \"\":{ } } ";
        let mut out = Vec::new();
        write_compact(Json::parse(text).unwrap(), &mut out);
        let expected = "{\"a b\":[1.0,-0,true],\"\\\" \\\\\":\"  \\u0020 \",\"\":{}}";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
