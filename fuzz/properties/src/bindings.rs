//! What the functions that other languages call promise of any bytes and any options: an answer that is the JSON it claims to be,
//! or an error with a code and a place that the recording has; no function takes what another rejects; and a call that is stopped
//! ends.

use app::{
    CheckOptions, ConvertOptions, DiffOptions, Error, IdentifyOptions, ReadOptions, Recording, ShowOptions,
    SummaryOptions, check, convert, diff, identify, read, show, summary,
};
use formats::FORMATS;
use transcript::json::Json;

/// A recording for calls that are about their options.
const SMALL: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#;

/// The functions over the bytes, in the format that the first byte chooses and in the one that the content shows; and the bytes as
/// the options of calls.
///
/// # Panics
/// Where a function does not keep its promises.
pub(crate) fn any(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let chosen = FORMATS[usize::from(choice) % FORMATS.len()].name;
    let recording = Recording::new("it", bytes);
    for format in [Some(chosen.to_owned()), None] {
        let answers = answers(&recording, format.clone());
        let meaning = answers[0].1.as_ref().err();
        for (function, strict, answer) in answers.iter().map(|(name, answer)| (name, strict(name), answer)) {
            match answer {
                Ok(text) => assert!(!strict || meaning.is_none(), "{function} takes it: {meaning:?} {text}"),
                Err(error) => {
                    assert_eq!(Some(error), meaning, "{function} and read say different things");
                    placed(error, bytes);
                }
            }
        }
        let stop = || true;
        let stopped = Recording { stop: Some(&stop), ..recording };
        for (function, answer) in self::answers(&stopped, format) {
            let code = answer.err().map(|error| error.code);
            assert_eq!(code, Some(Error::INTERRUPTED), "{function} does not stop");
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        options(text);
    }
}

/// Whether a function gives nothing of a recording that `read` rejects. The others tell what there is, and where it ends.
fn strict(function: &str) -> bool {
    !["check", "summary", "show"].contains(&function)
}

/// What each function makes of a recording: `read` first. An answer that claims to be JSON is.
fn answers(it: &Recording<'_>, format: Option<String>) -> Vec<(&'static str, Result<String, Error>)> {
    let format = || format.clone();
    let same = DiffOptions { left_format: format(), right_format: format(), ..DiffOptions::default() };
    let compared = diff(it, it, &same).map(|compared| {
        assert!(compared.same, "a recording differs from itself: {}", compared.json);
        compared.json
    });
    let har = ConvertOptions { to: "har".to_owned(), format: format(), lossy: true, salvage: false };
    let drawn = |output: &str| {
        let options = ShowOptions { format: format(), output: output.to_owned(), ..ShowOptions::default() };
        show(it, &options).map(|answer| answer.text)
    };
    let answers = [
        ("read", read(it, &ReadOptions { format: format(), ..ReadOptions::default() }).map(|it| it.text)),
        ("identify", identify(it, &IdentifyOptions { format: format() }).map(|it| it.text)),
        ("summary", summary(&[*it], &SummaryOptions { format: format() }).map(|it| it.text)),
        (
            "check",
            check(it, &CheckOptions { format: format(), every: true, ..CheckOptions::default() })
                .map(|checked| checked.json()),
        ),
        ("diff", compared),
        ("convert", convert(it, &har).map(|it| String::from_utf8_lossy(&it.bytes).into_owned())),
    ];
    for (function, answer) in &answers {
        if let Ok(text) = answer {
            assert!(Json::parse(text).is_ok(), "{function} answers what is no JSON: {text}");
        }
    }
    let pictures = ["text", "svg", "html"].map(|output| ("show", drawn(output)));
    answers.into_iter().chain(pictures).collect()
}

/// An error says something, and about a place that there is.
fn placed(error: &Error, bytes: &[u8]) {
    assert!(!error.code.is_empty() && !error.message.is_empty(), "{error:?}");
    assert!(Json::parse(&error.json()).is_ok(), "{}", error.json());
    let Some(place) = &error.place else { return };
    let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
    assert!((1..=lines).contains(&place.line) && place.column >= 1, "{place:?} of {lines} lines");
}

/// A text where a word, a pointer, a marker or the TOML of a set belongs is taken, or refused as such.
fn options(text: &str) {
    let it = Recording::new("it", SMALL);
    let (some, list) = (Some(text.to_owned()), vec![text.to_owned()]);
    let usual = CheckOptions::default;
    let judged = |options: CheckOptions| check(&it, &options).map(drop);
    let calls = [
        judged(CheckOptions { require: some.clone(), ..usual() }),
        judged(CheckOptions { spec: some.clone(), ..usual() }),
        judged(CheckOptions { select: list.clone(), ..usual() }),
        judged(CheckOptions { redacted: list.clone(), ..usual() }),
        diff(&it, &it, &DiffOptions { ignore: list, redacted: some.clone(), ..DiffOptions::default() })
            .map(drop),
        read(&it, &ReadOptions { format: some, ..ReadOptions::default() }).map(drop),
        read(&it, &ReadOptions { dialect: text.to_owned(), ..ReadOptions::default() }).map(drop),
        convert(&it, &ConvertOptions { to: text.to_owned(), ..ConvertOptions::default() }).map(drop),
    ];
    for error in calls.into_iter().filter_map(Result::err) {
        assert!([Error::BAD_OPTION, Error::OTHER_REVISION].contains(&error.code), "{error:?}");
        assert!(!error.message.is_empty() && Json::parse(&error.json()).is_ok(), "{error:?}");
    }
}
