//! Several sessions in one log of exchanges, as a recorder keeps them that two clients use: which exchange is of which.
//!
//! A session begins with the answer that names it (`Mcp-Session-Id`), with the endpoint that a stream of HTTP+SSE announces,
//! or with an `initialize` that was answered where neither is there. What names a session, or goes to its endpoint, is its
//! own. The rest goes with the session of its connection, or else of the only client that calls itself so (`User-Agent`), or
//! else with the session before it, and where it was refused with the one that begins next: a client is turned away before
//! its session begins.
//!
//! Memory: the document, and the headers above of each exchange.

use crate::format::{Format, Items, ReadOptions, Tolerance};
use crate::input::{Input, ReadError};
use crate::url::{announced, normal};
use std::collections::BTreeMap;
use transcript::json::Json;
use transcript::session::{Carrier, Content, Entry, Exchange, header};

pub(crate) const SESSION: &str = "mcp-session-id";

/// What tells of which session an exchange is.
#[derive(Debug, Default)]
struct Seen {
    /// Which item of the list it is.
    index: u64,
    url: String,
    /// The session that the request names, and the one that the answer does.
    asks: Option<String>,
    gives: Option<String>,
    agent: Option<String>,
    connection: Option<String>,
    served: bool,
    initializes: bool,
    answers: bool,
    /// The endpoint that its stream announces.
    endpoint: Option<String>,
}

/// Takes a log of exchanges apart into a log for each of its sessions, in the order in which they begin. The items stand in
/// them as they stood in the one. A log of one session is its only part, and so is a capture of another kind.
///
/// # Errors
/// Where it cannot be read.
pub fn sessions(format: &Format, bytes: &[u8]) -> Result<Vec<Vec<u8>>, ReadError> {
    let whole = || Ok(vec![bytes.to_vec()]);
    let Items::List(path) = format.items else { return whole() };
    if !format.carries.exchanges {
        return whole();
    }
    let mut seen = seen(format, bytes)?;
    let document = std::str::from_utf8(bytes).ok().and_then(|text| Json::parse(text).ok());
    let list = document.and_then(|json| path.iter().try_fold(json, |json, name| json.member(name)));
    let Some(list) = list else { return whole() };
    let items: Vec<&str> = list.items().map(Json::text).collect();
    // Exchanges that a converter made up are handed on as none, and tell nothing.
    if seen.len() != items.len() {
        return whole();
    }
    let item = |index: u64| usize::try_from(index).ok().and_then(|index| items.get(index));
    for exchange in &mut seen {
        let connection = item(exchange.index)
            .and_then(|item| Json::parse(item).ok()?.member("connection")?.as_text()?.to_str());
        exchange.connection = connection.map(Into::into);
    }
    let (of, count) = assigned(&seen);
    if count < 2 {
        return whole();
    }
    let mut parts: Vec<Vec<u64>> = vec![Vec::new(); count];
    for (exchange, session) in seen.iter().zip(of) {
        parts[session].push(exchange.index);
    }
    // The list is a part of the document: what stands around it stands around each part.
    let begin = list.text().as_ptr().addr() - bytes.as_ptr().addr();
    let (head, tail) = (&bytes[..=begin], &bytes[begin + list.text().len() - 1..]);
    let written = |mut part: Vec<u64>| {
        part.sort_unstable();
        let texts: Vec<&str> = part.into_iter().filter_map(item).copied().collect();
        [head, b"\n", texts.join(",\n").as_bytes(), b"\n", tail].concat()
    };
    Ok(parts.into_iter().map(written).collect())
}

/// The exchanges in the order of their start.
fn seen(format: &Format, mut bytes: &[u8]) -> Result<Vec<Seen>, ReadError> {
    let mut seen: Vec<Seen> = Vec::new();
    format.entries(&mut Input::new(&mut bytes)?, ReadOptions::new(Tolerance::Faults), &mut |entry| {
        match (&entry.content, entry.exchange.and_then(|number| usize::try_from(number).ok())) {
            (Content::Exchange(exchange), _) => seen.push(Seen::new(&entry, exchange)),
            (_, Some(number)) => {
                if let Some(exchange) = seen.get_mut(number) {
                    exchange.takes(&entry);
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(seen)
}

impl Seen {
    fn new(entry: &Entry<'_>, exchange: &Exchange<'_>) -> Self {
        let own = |text: &str| text.to_owned();
        Self {
            index: entry.location.index.unwrap_or_default(),
            url: exchange.url.clone().into_owned(),
            asks: header(&exchange.request_headers, SESSION).map(own),
            gives: header(&exchange.response_headers, SESSION).map(own),
            agent: header(&exchange.request_headers, "user-agent").map(own),
            served: exchange.status.is_some_and(|status| (200..300).contains(&status)),
            ..Self::default()
        }
    }

    fn takes(&mut self, entry: &Entry<'_>) {
        if entry.carrier == Carrier::Request {
            let method = entry.message().and_then(|message| message.method());
            self.initializes |= method.is_some_and(|method| method.is("initialize"));
        } else {
            self.answers |= entry.message().is_some_and(|message| message.outcome().is_some());
        }
        if let Some(sse) = entry.sse.as_ref().filter(|_| self.endpoint.is_none())
            && sse.name.as_deref() == Some("endpoint")
        {
            self.endpoint = Some(announced(&self.url, sse.data.as_deref().unwrap_or_default()));
        }
    }
}

/// The session of each exchange, and how many there are.
fn assigned(seen: &[Seen]) -> (Vec<usize>, usize) {
    let mut count = 0;
    // A name that two sessions have, or an endpoint that two streams announce, tells neither.
    let mut ids: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    let mut endpoints: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    let mut known_of: Vec<Known> = Vec::with_capacity(seen.len());
    for exchange in seen {
        let served = |id: &&str| exchange.served && !id.is_empty();
        let [asks, gives] = [&exchange.asks, &exchange.gives].map(|id| id.as_deref().filter(served));
        let is_new = |id: &&str| !ids.contains_key(id);
        let again = exchange.initializes
            && exchange.served
            && (asks.is_none() || gives.is_some_and(|id| is_new(&id)));
        let named = [&exchange.asks, &exchange.gives].into_iter().flatten().filter(|_| !again);
        let known = named.filter_map(|id| *ids.get(&**id)?).next();
        let posts_to =
            if endpoints.is_empty() { None } else { endpoints.get(&*normal(&exchange.url)).copied() };
        let names = gives.filter(|id| again || is_new(id)).or(asks.filter(is_new));
        let unnamed = exchange.initializes && exchange.answers && posts_to.is_none();
        let begins = known.is_none() && (names.is_some() || exchange.endpoint.is_some() || unnamed);
        let session = if begins { Some(count) } else { known };
        count += usize::from(begins);
        if let Some(session) = session {
            // A server may change the name of a session.
            names.into_iter().for_each(|id| claim(&mut ids, id, session));
            exchange.endpoint.iter().for_each(|endpoint| claim(&mut endpoints, endpoint, session));
        }
        known_of.push(Known { session: session.or(posts_to.flatten()), begins });
    }
    (likely(seen, &known_of), count)
}

/// Gives a name to a session, or to none where another one has it.
fn claim<'n>(names: &mut BTreeMap<&'n str, Option<usize>>, name: &'n str, session: usize) {
    let shared = names.get(name).is_some_and(|other| *other != Some(session));
    names.insert(name, (!shared).then_some(session));
}

/// What is known of the session of an exchange.
#[derive(Debug, Clone, Copy)]
struct Known {
    session: Option<usize>,
    /// The session begins with it.
    begins: bool,
}

/// The session of each exchange, where that of some is known.
fn likely(seen: &[Seen], known: &[Known]) -> Vec<usize> {
    // None of an agent that has several sessions.
    let mut agents: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for (exchange, known) in seen.iter().zip(known) {
        if let Some((agent, session)) = exchange.agent.as_deref().zip(known.session) {
            let only = agents.entry(agent).or_insert(Some(session));
            *only = only.filter(|only| *only == session);
        }
    }
    let before = neighbours(seen.iter().zip(known), false);
    let mut after = neighbours(seen.iter().zip(known).rev(), true);
    after.reverse();
    let of = |at: usize| {
        let (exchange, before, after) = (&seen[at], before[at], after[at]);
        let of_agent = || exchange.agent.as_deref().and_then(|agent| *agents.get(agent)?);
        let nearest = if exchange.served { before.any.or(after.any) } else { after.any.or(before.any) };
        let on_connection = before.on_connection.or(after.on_connection);
        known[at].session.or(on_connection).or_else(of_agent).or(nearest).unwrap_or_default()
    };
    (0..seen.len()).map(of).collect()
}

/// The sessions nearest to an exchange on one side: on its connection, and on any.
#[derive(Debug, Clone, Copy)]
struct Neighbours {
    on_connection: Option<usize>,
    any: Option<usize>,
}

/// The nearest of those that were seen until then; of those on any connection, with `begins`, one that begins.
fn neighbours<'s>(seen: impl Iterator<Item = (&'s Seen, &'s Known)>, begins: bool) -> Vec<Neighbours> {
    let (mut on, mut any) = (BTreeMap::new(), None);
    let nearest = |(exchange, known): (&'s Seen, &'s Known)| {
        let connection = exchange.connection.as_deref();
        let found = Neighbours { on_connection: connection.and_then(|it| on.get(it)).copied(), any };
        if let Some(session) = known.session {
            on.extend(connection.map(|connection| (connection, session)));
            any = if known.begins || !begins { Some(session) } else { any };
        }
        found
    };
    seen.map(nearest).collect()
}

#[cfg(test)]
mod tests {
    use super::sessions;
    use crate::{ReadOptions, find, live, meaning};

    /// An exchange of an archive: the connection, what is in the heads, the message and its answer.
    struct Row(&'static str, &'static str, &'static str, u16, &'static str, &'static str, &'static str);

    fn headers(of: &str) -> String {
        let one = |header: &str| {
            let (name, value) = header.split_once(": ").unwrap();
            format!(r#"{{"name":"{name}","value":"{value}"}}"#)
        };
        of.split("; ").filter(|it| !it.is_empty()).map(one).collect::<Vec<_>>().join(",")
    }

    fn archive(rows: &[Row]) -> String {
        let entry = |(at, row): (usize, &Row)| {
            let Row(connection, url, asked, status, answered, body, answer) = row;
            let method = if body.is_empty() { "GET" } else { "POST" };
            let kind = if answer.starts_with("event") { "text/event-stream" } else { "application/json" };
            let text = |text: &str| serde_json::Value::from(text).to_string();
            format!(
                r#"{{"startedDateTime":"2026-01-01T00:00:{at:02}.000Z","time":1,"connection":"{connection}","request":{{"method":"{method}","url":"http://h{url}","headers":[{}],"postData":{{"mimeType":"application/json","text":{}}}}},"response":{{"status":{status},"headers":[{}],"content":{{"mimeType":"{kind}","text":{}}}}}}}"#,
                headers(asked),
                text(body),
                headers(answered),
                text(answer),
            )
        };
        let entries: Vec<String> = rows.iter().enumerate().map(entry).collect();
        format!(r#"{{"log":{{"version":"1.2","entries":[{}]}}}}"#, entries.join(","))
    }

    const BEGIN: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    const BEGUN: &str = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
    const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

    /// Of which part each exchange is: by number, in the order of the archive.
    #[track_caller]
    fn parts(rows: &[Row]) -> Vec<usize> {
        let archive = archive(rows);
        let parts = sessions(live(true).unwrap(), archive.as_bytes()).unwrap();
        for part in &parts {
            let _: serde_json::Value = serde_json::from_slice(part).unwrap();
        }
        let parts: Vec<String> = parts.into_iter().map(|part| String::from_utf8(part).unwrap()).collect();
        (0..rows.len())
            .map(|at| {
                let mark = format!(r#"{{"startedDateTime":"2026-01-01T00:00:{at:02}.000Z""#);
                let found: Vec<_> = (0..parts.len()).filter(|&part| parts[part].contains(&mark)).collect();
                assert_eq!(found.len(), 1, "exchange {at} is in the parts {found:?}");
                found[0]
            })
            .collect()
    }

    #[test]
    fn sessions_are_told_by_their_names_whichever_connection_they_use() {
        let rows = [
            Row("1", "/mcp", "", 200, "Mcp-Session-Id: a", BEGIN, BEGUN),
            Row("2", "/mcp", "", 200, "Mcp-Session-Id: b", BEGIN, BEGUN),
            Row("2", "/mcp", "mcp-session-id: a", 200, "", CALL, DONE),
            Row("1", "/mcp", "mcp-session-id: b", 200, "", CALL, DONE),
        ];
        assert_eq!(parts(&rows), [0, 1, 0, 1]);
        let archive = archive(&rows);
        let format = live(true).unwrap();
        let read = |bytes: &[u8]| meaning(format, &mut { bytes }, ReadOptions::default());
        assert!(read(archive.as_bytes()).is_err(), "two calls have one id");
        for part in sessions(format, archive.as_bytes()).unwrap() {
            let text = read(&part).unwrap().text;
            assert_eq!(text.matches("\"answers\": ").count(), 2, "{text}");
        }
    }

    #[test]
    fn sessions_of_http_sse_are_told_by_their_endpoints() {
        let announce = ["event: endpoint\ndata: /m?s=1\n\n", "event: endpoint\ndata: /m?s=2\n\n"];
        let rows = [
            Row("1", "/sse", "", 200, "", "", announce[0]),
            Row("2", "/sse", "", 200, "", "", announce[1]),
            Row("3", "/m?s=1", "", 202, "", BEGIN, ""),
            Row("3", "/m?s=2", "", 202, "", BEGIN, ""),
            Row("3", "/m?s=1", "", 202, "", CALL, ""),
        ];
        assert_eq!(parts(&rows), [0, 1, 0, 1, 0]);
    }

    #[test]
    fn sessions_without_a_name_are_told_by_their_connections_and_agents() {
        let rows = [
            Row("1", "/mcp", "User-Agent: one", 200, "", BEGIN, BEGUN),
            Row("2", "/mcp", "User-Agent: two", 200, "", BEGIN, BEGUN),
            Row("1", "/mcp", "", 200, "", CALL, DONE),
            Row("2", "/mcp", "", 200, "", CALL, DONE),
            Row("3", "/mcp", "User-Agent: one", 200, "", LIST, ""),
            Row("4", "/mcp", "User-Agent: two", 200, "", LIST, ""),
        ];
        assert_eq!(parts(&rows), [0, 1, 0, 1, 0, 1]);
    }

    /// As where redaction took the names away.
    #[test]
    fn a_name_of_two_sessions_tells_neither() {
        let id = "Mcp-Session-Id: [REDACTED]";
        let rows = [
            Row("1", "/mcp", "", 200, id, BEGIN, BEGUN),
            Row("2", "/mcp", "", 200, id, BEGIN, BEGUN),
            Row("1", "/mcp", id, 200, "", CALL, DONE),
            Row("2", "/mcp", id, 200, "", CALL, DONE),
        ];
        assert_eq!(parts(&rows), [0, 1, 0, 1]);
    }

    #[test]
    fn what_is_refused_before_a_session_begins_goes_with_it() {
        let rows = [
            Row("1", "/mcp", "", 401, "", BEGIN, ""),
            Row("2", "/mcp", "", 200, "Mcp-Session-Id: a", BEGIN, BEGUN),
            Row("3", "/mcp", "", 401, "", BEGIN, ""),
            Row("4", "/.well-known/x", "", 404, "", "", ""),
            Row("2", "/mcp", "", 400, "", LIST, ""),
            Row("5", "/mcp", "", 200, "Mcp-Session-Id: b", BEGIN, BEGUN),
            Row("6", "/mcp", "Mcp-Session-Id: nobody's", 404, "", LIST, ""),
        ];
        assert_eq!(parts(&rows), [0, 0, 1, 1, 0, 1, 1]);
    }

    #[test]
    fn one_session_stays_one() {
        let unanswered = Row("1", "/mcp", "", 200, "", BEGIN, "");
        assert_eq!(parts(&[unanswered, Row("2", "/mcp", "", 200, "", BEGIN, BEGUN)]), [0, 0]);
        let one_session = archive(&[
            Row("1", "/mcp", "", 200, "Mcp-Session-Id: a", BEGIN, BEGUN),
            Row("2", "/mcp", "Mcp-Session-Id: a", 200, "Mcp-Session-Id: c", CALL, DONE),
            Row("3", "/mcp", "Mcp-Session-Id: c", 200, "", LIST, ""),
            Row("4", "/mcp", "", 404, "", LIST, ""),
        ]);
        let parts = sessions(live(true).unwrap(), one_session.as_bytes()).unwrap();
        assert_eq!(parts, [one_session.as_bytes()]);
        // So does one with an exchange that a converter made up, although the others are of two sessions.
        let [one, two] =
            ["Mcp-Session-Id: a", "Mcp-Session-Id: b"].map(|id| Row("1", "/mcp", "", 200, id, BEGIN, BEGUN));
        let made_up = archive(&[Row("1", "/mcp", "", 200, "", LIST, ""), one, two]).replacen(
            "\"time\":1,",
            "\"time\":1,\"_made_up\":[\"exchange\",\"request\",\"response\"],",
            1,
        );
        assert_eq!(sessions(live(true).unwrap(), made_up.as_bytes()).unwrap(), [made_up.as_bytes()]);
        // So do captures of other kinds, and archives without a session.
        for (format, text) in [("jsonrpc", CALL), ("har", r#"{"log":{"entries":[]}}"#)] {
            assert_eq!(sessions(find(format).unwrap(), text.as_bytes()).unwrap(), [text.as_bytes()]);
        }
        assert!(sessions(find("har").unwrap(), b"{").is_err());
    }
}
