//! Nobody is blamed for what a recorder lost: a session without a finding against a party has none either where one of its
//! messages is missing, as long as the recording says so.

use super::{SUITE, judged_as};
use formats::Format;
use rules::{CheckOptions, RuleVerdict};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What the recorder of a trace writes where lines are lost.
const GAP: &str = r#","dir":"event","kind":"recorder.gap","raw":{"lines_lost":{"client":1,"server":1}}}"#;

/// What the recorder of a trace writes where it kept only a part of a message.
const CUT: &str = r#","truncated":true}"#;

pub(super) fn of_kept_sessions() {
    let (mut tried, mut blamed) = (0, String::new());
    for case in &SUITE.judged {
        for transcript in case.transcripts.iter().filter(|transcript| transcript.format.name == "mcp-replay")
        {
            let Ok(text) = String::from_utf8(transcript.blob.bytes().unwrap().to_vec()) else { continue };
            if !accused(transcript.format, &text).is_empty() {
                continue;
            }
            for (lost, line) in text.lines().enumerate().filter(|(_, line)| line.contains("\"jsonrpc\"")) {
                let time =
                    line.split_once(r#""dir""#).map_or("", |(time, _)| time.trim_end_matches([' ', ',']));
                let cut = line.trim_end().strip_suffix('}').unwrap_or(line);
                for instead in [format!("{time}{GAP}"), format!("{cut}{CUT}")] {
                    let with_loss = |(at, line): (usize, &str)| match at == lost {
                        true => format!("{instead}\n"),
                        false => format!("{line}\n"),
                    };
                    let torn: String = text.lines().enumerate().map(with_loss).collect();
                    tried += 1;
                    for rule in accused(transcript.format, &torn) {
                        let _ = writeln!(blamed, "{} without line {}: {rule}", case.name, lost + 1);
                    }
                }
            }
        }
    }
    assert!(blamed.is_empty(), "blamed for what was lost:\n{blamed}");
    assert!(tried > 3_000, "only {tried} recordings with a loss were judged");
}

/// The rules that a party other than the recorder broke.
fn accused(format: &'static Format, text: &str) -> BTreeSet<&'static str> {
    let judged = judged_as(format, text.as_bytes(), &CheckOptions::default()).unwrap();
    let broken = judged.outcomes.iter().filter(|outcome| {
        matches!(outcome.verdict, RuleVerdict::Fail | RuleVerdict::Warn)
            && outcome.findings.iter().any(|finding| finding.party != "recorder")
    });
    broken.map(|outcome| outcome.rule.id).collect()
}
