//! Writing a value out again, token for token.

use super::string::{content_end, write_string};
use super::value::Json;

/// The text as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(text.as_bytes(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The value without insignificant white space, as [`write_compact`] has it.
#[must_use]
pub fn compact(value: Json<'_>) -> String {
    let mut out = Vec::with_capacity(value.text().len());
    write_compact(value, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends `value` without insignificant white space: every token keeps its spelling, so that number text,
/// escapes and twice-named members survive, and the result stands on one line.
pub fn write_compact(value: Json<'_>, out: &mut Vec<u8>) {
    let bytes = value.text().as_bytes();
    // Most messages have none, and are copied at once.
    let (mut at, mut copied) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = content_end(bytes, at + 1).0 + 1,
            b' ' | b'\n' | b'\r' | b'\t' => {
                out.extend_from_slice(&bytes[copied..at]);
                at += 1;
                copied = at;
            }
            _ => at += 1,
        }
    }
    out.extend_from_slice(&bytes[copied..]);
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
