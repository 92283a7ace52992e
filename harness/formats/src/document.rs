//! JSON documents of recorders, with a list of items: what their readers share.
//!
//! Memory: an item, or one of the members that a reader looks at.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use transcript::json::{Json, JsonKind, Scanner};
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
    /// The pointers to the members beside the list that are looked at.
    pub(crate) members: &'static [&'static str],
}

/// What a document has, where the window of the input begins with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// Its place, by which a member is told from an item.
    pub(crate) location: Location,
    /// How long it is.
    pub(crate) length: usize,
}

/// Shows the members that the form names, and the items of its list, in the order of the file.
///
/// # Errors
/// Those of the input, where there is no such list, where one of these stands there twice, and what `take` returns.
pub(crate) fn each(
    input: &mut Input<'_>,
    form: &Form,
    take: &mut dyn FnMut(&Input<'_>, Part) -> Result<(), ReadError>,
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
    let (mut found, mut seen) = (false, Vec::new());
    let mut more = input.enter(b'}')?;
    while more {
        let name = input.key()?;
        input.peek()?;
        let member = form.members.iter().find(|member| member[1..] == name);
        if name == form.list || member.is_some() {
            if seen.contains(&name) {
                return Err(input.refuse(Refusal::duplicate(0, &name), 0, ""));
            }
            seen.push(name.clone());
        }
        if name == form.list {
            items(input, form, take)?;
            found = true;
        } else {
            let length = input.value()?;
            if let Some(root) = member {
                take(input, Part { location: here(input, root, None), length })?;
            }
            input.consume(length);
        }
        more = input.next(b'}')?;
    }
    // Whether it is one document at all comes before what the document lacks.
    input.finish()?;
    match found {
        true => Ok(()),
        false => {
            let said = format!("{} has a list `{}`, which is not there", form.name, form.list);
            Err(input.refuse(wrong(Code::MissingEntries, said), 0, ""))
        }
    }
}

fn items(
    input: &mut Input<'_>,
    form: &Form,
    take: &mut dyn FnMut(&Input<'_>, Part) -> Result<(), ReadError>,
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
        take(input, Part { location: here(input, form.root, Some(index)), length })?;
        input.consume(length);
        more = input.next(b']')?;
    }
    Ok(())
}

fn here(input: &Input<'_>, root: &'static str, index: Option<u64>) -> Location {
    Location { offset: input.offset(), line: input.line(), root, index, tail: "" }
}

/// A member of an item: where it stands, and what it is.
pub(crate) type Member<'a> = Option<(usize, Json<'a>)>;

/// The members of these names of an item, where they are more than null.
///
/// # Errors
/// Where the item is no object, or has one of them twice.
pub(crate) fn members<'a, const N: usize>(
    text: &'a str,
    whole: &str,
    names: [&str; N],
) -> Result<[Member<'a>; N], Refusal> {
    let mut scanner = Scanner::new(text);
    if scanner.peek() != Some(b'{') {
        return Err(wrong(Code::InvalidEntry, format!("{whole} is an object")));
    }
    let mut found: [Member<'a>; N] = [None; N];
    let mut more = scanner.open(b'}')?;
    while more {
        let key_at = scanner.at();
        let key = scanner.key()?;
        let at = scanner.at();
        let value = scanner.take()?;
        let which = names.iter().position(|name| key.is(name));
        if which.and_then(|which| found[which].replace((at, value))).is_some() {
            let message =
                format!("a member of {whole} appears twice, and readers differ on which one counts");
            return Err(Refusal { at: key_at, clause: "SRV-TWICE", ..wrong(Code::AmbiguousMember, message) });
        }
        more = scanner.more(b'}')?;
    }
    Ok(found.map(|held| held.filter(|(_, value)| value.kind() != JsonKind::Null)))
}

/// Hands on what stands at byte `at` of the window, where a message belongs, as an entry like `entry`.
///
/// # Errors
/// Where it is no message and the options do not pass over that, and what the sink returns.
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
    sink(Entry { location, content, ..entry }).map_err(|error| input.sink_error(error, at, &location))
}

/// The place of byte `at` of the window, which has the pointer of `location`.
pub(crate) fn located(input: &Input<'_>, at: usize, location: Location) -> Location {
    let place = input.position(at);
    Location { offset: place.offset, line: place.line, ..location }
}

/// What is no message, as noise.
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
