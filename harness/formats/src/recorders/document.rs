//! JSON documents of recorders, with a list of items: what their readers share.
//!
//! Memory: an item, or one of the members that a reader looks at.

use crate::excerpt::short;
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use transcript::json::{Json, JsonKind, Scanner, SyntaxError};
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Location, Noise, Sink};

/// A kind of document.
pub(crate) struct Form {
    /// What it is, in a refusal: "a cassette".
    pub(crate) name: &'static str,
    /// The member that is the list.
    pub(crate) list: &'static str,
    /// The pointer to the list, with a slash behind it.
    pub(crate) root: &'static str,
    /// Its version, beside the list.
    pub(crate) version: Version,
}

/// The member of a document that says of which version it is. Without it, a document is read.
pub(crate) struct Version {
    /// The pointer to it.
    pub(crate) pointer: &'static str,
    /// Whether a document of the version with this JSON text is read.
    pub(crate) is_read: fn(&str) -> bool,
    /// What has it, in a refusal: "a cassette of version".
    pub(crate) of: &'static str,
    /// Which are read, in a refusal.
    pub(crate) read: &'static str,
}

impl Version {
    /// One that is text, of which the first major version is read.
    pub(crate) const fn first(pointer: &'static str, of: &'static str) -> Self {
        Self { pointer, is_read: is_first, of, read: "versions 1.x, as text," }
    }

    /// Looks at the JSON text of a version.
    ///
    /// # Errors
    /// Where no document of it is read.
    pub(crate) fn check(&self, version: &str) -> Result<(), Refusal> {
        if (self.is_read)(version) {
            return Ok(());
        }
        let said = format!("{} {}; only {} are read", self.of, short(version), self.read);
        Err(wrong(Code::UnsupportedVersion, said))
    }
}

fn is_first(version: &str) -> bool {
    let version = Json::parse(version).ok().and_then(Json::as_text);
    version.and_then(|text| Some(text.to_str()?.split('.').next() == Some("1"))).unwrap_or_default()
}

/// An item of the list, at the beginning of the window of the input.
pub(crate) struct Item<'a, 'f> {
    pub(crate) input: &'a Input<'f>,
    /// Its place.
    pub(crate) location: Location,
    /// Its JSON text.
    pub(crate) text: &'a str,
}

impl<'a> Item<'a, '_> {
    /// The members of these names, where they are more than null; `whole` is what the item is called in a refusal.
    ///
    /// # Errors
    /// Where the item is not an object, or has one of them twice.
    pub(crate) fn members<const N: usize>(
        &self,
        whole: &str,
        names: [&str; N],
    ) -> Result<[Member<'a>; N], ReadError> {
        let mut scanner = Scanner::new(self.text);
        if scanner.peek() != Some(b'{') {
            return Err(self.refuse(wrong(Code::InvalidEntry, format!("{whole} is an object"))));
        }
        let mut found: [Member<'a>; N] = [None; N];
        let broken = |fault: SyntaxError| self.refuse(fault.into());
        let mut more = scanner.open(b'}').map_err(broken)?;
        while more {
            let key_at = scanner.at();
            let key = scanner.key().map_err(broken)?;
            let at = scanner.at();
            let value = scanner.take().map_err(broken)?;
            let which = names.iter().position(|name| key.is(name));
            if which.and_then(|which| found[which].replace((at, value))).is_some() {
                let message =
                    format!("a member of {whole} appears twice, and readers differ on which one counts");
                let refusal = Refusal::new(Code::AmbiguousMember, key_at, message);
                return Err(self.refuse(refusal.under("SRV-TWICE")));
            }
            more = scanner.more(b'}').map_err(broken)?;
        }
        Ok(found.map(|held| held.filter(|(_, value)| value.kind() != JsonKind::Null)))
    }

    /// Refuses the item, or what stands at the refusal's place in it.
    pub(crate) fn refuse(&self, refusal: Refusal) -> ReadError {
        self.input.refuse(refusal, 0, &self.location.pointer())
    }
}

/// Shows the items of the list, in the order of the file, and looks at the version where it stands.
///
/// # Errors
/// Those of the input, where there is no such list, where one of both stands there twice, of the version, and what `take`
/// returns.
pub(crate) fn each(
    input: &mut Input<'_>,
    form: &Form,
    take: &mut dyn FnMut(&Item<'_, '_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    match input.peek()? {
        None => return Err(input.truncated(form.name)),
        Some(b'{') => {}
        Some(_) => {
            input.value()?;
            let said = format!("{} is a JSON object with `{}`", form.name, form.list);
            return Err(input.refuse(wrong(Code::WrongDocument, said), 0, ""));
        }
    }
    let (mut list, mut version) = (false, false);
    let mut more = input.enter(b'}')?;
    while more {
        let name = input.key()?;
        input.peek()?;
        let is_version = form.version.pointer[1..] == name;
        let twice = match name == form.list {
            true => std::mem::replace(&mut list, true),
            false => is_version && std::mem::replace(&mut version, true),
        };
        if twice {
            return Err(input.refuse(Refusal::duplicate(0, &name), 0, ""));
        }
        if name == form.list {
            items(input, form, take)?;
        } else {
            let length = input.value()?;
            if is_version {
                let checked = form.version.check(&input.text()[..length]);
                checked.map_err(|refusal| input.refuse(refusal, 0, form.version.pointer))?;
            }
            input.consume(length);
        }
        more = input.next(b'}')?;
    }
    // Whether it is one document at all comes before what the document lacks.
    input.finish()?;
    match list {
        true => Ok(()),
        false => {
            let said = format!("{} needs a list `{}`, which is missing", form.name, form.list);
            Err(input.refuse(wrong(Code::MissingEntries, said), 0, ""))
        }
    }
}

fn items(
    input: &mut Input<'_>,
    form: &Form,
    take: &mut dyn FnMut(&Item<'_, '_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    if input.peek()? != Some(b'[') {
        // A file that ends here, or goes on with what is not JSON, is not one whose list is something else.
        input.value()?;
        let refusal = wrong(Code::MissingEntries, format!("`{}` must be an array", form.list));
        return Err(input.refuse(refusal, 0, form.root.trim_end_matches('/')));
    }
    let mut more = input.enter(b']')?;
    for index in 0.. {
        if !more {
            break;
        }
        input.peek()?;
        let length = input.value()?;
        let location = Location {
            offset: input.offset(),
            line: input.line(),
            root: form.root,
            index: Some(index),
            tail: "",
        };
        take(&Item { input, location, text: &input.text()[..length] })?;
        input.consume(length);
        more = input.next(b']')?;
    }
    Ok(())
}

/// A member of an item: where it stands, and what it is.
pub(crate) type Member<'a> = Option<(usize, Json<'a>)>;

/// Hands on what stands at byte `at` of the window, where a message belongs, as an entry like `entry`.
///
/// # Errors
/// Where it is not a message and the options do not pass over that, and what the sink returns.
pub(crate) fn give(
    input: &Input<'_>,
    (at, value): (usize, Json<'_>),
    entry: Entry<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let location = located(input, at, entry.location);
    let content = match Message::parse(value.text()) {
        Ok(message) => Content::Message(message),
        Err(why) => noise(why, value, options).map_err(|why| input.refuse(why, at, &location.pointer()))?,
    };
    input.give(Entry { location, content, ..entry }, at, sink)
}

/// The place of byte `at` of the window, which has the pointer of `location`.
pub(crate) fn located(input: &Input<'_>, at: usize, location: Location) -> Location {
    let place = input.position(at);
    Location { offset: place.offset, line: place.line, ..location }
}

/// What is not a message, as noise.
///
/// # Errors
/// Where the options do not pass over it.
pub(crate) fn noise<'a>(why: Refusal, value: Json<'a>, options: ReadOptions) -> Result<Content<'a>, Refusal> {
    if !options.hands_on(&why) {
        return Err(why);
    }
    let clause = if why.code == Code::Batch { "ENV-SINGLE" } else { why.clause };
    Ok(Content::Noise(Noise { why: why.under(clause), text: value.text().into() }))
}

/// What is wrong with a document or an item of it.
pub(crate) fn wrong(code: Code, message: impl Into<String>) -> Refusal {
    Refusal { code, clause: "SRV-BYTES", at: 0, message: message.into() }
}
