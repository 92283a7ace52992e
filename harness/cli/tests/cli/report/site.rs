//! The pages of a site: which there are, and where their links lead.

use super::{changed, concord, edited, folder, told};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every file of a site by its path, and that each link in it leads to a file that is there.
fn site(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
        for href in text.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            // A rule leads to its document; nothing else leads away.
            if href.starts_with("http") {
                assert!(PUBLISHERS.iter().any(|it| href.starts_with(it)), "{name} leads away to {href}");
                continue;
            }
            let target = match (href.split('#').next().unwrap(), name.split_once('/')) {
                ("", _) => name.clone(),
                (href, Some(_)) if href.starts_with("../") => href[3..].to_owned(),
                (href, Some((inner, _))) => format!("{inner}/{href}"),
                (href, None) => href.to_owned(),
            };
            assert!(files.contains_key(&target), "{name} leads to {href}, and there is no {target}");
        }
    }
    files
}

/// Who publishes the documents of the rules.
const PUBLISHERS: [&str; 5] = [
    "https://modelcontextprotocol.io/",
    "https://www.jsonrpc.org/",
    "https://html.spec.whatwg.org/",
    "https://www.rfc-editor.org/",
    "http://www.softwareishard.com/",
];

fn reported(folder: &Path, arguments: &[&str]) -> BTreeMap<String, String> {
    let output = concord(folder, &[&["report"], arguments, &["--out", "site"]].concat());
    assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {}", told(&output));
    let files = site(&folder.join("site"));
    fs::remove_dir_all(folder.join("site")).unwrap();
    files
}

#[test]
fn one_implementation_has_a_site_with_clauses_rules_and_formats() {
    let folder = folder();
    let files = reported(folder.path(), &["whole.json"]);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let expected = [
        "badge.json",
        "clauses.html",
        "formats.html",
        "index.html",
        "junit.xml",
        "results.json",
        "rules.html",
        "summary.md",
    ];
    assert_eq!(names, expected);
    let clauses = &files["clauses.html"];
    for clause in transcript::clauses::all() {
        assert!(clauses.contains(&format!(" id=\"clause-{}\"", clause.id)), "{}", clause.id);
    }
    assert!(clauses.contains("ids/null-request") && clauses.contains("index.html#clause=ID-NULL"));
    let carried = files["formats.html"].split("command line and exit code</th>").nth(1).unwrap();
    let cells = carried.split("</tr>").next().unwrap().split("</td>");
    let answers: Vec<&str> = cells.filter_map(|cell| cell.rsplit('>').next()).collect();
    assert_eq!(answers[..6], ["no", "no", "no", "yes", "no", "no"], "mcp-replay alone carries it");
    assert!(files["rules.html"].contains("rules/jsonrpc/id-null"));
}

#[test]
fn several_implementations_have_a_page_each_beside_one_for_all() {
    let folder = folder();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write(
        "other.json",
        changed(folder.path(), "crash").replace("\"name\":\"mcp-concord\"", "\"name\":\"o/../<b>\""),
    );
    let files = reported(folder.path(), &["whole.json", "other.json"]);
    let index = &files["index.html"];
    let version = env!("CARGO_PKG_VERSION");
    let other = format!("o_..__b_-{version}");
    for one in [format!("mcp-concord-{version}"), other.clone()] {
        for file in ["index.html", "results.json", "junit.xml", "summary.md", "badge.json"] {
            assert!(files.contains_key(&format!("{one}/{file}")), "{one}/{file}: {:?}", files.keys());
        }
        assert!(index.contains(&format!("href=\"{one}/index.html\"")), "{one}");
    }
    assert!(
        index.contains("2 implementations") && index.contains(&format!("href=\"{other}/index.html#f-ids."))
    );
    assert!(files[&format!("{other}/index.html")].contains("<article id=\"f-ids."));
    assert!(!index.contains("run after run"));
}

#[test]
fn runs_of_one_implementation_are_a_trend_and_its_versions_are_columns() {
    let folder = folder();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write("later.json", changed(folder.path(), "fail"));
    let newer = edited(folder.path(), |record| record["implementation"]["version"] = "99".into());
    write("newer.json", newer);
    let files = reported(folder.path(), &["whole.json", "later.json"]);
    let index = &files["index.html"];
    assert!(
        index.contains("mcp-concord, run after run") && index.contains("<th scope=\"row\">2: mcp-concord ")
    );
    assert!(index.contains("Failures</h2>"), "the last run is told");
    let files = reported(folder.path(), &["later.json", "whole.json"]);
    assert!(!files["index.html"].contains("Failures</h2>"), "the last run is told");
    let files = reported(folder.path(), &["whole.json", "later.json", "newer.json"]);
    assert!(
        files["index.html"].contains("2 implementations") && files.contains_key("mcp-concord-99/index.html")
    );
    assert!(files["index.html"].contains("<th scope=\"row\">3: mcp-concord 99"));
    let twice = concord(folder.path(), &["report", "whole.json", "./whole.json", "--out", "site"]);
    assert!(twice.status.code() == Some(2) && told(&twice).contains("named twice"), "{}", told(&twice));
}

#[test]
fn the_site_of_the_parts_is_the_site_of_the_run() {
    let folder = folder();
    for shard in ["1/2", "2/2"] {
        let name = format!("part-{}.json", &shard[..1]);
        let run = ["run", "-q", "--filter", "ids/*", "--shard", shard, "--results", &name];
        assert!(concord(folder.path(), &run).status.success());
    }
    assert_eq!(
        reported(folder.path(), &["part-2.json", "part-1.json"]),
        reported(folder.path(), &["whole.json"])
    );
}

#[test]
fn what_changed_is_a_page_that_leads_to_the_failures() {
    let folder = folder();
    fs::write(folder.path().join("worse.json"), changed(folder.path(), "fail")).unwrap();
    let files = reported(folder.path(), &["worse.json", "--compare", "whole.json"]);
    let changes = &files["changes.html"];
    assert!(changes.contains("New failures: 1") && changes.contains("href=\"index.html#f-ids."), "{changes}");
    assert!(files["index.html"].contains("href=\"changes.html\""));
    assert!(!reported(folder.path(), &["worse.json"]).contains_key("changes.html"));
}

#[test]
fn what_check_found_has_a_page_and_a_kill_matrix_is_refused() {
    let folder = folder();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/null-id.jsonl");
    let check = concord(folder.path(), &["check", "--output", "json", example.to_str().unwrap()]);
    fs::write(folder.path().join("found.json"), &check.stdout).unwrap();
    let files = reported(folder.path(), &["found.json", "whole.json"]);
    assert!(files["findings.html"].contains("rules.html#rule-jsonrpc.id.null"));
    assert!(files["index.html"].contains("By topic</h2>"));
    let alone = reported(folder.path(), &["found.json"]);
    assert!(alone["index.html"].contains("href=\"findings.html\"") && !alone.contains_key("results.json"));
    for (text, why) in [
        ("[{\"rule\": 1}]", "`check --output json`"),
        ("{\"kills\": 1, \"faults\": []}", "is a kill matrix, which reports no longer show"),
    ] {
        fs::write(folder.path().join("no.json"), text).unwrap();
        let no = concord(folder.path(), &["report", "no.json", "--out", "site"]);
        assert!(no.status.code() == Some(2) && told(&no).contains(why), "{}", told(&no));
    }
}

#[test]
fn a_page_of_ones_own_stands_in_the_site_and_is_linked_by_its_title() {
    let folder = folder();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let page = "<!doctype html><html><head><TITLE lang=en>\n Yours &amp; <mine></TITLE></head><body></body></html>\n";
    put("own.html", page);
    put("bare.html", "<p>no title</p>");
    put("two words.html", page);
    put("formats.html", page);
    fs::write(folder.path().join("bytes.html"), b"<title>\xff</title>").unwrap();
    let files = reported(folder.path(), &["whole.json", "--page", "own.html"]);
    assert_eq!(files["own.html"], page);
    for name in ["index.html", "clauses.html", "rules.html", "formats.html"] {
        assert!(files[name].contains(r#"<a href="own.html">Yours &amp; &lt;mine&gt;</a>"#), "{name}");
    }
    for (name, part) in [
        ("gone.html", "gone.html cannot be read"),
        ("bytes.html", "bytes.html cannot be read"),
        ("bare.html", "bare.html has no <title>"),
        ("two words.html", "letters, digits, `-`, `_` and `.`"),
        ("whole.json", "ends with .html"),
        ("formats.html", "the site has a page formats.html"),
    ] {
        let no = concord(folder.path(), &["report", "whole.json", "--out", "no", "--page", name]);
        assert!(no.status.code() == Some(2) && told(&no).contains(part), "{name}: {}", told(&no));
        assert!(!folder.path().join("no").exists(), "{name}: something was written");
    }
    let twice = ["report", "whole.json", "--out", "no", "--page", "own.html", "--page", "own.html"];
    assert!(told(&concord(folder.path(), &twice)).contains("the site has a page own.html"));
    // Without a site there is no place for it.
    let nowhere =
        concord(folder.path(), &["report", "whole.json", "--compare", "whole.json", "--page", "own.html"]);
    assert_eq!(nowhere.status.code(), Some(2), "{}", told(&nowhere));
}
