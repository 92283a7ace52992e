//! Pages as a whole: what is on them, and what a stranger's text can do to them.

use super::changes::Changes;
use super::findings::Finding;
use super::reference::{Case, RuleCases};
use super::{HtmlRenderer, Link, Overview, PageLocation, Run};
use crate::golden::golden;
use crate::run::test_record::{line, record, record_of};
use verdict::change::{Change, changes};
use verdict::record::{BothSides, CaseResult, Place, Record};
use verdict::verdict::Verdict;

/// Everything that a page must not obey.
const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload=\"x' \
                       </style><style>*{display:none}</style>\u{202e}\u{2066}\u{2028}\u{2029}\u{feff}\u{1b}\u{0}\
                       {{ page }}{% raw %}<!--]]>&lt;javascript:alert(1)";

fn renderer() -> HtmlRenderer {
    HtmlRenderer::new("0").unwrap()
}

fn rerun(_: &Record, line: &CaseResult) -> String {
    format!("run {}/{}", line.case, line.format)
}

fn run(record: &Record) -> String {
    renderer().run(&Run { record, runs: &[record], rerun: &rerun }, PageLocation::default()).unwrap()
}

fn overview(records: &[&Record]) -> String {
    let folders: Vec<String> = (0..records.len()).map(|number| format!("i{number}")).collect();
    let runs: Vec<Vec<&Record>> = vec![records.to_vec()];
    let pages = [Link::new("Overview", "index.html"), Link::new("i 2", "i0/index.html")];
    let place = PageLocation { pages: &pages, here: "index.html", root: "" };
    renderer().overview(&Overview { records, folders: &folders, runs: &runs }, place).unwrap()
}

/// A record in which everything that may be a stranger's text is `text`.
fn strange(text: &str) -> Record {
    let mut record = record(&[Verdict::Fail, Verdict::Skip]);
    record.implementation.name = text.into();
    record.implementation.version = text.into();
    record.suite.version = text.into();
    record.suite.digest = text.into();
    let mut cases = std::collections::BTreeMap::new();
    for line in &mut record.results {
        let mut note = record.cases.remove(&line.case).unwrap();
        line.case = format!("{}/{text}", line.case);
        line.format = format!("x{text}");
        line.clauses = vec![text.into()];
        line.message = Some(text.into());
        line.stderr = Some(text.into());
        line.file = Some(text.into());
        line.whole = Some(BothSides { expected: text.into(), actual: text.repeat(20_000) });
        (note.title, note.reason) = (text.into(), text.into());
        note.transcripts.insert(line.format.clone(), text.repeat(1000));
        cases.insert(line.case.clone(), note);
    }
    record.cases = cases;
    record.clauses = [(text.to_owned(), text.to_owned())].into();
    record
}

/// One page of each kind, with `text` wherever a stranger's text may be.
fn pages(text: &str) -> Vec<(&'static str, String)> {
    let (renderer, place) = (renderer(), PageLocation::default());
    let (record, owned) = (strange(text), text.to_owned());
    let mut mended = record.clone();
    mended.results[0].verdict = Verdict::Pass;
    let changed = changes(&mended, &record);
    let case = Case { name: owned.clone(), title: owned.clone() };
    let cases = [("ID-NULL", vec![case])].into();
    let finding = serde_json::json!({
        "rule": text, "verdict": "fail", "level": text, "party": text, "file": text, "line": 1, "pointer": text,
        "within": text, "message": text, "snippet": text, "other": {"what": text, "line": 1, "snippet": text},
    });
    let mut unsure = finding.clone();
    unsure["verdict"] = "inconclusive".into();
    let findings: Vec<Finding> = serde_json::from_value(serde_json::json!([finding, unsure])).unwrap();
    let changes = Changes { old: &mended, new: &record, changes: &changed, page: "index.html" };
    vec![
        ("run", run(&record)),
        ("overview", overview(&[&record, &mended])),
        ("changes", renderer.changes(&changes, place).unwrap()),
        ("clauses", renderer.clauses(&cases, true, place).unwrap()),
        ("findings", renderer.findings(&findings, place).unwrap()),
    ]
}

/// The part of a page that is its own.
fn main(page: &str) -> String {
    let (_, rest) = page.split_once("<main").unwrap();
    rest.split_once("</main>").unwrap().0.to_owned()
}

/// A record whose pages have something of each sort: failures alike and not, a known one, a loss, and columns without a judgement.
fn various() -> Record {
    use Verdict::{Crash, ExpectedFail, Fail, Pass, Skip};
    let event = |id: &str| format!("{{\"kind\": \"request\", \"id\": \"{id}\", \"method\": \"ping\"}}\n");
    let mut lines: Vec<CaseResult> = [
        ("mixed/b", "x", Fail),
        ("mixed/b", "y", Fail),
        ("mixed/b", "z", Crash),
        ("mixed/b", "w", Pass),
        ("mixed/c", "x", Pass),
        ("known/a", "x", ExpectedFail),
        ("calm/a", "x", Pass),
        ("calm/a", "v", Skip),
    ]
    .map(|(case, format, verdict)| line(case, format, verdict))
    .into();
    for alike in &mut lines[..2] {
        alike.whole = Some(BothSides { expected: event("1"), actual: event("2") });
    }
    lines[1].file = Some("mixed/b/y.json".into());
    lines[1].place = Some(Place { line: 2, pointer: "/1".into() });
    lines[5].silent_loss = true;
    let mut record = record_of(lines);
    let note = record.cases.get_mut("mixed/b").unwrap();
    note.transcripts = [("x", "1\n2\n3\n"), ("y", "1\r\n2"), ("w", "1")]
        .map(|(format, text)| (format.to_owned(), text.to_owned()))
        .into();
    note.lines = [("x".to_owned(), vec![3])].into();
    record
}

#[test]
fn pages_show_what_a_person_once_looked_at() {
    use Verdict::{Crash, Fail, Pass, Skip};
    let (before, mut other) = (record(&[Pass, Fail, Fail, Skip]), record(&[Fail, Pass, Pass, Pass]));
    other.implementation.name = "j".into();
    let mut crashed = record_of(vec![line("mixed/b", "x", Crash), line("mixed/b", "y", Crash)]);
    (crashed.implementation.name, crashed.interrupted) = ("j".into(), 3);
    let found = |line: u64, verdict: &str, rule: &str| {
        serde_json::json!({
            "rule": rule, "verdict": verdict, "level": "must", "party": "client", "file": "a.jsonl", "line": line,
            "pointer": "/raw", "message": format!("on {line}"), "snippet": "{}", "more": 1, "later": true,
        })
    };
    let found =
        [found(9, "fail", "jsonrpc.id.null"), found(3, "warn", "other.rule"), found(0, "pass", "x.y")];
    let found: Vec<Finding> = serde_json::from_value(found.into()).unwrap();
    let changed = |changes: &[Change]| {
        let page = Changes { old: &before, new: &other, changes, page: "index.html" };
        renderer().changes(&page, PageLocation::default()).unwrap()
    };
    let changes = changed(&changes(&before, &other));
    assert!(changes.contains("<p>1 new failure, 2 no longer failing, 1 other change.</p>"), "{changes}");
    let pages = [
        ("run", run(&various())),
        ("overview", overview(&[&various(), &crashed])),
        ("changes", changes),
        ("no changes", changed(&[])),
        ("findings", renderer().findings(&found, PageLocation::default()).unwrap()),
    ];
    golden("pages.html", pages.map(|(title, page)| (title, main(&page))));
}

#[test]
fn topics_stand_in_the_order_of_their_names_and_the_same_record_gives_the_same_page() {
    let topics: Vec<String> = (10..40).map(|number| format!("topic-{number}")).collect();
    let lines = topics.iter().map(|topic| line(&format!("{topic}/a"), "x", Verdict::Pass));
    let record = record_of(lines.collect());
    let page = run(&record);
    let places: Vec<usize> =
        topics.iter().map(|topic| page.find(&format!(">{topic}</h3>")).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(page, run(&record));
}

#[test]
fn a_crash_that_cases_share_is_shown_once_and_no_error_is_compared_with_an_answer() {
    let mut record = record(&[Verdict::Crash, Verdict::Crash, Verdict::Crash, Verdict::Garbled]);
    for (number, line) in record.results.iter_mut().enumerate() {
        let what = if number == 2 { "ValueError" } else { "KeyError" };
        line.stderr = Some(format!("Traceback\n  line {number}\n{what}: id"));
        line.whole =
            Some(BothSides { expected: "{}".into(), actual: "no answer (crash)\nexit status: 1".into() });
    }
    let page = run(&record);
    let count = |text: &str| page.matches(text).count();
    assert_eq!(
        (count("KeyError: id"), count("ValueError: id")),
        (2, 1),
        "of the crashes, and of what is garbled"
    );
    assert_eq!((count("1 more case without an answer"), count("As in <a")), (1, 1));
    assert_eq!((count("no answer (crash)"), count("<table class=\"sides\"")), (0, 0));
    assert!(page.contains("<h1>i 2: 4 of 4 cases fail</h1>"), "{page}");
}

#[test]
fn a_page_asks_for_nothing_and_runs_nothing_but_its_own() {
    for (name, page) in pages("x") {
        // The contract cites URLs as text, in which quotes are escaped; none is the value of an attribute.
        let [http, https] = if name == "clauses" { ["\"http", "=http"] } else { ["http://", "https://"] };
        for part in [http, https, "url(", "@import", " src=", "<link", "<iframe", "style=\"", " onclick"] {
            assert!(!page.contains(part), "{part} is in {name}");
        }
        assert_eq!((page.matches("<script").count(), page.matches("<style").count()), (1, 1), "{name}");
        let policy = page.split("Content-Security-Policy\" content=\"").nth(1).unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(!policy.split('"').next().unwrap().contains("unsafe"), "{policy}");
    }
}

#[test]
fn every_link_inside_leads_somewhere_and_no_place_stands_twice() {
    let lines = Verdict::ALL.iter().enumerate();
    let lines = lines.flat_map(|(number, verdict)| {
        ["x", "y"].map(|format| line(&format!("a/{number}"), format, *verdict))
    });
    let page = run(&record_of(lines.collect()));
    let targets: Vec<&str> =
        page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(targets.len() > 12, "{targets:?}");
    // A hash with a sign of equality is a filter, for the script.
    for target in targets.into_iter().filter(|target| !target.contains('=')) {
        assert_eq!(page.matches(&format!(" id=\"{target}\"")).count(), 1, "{target}");
    }
    for id in page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert_eq!(page.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
    }
}

#[test]
fn a_strangers_text_is_text_on_every_page() {
    for ((name, hostile), (_, plain)) in pages(HOSTILE).into_iter().zip(pages("x")) {
        for tag in [
            "<script",
            "</script",
            "<style",
            "</style",
            "<img",
            "<!--",
            "href=\"javascript",
            "onerror=alert(1)>\"",
        ] {
            assert_eq!(hostile.matches(tag).count(), plain.matches(tag).count(), "{tag} in {name}");
        }
        let obeyed = ['\u{202e}', '\u{2066}', '\u{2028}', '\u{2029}', '\u{feff}', '\u{1b}', '\u{0}'];
        assert!(!hostile.contains("\" onload=\"") && !hostile.contains(obeyed), "{name}");
        assert!(hostile.contains("&lt;script&gt;alert(1)") && hostile.contains("{{ page }}"), "{name}");
        assert!(hostile.contains("\\u{202e}"), "{name} hides what was there");
    }
}

#[test]
fn a_text_of_megabytes_makes_no_page_of_megabytes() {
    let mut record = record(&[Verdict::Fail]);
    let long = "\u{2028}x".repeat(1 << 20);
    let line = &mut record.results[0];
    line.message = Some(long.clone());
    line.stderr = Some(long.clone());
    line.whole = Some(BothSides { expected: long.clone(), actual: "y\n".repeat(1 << 20) });
    let note = record.cases.get_mut("ids/0").unwrap();
    note.transcripts.insert("x".into(), long);
    let page = run(&record);
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
    assert!(page.contains("bytes in all)"));
}

#[test]
fn no_page_calls_a_run_clean_in_which_something_is_excused_or_skipped() {
    let clean = |page: &str| page.contains("results pass.</b>") || page.contains("headline good");
    assert!(clean(&run(&record(&[Verdict::Pass, Verdict::Pass]))));
    for verdict in Verdict::ALL.into_iter().filter(|verdict| *verdict != Verdict::Pass) {
        let one = record(&[Verdict::Pass, verdict]);
        assert!(!clean(&run(&one)) && !clean(&overview(&[&one, &one])), "{verdict:?}");
    }
    let mut lost = record(&[Verdict::ExpectedFail]);
    lost.results[0].silent_loss = true;
    for page in [run(&lost), overview(&[&lost, &lost])] {
        assert!(page.contains("1 silent loss:") && page.contains("<b>1</b> lost"), "{page}");
    }
}

#[test]
fn every_rule_is_on_the_page_of_rules() {
    let case = |name: &str| vec![Case { name: name.into(), title: "T".into() }];
    let shown = RuleCases {
        breaks: [("jsonrpc.id.null".to_owned(), case("rules/a"))].into(),
        keeps: [("jsonrpc.id.null".to_owned(), case("rules/b"))].into(),
    };
    let page = renderer().rules(&shown, PageLocation::default()).unwrap();
    for rule in rules::all() {
        assert_eq!(page.matches(&format!(" id=\"rule-{}\"", rule.id)).count(), 1, "{}", rule.id);
    }
    assert!(page.contains("cases: broken in 1, kept in 1") && page.contains("rules/b"));
}

#[test]
fn the_table_of_formats_says_what_each_carries() {
    let page = renderer().formats(&[("har", 3)].into(), PageLocation::default()).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.contains("who sent each message")).collect();
    let [row] = rows.as_slice() else { panic!("{page}") };
    let senders = formats::FORMATS.iter().filter(|format| format.carries.direction).count();
    assert_eq!(row.matches("class=\"good\">yes</td>").count(), senders);
    assert_eq!(row.matches("class=\"faint\">no</td>").count(), formats::FORMATS.len() - senders);
    assert_eq!(page.matches(", in 3 cases").count(), 1);
}

#[test]
fn a_finding_leads_to_its_document_and_never_where_a_stranger_wants() {
    let site =
        |revision: &str| format!("https://modelcontextprotocol.io/specification/{revision}/basic#requests");
    for (link, leads) in [
        (Some(site("2025-06-18")), site("2025-06-18")),
        (None, site("2026-07-28")),
        (Some("javascript:alert(1)".to_owned()), site("2026-07-28")),
        (Some("https://modelcontextprotocol.io.example/".to_owned()), site("2026-07-28")),
    ] {
        let finding = serde_json::from_value(serde_json::json!({
            "rule": "jsonrpc.id.null", "verdict": "fail", "level": "must", "party": "client", "file": "a.jsonl",
            "line": 1, "message": "m", "link": link,
        }));
        let page = renderer().findings(&[finding.unwrap()], PageLocation::default()).unwrap();
        assert!(page.contains(&format!("<a rel=\"noreferrer\" href=\"{leads}\">")), "{link:?}");
        assert!(!page.contains("javascript:") && !page.contains(".example"), "{link:?}");
    }
}
