//! Every renderer over the same recording, which has a bit of everything.

use super::Renderer;
use super::github::Github;
use super::json::Json;
use super::junit::Junit;
use super::ndjson::Ndjson;
use super::sample::{file, rendered};
use super::sarif::Sarif;
use super::text::{Options, Text};
use crate::golden::golden;
use serde_json::{Value, json};
use std::io::Cursor;
use verdict::text::Verbosity;

fn text(volume: Verbosity, colour: bool) -> Box<dyn Renderer> {
    Box::new(Text::new("0.1.0", Options { colour, volume }))
}

fn junit(strict: bool, every: bool) -> Box<dyn Renderer> {
    Box::new(Junit::new(strict, every, Cursor::new(Vec::new())))
}

fn ndjson(strict: bool, every: bool) -> Box<dyn Renderer> {
    let (version, options) = ("0.1.0".to_owned(), "--spec 2025-11-25".to_owned());
    Box::new(Ndjson { version, options, strict, every })
}

#[test]
fn renderers_write_what_a_person_once_looked_at() {
    let renderers: [(&str, Box<dyn Renderer>); 14] = [
        ("text", text(Verbosity::Normal, false)),
        ("text, quiet", text(Verbosity::Quiet, false)),
        ("text, loud", text(Verbosity::Loud, false)),
        ("text, in colours", text(Verbosity::Normal, true)),
        ("json", Box::new(Json::new(false))),
        ("json of every rule", Box::new(Json::new(true))),
        ("ndjson", ndjson(false, false)),
        ("ndjson of every rule", ndjson(true, true)),
        ("sarif", Box::new(Sarif::new("0.1.0", false))),
        ("sarif of every rule", Box::new(Sarif::new("0.1.0", true))),
        ("junit", junit(false, false)),
        ("junit of every rule, strict", junit(true, true)),
        ("github", Box::new(Github { strict: false, has_files: true })),
        ("github, strict", Box::new(Github { strict: true, has_files: true })),
    ];
    let mut faultless = file();
    faultless.lines.retain(|line| !line.is_finding());
    let mut out = Vec::new();
    text(Verbosity::Normal, false).file(&faultless, &mut out).unwrap();
    let faultless = ("text of a recording without a fault", String::from_utf8(out).unwrap());
    let outputs = renderers.into_iter().map(|(title, mut it)| (title, rendered(&mut *it)));
    golden("check.txt", outputs.chain([faultless]));
}

/// A schema, with which a value stays valid only as it is.
fn schema(text: &str) -> jsonschema::Validator {
    let mut schema: Value = serde_json::from_str(text).unwrap();
    // The pattern of a language, which we do not use, is not a regular expression in SARIF's schema (a bracket is closed that
    // was never opened), so it is left out. That schema is as the package `serde-sarif` 0.8.0 (MIT) carries it.
    for part in ["run", "toolComponent"] {
        if let Some(language) = schema.pointer_mut(&format!("/definitions/{part}/properties/language")) {
            language.as_object_mut().unwrap().remove("pattern");
        }
    }
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn outputs_are_as_their_schemas_say() {
    let (ours, standard) =
        (include_str!("../../check.schema.json"), include_str!("../../tests/sarif-2.1.0.schema.json"));
    let sarif = |every| -> Box<dyn Renderer> { Box::new(Sarif::new("0.1.0", every)) };
    let json = |every| -> Box<dyn Renderer> { Box::new(Json::new(every)) };
    let start_line = "/runs/0/results/0/locations/0/physicalLocation/region/startLine";
    for (schema, renderer, place, wrong) in [
        (schema(ours), &json as &dyn Fn(bool) -> Box<dyn Renderer>, "/0/verdict", json!("maybe")),
        (schema(standard), &sarif, start_line, json!(0)),
    ] {
        for every in [false, true] {
            let mut value: Value = serde_json::from_str(&rendered(&mut *renderer(every))).unwrap();
            let faults: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
            assert!(faults.is_empty(), "{faults:#?}");
            if let Some(member) = value.pointer_mut(place) {
                *member = wrong.clone();
                assert!(!schema.is_valid(&value));
            }
        }
        let mut nothing = Vec::new();
        renderer(true).finish(&mut nothing).unwrap();
        schema.validate(&serde_json::from_slice(&nothing).unwrap()).unwrap();
    }
}
