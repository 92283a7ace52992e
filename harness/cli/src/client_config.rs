//! The servers that the configuration of a client starts, found in its text, and `record` put before their commands in place.
//!
//! Nothing else of the text changes: the tokens of a command move and are never written anew, so that taking `record` out again
//! gives back every byte, comments and white space included.

use std::ops::Range;
use toml::de::{DeTable, DeValue};
use transcript::json::{Json, JsonKind};

/// How a configuration is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON, in which comments and a comma after the last member are let pass, as VS Code does.
    Json,
    Toml,
}

/// A string of the text, or another value as it is written, and where it is.
#[derive(Debug)]
struct Token {
    value: String,
    at: Range<usize>,
}

/// A server as its configuration has it.
#[derive(Debug)]
pub(crate) struct ServerEntry {
    pub(crate) name: String,
    /// Where it is, if it is a server over HTTP.
    pub(crate) url: Option<String>,
    /// What stands before and behind arguments that are added where the command has none.
    added: (String, &'static str),
    /// The arguments stand in one list with the command.
    is_one_list: bool,
    command: Option<Token>,
    args: Option<(Range<usize>, Vec<Token>)>,
}

/// The servers of a configuration, in its order.
///
/// # Errors
/// What the text has in place of what belongs there, and where.
pub(crate) fn servers(text: &str, syntax: Syntax) -> Result<Vec<ServerEntry>, String> {
    let mut servers = match syntax {
        Syntax::Json => json_servers(text)?,
        Syntax::Toml => toml_servers(text)?,
    };
    servers.sort_by_key(|server| server.command.as_ref().map(|command| command.at.start));
    Ok(servers)
}

fn json_servers(text: &str) -> Result<Vec<ServerEntry>, String> {
    let plain = without_comments(text);
    let root = Json::parse(&plain).map_err(|error| {
        let before = &plain.as_bytes()[..error.at.min(plain.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        format!("it is not JSON: line {line}: expected {}", error.expected)
    })?;
    let start = plain.as_ptr().addr();
    let span = |value: Json<'_>| {
        let at = value.text().as_ptr().addr() - start;
        at..at + value.text().len()
    };
    let token =
        |value: Json<'_>| Some(Token { value: value.as_text()?.to_str()?.into_owned(), at: span(value) });
    let argument = |value: Json<'_>| {
        token(value).unwrap_or_else(|| Token { value: value.text().to_owned(), at: span(value) })
    };
    // Claude Code has the servers of each project beside its own; settings of VS Code had them in `mcp`, as opencode has.
    let projects = last(root, "projects").into_iter().flat_map(Json::members).map(|(_, project)| project);
    let mcp = last(root, "mcp");
    let tables = std::iter::once(root).chain(mcp).chain(projects);
    let tables = tables.flat_map(|it| TABLES.map(|key| last(it, key)));
    let entry = |(name, server): (transcript::json::JsonString<'_>, Json<'_>)| {
        let is_list = |value: &Json<'_>| value.kind() == JsonKind::Array;
        // The program and its arguments may be one list.
        let whole = last(server, "command").filter(is_list);
        let command = whole.map_or_else(|| last(server, "command"), |whole| whole.items().next());
        let args = whole.or_else(|| last(server, "args").filter(is_list));
        let program = usize::from(whole.is_some());
        ServerEntry {
            name: String::from_utf8_lossy(&name.decode()).into_owned(),
            url: last(server, "url").and_then(token).map(|url| url.value),
            added: if whole.is_some() { (", ".to_owned(), "") } else { (", \"args\": [ ".to_owned(), "]") },
            is_one_list: whole.is_some(),
            command: command.and_then(token),
            args: args.map(|args| (span(args), args.items().skip(program).map(argument).collect())),
        }
    };
    let is_server = |(_, it): &(_, Json<'_>)| last(*it, "command").is_some() || last(*it, "url").is_some();
    let in_mcp = mcp.into_iter().flat_map(Json::members).filter(is_server);
    Ok(tables.flatten().flat_map(Json::members).chain(in_mcp).map(entry).collect())
}

/// What clients call their servers.
const TABLES: [&str; 3] = ["mcpServers", "servers", "context_servers"];

/// Of members of one name the last, which is what JSON parsers take.
fn last<'a>(object: Json<'a>, name: &str) -> Option<Json<'a>> {
    object.members().filter(|(key, _)| key.is(name)).last().map(|(_, value)| value)
}

fn toml_servers(text: &str) -> Result<Vec<ServerEntry>, String> {
    let root = DeTable::parse(text).map_err(|error| {
        let before = error.span().map_or("", |span| &text[..span.start]);
        format!("it is not TOML: line {}: {}", 1 + before.matches('\n').count(), error.message())
    })?;
    let token = |value: &toml::Spanned<DeValue<'_>>| {
        Some(Token { value: value.get_ref().as_str()?.to_owned(), at: value.span() })
    };
    let argument = |value: &toml::Spanned<DeValue<'_>>| {
        token(value).unwrap_or_else(|| Token { value: text[value.span()].to_owned(), at: value.span() })
    };
    let servers = root.get_ref().get("mcp_servers").and_then(|it| it.get_ref().as_table());
    let entry = |(name, server): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = name.get_ref();
        let member = |name: &str| server.get_ref().as_table()?.get_key_value(name);
        let value = |name: &str| member(name).map(|(_, value)| value);
        let key = member("command").map_or(0, |(key, _)| key.span().start);
        // A line of its own begins as that of the command does: indented, or with the names that lead to it.
        let line = text[..key].rfind('\n').map_or(0, |at| at + 1);
        let is_inline = text[server.span()].starts_with('{');
        let args = value("args").and_then(|args| Some((args.span(), args.get_ref().as_array()?)));
        ServerEntry {
            name: name.to_string(),
            url: value("url").and_then(token).map(|url| url.value),
            added: (
                if is_inline { ", args = [ ".to_owned() } else { format!("\n{}args = [ ", &text[line..key]) },
                "]",
            ),
            is_one_list: false,
            command: value("command").and_then(token),
            args: args.map(|(span, args)| (span, args.iter().map(argument).collect())),
        }
    };
    Ok(servers.into_iter().flatten().map(entry).collect())
}

/// The same text, as long, with blanks for comments and for commas after a last member.
fn without_comments(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let (mut at, mut comma) = (0, None);
    let blank =
        |out: &mut [u8]| out.iter_mut().filter(|byte| !byte.is_ascii_whitespace()).for_each(|it| *it = b' ');
    if text.starts_with('\u{feff}') {
        at = 3;
        blank(&mut out[..at]);
    }
    while at < out.len() {
        let rest = &text.as_bytes()[at..];
        let find = |end: &str| text[at..].find(end);
        match rest {
            [b'"', ..] => {
                let escaped =
                    |end: usize| rest[..end].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
                let end = (1..rest.len()).find(|end| rest[*end] == b'"' && !escaped(*end));
                (at, comma) = (at + end.unwrap_or(rest.len() - 1), None);
            }
            [b'/', b'/', ..] => {
                let end = at + find("\n").unwrap_or(rest.len());
                blank(&mut out[at..end]);
                at = end - 1;
            }
            [b'/', b'*', ..] => {
                let end = at + find("*/").map_or(rest.len(), |end| end + 2);
                blank(&mut out[at..end]);
                at = end - 1;
            }
            [b',', ..] => comma = Some(at),
            [b'}' | b']', ..] => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
            }
            [byte, ..] if !byte.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Whether this is the path of this program.
pub(crate) fn is_own(program: &str) -> bool {
    program.rsplit(['/', '\\']).next().is_some_and(|name| name.starts_with("mcp-concord"))
}

impl ServerEntry {
    /// Whether a command of its own starts it.
    pub(crate) fn is_started(&self) -> bool {
        self.command.is_some()
    }

    /// Whether `record` is before its command.
    pub(crate) fn is_wrapped(&self) -> bool {
        self.own_command().is_some()
    }

    /// Whether its command is `record`, whatever that records.
    pub(crate) fn is_recorder(&self) -> bool {
        let first = self.args.as_ref().and_then(|(_, args)| args.first());
        first.is_some_and(|first| first.value == "record")
            && self.command.as_ref().is_some_and(|it| is_own(&it.value))
    }

    /// Where its own command is among the arguments of `record`.
    fn own_command(&self) -> Option<usize> {
        let (_, args) = self.args.as_ref()?;
        let at = args.iter().position(|arg| arg.value == "--")? + 1;
        (self.is_recorder() && at < args.len()).then_some(at)
    }

    /// The text with these words, the first of which is the program, before the command.
    pub(crate) fn wrapped(&self, text: &str, words: &[String]) -> Option<String> {
        let command = self.command.as_ref()?;
        let quoted: Vec<String> =
            words.iter().map(|word| serde_json::Value::from(&**word).to_string()).collect();
        let (program, record) = quoted.split_first()?;
        let record = format!("{}, {}", record.join(", "), &text[command.at.clone()]);
        let added = match &self.args {
            Some((at, args)) if !self.is_one_list => {
                (at.start + 1, record + if args.is_empty() { "" } else { ", " })
            }
            // The blank tells this list from an empty one.
            _ => (command.at.end, format!("{}{record}{}", self.added.0, self.added.1)),
        };
        let program = (command.at.clone(), program.clone());
        Some(edited(text, vec![(added.0..added.0, added.1), program]))
    }

    /// The text with its own command, without `record`.
    pub(crate) fn unwrapped(&self, text: &str) -> Option<String> {
        let own = self.own_command()?;
        let (command, (list, args)) = (self.command.as_ref()?, self.args.as_ref()?);
        let own_at = args[own].at.clone();
        let rest = &text[own_at.end..];
        let is_ours = args[0].at.start == list.start + 2
            && text[list.start..].starts_with("[ ")
            && rest.starts_with(']')
            && command.at.end < list.start;
        let taken = if self.is_one_list {
            command.at.end..own_at.end
        } else if is_ours {
            command.at.end..list.end
        } else {
            let comma = rest.find(',').filter(|_| own + 1 < args.len()).map_or(0, |at| at + 1);
            let blank = usize::from(comma > 0 && rest[comma..].starts_with(' '));
            list.start + 1..own_at.end + comma + blank
        };
        Some(edited(text, vec![(taken, String::new()), (command.at.clone(), text[own_at].to_owned())]))
    }
}

/// A text with other text in these places.
fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
    let mut out = text.to_owned();
    edits.into_iter().for_each(|(at, new)| out.replace_range(at, &new));
    out
}
