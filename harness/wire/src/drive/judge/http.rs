//! Whether each side received what the other sent over HTTP: bodies byte for byte, status, path, and the headers that
//! mean something to MCP.
//!
//! A recorder may open and close connections as it likes, and requests that were under way at once have no order.

use super::passage::{Parting, Passage, Stream, Terms, excerpt};
use super::{Defect, Finding, shown};
use std::collections::{HashMap, VecDeque};
use transcript::session::Side;

/// One exchange as one of its ends saw it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exchange {
    pub(crate) method: String,
    /// The request's path and query.
    pub(crate) target: String,
    /// The request's headers.
    pub(crate) asked: Vec<(String, String)>,
    /// The request's body.
    pub(crate) body: Stream,
    /// The answer's status; none where there was no answer.
    pub(crate) status: Option<u16>,
    /// The answer's headers.
    pub(crate) headers: Vec<(String, String)>,
    /// The answer's body.
    pub(crate) answer: Stream,
    /// One of the two ends broke it off.
    pub(crate) broken: bool,
    /// The client gave it up at the end of the session, before an answer could be expected.
    pub(crate) abandoned: bool,
}

type Headers = [(String, String)];

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

/// Judges the exchanges of both ends, in the order of the client's. A client of the server's own would name it `upstream`, as
/// in `127.0.0.1:3000`. Where the recorder was killed, the exchanges that there are have to be right.
pub(crate) fn judge(client: &[Exchange], server: &[Exchange], terms: Terms, upstream: &str) -> Vec<Finding> {
    let (pairs, more) = pairs(client, server);
    let mut found = Vec::new();
    for (index, (asked, answered)) in client.iter().zip(&pairs).enumerate() {
        match answered.map(|at| &server[at]) {
            Some(answered) => exchange(index, asked, answered, (terms, upstream), &mut found),
            None if terms.whole && !asked.abandoned => {
                let says = format!("the server never received {}", named(index, asked));
                let finding = Finding::new(Defect::NotReceived, Some(Side::Client), index, says);
                found.push(finding.sent(excerpt(&asked.body.bytes(), 0)));
            }
            None => {}
        }
    }
    for at in more {
        let (index, body) = (client.len() + at, server[at].body.bytes());
        let again = client.iter().any(|it| it.method == server[at].method && it.body.bytes() == body);
        let what = if again { "more often than the client sent it" } else { "that the client never sent" };
        let says = format!("the server received a {} of {} {what}", server[at].method, server[at].target);
        found.push(Finding::new(Defect::NotSent, Some(Side::Client), index, says).came(excerpt(&body, 0)));
    }
    // The worst first: another header matters less than other bytes.
    found.sort_by_key(|finding| finding.kind);
    found
}

/// Which of the server's exchanges each of the client's is, and which are none of them: by method and body, several that are
/// equal by what was answered, or else in their order; then, of those that are left, by method and order.
pub(crate) fn pairs(client: &[Exchange], server: &[Exchange]) -> (Vec<Option<usize>>, Vec<usize>) {
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
    // A second request for the same thing is not a changed one.
    let sent: Vec<Vec<u8>> = client.iter().map(|it| it.body.bytes()).collect();
    let mut rest: Vec<usize> = (0..server.len()).filter(|at| !pairs.contains(&Some(*at))).collect();
    for (pair, asked) in pairs.iter_mut().zip(client).filter(|(pair, _)| pair.is_none()) {
        let alike =
            |at: &usize| server[*at].method == asked.method && !sent.contains(&server[*at].body.bytes());
        *pair = rest.iter().position(alike).map(|place| rest.remove(place));
    }
    (pairs, rest)
}

fn exchange(
    index: usize,
    asked: &Exchange,
    answered: &Exchange,
    (terms, upstream): (Terms, &str),
    found: &mut Vec<Finding>,
) {
    let name = named(index, asked);
    let finding = |kind, side, says: String| Finding::new(kind, Some(side), index, says);
    let headers = |side, name: &str, names: &[&str], sent: &Headers, came: &Headers| {
        let differs = |header: &&str| {
            let (sent, came) = (values(sent, header), values(came, header));
            let how = match (&sent, &came) {
                _ if sent == came => return None,
                (Some(_), None) => "without its",
                (None, Some(_)) => "with a",
                _ => "with another",
            };
            let finding = finding(Defect::OtherHeader, side, format!("{name} arrived {how} {header}"));
            Some(Finding { sent, came, ..finding })
        };
        names.iter().filter_map(differs).collect::<Vec<_>>()
    };
    if asked.target != answered.target {
        let says = format!("{name} arrived as one for {}", answered.target);
        let finding = finding(Defect::OtherTarget, Side::Client, says);
        found.push(finding.sent(&*asked.target).came(&*answered.target));
    }
    found.extend(headers(Side::Client, &name, &ASKED, &asked.asked, &answered.asked));
    let (own, arrived) = (values(&asked.asked, "host"), values(&answered.asked, "host"));
    if arrived != own && arrived.as_deref() != Some(upstream) {
        let says = format!("{name} arrived with a Host that is neither the recorder's nor the server's");
        let finding = finding(Defect::OtherHeader, Side::Client, says).sent(upstream);
        found.push(finding.came(arrived.unwrap_or_else(|| "(none)".to_owned())));
    }
    let passage = Passage { side: Side::Client, sent: &asked.body, received: &answered.body, ready: 0 };
    found.extend(body(index, &format!("the body of {name}"), &passage, terms));
    // What the server did not answer, because somebody broke off, the client cannot have heard.
    let Some(status) = answered.status else { return };
    // A stream that brought nothing until the client went is missed by nobody, however late its head came.
    let silent = asked.method == "GET" && answered.answer.bytes().is_empty();
    match asked.status {
        Some(heard) if heard == status => {}
        Some(heard) => {
            let says = format!("the server answered {name} with {status}, and the client received {heard}");
            let finding = finding(Defect::OtherStatus, Side::Server, says);
            return found.push(finding.sent(status.to_string()).came(heard.to_string()));
        }
        None if terms.whole && !asked.broken && !asked.abandoned && !silent => {
            let says = format!("the client never received the answer to {name}");
            return found.push(finding(Defect::NotReceived, Side::Server, says).sent(status.to_string()));
        }
        None => return,
    }
    let name = format!("the answer to {name}");
    found.extend(headers(Side::Server, &name, &ANSWERED, &answered.headers, &asked.headers));
    let terms = Terms { whole: terms.whole && !asked.broken, ..terms };
    let passage = Passage { side: Side::Server, sent: &answered.answer, received: &asked.answer, ready: 0 };
    found.extend(body(index, &name, &passage, terms));
}

/// One body: its first other byte, or its first line that was held up, or an end that never came.
fn body(index: usize, name: &str, passage: &Passage<'_>, terms: Terms) -> Option<Finding> {
    let Passage { side, sent, received, .. } = *passage;
    let other = side.other().name();
    if let Some(parting) = passage.parting(terms.whole) {
        let Parting { kind, at, count, .. } = parting;
        let says = match kind {
            Defect::NotSent => format!("{count} more bytes of {name} arrived than were sent"),
            Defect::NotReceived => {
                format!("the {other} never received {count} bytes of {name}, from byte {at} on")
            }
            _ => format!("{name} differs from byte {at} on"),
        };
        return Some(parting.finding(side, index, says));
    }
    let bytes = sent.bytes();
    if bytes != received.bytes() {
        return None;
    }
    let finding = |kind, says| Finding::new(kind, Some(side), index, says);
    if let Some((_, line, late)) =
        terms.patience.and_then(|patience| passage.late(patience).into_iter().next())
    {
        let says = format!("byte {} of {name} was held up for {}", line.start, shown(late));
        return Some(finding(Defect::HeldUp, says).sent(excerpt(&bytes, line.start)));
    }
    let unended = sent.ended.is_some() && received.ended.is_none() && terms.whole;
    unended.then(|| finding(Defect::NoEnd, format!("the {other} never saw the end of {name}")))
}

/// All values of a header as one, as RFC 9110 lets them be put together; none where there is no such header.
fn values(headers: &Headers, name: &str) -> Option<String> {
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
    use crate::drive::judge::passage::tests::stream;
    use crate::drive::judge::{Defect, Finding};

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
            body: stream(&[(1, body)], Some(1)),
            status: Some(200),
            headers: headers("Content-Type: text/event-stream | Date: today"),
            answer: stream(answer, answer.last().map(|chunk| chunk.0)),
            ..Exchange::default()
        }
    }

    fn session() -> Vec<Exchange> {
        vec![post("{\"id\":1}", &[(10, "data: 1\n\n"), (5_000, "data: 2\n\n")]), post("{}", &[(6_000, "")])]
    }

    const TERMS: Terms = Terms { patience: Some(1_000), whole: true };

    fn findings(client: &[Exchange], server: &[Exchange], terms: Terms) -> Vec<Finding> {
        judge(client, server, terms, "there:2")
    }

    fn found(client: &[Exchange], server: &[Exchange]) -> Vec<(Defect, usize)> {
        findings(client, server, TERMS).into_iter().map(|it| (it.kind, it.index)).collect()
    }

    #[test]
    fn connections_and_the_spelling_of_headers_may_differ() {
        let mut server = session();
        server[0].asked = headers(
            "host: there:2 | accept: application/json | ACCEPT: text/event-stream | mcp-session-id: s | via: x",
        );
        server.reverse();
        assert_eq!(found(&session(), &server), []);
    }

    #[test]
    fn each_part_of_an_exchange_is_judged() {
        type Change = fn(&mut Exchange);
        let answer = |chunks: &[(u64, &str)]| stream(chunks, Some(5_000));
        let at_server: [(Change, Defect); 5] = [
            (|it| it.target = "/".into(), Defect::OtherTarget),
            (|it| it.asked = headers("Host: here:1 | Mcp-Session-Id: s"), Defect::OtherHeader),
            (|it| it.asked[0].1 = "there".into(), Defect::OtherHeader),
            (|it| it.asked.push(("Last-Event-ID".into(), "7".into())), Defect::OtherHeader),
            (|it| it.body = stream(&[(2, "{\"id\":1.0}")], Some(2)), Defect::OtherBytes),
        ];
        for (change, kind) in at_server {
            let mut server = session();
            change(&mut server[0]);
            assert_eq!(found(&session(), &server), [(kind, 0)]);
        }
        let at_client: [(Change, Defect); 4] = [
            (|it| it.status = Some(502), Defect::OtherStatus),
            (|it| it.status = None, Defect::NotReceived),
            (|it| it.headers[0].1 = "text/plain".into(), Defect::OtherHeader),
            (|it| it.answer.ended = None, Defect::NoEnd),
        ];
        for (change, kind) in at_client {
            let mut client = session();
            change(&mut client[0]);
            assert_eq!(found(&client, &session()), [(kind, 0)]);
        }
        for (heard, kind) in [
            (answer(&[(10, "data: 1\n\ndata: 3\n\n")]), Defect::OtherBytes),
            (answer(&[(10, "data: 1\n\n")]), Defect::NotReceived),
            (answer(&[(10, "data: 1\n\n"), (5_000, "data: 2\n\n\n")]), Defect::NotSent),
            (answer(&[(5_000, "data: 1\n\ndata: 2\n\n")]), Defect::HeldUp),
        ] {
            let mut client = session();
            client[0].answer = heard;
            assert_eq!(found(&client, &session()), [(kind, 0)]);
            // A client that reads slowly has nobody to blame.
            let slow = findings(&client, &session(), Terms { patience: None, ..TERMS });
            assert_eq!(slow.is_empty(), kind == Defect::HeldUp);
        }
    }

    #[test]
    fn requests_that_are_lost_or_sent_twice_are_found() {
        assert_eq!(found(&session(), &session()[..1]), [(Defect::NotReceived, 1)]);
        let mut client = session();
        (client[1].abandoned, client[1].status) = (true, None);
        assert_eq!(found(&client, &session()[..1]), []);
        assert_eq!(found(&client, &session()), []);
        let stream =
            |status, bytes: &[(u64, &str)]| Exchange { method: "GET".to_owned(), status, ..post("", bytes) };
        assert_eq!(found(&[stream(None, &[])], &[stream(Some(200), &[])]), []);
        let heard = [(9_000, "data: {}\n\n")];
        assert_eq!(found(&[stream(None, &[])], &[stream(Some(200), &heard)]), [(Defect::NotReceived, 0)]);
        let mut server = session();
        server.push(post("{}", &[(7_000, "")]));
        assert_eq!(found(&session(), &server), [(Defect::NotSent, 4)]);
        let says = findings(&session(), &server, TERMS).remove(0).says;
        assert_eq!(says, "the server received a POST of /mcp more often than the client sent it");
        // The first of the two was answered too, and nobody heard that.
        let mut server = session();
        server.insert(0, post("{\"id\":1}", &[(5, "data: 0\n\n")]));
        assert_eq!(found(&session(), &server), [(Defect::NotSent, 2)]);
    }
}
