//! Line ends, blank lines, a mark at the beginning, and how the lines of a stream end.

use crate::format_tree::{FormatTree, change_each};
use crate::mutator::Apply;
use crate::relation::{Reading, Relation};

mutators! {
    "lines-crlf" ["JRP-LINE"] "Lines end with CRLF, all of them or some."
        => Relation::Same, Apply::Bytes(|_, bytes, rng| {
            let all = rng.one_in(2);
            respell(bytes, |byte, out| {
                if byte == b'\n' && (all || rng.one_in(2)) && out.last() != Some(&b'\r') {
                    out.push(b'\r');
                }
                out.push(byte);
            })
        });
    "lines-blank" ["JRP-LINE"] "Blank lines come between the lines, before and after them."
        => Relation::Same, Apply::Bytes(|format, bytes, rng| {
            // A trace's first line is `meta`, and a blank one is a line.
            let bare = format.is_bare_lines();
            let mut first = bare;
            format.is_lines()
                && respell(bytes, |byte, out| {
                    if std::mem::take(&mut first) {
                        out.push(b'\n');
                    }
                    out.push(byte);
                    if byte == b'\n' && rng.one_in(2) {
                        out.extend_from_slice(
                            rng.pick(&[&b"\n"[..], b"\r\n", b"\n\n"]).copied().unwrap_or(b"\n"),
                        );
                    }
                })
        });
    "lines-unfinished" ["JRP-LINE"] "The file ends without the end of its last line."
        => Relation::Same, Apply::Bytes(|_, bytes, _| {
            let length = bytes.trim_ascii_end().len();
            let took = length < bytes.len();
            bytes.truncate(length);
            took
        });
    "lines-mark" ["SRV-TWICE"] "The file begins with a byte order mark."
        => Relation::Open(Reading::Known), Apply::Bytes(|_, bytes, _| {
            bytes.splice(0..0, *b"\xef\xbb\xbf");
            true
        });
    "stream-line-ends" ["HAR-STREAM"] "The lines of a stream end with CR, with CRLF, or with each in turn."
        => Relation::Same, Apply::Spelling(|tree, rng| {
            // CR before LF would be one end, so that the two never follow each other here.
            let forms: [&[&'static str]; 4] = [&["\r\n"], &["\r"], &["\n", "\r\n"], &["\r\n", "\r"]];
            let ends = rng.pick(&forms).copied().unwrap_or_default();
            streams(tree, |stream| stream.ends = ends.to_vec())
        });
    "stream-tight" ["HAR-STREAM"] "No space follows the colons of a stream."
        => Relation::Same, Apply::Spelling(|tree, _| streams(tree, |stream| stream.spaced = false));
    "stream-unfinished" ["HAR-STREAM"] "A stream breaks off inside an event, which is then none."
        => Relation::Same, Apply::Spelling(|tree, _| {
            streams(tree, |stream| {
                let data = r#"data: {"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"late"}}"#;
                stream.lines.push(crate::node::Line::Plain(data.to_owned()));
            })
        });
}

fn respell(bytes: &mut Vec<u8>, mut each: impl FnMut(u8, &mut Vec<u8>)) -> bool {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    for &byte in &*bytes {
        each(byte, &mut out);
    }
    let took = out != *bytes;
    *bytes = out;
    took
}

fn streams(tree: &mut FormatTree, change: impl Fn(&mut crate::node::Stream)) -> bool {
    change_each(tree.streams().filter(|stream| !stream.lines.is_empty()), |stream| {
        change(stream);
        true
    })
}
