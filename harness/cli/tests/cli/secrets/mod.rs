//! Every secret in every place and encoding, through `record` with each kind of redaction, and a search of all that came
//! out. What is documented to stay has a reason in the tables, and has to be found.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod encodings;
mod http;
mod places;
mod search;

use crate::support::{PEER, concord};
use encodings::{ENCODINGS, Encoding};
use places::{PLACES, Place};
use search::Search;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

/// How a secret is asked to be taken out.
struct Asked {
    name: &'static str,
    flags: &'static [&'static str],
    stays: fn(&Cell) -> Option<&'static str>,
}

const ASKED: &[Asked] = &[
    Asked {
        name: "by name",
        flags: &["--redact", "token", "--redact", "authorization"],
        stays: |cell| cell.place.by_name,
    },
    Asked {
        name: "by pattern",
        flags: &["--redact-text", "sk-[0-9a-f]{12,}"],
        stays: |cell| cell.place.by_pattern.or(cell.hidden()),
    },
];

/// A secret of its own in one place and encoding.
struct Cell {
    place: &'static Place,
    encoding: &'static Encoding,
    secret: String,
}

impl Cell {
    fn encoded(&self) -> String {
        (self.encoding.encode)(&self.secret)
    }

    /// Why a pattern does not find the encoding, where it is looked for at all.
    fn hidden(&self) -> Option<&'static str> {
        self.encoding.hidden.filter(|_| !self.place.withheld)
    }
}

fn cells() -> Vec<Cell> {
    let pairs = PLACES.iter().flat_map(|place| ENCODINGS.iter().map(move |encoding| (place, encoding)));
    let fits = |(place, encoding): &(&Place, &Encoding)| !encoding.messages_only || place.kind == "message";
    let secret = |number: u64| {
        // Digits that nothing else has, and that no other secret shares.
        let digits = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("sk-{digits:016x}{:016x}", digits.rotate_left(29) ^ 0x5bd1_e995_2545_f491)
    };
    pairs
        .filter(fits)
        .zip(0..)
        .map(|((place, encoding), number)| Cell { place, encoding, secret: secret(number) })
        .collect()
}

/// Records the cells over stdio; what the recorder said on its standard error is put into the folder too.
fn over_stdio(folder: &Path, flags: &[&str], cells: &[Cell]) {
    let (mut input, mut words, mut complaints) = (Vec::new(), Vec::new(), String::new());
    let mut command = concord(["record", "-v", "-o"]);
    for (number, cell) in cells.iter().enumerate() {
        let encoded = cell.encoded();
        let said = cell.place.text(&encoded);
        match cell.place.kind {
            "message" => input.extend((said.replace("ID", &number.to_string()) + "\n").into_bytes()),
            "line" => input.extend([cell.place.line(&encoded), b"\n".to_vec()].concat()),
            "words" => words.extend(said.lines().map(str::to_owned)),
            "environment" => _ = command.env(format!("TOKEN_{number}"), said),
            "standard error" => complaints += &(said + "\n"),
            kind => assert!(http::KINDS.contains(&kind), "{kind}"),
        }
    }
    let script = "printf %s \"$COMPLAINTS\" >&2; exec sh \"$@\"";
    let mut child = command
        .env("COMPLAINTS", complaints)
        .arg(folder.join("stdio.jsonl"))
        .args(flags)
        .args(["--", "sh", "-c", script, "server", PEER, "mirror"])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // In pieces, so that secrets come in two.
    let mut stdin = child.stdin.take().unwrap();
    for piece in input.chunks(1021) {
        stdin.write_all(piece).unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::write(folder.join("stdio.stderr"), output.stderr).unwrap();
}

/// Writes every recording of the folder in every format.
fn convert_all(folder: &Path) {
    for recording in ["stdio.jsonl", "http.har"] {
        for format in formats::written().map(|format| format.name) {
            let mut convert = concord(["convert", "--lossy", "--to", format]);
            let run = convert.arg(folder.join(recording)).output().unwrap();
            fs::write(folder.join(format!("{recording}.{format}")), [run.stdout, run.stderr].concat())
                .unwrap();
        }
    }
}

#[test]
fn no_secret_is_in_any_file_unless_a_reason_says_so() {
    let cells = cells();
    for asked in ASKED {
        let folder = tempfile::tempdir().unwrap();
        over_stdio(folder.path(), asked.flags, &cells);
        http::record(folder.path(), asked.flags, &cells);
        convert_all(folder.path());
        let search = Search::new(folder.path());
        let wrong: Vec<String> = cells
            .iter()
            .filter_map(|cell| {
                let (found, reason) = (search.find(&cell.secret, &cell.encoded()), (asked.stays)(cell));
                let what = match (&found, reason) {
                    (Some(file), None) => format!("is in {file}"),
                    (None, Some(reason)) => format!("is gone, although {reason}"),
                    _ => return None,
                };
                Some(format!("{}, {}: {what} {}", cell.place.name, cell.encoding.name, cell.encoded()))
            })
            .collect();
        assert!(wrong.is_empty(), "{}, of {} cells:\n{}", asked.name, cells.len(), wrong.join("\n"));
    }
}
