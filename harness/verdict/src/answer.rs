//! What an importer said about one transcript, as data.
//!
//! The things that it can say, and the ways in which it can fail to say any.

use crate::meaning::{Call, Calls, Event, Identification, Meaning};
use crate::plain::counted;

/// What a message begins with that tells of a reading where a rejection is due.
pub(crate) const READ: &str = "it was read: ";

/// What a reading begins with in words.
pub(crate) const READING: &str = "a session of ";

/// How much of a session an importer can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The whole meaning, event by event.
    Events,
    /// Only tool calls and their outcomes: the calls projection.
    Calls,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The whole session, event by event.
    Meaning(Meaning),
    /// Its tool calls and their outcomes only.
    Calls(Calls),
    /// What the recording shows, where that was asked.
    Identification(Identification),
    /// The transcript is not a session.
    Rejection {
        /// The kind of rejection by its kebab-case name, where the importer tells kinds apart.
        code: Option<String>,
        /// What the importer says is wrong.
        message: String,
    },
    /// The importer does not read such a thing, and says so: a skip.
    Unsupported {
        /// Why.
        why: String,
    },
    /// No answer at all.
    Broken {
        /// In which way.
        how: FailureKind,
        /// What was seen.
        message: String,
    },
}

transcript::named! {
    /// The ways in which an importer fails to answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FailureKind {
        /// It died.
        Crash "crash",
        /// It did not come back in time.
        Timeout "timeout",
        /// What it said is not an answer.
        Garbled "garbled",
        /// It said something else when it was asked again.
        Unstable "unstable",
    }
}

impl Answer {
    /// What to make of two answers to the same question: the first, or [`FailureKind::Unstable`] where they differ
    /// (clause SRV-SAME). The words of a message may differ, and so may the spelling of equal JSON. Where it failed
    /// to answer once, that is what is reported: a crash now and then is a crash.
    pub fn confirmed_by(self, again: &Answer) -> Answer {
        let same = match (&self, again) {
            (Self::Meaning(first), Self::Meaning(second)) => first.json().same(second.json()),
            (Self::Calls(first), Self::Calls(second)) => first.json().same(second.json()),
            (Self::Identification(first), Self::Identification(second)) => first.json().same(second.json()),
            (Self::Rejection { code: first, .. }, Self::Rejection { code: second, .. }) => first == second,
            (Self::Unsupported { .. }, Self::Unsupported { .. }) => true,
            (Self::Broken { how: first, .. }, Self::Broken { how: second, .. }) => first == second,
            _ => false,
        };
        if same {
            return self;
        }
        let reported = |answer: &Self| match answer {
            Self::Broken { message, .. } => format!("{}: {message}", answer.in_words()),
            _ => answer.in_words(),
        };
        let message = format!("first {}, then a different answer: {}", reported(&self), reported(again));
        let how = match (&self, again) {
            (Self::Broken { how, .. }, _) | (_, Self::Broken { how, .. }) => *how,
            _ => FailureKind::Unstable,
        };
        Self::Broken { how, message }
    }

    /// The answer in a few words, for messages.
    pub fn in_words(&self) -> String {
        match self {
            Self::Meaning(meaning) => READING.to_owned() + &counted(meaning.count(), "event"),
            Self::Calls(calls) => READING.to_owned() + &counted(calls.count(), "call"),
            Self::Identification(_) => "an identification".to_owned(),
            Self::Rejection { code: Some(code), .. } => format!("a rejection ({code})"),
            Self::Rejection { code: None, .. } => "a rejection".to_owned(),
            Self::Unsupported { .. } => "\"unsupported\"".to_owned(),
            Self::Broken { how, .. } => format!("no answer ({})", how.name()),
        }
    }
}

impl From<Vec<Call>> for Answer {
    fn from(calls: Vec<Call>) -> Self {
        Self::Calls(calls.into_iter().collect())
    }
}

impl From<Vec<Event>> for Answer {
    fn from(events: Vec<Event>) -> Self {
        Self::Meaning(events.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, FailureKind};

    fn rejection(code: Option<&str>, message: &str) -> Answer {
        Answer::Rejection { code: code.map(Into::into), message: message.into() }
    }

    #[test]
    fn a_crash_now_and_then_is_a_crash() {
        let crash = || Answer::Broken { how: FailureKind::Crash, message: "boom".into() };
        for (first, second) in [(crash(), rejection(None, "")), (rejection(None, ""), crash())] {
            let Answer::Broken { how: FailureKind::Crash, message } = first.confirmed_by(&second) else {
                panic!("{second:?}")
            };
            assert!(message.contains("a rejection") && message.contains("boom"), "{message}");
        }
    }

    #[test]
    fn an_answer_that_differs_from_itself_is_unstable() {
        let meaning = |text: &str| Answer::Meaning(crate::meaning::Meaning::parse(text).unwrap());
        let one = r#"{"events": [{"kind": "notification", "method": "a"}]}"#;
        let respelled = r#"{"events":[{"method":"a","kind":"notification"}]}"#;
        assert_eq!(meaning(one).confirmed_by(&meaning(respelled)), meaning(one));
        assert_eq!(
            rejection(None, "at 0x1").confirmed_by(&rejection(None, "at 0x2")),
            rejection(None, "at 0x1")
        );
        for (first, second) in [
            (meaning(one), meaning(r#"{"events": []}"#)),
            (meaning(one), rejection(None, "")),
            (rejection(Some("batch"), ""), rejection(Some("limit"), "")),
        ] {
            let answer = first.confirmed_by(&second);
            assert!(matches!(answer, Answer::Broken { how: FailureKind::Unstable, .. }), "{answer:?}");
        }
    }
}
