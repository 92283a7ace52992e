//! Protocol 1: what is asked, and what counts as an answer.
//!
//! Answers stay exact JSON text: a number in them never becomes a float.

use crate::answer::{Answer, Level};
use crate::meaning::{Calls, Identification, Meaning};
use crate::normal::parse;
use crate::plain;
use transcript::dialect::{self, Dialect};
use transcript::json::{Json, JsonKind, quoted};

/// The question that begins it all.
pub const START: &str = r#"{"cmd":"start","protocol":1}"#;
/// The last line: the adapter may go.
pub const STOP: &str = r#"{"cmd":"stop"}"#;

/// The question about one transcript.
pub fn read(seq: u64, format: &str, path: &str) -> String {
    let (format, path) = (quoted(format), quoted(path));
    format!(r#"{{"cmd":"read","seq":{seq},"format":{format},"path":{path}}}"#)
}

/// The question what a recording shows. Nothing is said of its format.
pub fn identify(seq: u64, path: &str) -> String {
    format!(r#"{{"cmd":"identify","seq":{seq},"path":{}}}"#, quoted(path))
}

/// What an adapter says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How much of a session it can show.
    pub level: Level,
    /// Its formats, as it spells them.
    pub formats: Vec<String>,
    /// The dialect that it reads in, where it names one.
    pub dialect: Option<&'static Dialect>,
    /// Whether it answers `identify`.
    pub identify: bool,
}

impl Handshake {
    /// Reads the answer to [`START`].
    ///
    /// # Errors
    /// A sentence that says what to change.
    pub fn parse(line: &[u8]) -> Result<Self, String> {
        let shown = shown(line);
        let text = std::str::from_utf8(line).map_err(|_| format!("it is not UTF-8: {shown}"))?;
        let hello = parse(text).ok().filter(|hello| hello.kind() == JsonKind::Object).ok_or_else(|| {
            format!(
                "it is not a JSON object: {shown}; stdout must hold one JSON object per line and nothing else, \
                 so print banners and logs to stderr"
            )
        })?;
        match hello.member("protocol").map(Json::text) {
            Some("1") => {}
            Some(other) => {
                return Err(format!("it speaks protocol {other}, and this program speaks only protocol 1"));
            }
            None => return Err(format!("it has no `protocol`: add \"protocol\": 1 to {shown}")),
        }
        // All are listed, so that one look mends them.
        let mut faults: Vec<String> = Vec::new();
        let mut text = |name: &str| {
            let found = string(hello, name);
            faults.extend(found.is_none().then(|| format!("`{name}` must be a string")));
            found.unwrap_or_default()
        };
        let (name, version, level) = (text("name"), text("version"), text("level"));
        let level = match level.as_str() {
            "calls" => Level::Calls,
            "events" | "" => Level::Events,
            other => {
                faults.push(format!("its level is `{other}`; it must be `events` or `calls`"));
                Level::Events
            }
        };
        let formats: Option<Vec<String>> = hello
            .member("formats")
            .filter(|formats| formats.kind() == JsonKind::Array)
            .and_then(|formats| formats.items().map(decoded).collect());
        faults.extend(formats.is_none().then(|| "`formats` must be an array of names".to_owned()));
        let dialect = hello.member("dialect").map(|name| {
            decoded(name).ok_or("`dialect` must be a string".to_owned()).and_then(|name| dialect::find(&name))
        });
        let dialect = dialect.transpose().unwrap_or_else(|why| {
            faults.push(why);
            None
        });
        let identify = hello.member("identify").map_or("false", Json::text);
        if !matches!(identify, "true" | "false") {
            faults.push("`identify` must be true or false".to_owned());
        }
        let (formats, identify) = (formats.unwrap_or_default(), identify == "true");
        if !faults.is_empty() {
            return Err(faults.join("; "));
        }
        Ok(Self { name, version, level, formats, dialect, identify })
    }
}

/// Reads an answer object: to the question `seq`, where there is one.
///
/// # Errors
/// Why it is not an answer, with what came.
pub fn answer(text: &[u8], seq: Option<u64>) -> Result<Answer, String> {
    let but = |why: &str| format!("{why}: {}", shown(text));
    if text.trim_ascii().is_empty() {
        return Err("it printed an empty line".to_owned());
    }
    let line = std::str::from_utf8(text).map_err(|_| but("the answer is not UTF-8"))?;
    let value = parse(line).map_err(|_| but("the answer is not a JSON object"))?;
    if value.kind() != JsonKind::Object {
        return Err(but("the answer is not a JSON object"));
    }
    if let Some(asked) = seq {
        match value.member("seq").map(Json::text) {
            Some(seq) if seq == asked.to_string() => {}
            Some(seq) => {
                return Err(but(&format!("it answered request {seq}, but request {asked} was asked")));
            }
            None => return Err(but("its answer has no `seq`")),
        }
    }
    let said: Vec<(&str, Json<'_>)> = ["meaning", "calls", "identification", "rejection", "unsupported"]
        .into_iter()
        .filter_map(|name| Some((name, value.member(name)?)))
        .collect();
    match said.as_slice() {
        [("meaning", meaning)] => Meaning::from_json(*meaning).map(Answer::Meaning).map_err(|why| but(&why)),
        [("calls", calls)] if calls.kind() != JsonKind::Array => Err(but("the answer has no `calls` array")),
        [("calls", calls)] => {
            let summary = value.member("authorization_discovery").map(Json::text);
            let summary = summary.map_or(String::new(), |it| format!(", \"authorization_discovery\": {it}"));
            Ok(Answer::Calls(Calls::written(format!("{{\"calls\": {}{summary}}}", calls.text()))))
        }
        [("identification", found)] => {
            Identification::from_json(*found).map(Answer::Identification).map_err(|why| but(&why))
        }
        [("rejection", rejection)] => {
            let message = string(*rejection, "message")
                .ok_or_else(|| but("its rejection has no `message` that is a string"))?;
            let code = match rejection.member("code") {
                Some(code) if code.kind() != JsonKind::Null => {
                    Some(decoded(code).ok_or_else(|| but("the `code` of its rejection is not a string"))?)
                }
                _ => None,
            };
            Ok(Answer::Rejection { code, message })
        }
        [("unsupported", why)] => match decoded(*why) {
            Some(why) => Ok(Answer::Unsupported { why }),
            None => Err(but("its `unsupported` is not a string that says why")),
        },
        [] => Err(but(
            "its answer has none of `meaning`, `calls`, `identification`, `rejection` and `unsupported`",
        )),
        _ => Err(but(
            "its answer has several of `meaning`, `calls`, `identification`, `rejection` and `unsupported`",
        )),
    }
}

fn string(value: Json<'_>, name: &str) -> Option<String> {
    decoded(value.member(name)?)
}

fn decoded(value: Json<'_>) -> Option<String> {
    value.as_text().map(|text| String::from_utf8_lossy(&text.decode()).into_owned())
}

/// What came instead of an answer, cut to what a person reads.
pub fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST)]);
    plain::cut(text.trim_end_matches(['\n', '\r']), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::{Handshake, answer, identify, read};
    use crate::answer::{Answer, Level};
    use crate::meaning::{Calls, Identification, Meaning};

    const HELLO: &str = r#"{"protocol":1,"name":"a","version":"2","language":"c","formats":["sse-legacy","har"],
        "level":"calls","more":true}"#;

    #[test]
    fn a_handshake_says_who_and_what() {
        let hello = Handshake::parse(HELLO.as_bytes()).unwrap();
        assert_eq!((hello.name.as_str(), hello.version.as_str(), hello.level), ("a", "2", Level::Calls));
        assert_eq!(hello.formats, ["sse-legacy", "har"], "as it spells them");
        assert_eq!(hello.dialect, None);
        let typed = HELLO.replace("\"more\":true", "\"dialect\":\"typed-ids\"");
        assert_eq!(Handshake::parse(typed.as_bytes()).unwrap().dialect.unwrap().name, "typed-ids");
        assert!(!hello.identify);
        let identifies = HELLO.replace("\"more\":true", "\"identify\":true");
        assert!(Handshake::parse(identifies.as_bytes()).unwrap().identify);
    }

    #[test]
    fn a_refused_handshake_says_what_to_change() {
        for (from, to, part) in [
            ("\"protocol\":1", "\"protocol\":2", "speaks protocol 2"),
            ("\"protocol\":1,", "", "no `protocol`"),
            ("\"name\":\"a\",", "", "`name` must be a string"),
            ("\"2\"", "2", "`version` must be a string"),
            ("\"calls\"", "\"tools\"", "its level is `tools`; it must be `events` or `calls`"),
            ("[\"sse-legacy\",\"har\"]", "\"har\"", "array of names"),
            (
                "\"more\":true",
                "\"dialect\":\"typed\"",
                "no dialect `typed`, only default and typed-ids; did you",
            ),
            ("\"more\":true", "\"dialect\":1", "`dialect` must be a string"),
            ("\"more\":true", "\"identify\":\"yes\"", "`identify` must be true or false"),
            ("{\"protocol\"", "Ready! {\"protocol\"", "print banners and logs to stderr"),
        ] {
            let why = Handshake::parse(HELLO.replace(from, to).as_bytes()).unwrap_err();
            assert!(why.contains(part), "{part} is missing in: {why}");
        }
    }

    #[test]
    fn answers_keep_the_text_of_their_numbers() {
        let meaning = r#"{"seq":7,"meaning":{"events":[9007199254740993,1e400,"\ud83d"]}}"#;
        let expected =
            Answer::Meaning(Meaning::parse(r#"{"events":[9007199254740993,1e400,"\ud83d"]}"#).unwrap());
        assert_eq!(answer(meaning.as_bytes(), Some(7)), Ok(expected));
        let calls = answer(br#"{"seq":7,"calls":[1.0]}"#, Some(7));
        assert_eq!(
            calls,
            Ok(Answer::Calls(Calls::parse(r#"{"calls": [1.0]}"#).unwrap())),
            "a summary that is left out is not `null`"
        );
        let said = answer(br#"{"seq":7,"calls":[],"authorization_discovery":null}"#, Some(7));
        let null = Calls::parse(r#"{"calls": [], "authorization_discovery": null}"#).unwrap();
        assert_eq!(said, Ok(Answer::Calls(null)));
        let found = answer(br#"{"seq":7,"identification":{"evidence":[]}}"#, Some(7));
        let identification = Identification::parse(r#"{"evidence":[]}"#).unwrap();
        assert_eq!(found, Ok(Answer::Identification(identification)));
        let rejection = answer(br#"{"rejection":{"message":"\u006eo"}}"#, None);
        assert_eq!(rejection, Ok(Answer::Rejection { code: None, message: "no".into() }));
    }

    #[test]
    fn what_is_no_answer_is_shown() {
        for (text, part) in [
            ("Listening", "not a JSON object: Listening"),
            (" \n", "it printed an empty line"),
            ("[]", "not a JSON object"),
            (r#"{"meaning":{}}"#, "no `seq`"),
            (r#"{"seq":6,"meaning":{}}"#, "answered request 6, but request 7 was asked"),
            (r#"{"seq":"7","meaning":{}}"#, "answered request \"7\", but request 7 was asked"),
            (r#"{"seq":7,"meaning":{}}"#, "no `events` array"),
            (r#"{"seq":7,"meaning":[]}"#, "no `events` array"),
            (r#"{"seq":7,"meaning":{"events":{}}}"#, "no `events` array"),
            (r#"{"seq":7,"calls":{}}"#, "no `calls` array"),
            (r#"{"seq":7,"identification":{"transport":null}}"#, "no `evidence` array"),
            (r#"{"seq":7}"#, "has none of"),
            (r#"{"seq":7,"meaning":{},"rejection":{}}"#, "has several of"),
            (r#"{"seq":7,"rejection":{"code":"batch"}}"#, "has no `message`"),
            (r#"{"seq":7,"rejection":{"message":"a","code":3}}"#, "`code`"),
            (r#"{"seq":7,"unsupported":true}"#, "says why"),
        ] {
            let why = answer(text.as_bytes(), Some(7)).unwrap_err();
            assert!(why.contains(part), "{part} is missing in: {why}");
        }
        assert!(answer(b"{\"seq\":7,\"meaning\":\"\xff\"}", Some(7)).unwrap_err().contains("not UTF-8"));
    }

    #[test]
    fn a_question_is_one_line() {
        let line = read(3, "har", "/t/a\"b\n.dat");
        assert_eq!(line, r#"{"cmd":"read","seq":3,"format":"har","path":"/t/a\"b\n.dat"}"#);
        assert_eq!(identify(4, "/t/a\"b"), r#"{"cmd":"identify","seq":4,"path":"/t/a\"b"}"#);
    }

    #[test]
    fn all_faults_of_a_handshake_are_listed() {
        let why = Handshake::parse(br#"{"protocol":1,"name":7,"version":"1","level":"all","identify":1}"#)
            .unwrap_err();
        for part in ["`name`", "level is `all`", "`formats`", "`identify`"] {
            assert!(why.contains(part), "{part} is missing in {why}");
        }
    }
}
