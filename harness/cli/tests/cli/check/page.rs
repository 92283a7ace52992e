//! `check --output html`: the page of one recording, and what it is refused for.

use super::{Folder, INITIALIZE, INITIALIZED, PING, PONG, READY, right, trace, wrong};
use serde_json::Value;

/// What the script of a page reads.
fn model(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"session\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_page_has_the_findings_that_were_asked_for_at_their_messages() {
    let folder = Folder::with(&[("a", &wrong()), ("b", &right())]);
    let found = folder.lines(&["a"]);
    let found: Vec<&Value> = found.iter().filter(|line| line["verdict"] != "inconclusive").collect();
    let ran = folder.check(&["a", "--output", "html"]).is(1);
    let page = model(&ran.out);
    let findings = page["findings"].as_array().unwrap();
    assert!(!findings.is_empty() && findings.len() == found.len());
    for (finding, line) in findings.iter().zip(&found) {
        assert_eq!((&finding["rule"], &finding["line"]), (&line["rule"], &line["line"]));
        let row = &page["rows"][finding["row"].as_u64().unwrap() as usize];
        assert_eq!(row["line"], line["line"]);
    }
    let null = findings.iter().find(|finding| finding["rule"] == "jsonrpc.id.null").unwrap();
    let row = &page["rows"][null["row"].as_u64().unwrap() as usize];
    assert_eq!(row["raw"], r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#);

    let other = folder.check(&["a", "--output", "html", "--ignore", "jsonrpc.id.null"]);
    assert!(!other.out.contains("\"rule\":\"jsonrpc.id.null\""));
    let well = folder.check(&["b", "--output", "html", "--select", "jsonrpc"]).is(0);
    assert_eq!(model(&well.out)["findings"].as_array().unwrap().len(), 0);
}

#[test]
fn the_page_goes_on_behind_a_message_with_a_fault() {
    let faulty = ("in", r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#);
    let folder = Folder::with(&[("a", &trace(&[INITIALIZE, INITIALIZED, READY, faulty, PING, PONG]))]);
    let page = model(&folder.check(&["a", "--output", "html"]).is(1).out);
    let rows = page["rows"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row.get("number").is_some()).count(), 5);
    let row = rows.iter().find(|row| row["line"] == 5).unwrap();
    assert_eq!((row["is"].as_str(), row["raw"].as_str()), (Some("note"), Some(faulty.1)));
    let at = rows.iter().position(|row| row["line"] == 5).unwrap();
    assert!(page["findings"].as_array().unwrap().iter().any(|finding| finding["row"] == at));
}

#[test]
fn a_page_is_of_one_recording() {
    let folder = Folder::with(&[("a", &right()), ("b", &right())]);
    for arguments in [&["a", "b"][..], &["."], &["a", "--shard", "1/2"], &["--files-from", "a"]] {
        let ran = folder.check(&[arguments, &["--output", "html"]].concat()).is(2);
        assert!(ran.out.is_empty());
        ran.says("is the page of one recording");
    }
    folder.check(&["nothing", "--output", "html"]).is(2).says("there is no file nothing");
}
