//! The library over bytes answers as the program does, byte for byte.
//!
//! `check` and `summary` are held to it on every recording of every case, by a few runs of the program over many. `read`,
//! `identify`, `convert` and `diff` take a run each: they are held to it on the first three cases of each topic in every format,
//! which is more than 175 recordings.

#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use app::{
    CheckOptions, ConvertOptions, DiffOptions, IdentifyOptions, ReadOptions, Recording, SummaryOptions,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// So many cases of each topic stand for it where a recording takes a run of the program.
const OF_A_TOPIC: usize = 3;

/// The folder of the cases, those of archives among them.
static CASES: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases");
    for (path, bytes) in cases::files() {
        fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        fs::write(folder.join(path), bytes).unwrap();
    }
    folder
});

/// The recordings of a case with the names that they have from `cases`, in order.
struct Case {
    topic: String,
    recordings: Vec<(String, Vec<u8>)>,
}

fn all() -> Vec<Case> {
    let mut found: BTreeMap<PathBuf, Case> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(&*CASES).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        let (folder, file) = (path.parent().unwrap(), path.file_name().unwrap().to_string_lossy());
        if !folder.join("case.toml").is_file() || !formats::FORMATS.iter().any(|format| format.file == file) {
            continue;
        }
        let from_cases = |path: &Path| path.strip_prefix(&*CASES).unwrap().display().to_string();
        let topic = from_cases(folder.parent().unwrap());
        let case = found.entry(folder.to_owned()).or_insert(Case { topic, recordings: Vec::new() });
        case.recordings.push((from_cases(&path), fs::read(&path).unwrap()));
    }
    found.into_values().collect()
}

/// The first cases of each topic.
fn some() -> Vec<Case> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut cases = all();
    cases.retain(|case| {
        let count = seen.entry(case.topic.clone()).or_default();
        *count += 1;
        *count <= OF_A_TOPIC
    });
    let recordings: usize = cases.iter().map(|case| case.recordings.len()).sum();
    assert!(seen.len() > 15 && recordings > 175, "{recordings} recordings of {} topics", seen.len());
    cases
}

fn program(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
    command.args(words).current_dir(&*CASES).output().unwrap()
}

/// That both say the same. A page of text helps nobody: the first line that differs does.
fn is_the_same(ours: &str, printed: &[u8], about: &str) {
    let printed = String::from_utf8_lossy(printed);
    let differs = printed.lines().zip(ours.lines()).find(|(printed, ours)| printed != ours);
    assert!(printed == ours, "{about}: {differs:#?}");
}

/// Holds `check` to what the program prints of these recordings, and gives those back that show a format.
fn check_is_the_same<'a>(recordings: &[Recording<'a>], every: bool) -> Vec<Recording<'a>> {
    let list = tempfile::NamedTempFile::new().unwrap();
    let names: Vec<&str> = recordings.iter().map(|recording| recording.name).collect();
    fs::write(list.path(), names.join("\n")).unwrap();
    let words = ["check", "--output", "json", "--files-from", list.path().to_str().unwrap()];
    let printed = program(&[&words[..], if every { &["-v"] } else { &["-q"] }].concat());
    let options = CheckOptions { every, ..CheckOptions::default() };
    let (mut lines, mut known) = (Vec::new(), Vec::new());
    for recording in recordings {
        let Ok(checked) = app::check(recording, &options) else { continue };
        known.push(*recording);
        let array = checked.json();
        let inner = array.strip_prefix("[\n").and_then(|array| array.strip_suffix("\n]\n"));
        assert!(inner.is_some() || array == "[]\n", "{array}");
        lines.extend(inner.map(str::to_owned));
    }
    is_the_same(&format!("[\n{}\n]\n", lines.join(",\n")), &printed.stdout, "check");
    let said = String::from_utf8_lossy(&printed.stderr);
    let refused = said.lines().filter(|line| line.starts_with("error")).count();
    assert_eq!(recordings.len() - known.len(), refused, "{said}");
    known
}

#[test]
fn check_and_summary_answer_as_the_program_does_on_every_case() {
    let cases = all();
    let recordings: Vec<_> = cases
        .iter()
        .flat_map(|case| &case.recordings)
        .map(|(name, bytes)| Recording::new(name, bytes))
        .collect();
    assert!(recordings.len() > 2_500, "only {} recordings", recordings.len());
    let known = check_is_the_same(&recordings, false);
    for some in known.chunks(500) {
        let names: Vec<&str> = some.iter().map(|recording| recording.name).collect();
        let printed = program(&[&["summary", "--output", "json"], &names[..]].concat());
        let ours = app::summary(some, &SummaryOptions::default()).unwrap().text;
        is_the_same(&ours, &printed.stdout, "summary");
    }
}

#[test]
fn check_lists_every_rule_as_the_program_does_in_every_topic() {
    let cases = some();
    let first = cases.iter().filter_map(|case| case.recordings.first());
    let recordings: Vec<_> = first.map(|(name, bytes)| Recording::new(name, bytes)).collect();
    check_is_the_same(&recordings, true);
}

/// That an answer, or an error, is what the program printed.
fn is_what_was_printed(answer: Result<&[u8], &app::Error>, printed: &Output, about: &str) {
    let said = String::from_utf8_lossy(&printed.stderr);
    match answer {
        Ok(bytes) => assert!(
            printed.stdout == bytes,
            "{about}: {}\n{}\n{said}",
            String::from_utf8_lossy(&printed.stdout),
            String::from_utf8_lossy(bytes)
        ),
        Err(error) => {
            assert!(printed.stdout.is_empty() && !printed.status.success(), "{about}: {error}");
            assert!(said.contains("error"), "{about}: {error}: {said}");
            if let Some(clause) = error.place.as_ref().map(|place| place.clause) {
                assert!(said.contains(error.code) && said.contains(clause), "{about}: {error}: {said}");
            }
        }
    }
}

#[test]
fn read_and_identify_answer_as_the_program_does_in_every_topic_and_format() {
    let mut rejected = 0;
    for (name, bytes) in some().iter().flat_map(|case| &case.recordings) {
        let recording = Recording::new(name, bytes);
        for (flags, options) in [
            (&["read"][..], ReadOptions::default()),
            (&["read", "--calls"], ReadOptions { calls: true, ..ReadOptions::default() }),
            (
                &["read", "--dialect", "typed-ids"],
                ReadOptions { dialect: "typed-ids".into(), ..ReadOptions::default() },
            ),
        ] {
            let answer = app::read(&recording, &options);
            rejected += u32::from(answer.is_err());
            let answer = answer.as_ref().map(|answer| answer.text.as_bytes());
            is_what_was_printed(answer, &program(&[flags, &[name]].concat()), name);
        }
        let answer = app::identify(&recording, &IdentifyOptions::default());
        let answer = answer.as_ref().map(|answer| answer.text.as_bytes());
        is_what_was_printed(answer, &program(&["identify", "--output", "json", name]), name);
    }
    assert!(rejected > 20, "only {rejected} rejections were compared");
}

#[test]
fn convert_and_diff_answer_as_the_program_does_in_every_topic_and_format() {
    let (mut refused, mut different) = (0, 0);
    let cases = some();
    let other = |place: usize| cases[place.saturating_sub(1)].recordings.first().unwrap();
    for (number, case) in cases.iter().enumerate() {
        for (place, (name, bytes)) in case.recordings.iter().enumerate() {
            let recording = Recording::new(name, bytes);
            // Each recording goes into another format, so that all are written.
            let to = formats::written().cycle().nth(place).unwrap().name;
            let options = ConvertOptions { to: to.to_owned(), ..ConvertOptions::default() };
            let converted = app::convert(&recording, &options);
            refused +=
                u32::from(converted.as_ref().is_err_and(|error| error.code == app::Error::CANNOT_CARRY));
            let answer = converted.as_ref().map(|converted| &converted.bytes[..]);
            is_what_was_printed(answer, &program(&["convert", name, "--to", to]), name);
            // With another format of its session, and with another session.
            let (first, first_bytes) = if place == 0 { other(number) } else { &case.recordings[0] };
            let compared =
                app::diff(&Recording::new(first, first_bytes), &recording, &DiffOptions::default());
            different += u32::from(compared.as_ref().is_ok_and(|compared| !compared.same));
            let answer = compared.as_ref().map(|compared| compared.json.as_bytes());
            is_what_was_printed(answer, &program(&["diff", "--output", "json", first, name]), name);
        }
    }
    assert!(refused > 5 && different > 50, "{refused} refused, {different} different");
}
