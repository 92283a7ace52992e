//! Files that are cut at every byte (clause SRV-BYTES). Other inputs that nobody would write and that somebody will send are in
//! `tests/cmd/survival`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use formats::{FORMATS, Format, ReadError, ReadOptions, Session, find, meaning};

/// What the client and the server say in turns.
const SESSION: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"é"}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"naïve"}}}"#,
    r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"add","arguments":{"text":"日本"}}}"#,
    r#"{"jsonrpc":"2.0","id":"c","error":{"code":-1,"message":"no"}}"#,
];

/// The meaning, or where the rejection is.
fn read(format: &Format, mut bytes: &[u8]) -> Result<String, u64> {
    match meaning(format, &mut bytes, ReadOptions::default()) {
        Ok(meaning) => Ok(meaning.text),
        Err(ReadError::Rejected(rejection)) => Err(rejection.position.offset),
        Err(other) => panic!("{other}"),
    }
}

/// A session in a format, in each way to mark who said what.
fn spelled(format: &Format) -> Vec<Vec<u8>> {
    let of_code = "2026-10-05 09:49:21.338 [info] ";
    let marks: &[(&str, [&str; 2])] = match format.name {
        "claude-desktop-log" => {
            &[("2026-03-01T09:39:03.203Z [s] [info] ", ["Message from client: ", "Message from server: "])]
        }
        "vscode-log" => &[
            (of_code, ["[editor -> server] ", "[server -> editor] "]),
            (of_code, ["[Client Says] ", "[Server Says] "]),
        ],
        "marked-text" => &[("", ["STDIN: ", "STDOUT: "])],
        _ => {
            let (text, mut out) = (SESSION.join("\n") + "\n", Vec::new());
            let session = Session::of(find("jsonrpc").unwrap(), text.as_bytes(), ReadOptions::default());
            format.write(&session.unwrap(), &mut out).unwrap();
            return vec![out];
        }
    };
    let lines = |(time, sides): &(&str, [&str; 2])| {
        let lines = SESSION.iter().zip(sides.iter().cycle());
        lines.map(|(line, mark)| format!("{time}{mark}{line}\n")).collect::<String>().into_bytes()
    };
    marks.iter().map(lines).collect()
}

#[test]
fn a_file_that_is_cut_is_never_given_out_as_whole() {
    let spellings =
        FORMATS.iter().flat_map(|format| spelled(format).into_iter().map(move |text| (format, text)));
    for (format, text) in spellings {
        let whole = read(format, &text).unwrap();
        for cut in 0..text.trim_ascii_end().len() {
            match read(format, &text[..cut]) {
                // Between two lines, a line format ends as it may, with what was there till then.
                Ok(part) => {
                    let between = cut == 0 || text[cut - 1] == b'\n' || text[cut] == b'\n';
                    assert!(format.is_lines() && between, "{} cut at {cut}", format.name);
                    let events = part.trim_end_matches(|letter| letter != ']').trim_end_matches(['\n', ']']);
                    assert!(whole.starts_with(events), "{} cut at {cut}: {part}", format.name);
                }
                Err(offset) => assert!(offset <= cut as u64, "{} cut at {cut}: {offset}", format.name),
            }
        }
    }
}
