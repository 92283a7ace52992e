//! Recordings of many messages: memory stays, and time grows with them alone.

use super::program::{Folder, ORDINARY, PROGRAM, finish, piped, shell};
use formats::{Format, Session};
use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write as _};
use std::process::{Child, Command};
use transcript::session::Side;

/// The most memory that a process had, in KiB, as long as it is there.
fn peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()
}

/// A message, by what it has besides `jsonrpc`, as the client's or the server's line.
type Spell = fn(bool, &str) -> String;

/// The line formats: a name, the lines ahead of the messages, and how a message is spelled.
const LINES: [(&str, &str, Spell); 8] = [
    ("jsonrpc", "", |_, rest| format!(r#"{{"jsonrpc":"2.0",{rest}}}"#)),
    (
        "mcp-replay",
        concat!(
            r#"{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"l","command":[]}"#,
            "\n"
        ),
        |client, rest| {
            let dir = if client { "in" } else { "out" };
            format!(r#"{{"dir":"{dir}","raw":{{"jsonrpc":"2.0",{rest}}}}}"#)
        },
    ),
    ("mcp-rec", "", |client, rest| {
        let dir = if client { "client->server" } else { "server->client" };
        format!(r#"{{"ts": 1.5, "dir": "{dir}", "msg": {{"jsonrpc":"2.0",{rest}}}}}"#)
    }),
    (
        "mcporter",
        concat!(
            r#"{"jsonrpc":"2.0","method":"$transport/start","_meta":{"dir":"lifecycle","server":"s"}}"#,
            "\n"
        ),
        |client, rest| {
            let dir = if client { "send" } else { "recv" };
            format!(r#"{{"jsonrpc":"2.0",{rest},"_meta":{{"dir":"{dir}","server":"s"}}}}"#)
        },
    ),
    (
        "claude-desktop-log",
        "2026-03-01T09:39:03.203Z [s] [info] Server started and connected successfully\n",
        |client, rest| {
            let side = if client { "client" } else { "server" };
            let stamp = "2026-03-01T09:39:03.203Z [s] [info]";
            format!(r#"{stamp} Message from {side}: {{"jsonrpc":"2.0",{rest}}}"#)
        },
    ),
    ("vscode-log", "2026-10-05 09:49:21.338 [info] Connection state: Running\n", |client, rest| {
        let mark = if client { "editor -> server" } else { "server -> editor" };
        format!(r#"2026-10-05 09:49:21.377 [debug] [{mark}] {{"jsonrpc":"2.0",{rest}}}"#)
    }),
    ("marked-text", "", |client, rest| {
        let stream = if client { "STDIN" } else { "STDOUT" };
        format!(r#"{stream}: {{"jsonrpc":"2.0",{rest}}}"#)
    }),
    ("directed-jsonl", "", |client, rest| {
        let dir = if client { "c2s" } else { "s2c" };
        format!(r#"{{"type":"frame","t":4,"dir":"{dir}","frame":{{"jsonrpc":"2.0",{rest}}}}}"#)
    }),
];

/// The messages of a session in a format that is only read.
pub(crate) fn logged(format: &Format, session: &Session) -> Vec<u8> {
    let (_, head, spell) = LINES.iter().find(|(name, ..)| *name == format.name).unwrap();
    let mut out = (*head).to_owned();
    for entry in session.entries.iter().filter(|entry| entry.message().is_some()) {
        let text = entry.message().unwrap().text();
        let rest = text.strip_prefix(r#"{"jsonrpc":"2.0","#).and_then(|rest| rest.strip_suffix('}'));
        out += &format!("{}\n", spell(entry.side == Some(Side::Client), rest.unwrap()));
    }
    out.into_bytes()
}

#[test]
#[cfg(target_os = "linux")]
fn half_a_million_messages_cost_the_line_formats_no_memory() {
    const CALLS: u32 = 250_000;
    let folder = Folder::new();
    for (name, head, spell) in LINES {
        let path = folder.path(name);
        let mut file = BufWriter::new(File::create(&path).unwrap());
        file.write_all(head.as_bytes()).unwrap();
        for id in 0..CALLS {
            let asked =
                format!(r#""id":{id},"method":"tools/call","params":{{"name":"n","arguments":{{}}}}"#);
            writeln!(file, "{}", spell(true, &asked)).unwrap();
            writeln!(file, "{}", spell(false, &format!(r#""id":{id},"result":{{}}"#))).unwrap();
        }
        file.into_inner().unwrap();
        let mut child = piped(Command::new(PROGRAM).arg("read").arg(&path));
        // The meaning is taken slowly enough to look on: the program's memory only ever grows in this number.
        let mut out = child.stdout.take().unwrap();
        let mut most = 0;
        let (mut length, mut last) = (0, Vec::new());
        let mut block = vec![0; 1 << 20];
        loop {
            most = peak(&child).unwrap_or_default().max(most);
            match out.read(&mut block).unwrap() {
                0 => break,
                read => {
                    length += read;
                    last = block[..read].to_vec();
                }
            }
        }
        finish(child).is_well(name);
        let end = String::from_utf8_lossy(&last).into_owned();
        assert!(end.contains(&format!("\"answers\": {}", 2 * CALLS - 2)), "{name}: {end:.300}");
        assert!(length > 50 * CALLS as usize);
        assert!(most > 1000 && most < 44 << 10, "{name}: {most} KiB");
        fs::remove_file(path).unwrap();
    }
}

/// Whoever looked through all that is open, or all that was said, for each message would need hours.
#[test]
fn one_id_that_is_open_again_and_again_and_answers_to_nothing_cost_no_more_than_others() {
    const COUNT: usize = 100_000;
    let folder = Folder::new();
    let mut text = ORDINARY.to_owned();
    for _ in 0..COUNT {
        text.push_str("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    }
    for _ in 0..COUNT {
        text.push_str("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    }
    for number in 0..COUNT {
        text.push_str(&format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{number}\",\"result\":{{}}}}\n"));
    }
    let path = folder.file("session", text.as_bytes());
    let limited = |args: &[&str], code: i32| {
        let ended = shell("ulimit -t 20;", &[args, &[&path]].concat(), "");
        assert_eq!(ended.code, Some(code), "{args:?}: {}", ended.err);
        ended.out
    };
    let meaning = String::from_utf8(limited(&["read"], 0)).unwrap();
    assert_eq!(meaning.matches("\"answers\": null").count(), COUNT);
    limited(&["check"], 1);
    for format in ["har", "inspector-network"] {
        let written = folder.path(format).display().to_string();
        limited(&["convert", "--to", format, "--lossy", "-o", &written], 0);
        let again = shell("ulimit -t 20;", &["read", &written], "");
        again.is_well(format);
        assert!(String::from_utf8(again.out).unwrap() == meaning, "{format}");
    }
}
