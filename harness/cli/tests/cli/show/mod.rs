//! `show` draws sessions of every format, as text, as a picture and as a page.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod page;

use page::model;
use roxmltree::{Document, Node};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn show(args: &[&str], input: Option<&[u8]>) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .arg("show")
        .args(args)
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.unwrap_or_default().to_vec();
    let writer = std::thread::spawn(move || {
        // A program that refuses its arguments reads nothing.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// What was drawn with this exit code.
fn drawn(code: i32, args: &[&str], input: Option<&[u8]>) -> String {
    let output = show(args, input);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {talk}");
    String::from_utf8(output.stdout).unwrap()
}

fn elements<'d>(document: &'d Document<'_>, class: &'d str) -> impl Iterator<Item = Node<'d, 'd>> {
    document.descendants().filter(move |node| node.attribute("class") == Some(class))
}

/// How many arrows a picture has: every arrow is a path of one of these.
fn arrows(document: &Document<'_>) -> usize {
    ["ask", "reply", "tell", "wrong"].into_iter().map(|class| elements(document, class).count()).sum()
}

/// The groups of a picture by the words that a pointer brings up.
fn group<'d>(document: &'d Document<'_>, words: &str) -> Node<'d, 'd> {
    let titled = |node: &Node<'_, '_>| {
        node.children().any(|child| {
            child.has_tag_name("title") && child.text().is_some_and(|text| text.starts_with(words))
        })
    };
    document.descendants().find(|node| node.has_tag_name("g") && titled(node)).unwrap()
}

fn text_of(node: Node<'_, '_>) -> String {
    let texts = node.descendants().filter(|node| node.has_tag_name("tspan")).filter_map(|node| node.text());
    texts.collect::<Vec<_>>().join(" ")
}

fn line(number: usize, method: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"{method}\"}}\n{{\"jsonrpc\":\"2.0\",\"id\":{number},\"result\":{{}}}}\n"
    )
}

/// Who pipes the wrong thing is told at once, and has no full disk.
#[test]
fn a_pipe_without_an_end_that_is_no_recording_is_refused() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .args(["show", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let block = "no recording\n".repeat(100_000);
    let mut written = 0;
    // It ends where nobody reads on. A program that wants all of it is given 64 MB and then up.
    while written < 64 << 20 && stdin.write_all(block.as_bytes()).is_ok() {
        written += block.len();
    }
    let refused = written < 64 << 20;
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(refused && output.status.code() == Some(2), "after {written} bytes: {talk}");
    assert!(talk.contains("the format of <stdin> cannot be detected"), "{talk}");
}

#[test]
fn a_session_of_each_format_is_drawn_whole() {
    let folder = "cases/recorded/everything-http";
    let meaning = std::fs::read_to_string(root().join(folder).join("meaning.json")).unwrap();
    let events = meaning.matches("{\"kind\": ").count();
    assert!(events > 20);
    let mut formats = 0;
    for format in formats::FORMATS {
        let path = root().join(folder).join(format.file);
        if !path.exists() {
            continue;
        }
        formats += 1;
        let path = format!("{folder}/{}", format.file);
        let svg = drawn(0, &["--all", "--output", "svg", &path], None);
        let document = Document::parse(&svg).unwrap();
        assert_eq!(arrows(&document), events, "{path}");
        let text = drawn(0, &["--all", &path], None);
        let lines =
            text.lines().filter(|line| line.contains(['►', '◄', '▻', '◅', '✗']) && !line.contains("✗ error"));
        assert_eq!(lines.count(), events, "{text}");
        assert!(text.lines().nth(1).unwrap().starts_with(format.name), "{text}");
        let named = drawn(0, &["--all", "--output", "svg", "--format", format.name, &path], None);
        assert_eq!(named, svg, "{path}");
    }
    assert!(formats >= 5, "{formats}");
}

#[test]
fn exchanges_of_an_archive_are_bands_and_redeliveries_are_told() {
    let path = "cases/recorded/everything-http-redelivered/har.har";
    let archive = std::fs::read_to_string(root().join(path)).unwrap();
    let svg = drawn(0, &["--output", "svg", path], None);
    let document = Document::parse(&svg).unwrap();
    assert_eq!(elements(&document, "band").count(), archive.matches("\"startedDateTime\"").count());
    // The case says which events the second stream delivered again: the last six messages.
    for number in 0..18 {
        let words = text_of(group(&document, &format!("Message {number} ")));
        assert_eq!(words.contains("delivered again"), number >= 12, "{number}: {words}");
        assert_eq!(words.contains("orphan"), [12, 16, 17].contains(&number), "{number}: {words}");
    }
}

#[test]
fn what_was_never_answered_is_marked() {
    let text = drawn(0, &["cases/recorded/everything-stdio-cancelled/mcp-replay.jsonl"], None);
    let marked: Vec<&str> = text.lines().filter(|line| line.contains("never answered")).collect();
    assert!(
        matches!(marked.as_slice(), [about, row] if about.contains("1 never answered") && row.contains("id 2 ")),
        "{text}"
    );
}

#[test]
fn a_finding_stands_at_its_message_and_can_be_left_out() {
    let path = "docs/examples/null-id.jsonl";
    let svg = drawn(0, &["--output", "svg", path], None);
    let document = Document::parse(&svg).unwrap();
    for number in 0..4 {
        let words = text_of(group(&document, &format!("Message {number} ")));
        assert_eq!(words.contains("error jsonrpc.id.null"), number == 3, "{number}: {words}");
    }
    // In an archive all messages of a stream stand in one text.
    let svg = drawn(0, &["--output", "svg", "cases/recorded/everything-http-redelivered/har.har"], None);
    let document = Document::parse(&svg).unwrap();
    let words = text_of(group(&document, "Message 14 "));
    assert!(words.contains("error http.resume.same-stream") && words.contains("8457078f"), "{words}");
    let without = drawn(0, &["--no-check", path], None);
    assert!(!without.contains("jsonrpc.id.null") && !without.contains("check finds"), "{without}");
}

#[test]
fn traces_of_several_servers_are_put_together_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let trace = |name: &str, label: &str, seconds: [u8; 2]| {
        let meta = format!(
            "{{\"v\":1,\"type\":\"meta\",\"startedAt\":\"2026-05-12T23:00:00.000Z\",\"label\":\"{label}\",\"command\":[\"{label}\"]}}"
        );
        let at = |second: u8| format!("2026-05-12T23:00:{second:02}.000Z");
        let ask = format!(
            "{{\"t\":\"{}\",\"dir\":\"in\",\"raw\":{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"{label}-tool\"}}}}}}",
            at(seconds[0])
        );
        let answer = format!(
            "{{\"t\":\"{}\",\"dir\":\"out\",\"raw\":{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}}}",
            at(seconds[1])
        );
        let path = folder.path().join(name);
        std::fs::write(&path, [meta, ask, answer].join("\n")).unwrap();
        path.display().to_string()
    };
    let (one, two) = (trace("a.jsonl", "weather", [1, 9]), trace("b.jsonl", "files", [2, 5]));
    let svg = drawn(0, &["--no-check", "--output", "svg", &one, &two], None);
    let document = Document::parse(&svg).unwrap();
    assert_eq!(elements(&document, "lane").count(), 3);
    for (number, words) in [
        "Message 0 at 1.000 s, client to weather: tool call weather-tool, id 1",
        "Message 1 at 2.000 s, client to files: tool call files-tool, id 1",
        "Message 2 at 5.000 s, files to client: result of files-tool, id 1, answers message 1 after 3.000 s",
        "Message 3 at 9.000 s, weather to client: result of weather-tool, id 1, answers message 0 after 8.000 s",
    ]
    .into_iter()
    .enumerate()
    {
        assert!(text_of(group(&document, words)).contains("weather-tool") == (number % 3 == 0), "{words}");
    }
    let other = show(&[&one, "docs/examples/call.jsonl"], None);
    assert_eq!(other.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&other.stderr).contains("call.jsonl is a jsonrpc"));
}

#[test]
fn the_standard_input_is_drawn_like_a_file() {
    let path = "docs/examples/call-http-sse.json";
    let bytes = std::fs::read(root().join(path)).unwrap();
    let file = drawn(0, &["--output", "svg", path], None);
    let piped = drawn(0, &["--output", "svg", "-"], Some(&bytes));
    assert_eq!(piped.replace("&lt;stdin&gt;", path), file);
}

#[test]
fn a_rejected_session_is_drawn_up_to_its_fault() {
    let output = show(&["docs/examples/wrong-id.jsonl"], None);
    let (out, talk) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1));
    assert!(out.contains("├─ ping id 1 ──") && out.contains("✗ rejected: invalid-id"), "{out}");
    assert!(out.contains("1 open where it ends") && !out.contains("never answered"), "{out}");
    assert!(out.contains("ID-REJECT (line 2, column 23)"), "{out}");
    assert!(talk.contains("error[invalid-id]") && talk.contains("wrong-id.jsonl:2:23"), "{talk}");
    let svg = drawn(1, &["--output", "svg", "docs/examples/wrong-id.jsonl"], None);
    let document = Document::parse(&svg).unwrap();
    assert_eq!((arrows(&document), elements(&document, "foot").count()), (1, 1));
    let lenient =
        drawn(0, &["--lenient", "--no-check", "-"], Some(format!("{}oops\n", line(1, "ping")).as_bytes()));
    assert!(lenient.contains("○ passed over") || lenient.contains("passed over: "), "{lenient}");
}

#[test]
fn what_cannot_be_used_is_told_and_nothing_is_drawn() {
    for args in [
        &["no/such/file"][..],
        &["docs/examples"],
        &["README.md"],
        &["--from", "9", "--to", "3", "docs/examples/call.jsonl"],
        &["--all", "--from", "9", "docs/examples/call.jsonl"],
        &["--format", "nope", "docs/examples/call.jsonl"],
        &[],
    ] {
        let output = show(args, None);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn a_strangers_strings_are_text_wherever_they_stand() {
    let texts = [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>\" onload=\"x' ]]>&amp;<!--",
        "{{ picture }}{% raw %}",
        "\u{202e}\u{2028}\u{2066}\u{61c}\u{1b}[31m\0\u{7f}\u{fffe}\u{ffff}",
        "日本語のツール",
        &"megabyte ".repeat(120_000),
    ];
    for text in texts {
        let name = serde_json::to_string(text).unwrap();
        let session = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{name},\"method\":\"tools/call\",\"params\":{{\"name\":{name},\"arguments\":{{{name}:{name}}}}}}}\n\
             {{\"jsonrpc\":\"2.0\",\"id\":{name},\"error\":{{\"code\":1,\"message\":{name}}}}}\n\
             {{\"jsonrpc\":\"2.0\",\"method\":{name}}}\n"
        );
        let svg = drawn(0, &["--output", "svg", "-"], Some(session.as_bytes()));
        let document = Document::parse(&svg).unwrap();
        let names: BTreeSet<&str> =
            document.descendants().filter(Node::is_element).map(|node| node.tag_name().name()).collect();
        let known: BTreeSet<&str> =
            ["svg", "title", "desc", "style", "rect", "g", "path", "text", "tspan"].into_iter().collect();
        assert!(names.is_subset(&known), "{names:?}");
        for attribute in document.descendants().flat_map(|node| node.attributes()) {
            assert!(!attribute.name().starts_with("on") && attribute.name() != "href", "{attribute:?}");
        }
        assert_eq!(arrows(&document), 3);
        assert!(svg.len() < 40_000, "{}", svg.len());
        // The tool's name is told as it is, but for what would have power over whoever reads it.
        let shown = verdict::plain::cut(text, 40);
        let told = elements(&document, "b").filter_map(|node| node.text()).any(|name| {
            let name = name.trim_end_matches('…');
            !name.is_empty()
                && (shown.starts_with(name) || name.starts_with(shown.trim_end_matches('…')))
                && name.chars().count() >= 6
        });
        assert!(told, "{shown}");
        let page = drawn(0, &["--output", "html", "-"], Some(session.as_bytes()));
        // Its own data and its own script, and the whole text, wherever it says it.
        let tags = ["<script", "</script", "<img"].map(|tag| page.matches(tag).count());
        assert_eq!(tags, [2, 2, 0]);
        let model = model(&page);
        let parsed: serde_json::Value = serde_json::from_str(model["rows"][2]["raw"].as_str().unwrap())
            .unwrap_or_else(|_| serde_json::json!({"method": text}));
        assert_eq!(parsed["method"], text);
        assert_eq!(model["rows"][2]["cut"].as_u64().unwrap_or_default() > 0, text.len() > 256 << 10);
        let terminal = drawn(0, &["-"], Some(session.as_bytes()));
        for text in [&svg, &page, &terminal] {
            let bad =
                |char: char| char.is_control() && char != '\n' || ('\u{2028}'..='\u{202e}').contains(&char);
            assert!(!text.contains(bad));
        }
    }
}

#[test]
fn a_long_session_folds_and_everything_is_counted() {
    let mut session: String = (0..300).map(|number| line(number, "ping")).collect();
    session.push_str("{\"jsonrpc\":\"2.0\",\"id\":900,\"error\":{\"code\":1,\"message\":\"late\"}}\n");
    session.extend((300..400).map(|number| line(number, "ping")));
    let input = Some(session.as_bytes());
    let folded = drawn(0, &["--no-check", "--output", "svg", "-"], input);
    let document = Document::parse(&folded).unwrap();
    let folds: Vec<String> =
        elements(&document, "break").map(|node| text_of(node.parent().unwrap())).collect();
    let count = |fold: &String| fold.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap();
    assert_eq!(folds.iter().map(count).sum::<usize>() + arrows(&document), 801);
    assert_eq!(folds.len(), 2, "{folds:?}");
    assert!(folds[0].contains("560 messages folded, 40 to 599: 280 requests, 280 answers"), "{folds:?}");
    assert!(text_of(group(&document, "Message 600,")).contains("orphan"));
    assert!(folded.contains("740 messages folded (--all shows them)"));

    let all = drawn(0, &["--no-check", "--all", "--output", "svg", "-"], input);
    assert_eq!(arrows(&Document::parse(&all).unwrap()), 801);
    let range = drawn(0, &["--no-check", "--from", "100", "--to", "103", "--output", "svg", "-"], input);
    let document = Document::parse(&range).unwrap();
    assert_eq!((arrows(&document), elements(&document, "break").count()), (4, 2));
    group(&document, "Message 100,");
    group(&document, "Message 103,");
}

#[test]
fn the_same_recording_is_the_same_picture() {
    let path = "cases/recorded/everything-http-redelivered/har.har";
    for output in ["text", "svg", "html"] {
        let args = ["--output", output, path];
        assert_eq!(drawn(0, &args, None), drawn(0, &args, None));
    }
}

#[test]
fn the_pictures_in_the_docs_are_those_that_show_draws() {
    for (path, picture) in [
        ("docs/examples/null-id.jsonl", "docs/examples/null-id.svg"),
        ("cases/recorded/everything-http-interrupted/har.har", "docs/examples/interrupted.svg"),
    ] {
        if !root().join(path).exists() {
            panic!("there is no {path}");
        }
        let kept = std::fs::read_to_string(root().join(picture)).unwrap_or_default();
        let now = drawn(0, &["--quiet", "--output", "svg", path], None);
        assert!(kept == now, "{picture} is not what `show` draws: scripts/derive.sh writes it again");
    }
}
