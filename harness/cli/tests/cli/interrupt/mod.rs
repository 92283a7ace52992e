//! A signal that asks the program to end, for each verb that starts programs or has something to save: no process and no
//! temporary file is left, and what was judged until then is kept.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod listeners;

use crate::sockets::{JSON, Listener, PING, PONG, ask};
use crate::support::{PROGRAM, concord, ended, eventually, file, python, said};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use tempfile::TempDir;
use verdict::record::Record;

/// The signals, and the exit code of a verb that one cuts short.
const SIGNALS: [(Signal, i32); 3] = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];

/// Processes that a verb starts have this variable, and so have those that they start.
const MARK: &str = "MCP_CONCORD_TEST_OF_INTERRUPTS";

/// A verb under way.
struct Workdir {
    folder: TempDir,
}

impl Workdir {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A peer that never comes to an end.
    fn peer(&self, how: &str, arguments: &str) -> String {
        let words = [python(), &file("cli/interrupt/peer.py"), how, &self.text("ready")];
        format!("{} {arguments}", shell_words::join(words))
    }

    fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Command {
        let mut command = concord(words);
        command.env("TMPDIR", self.path("tmp")).env(MARK, self.text("")).stdin(Stdio::piped());
        command
    }

    fn start<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Child {
        self.command(words).stdin(Stdio::null()).spawn().unwrap()
    }

    /// The processes that it started and that live.
    fn left(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.text(""));
        let marked = |folder: &Path| {
            let environment = fs::read(folder.join("environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|it| it == mark.as_bytes()).then_some(())?;
            Some(String::from_utf8_lossy(&fs::read(folder.join("cmdline")).ok()?).replace('\0', " "))
        };
        fs::read_dir("/proc").unwrap().flatten().filter_map(|it| marked(&it.path())).collect()
    }

    /// Sends the signal once `ready` is so, and says how the verb ended. Nothing may be left.
    fn interrupted(&self, mut child: Child, signal: Signal, ready: impl Fn() -> bool) -> Output {
        eventually("it is never under way", || ready() || child.try_wait().unwrap().is_some());
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended by itself: {}",
            said(&child.wait_with_output().unwrap())
        );
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
        eventually("it goes on", || child.try_wait().unwrap().is_some());
        let output = child.wait_with_output().unwrap();
        eventually(&format!("nothing is left\n{}", said(&output)), || self.left().is_empty());
        let temporary: Vec<_> =
            fs::read_dir(self.path("tmp")).unwrap().flatten().map(|it| it.path()).collect();
        assert!(temporary.is_empty(), "{temporary:?}\n{}", said(&output));
        output
    }

    fn is_ready(&self) -> bool {
        self.path("ready").exists()
    }

    fn results(&self) -> Record {
        serde_json::from_slice(&fs::read(self.path("results")).unwrap()).unwrap()
    }
}

/// An address at which nobody listens, nor will before it is used: this process has one of its own for each.
fn free_address() -> String {
    static NEXT: AtomicU8 = AtomicU8::new(2);
    let [.., one, other] = std::process::id().to_be_bytes();
    let host = Ipv4Addr::new(127, one, other, NEXT.fetch_add(1, Ordering::Relaxed));
    TcpListener::bind((host, 0)).unwrap().local_addr().unwrap().to_string()
}

/// A test for each verb: what it is called with while a peer of these words hangs, and the text that it ends with. Each
/// gets each signal.
macro_rules! nothing_is_left {
    ($($name:ident: $how:literal $arguments:literal, $verb:expr, $says:literal;)*) => {
        $(#[test]
        fn $name() {
            for (signal, code) in SIGNALS {
                let place = Workdir::new();
                let peer = place.peer($how, $arguments);
                let verb: fn(&Workdir, &str) -> Vec<String> = $verb;
                let child = place.start(verb(&place, &peer));
                let output = place.interrupted(child, signal, || place.is_ready());
                ended(&output, code, &[$says]);
            }
        })*
    };
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

nothing_is_left! {
    run_with_an_adapter: "adapter" "2",
        |_, peer| words(&["run", "--adapter", peer, "--timeout", "600", "--filter", "ids/*"]), "interrupted";
    run_with_an_adapter_that_never_shakes_hands: "silent" "",
        |_, peer| words(&["run", "--adapter", peer, "--timeout", "600"]), "interrupted";
    run_with_a_one_shot_command: "silent" "{file}",
        |_, peer| words(&["run", "--exec", peer, "--timeout", "600"]), "interrupted";
    run_that_verifies: "adapter" "1",
        |_, peer| words(&["run", "--adapter", peer, "--verify", "--timeout", "600"]), "interrupted";
    run_that_measures: "adapter" "0",
        |_, peer| words(&["run", "--adapter", peer, "--scale", "64KiB", "--timeout", "600"]), "interrupted";
    fuzz: "adapter" "0",
        |place, peer| words(&["fuzz", "--adapter", peer, "--timeout", "600", "--out", &place.text("out")]),
        ", 0 readings: nothing found";
    drive_over_stdio: "silent" "{out} {server}",
        |_, peer| words(&["drive", "--recorder", peer, "--timeout", "600"]), "";
    drive_over_http: "listen" "{port} {out} {upstream}",
        |_, peer| words(&[
            "drive", "--transport", "streamable-http", "--recorder", peer, "--timeout", "600",
        ]), "";
    play_as_a_client: "silent" "",
        |_, peer| {
            let mut all = words(&["play", "--as", "client", "--timeout", "600", "ids/null-request", "--"]);
            all.extend(shell_words::split(peer).unwrap());
            all
        },
        "interrupted";
}

#[test]
fn what_a_run_judged_is_kept() {
    let place = Workdir::new();
    let adapter = place.peer("adapter", "2");
    let (results, report) = (place.text("results"), place.text("report"));
    let line = format!("run --timeout 600 --jobs 1 --results {results} --report {report} --adapter");
    let child = place.start(line.split(' ').chain([&*adapter]));
    let output = place.interrupted(child, Signal::INT, || {
        fs::read_to_string(place.path("ready")).is_ok_and(|text| text.lines().count() == 2)
    });
    let record = place.results();
    assert!(record.interrupted > 400 && record.planned == record.results.len() as u64, "{}", said(&output));
    assert!((1..5).contains(&record.cases.len()), "{:?}", record.cases.keys());
    let says = format!("interrupted; {} planned results not judged", record.interrupted);
    assert!(said(&output).contains(&says), "{}", said(&output));
    for report in ["summary.md", "index.html", "junit.xml"] {
        let text = fs::read_to_string(place.path("report").join(report)).unwrap();
        assert!(text.contains(&says), "{report}: {text}");
    }
}

#[test]
fn what_drive_judged_is_kept() {
    let place = Workdir::new();
    let script = shell_words::join([python(), &file("cmd/bin/bad"), "hang-at-values"]);
    let recorder = format!("{script} {{out}} -- {{server}}");
    let (results, saved) = (place.text("results"), place.text("saved"));
    let line = format!(
        "drive --timeout 600 --jobs 1 --results {results} --save {saved} --filter conditions/plain \
         --filter conditions/values --recorder"
    );
    let child = place.start(line.split(' ').chain([&*recorder]));
    let journal = place.path("saved/conditions/values/server.journal");
    let over = || fs::read_to_string(&journal).is_ok_and(|text| text.contains("\"over\""));
    let output = place.interrupted(child, Signal::TERM, over);
    ended(&output, 143, &[]);
    let record = place.results();
    assert_eq!((record.interrupted, record.planned), (2, 2), "{}", said(&output));
    assert!(record.cases.contains_key("conditions/plain"), "{:?}", record.cases);
}

#[test]
fn generate_leaves_no_case_by_half() {
    for (signal, code) in SIGNALS {
        let place = Workdir::new();
        let out = place.text("out");
        let child = place.start(["generate", "--count", "1000000", "--out", &out]);
        let written = || fs::read_dir(place.path("out")).is_ok_and(|cases| cases.count() > 3);
        let output = place.interrupted(child, signal, written);
        ended(&output, code, &["interrupted; wrote "]);
        // Each case is whole, or it would not be a suite.
        mcp_concord_suite::Suite::load(&[mcp_concord_suite::Root::Disk(place.path("out"))]).unwrap();
    }
}

/// A site of enough implementations to take a while.
#[test]
fn a_report_leaves_no_page_by_half() {
    for (signal, code) in SIGNALS {
        let place = Workdir::new();
        let (results, out) = (place.text("results"), place.text("out"));
        let child = place.start(["run", "--filter", "ids/null-request", "--results", &results]);
        let ran = child.wait_with_output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
        let mut arguments = words(&["report", "--out", &out]);
        for number in 0..200 {
            let mut record = place.results();
            record.implementation.name = format!("importer-{number}");
            let name = format!("results-{number}");
            fs::write(place.path(&name), serde_json::to_vec(&record).unwrap()).unwrap();
            arguments.push(place.text(&name));
        }
        let child = place.start(arguments);
        let folders = || fs::read_dir(place.path("out")).map_or(0, |all| all.flatten().count());
        let output = place.interrupted(child, signal, || folders() > 3);
        ended(&output, code, &["interrupted"]);
        assert!(folders() < 200, "{signal:?}: it went on to the end");
        for folder in fs::read_dir(place.path("out")).unwrap().flatten().filter(|it| it.path().is_dir()) {
            for file in fs::read_dir(folder.path()).unwrap().flatten() {
                let name = file.file_name().into_string().unwrap();
                let text = fs::read_to_string(file.path()).unwrap();
                match name.as_str() {
                    "index.html" => assert!(text.trim_end().ends_with("</html>"), "{name}: {text}"),
                    "results.json" => drop(serde_json::from_str::<Record>(&text).unwrap()),
                    other => assert!(!other.starts_with('.'), "{other} is left"),
                }
            }
        }
    }
}

/// `nohup` has a process ignore that its terminal goes. It is INT that ends this one.
#[test]
fn a_signal_that_is_to_be_ignored_is() {
    let place = Workdir::new();
    let adapter = place.peer("adapter", "0");
    let mut command = Command::new("nohup");
    command.args([PROGRAM, "run", "--adapter", &adapter, "--timeout", "600"]);
    command.env("TMPDIR", place.path("tmp")).env(MARK, place.text(""));
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("it is never under way", || place.is_ready());
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::HUP).unwrap();
    let output = place.interrupted(child, Signal::INT, || true);
    ended(&output, 130, &[]);
}

#[test]
fn a_recording_is_whole_when_the_terminal_goes() {
    let server = Listener::new();
    let url = server.url();
    server.serve(|asked| _ = asked.json("", PONG));
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = Workdir::new();
        let (at, out) = (free_address(), place.text("out.jsonl"));
        let child = place.start(["record", "-o", &out, "--listen", &at, "--to", &url]);
        let output = place.interrupted(child, signal, || {
            let is_there = TcpStream::connect(&at).is_ok();
            if is_there {
                assert_eq!(ask(&at, "POST /mcp", JSON, PING).body, PONG);
            }
            is_there
        });
        ended(&output, 0, &["out.jsonl: 1 exchange"]);
        // The first and the last line say when it began and how it ended.
        let recorded = fs::read_to_string(place.path("out.jsonl")).unwrap();
        let lines: Vec<&str> = recorded.lines().collect();
        assert_eq!(lines.len(), 4, "{signal:?}: {recorded}");
        assert!(lines[1].contains(PING) && lines[2].contains(PONG), "{signal:?}: {recorded}");
        assert!(lines[3].contains(r#""type":"end""#), "{signal:?}: {recorded}");
    }
}
