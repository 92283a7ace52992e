//! `show --output html`: what the page holds.

use super::{drawn, line, root};
use serde_json::Value;

/// What the script of a page reads.
pub(super) fn model(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"session\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_of_each_format_has_every_message_whole() {
    let folder = "cases/recorded/everything-http";
    let meaning = std::fs::read_to_string(root().join(folder).join("meaning.json")).unwrap();
    let meaning: Value = serde_json::from_str(&meaning).unwrap();
    let events = meaning["events"].as_array().unwrap();
    let mut pages = 0;
    for format in formats::FORMATS {
        let path = format!("{folder}/{}", format.file);
        if !root().join(&path).exists() {
            continue;
        }
        pages += 1;
        let page = model(&drawn(0, &["--output", "html", &path], None));
        let rows = page["rows"].as_array().unwrap();
        let messages: Vec<_> = rows.iter().filter(|row| row.get("number").is_some()).collect();
        assert_eq!(messages.len(), events.len(), "{path}");
        for (row, event) in messages.iter().zip(events) {
            let raw: Value = serde_json::from_str(row["raw"].as_str().unwrap()).unwrap();
            assert_eq!((&raw["result"], &row["answers"]), (&event["result"], &event["answers"]), "{path}");
            assert_eq!(row.get("time").is_some(), row.get("at").is_some(), "{path}");
            assert!(format.carries.times || row.get("at").is_none(), "{path}");
            assert!(format.carries.direction || row["inferred"] == true, "{path}");
            assert!(!format.carries.exchanges || row.get("inferred").is_none(), "{path}");
        }
        if std::fs::read_to_string(root().join(&path)).unwrap().contains("\"headers\"") {
            let headers = rows.iter().filter(|row| row.get("headers").is_some());
            assert!(headers.count() > 5, "{path}");
        }
        if format.name == "har" {
            let ids = messages.iter().filter(|row| row["facts"].to_string().contains("\"Event id\""));
            assert!(ids.count() > 10, "{path}");
        }
    }
    assert!(pages >= 5, "{pages}");
}

#[test]
fn a_page_says_what_it_leaves_out() {
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{{\"a\":\"{}\"}}}}\n",
        "x".repeat(300 << 10)
    );
    let session = format!("{}{long}", line(1, "ping"));
    let cut = model(&drawn(0, &["--no-check", "--output", "html", "-"], Some(session.as_bytes())));
    let kept = cut["rows"][2]["raw"].as_str().unwrap().len() as u64;
    assert_eq!((kept, kept + cut["rows"][2]["cut"].as_u64().unwrap()), (256 << 10, long.len() as u64 - 1));
    assert!(cut["rows"][0].get("time").is_none() && cut["judged"] == false);
    let all = model(&drawn(0, &["--no-check", "--all", "--output", "html", "-"], Some(session.as_bytes())));
    assert_eq!(all["rows"][2]["raw"].as_str().unwrap().len() + 1, long.len());
    let some =
        model(&drawn(0, &["--no-check", "--to", "0", "--output", "html", "-"], Some(session.as_bytes())));
    assert_eq!((some["rows"][0]["number"].as_u64(), some["rows"][1]["is"].as_str()), (Some(0), Some("fold")));
    assert!(some["about"].to_string().contains("2 messages folded"));
}
