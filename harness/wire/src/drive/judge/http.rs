//! Whether each side received what the other sent over HTTP: bodies byte for byte, status, path, and the headers that
//! mean something to MCP.
//!
//! A recorder may open and close connections as it likes, and requests that were under way at once have no order.

use super::transparency::{Stream, excerpt, lines};
use super::{Finding, Kind, shown};
use std::collections::{HashMap, VecDeque};
use transcript::session::Side;

/// One exchange as one of its ends saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The request's method.
    pub method: String,
    /// The request's path and query.
    pub target: String,
    /// The request's headers.
    pub asked: Vec<(String, String)>,
    /// The request's body.
    pub body: Stream,
    /// The answer's status; none where there was no answer.
    pub status: Option<u16>,
    /// The answer's headers.
    pub headers: Vec<(String, String)>,
    /// The answer's body.
    pub answer: Stream,
    /// One of the two ends broke it off.
    pub broken: bool,
    /// The client gave it up at the end of the session, before an answer could be expected.
    pub abandoned: bool,
}

/// What may be asked.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'t> {
    /// So much later than it was sent may something arrive, in microseconds; none where the receiver was slow itself.
    pub patience: Option<u64>,
    /// The server's address as a client of its own would name it: `127.0.0.1:3000`.
    pub upstream: &'t str,
    /// Whether all exchanges have to be there. Where the recorder was killed, those that are have to be right.
    pub whole: bool,
}

/// The headers of a request that mean something.
const ASKED: [&str; 8] = [
    "accept",
    "authorization",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// The headers of an answer that mean something.
const ANSWERED: [&str; 6] =
    ["allow", "content-type", "location", "mcp-protocol-version", "mcp-session-id", "www-authenticate"];

/// Judges the exchanges of both ends, in the order of the client's.
#[must_use]
pub fn judge(client: &[Exchange], server: &[Exchange], terms: Terms<'_>) -> Vec<Finding> {
    let (pairs, more) = pairs(client, server);
    let mut found = Vec::new();
    for (index, (asked, answered)) in client.iter().zip(&pairs).enumerate() {
        match answered.map(|at| &server[at]) {
            Some(answered) => exchange(index, asked, answered, terms, &mut found),
            None if terms.whole && !asked.abandoned => {
                let says = format!("the server never received {}", named(index, asked));
                let finding = Finding::new(Kind::NotReceived, Some(Side::Client), index, says);
                found.push(finding.sent(excerpt(&asked.body.bytes(), 0)));
            }
            None => {}
        }
    }
    for at in more {
        let (index, body) = (client.len() + at, server[at].body.bytes());
        let again = client.iter().any(|it| it.method == server[at].method && it.body.bytes() == body);
        let what = if again { "once more than the client sent it" } else { "and the client never sent it" };
        let says = format!("the server received a {} of {}, {what}", server[at].method, server[at].target);
        found.push(Finding::new(Kind::NotSent, Some(Side::Client), index, says).came(excerpt(&body, 0)));
    }
    // The worst first: another header matters less than other bytes.
    found.sort_by_key(|finding| finding.kind);
    found
}

/// Which of the server's exchanges each of the client's is, and which are none of them: by method and body, several that are
/// equal by what was answered, or else in their order; then, of those that are left, by method and order.
#[must_use]
pub fn pairs(client: &[Exchange], server: &[Exchange]) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut waiting: HashMap<(&str, Vec<u8>), VecDeque<usize>> = HashMap::new();
    for (at, it) in server.iter().enumerate() {
        waiting.entry((&it.method, it.body.bytes())).or_default().push_back(at);
    }
    let mut pairs: Vec<Option<usize>> = Vec::with_capacity(client.len());
    for it in client {
        let equal = waiting.get_mut(&(it.method.as_str(), it.body.bytes()));
        pairs.push(equal.and_then(|equal| {
            // Of requests that were made twice, the one whose answer came through.
            let heard = |at: &usize| server[*at].answer.bytes() == it.answer.bytes();
            equal.remove(equal.iter().position(heard).unwrap_or(0))
        }));
    }
    // A second request for the same thing is no changed one.
    let sent: Vec<Vec<u8>> = client.iter().map(|it| it.body.bytes()).collect();
    let mut rest: Vec<usize> = (0..server.len()).filter(|at| !pairs.contains(&Some(*at))).collect();
    for (pair, asked) in pairs.iter_mut().zip(client).filter(|(pair, _)| pair.is_none()) {
        let alike =
            |at: &usize| server[*at].method == asked.method && !sent.contains(&server[*at].body.bytes());
        *pair = rest.iter().position(alike).map(|place| rest.remove(place));
    }
    (pairs, rest)
}

fn exchange(index: usize, asked: &Exchange, answered: &Exchange, terms: Terms<'_>, found: &mut Vec<Finding>) {
    let name = named(index, asked);
    let finding = |kind, side, says| Finding::new(kind, Some(side), index, says);
    if asked.target != answered.target {
        let says = format!("{name} arrived as one for {}", answered.target);
        found.push(
            finding(Kind::OtherTarget, Side::Client, says).sent(&*asked.target).came(&*answered.target),
        );
    }
    for header in ASKED {
        let values = (values(&asked.asked, header), values(&answered.asked, header));
        found.extend(other_header(index, Side::Client, &name, header, values));
    }
    let (own, arrived) = (values(&asked.asked, "host"), values(&answered.asked, "host"));
    if arrived != own && arrived.as_deref() != Some(terms.upstream) {
        let says = format!("{name} arrived with a Host that is neither the recorder's nor the server's");
        let finding = finding(Kind::OtherHeader, Side::Client, says).sent(terms.upstream);
        found.push(finding.came(arrived.unwrap_or_else(|| "(none)".to_owned())));
    }
    found.extend(body(
        index,
        Side::Client,
        &format!("the body of {name}"),
        (&asked.body, &answered.body),
        terms,
    ));
    // What the server did not answer, because somebody broke off, the client cannot have heard.
    let Some(status) = answered.status else { return };
    // A stream that brought nothing until the client went is missed by nobody, however late its head came.
    let silent = asked.method == "GET" && answered.answer.bytes().is_empty();
    match asked.status {
        Some(heard) if heard == status => {}
        Some(heard) => {
            let says = format!("the server answered {name} with {status}, and the client received {heard}");
            let finding = finding(Kind::OtherStatus, Side::Server, says);
            found.push(finding.sent(status.to_string()).came(heard.to_string()));
            return;
        }
        None if terms.whole && !asked.broken && !asked.abandoned && !silent => {
            let says = format!("the client never received the answer to {name}");
            found.push(finding(Kind::NotReceived, Side::Server, says).sent(status.to_string()));
            return;
        }
        None => return,
    }
    for header in ANSWERED {
        let values = (values(&answered.headers, header), values(&asked.headers, header));
        found.extend(other_header(index, Side::Server, &format!("the answer to {name}"), header, values));
    }
    let ends = (&answered.answer, &asked.answer);
    let terms = Terms { whole: terms.whole && !asked.broken, ..terms };
    found.extend(body(index, Side::Server, &format!("the answer to {name}"), ends, terms));
}

/// One body: its first other byte, or its first line that was held up, or an end that never came.
fn body(index: usize, side: Side, name: &str, ends: (&Stream, &Stream), terms: Terms<'_>) -> Option<Finding> {
    let (sent, received) = (ends.0.bytes(), ends.1.bytes());
    let finding = |kind, says| Finding::new(kind, Some(side), index, says);
    let at = sent.iter().zip(&received).take_while(|(a, b)| a == b).count();
    let other = side.other().name();
    match (at == sent.len(), at == received.len()) {
        (true, true) => {}
        (true, false) => {
            let extra = received.len() - at;
            let says = format!("{extra} more bytes of {name} arrived than were sent");
            return Some(finding(Kind::NotSent, says).came(excerpt(&received, at)));
        }
        (false, true) if !terms.whole => return None,
        (false, true) => {
            let missing = sent.len() - at;
            let says = format!("the {other} never received {missing} bytes of {name}, from byte {at} on");
            return Some(finding(Kind::NotReceived, says).sent(excerpt(&sent, at)));
        }
        (false, false) => {
            let says = format!("{name} differs from byte {at} on");
            return Some(
                finding(Kind::OtherBytes, says).sent(excerpt(&sent, at)).came(excerpt(&received, at)),
            );
        }
    }
    let late = lines(&sent).into_iter().find_map(|line| {
        let (from, to) = (ends.0.when(line.end)?, ends.1.when(line.end)?);
        (to > from.saturating_add(terms.patience?)).then(|| (line, to - from))
    });
    if let Some((line, late)) = late {
        let says = format!("byte {} of {name} was held up for {}", line.start, shown(late));
        return Some(finding(Kind::HeldUp, says).sent(excerpt(&sent, line.start)));
    }
    let unended = ends.0.ended.is_some() && ends.1.ended.is_none() && terms.whole;
    unended.then(|| finding(Kind::NoEnd, format!("the {other} never saw the end of {name}")))
}

fn other_header(
    index: usize,
    side: Side,
    name: &str,
    header: &str,
    (sent, came): (Option<String>, Option<String>),
) -> Option<Finding> {
    if sent == came {
        return None;
    }
    let how = match (&sent, &came) {
        (Some(_), None) => "without its",
        (None, Some(_)) => "with a",
        _ => "with another",
    };
    let says = format!("{name} arrived {how} {header}");
    let finding = Finding::new(Kind::OtherHeader, Some(side), index, says);
    Some(Finding { sent, came, ..finding })
}

/// All values of a header as one, as RFC 9110 lets them be put together; none where there is no such header.
fn values(headers: &[(String, String)], name: &str) -> Option<String> {
    let of_name = headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
    let values: Vec<&str> = of_name.flat_map(|(_, value)| value.split(',')).map(str::trim).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

fn named(index: usize, exchange: &Exchange) -> String {
    format!("the client's request {} ({} {})", index + 1, exchange.method, exchange.target)
}

#[cfg(test)]
mod tests {
    use super::{Exchange, Terms, judge};
    use crate::drive::judge::Kind;
    use crate::drive::judge::transparency::{Chunk, Stream};

    fn stream(chunks: &[(u64, &str)]) -> Stream {
        let chunk = |&(at, text): &(u64, &str)| Chunk { at, bytes: text.as_bytes().to_vec() };
        Stream { chunks: chunks.iter().map(chunk).collect(), ended: chunks.last().map(|chunk| chunk.0) }
    }

    fn headers(text: &str) -> Vec<(String, String)> {
        let header =
            |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        text.split(" | ").filter_map(header).collect()
    }

    fn post(body: &str, answer: &[(u64, &str)]) -> Exchange {
        Exchange {
            method: "POST".into(),
            target: "/mcp".into(),
            asked: headers("Host: here:1 | Accept: application/json, text/event-stream | Mcp-Session-Id: s"),
            body: stream(&[(1, body)]),
            status: Some(200),
            headers: headers("Content-Type: text/event-stream | Date: today"),
            answer: stream(answer),
            broken: false,
            abandoned: false,
        }
    }

    fn session() -> Vec<Exchange> {
        vec![post("{\"id\":1}", &[(10, "data: 1\n\n"), (5_000, "data: 2\n\n")]), post("{}", &[(6_000, "")])]
    }

    fn found(client: &[Exchange], server: &[Exchange]) -> Vec<(Kind, usize)> {
        let terms = Terms { patience: Some(1_000), upstream: "there:2", whole: true };
        judge(client, server, terms).into_iter().map(|it| (it.kind, it.index)).collect()
    }

    #[test]
    fn what_connections_need_may_differ_and_headers_may_be_spelled_otherwise() {
        let mut server = session();
        server[0].asked = headers(
            "host: there:2 | accept: application/json | ACCEPT: text/event-stream | mcp-session-id: s | via: x",
        );
        server.reverse();
        assert_eq!(found(&session(), &server), []);
    }

    #[test]
    fn who_reads_slowly_blames_nobody_for_what_is_late() {
        let mut late = session();
        late[0].answer = stream(&[(10, "data: 1\n\n"), (6_001, "data: 2\n\n")]);
        assert_eq!(found(&late, &session()), [(Kind::HeldUp, 0)]);
        let slow = Terms { patience: None, upstream: "there:2", whole: true };
        assert_eq!(judge(&late, &session(), slow), []);
    }

    #[test]
    fn each_part_of_an_exchange_is_looked_at() {
        type Change = fn(&mut Exchange);
        let at_server: [(Change, Kind); 5] = [
            (|it| it.target = "/".into(), Kind::OtherTarget),
            (|it| it.asked = headers("Host: here:1 | Mcp-Session-Id: s"), Kind::OtherHeader),
            (|it| it.asked[0].1 = "there".into(), Kind::OtherHeader),
            (|it| it.asked.push(("Last-Event-ID".into(), "7".into())), Kind::OtherHeader),
            (|it| it.body = stream(&[(2, "{\"id\":1.0}")]), Kind::OtherBytes),
        ];
        for (change, kind) in at_server {
            let mut server = session();
            change(&mut server[0]);
            assert_eq!(found(&session(), &server), [(kind, 0)]);
        }
        let at_client: [(Change, Kind); 8] = [
            (|it| it.status = Some(502), Kind::OtherStatus),
            (|it| it.status = None, Kind::NotReceived),
            (|it| it.headers[0].1 = "text/plain".into(), Kind::OtherHeader),
            (|it| it.answer = stream(&[(10, "data: 1\n\ndata: 3\n\n")]), Kind::OtherBytes),
            (|it| it.answer = stream(&[(10, "data: 1\n\n")]), Kind::NotReceived),
            (|it| it.answer.chunks.push(Chunk { at: 5_000, bytes: b"\n".to_vec() }), Kind::NotSent),
            (|it| it.answer = stream(&[(5_000, "data: 1\n\ndata: 2\n\n")]), Kind::HeldUp),
            (|it| it.answer.ended = None, Kind::NoEnd),
        ];
        for (change, kind) in at_client {
            let mut client = session();
            change(&mut client[0]);
            assert_eq!(found(&client, &session()), [(kind, 0)]);
        }
    }

    #[test]
    fn requests_that_are_lost_or_sent_twice_are_told() {
        assert_eq!(found(&session(), &session()[..1]), [(Kind::NotReceived, 1)]);
        let mut client = session();
        (client[1].abandoned, client[1].status) = (true, None);
        assert_eq!(found(&client, &session()[..1]), []);
        assert_eq!(found(&client, &session()), []);
        let stream =
            |status, bytes: &[(u64, &str)]| Exchange { method: "GET".to_owned(), status, ..post("", bytes) };
        assert_eq!(found(&[stream(None, &[])], &[stream(Some(200), &[])]), []);
        let heard = [(9_000, "data: {}\n\n")];
        assert_eq!(found(&[stream(None, &[])], &[stream(Some(200), &heard)]), [(Kind::NotReceived, 0)]);
        let mut server = session();
        server.push(post("{}", &[(7_000, "")]));
        assert_eq!(found(&session(), &server), [(Kind::NotSent, 4)]);
        let terms = Terms { patience: Some(1_000), upstream: "there:2", whole: true };
        let says = judge(&session(), &server, terms).remove(0).says;
        assert_eq!(says, "the server received a POST of /mcp, once more than the client sent it");
        // The first of the two was answered too, and nobody heard that.
        let mut server = session();
        server.insert(0, post("{\"id\":1}", &[(5, "data: 0\n\n")]));
        let found = judge(&session(), &server, terms);
        assert_eq!(found.iter().map(|it| it.kind).collect::<Vec<_>>(), [Kind::NotSent]);
    }
}
