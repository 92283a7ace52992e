//! A change of a surface, by what it means for clients.

use serde::Serialize;

transcript::named! {
    /// What a change means for the clients of a server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Class {
        /// A client that worked may not work any more.
        Breaking "breaking",
        /// A person should look: what a model reads changed, or the definitions do not show what changed.
        Review "review",
        /// A client that worked goes on to work.
        Additive "additive",
    }
}

/// A kind of change, for programs that count or silence them.
#[derive(Debug, PartialEq, Eq)]
pub struct KindOfChange {
    /// Its id.
    pub id: &'static str,
    /// What it is, in a sentence.
    pub sentence: &'static str,
}

macro_rules! kinds {
    ($($name:ident $id:literal $sentence:literal)*) => {
        $(pub(crate) const $name: KindOfChange = KindOfChange { id: $id, sentence: $sentence };)*
        /// Every kind of change.
        pub const KINDS_OF_CHANGE: &[&KindOfChange] = &[$(&$name),*];
    };
}

kinds! {
    SERVER "server" "The server describes itself differently: its name, title, description, website or icons."
    REVISION "revision" "The two sides agreed on another revision of the protocol."
    INSTRUCTIONS "instructions" "The server's instructions to models changed."
    CAPABILITY "capability" "A declared capability was added, removed or changed."
    REMOVED "removed" "Something is no longer offered."
    ADDED "added" "Something new is offered."
    INPUT "input" "The input schema of a tool accepts other arguments."
    OUTPUT "output" "The output schema of a tool allows other results."
    ARGUMENT "argument" "A prompt takes other arguments."
    WORDS "words" "What a model or a person reads changed: a title, a description, a default."
    ANNOTATION "annotation" "A hint about what a tool does changed."
    DEFINITION "definition" "Another part of a definition changed."
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What it means.
    pub class: Class,
    /// The id of its kind.
    pub kind: &'static str,
    /// What changed: `tool add`, or `server`.
    pub subject: String,
    /// Where in its definition: a JSON pointer, empty for the whole.
    pub pointer: String,
    /// What changed, in a few words.
    pub what: String,
    /// Why it has this class.
    pub why: &'static str,
    /// What stood there before, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What stands there now, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What became of a surface.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The changes, the gravest first, and then by subject and place.
    pub changes: Vec<Change>,
    /// What could not be compared, in sentences.
    pub notes: Vec<String>,
}

impl Comparison {
    /// How many changes are of a class.
    pub fn count(&self, class: Class) -> usize {
        self.changes.iter().filter(|change| change.class == class).count()
    }
}
