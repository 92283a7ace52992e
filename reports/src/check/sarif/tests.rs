use super::super::sample;
use super::{Renderer as _, Sarif};
use serde_json::{Value, json};

fn log(every: bool) -> Value {
    serde_json::from_str(&sample::rendered(&mut Sarif::new("0.1.0", every))).unwrap()
}

/// The schema of the standard, as the package `serde-sarif` 0.8.0 (MIT) carries it. The pattern of a language,
/// which we do not use, is no regular expression (a bracket is closed that was never opened), so it is left out.
fn schema() -> Value {
    let text = include_str!("../../../tests/sarif-2.1.0.schema.json");
    let mut schema: Value = serde_json::from_str(text).unwrap();
    for part in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][part]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern");
    }
    schema
}

#[test]
fn a_log_is_what_the_standard_asks_for() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    for every in [false, true] {
        let log = log(every);
        let wrong: Vec<String> =
            schema.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
    let mut nothing = Vec::new();
    Sarif::new("0.1.0", false).finish(&mut nothing).unwrap();
    schema.validate(&serde_json::from_slice(&nothing).unwrap()).unwrap();
    let mut broken = log(false);
    broken["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = json!(0);
    assert!(!schema.is_valid(&broken));
}

#[test]
fn a_finding_has_its_rule_its_place_and_the_other_message() {
    let log = log(false);
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let levels: Vec<&str> = results.iter().map(|result| result["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["error", "error", "warning", "note"]);
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    let null_id = &run["tool"]["driver"]["rules"][0];
    let page = "https://modelcontextprotocol.io/specification/2025-11-25/basic#requests";
    assert_eq!((&null_id["id"], &null_id["helpUri"]), (&json!("jsonrpc.id.null"), &json!(page)));
    let place = &results[0]["locations"][0];
    assert_eq!(place["physicalLocation"]["artifactLocation"]["uri"], "a%2C%20b%3A%20100%25.jsonl");
    assert_eq!(place["physicalLocation"]["region"]["startLine"], 3);
    assert_eq!(place["physicalLocation"]["region"]["snippet"]["text"], "\u{1b}[31m{\"id\": null}");
    assert_eq!(place["logicalLocations"][0]["fullyQualifiedName"], "/raw/id");
    assert_eq!(results[0]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 2);
    assert_eq!(
        results[2]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
        "/entries/0/sse/data/params"
    );
    // A place without a line has no region.
    assert_eq!(results[3]["locations"][0]["physicalLocation"].as_object().unwrap().len(), 1);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn what_is_no_fault_has_a_kind_and_no_level() {
    let log = log(true);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let kinds: Vec<(&str, &str)> = results
        .iter()
        .map(|result| (result["kind"].as_str().unwrap(), result["level"].as_str().unwrap()))
        .filter(|(kind, _)| *kind != "fail")
        .collect();
    assert_eq!(kinds, [("pass", "none"), ("notApplicable", "none"), ("open", "none")]);
}

#[test]
fn names_become_uris() {
    for (name, uri) in [
        ("a/b c.jsonl", "a/b%20c.jsonl"),
        ("./é.har", "%C3%A9.har"),
        ("/tmp/x#y", "file:///tmp/x%23y"),
        ("<stdin>", "stdin"),
    ] {
        assert_eq!(super::uri(name), uri);
    }
}
