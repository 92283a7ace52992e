//! What the functions that other languages call promise of any bytes and any options: an answer that is the JSON it claims to be,
//! or an error with a code and a place that the recording has; no function takes what another rejects; and a call that is stopped
//! ends.

use app::{
    CheckOptions, Command, ConvertOptions, DiffOptions, Error, IdentifyOptions, Outcome, ReadOptions,
    Recording, ShowOptions, SummaryOptions, answer, check,
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
    for format in [Some(chosen.to_owned()), None] {
        let answers = answers(&|| Recording::new("it", bytes), format.as_deref());
        let meaning = answers[0].1.as_ref().err().map(ToString::to_string);
        for (function, strict, answer) in answers.iter().map(|(name, answer)| (name, strict(name), answer)) {
            match answer {
                Ok(text) => assert!(!strict || meaning.is_none(), "{function} takes it: {meaning:?} {text}"),
                Err(error) => {
                    assert_eq!(Some(error.to_string()), meaning, "{function} and read say different things");
                    placed(error, bytes);
                }
            }
        }
        let stop = || true;
        for (function, answer) in
            self::answers(&|| Recording::stoppable("it", bytes, &stop), format.as_deref())
        {
            let code = answer.err().map(|error| error.code());
            assert_eq!(code, Some("interrupted"), "{function} does not stop");
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
fn answers<'a>(
    it: &dyn Fn() -> Recording<'a>,
    format: Option<&str>,
) -> Vec<(&'static str, Result<String, Error>)> {
    let format = || format.map(str::to_owned);
    let same = DiffOptions { left_format: format(), right_format: format(), ..DiffOptions::default() };
    let compared = answer(&same, [it(), it()]).map(|answer| {
        assert!(answer.outcome == Outcome::Well, "a recording differs from itself: {}", answer.text());
        answer.text()
    });
    let har = ConvertOptions { to: "har".to_owned(), format: format(), lossy: true, salvage: false };
    let text = |command: &dyn Command| answer(command, [it()]).map(|answer| answer.text());
    let judged = CheckOptions { format: format(), every: true, ..CheckOptions::default() };
    let answers = [
        ("read", text(&ReadOptions { format: format(), ..ReadOptions::default() })),
        ("identify", text(&IdentifyOptions { format: format(), ..IdentifyOptions::default() })),
        ("summary", text(&SummaryOptions { format: format(), ..SummaryOptions::default() })),
        ("check", check(&mut it(), &judged).map(|checked| checked.json())),
        ("diff", compared),
        ("convert", text(&har)),
    ];
    for (function, answer) in &answers {
        if let Ok(text) = answer {
            assert!(Json::parse(text).is_ok(), "{function} answers with text that is not JSON: {text}");
        }
    }
    let pictures = ["text", "svg", "html"].map(|output| {
        let options = ShowOptions { format: format(), output: output.to_owned(), ..ShowOptions::default() };
        ("show", text(&options))
    });
    answers.into_iter().chain(pictures).collect()
}

/// An error says something, and about a place that there is.
fn placed(error: &Error, bytes: &[u8]) {
    assert!(!error.code().is_empty() && !error.message().is_empty(), "{error:?}");
    assert!(Json::parse(&error.json()).is_ok(), "{}", error.json());
    let Some(place) = error.rejection().map(|rejection| &rejection.position) else { return };
    let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
    assert!((1..=lines).contains(&place.line) && place.column >= 1, "{place:?} of {lines} lines");
}

/// A text where a word, a pointer, a marker or the TOML of a set belongs is taken, or refused as such.
fn options(text: &str) {
    let (some, list) = (Some(text.to_owned()), vec![text.to_owned()]);
    let usual = CheckOptions::default;
    let it = || Recording::new("it", SMALL);
    let judged = |options: CheckOptions| check(&mut it(), &options).map(drop);
    let call = |command: &dyn Command| answer(command, [it()]).map(drop);
    let compared = DiffOptions { ignore: list.clone(), redacted: some.clone(), ..DiffOptions::default() };
    let calls = [
        judged(CheckOptions { require: some.clone(), ..usual() }),
        judged(CheckOptions { spec: some.clone(), ..usual() }),
        judged(CheckOptions { select: list.clone(), ..usual() }),
        judged(CheckOptions { redacted: list, ..usual() }),
        answer(&compared, [it(), it()]).map(drop),
        call(&ReadOptions { format: some, ..ReadOptions::default() }),
        call(&ReadOptions { dialect: text.to_owned(), ..ReadOptions::default() }),
        call(&ConvertOptions { to: text.to_owned(), ..ConvertOptions::default() }),
    ];
    for error in calls.into_iter().filter_map(Result::err) {
        assert!([Error::BAD_OPTION, "other-revision"].contains(&error.code()), "{error:?}");
        assert!(!error.message().is_empty() && Json::parse(&error.json()).is_ok(), "{error:?}");
    }
}
