//! A session that was recorded over HTTP, in the order in which its messages passed.
//!
//! An archive is read exchange by exchange (HAR-ORDER), so that the messages of a long stream come where the stream
//! began; over HTTP+SSE that is every answer before its request. Our archive has more: when each block of a stream came
//! (`_events`), on the clock of the exchanges' starts. For a format whose order is that of the session, a request is
//! put where its exchange starts, a response that is not a stream where it ends, and a block of a stream where it came.
//! Memory: a number for each block.

use formats::Session;
use jiff::Timestamp;
use transcript::json::Json;
use transcript::session::Carrier;

/// Nanoseconds since 1970.
type Moment = i128;

/// Puts the session that was read of an archive of ours into the order in which it passed, and gives each entry its own
/// time.
pub fn put_in_order(session: &mut Session, archive: &str) {
    let (moments, _) = moments(session, archive);
    apply(session, moments);
}

/// The same for an archive that may be anybody's: only where it says of each stream when its blocks came.
pub fn put_in_order_if_timed(session: &mut Session, archive: &str) {
    let (moments, told) = moments(session, archive);
    if told {
        apply(session, moments);
    }
}

/// The moment of each entry, and whether those of streams have moments of their own.
fn moments(session: &Session, archive: &str) -> (Vec<Option<Moment>>, bool) {
    let mut exchanges = exchanges(archive);
    let (mut moments, mut told, mut streams) = (Vec::with_capacity(session.entries.len()), true, false);
    for entry in &session.entries {
        let number = entry.location.index.and_then(|index| usize::try_from(index).ok());
        let passed = number.and_then(|number| exchanges.get_mut(number)?.as_mut());
        if entry.carrier == Carrier::Sse {
            streams = true;
            told &= passed.as_ref().is_some_and(|passed| passed.told);
        }
        moments.push(passed.map(|passed| passed.moment(entry.carrier)));
    }
    (moments, told && streams)
}

fn apply(session: &mut Session, moments: Vec<Option<Moment>>) {
    // What has no moment of its own stays behind what it stands behind.
    let mut last = Moment::MIN;
    let mut ranks = Vec::with_capacity(moments.len());
    for (entry, moment) in session.entries.iter_mut().zip(moments) {
        if let Some(moment) = moment {
            last = moment;
            entry.time = i64::try_from(moment.div_euclid(1_000_000)).ok();
        }
        ranks.push(last);
    }
    let mut ranks = ranks.into_iter();
    session.reorder(|_| ranks.next());
}

/// When the parts of an exchange passed.
struct Passed {
    started: Moment,
    ended: Moment,
    /// Whether it is said when blocks came.
    told: bool,
    /// When those came that no entry was found for yet.
    blocks: std::vec::IntoIter<Moment>,
}

impl Passed {
    /// The blocks of a stream are entries in the order of its text.
    fn moment(&mut self, carrier: Carrier) -> Moment {
        match carrier {
            Carrier::Line | Carrier::Request => self.started,
            Carrier::Response => self.ended,
            // The last block of a stream that was cut has no moment, since it never ended.
            Carrier::Sse => self.blocks.next().unwrap_or(self.ended),
        }
    }
}

fn exchanges(archive: &str) -> Vec<Option<Passed>> {
    let log = Json::parse(archive).ok().and_then(|file| file.member("log")?.member("entries"));
    log.into_iter().flat_map(Json::items).map(passed).collect()
}

fn passed(exchange: Json<'_>) -> Option<Passed> {
    let started = exchange.member("startedDateTime")?.as_text()?.to_str()?;
    let started = started.parse::<Timestamp>().ok()?.as_nanosecond();
    let since = |time: Option<Json<'_>>| Some(started + nanoseconds(time?.as_number()?)?);
    let ended = since(exchange.member("time"))?;
    let listed = exchange.member("_events");
    let blocks = listed.into_iter().flat_map(Json::items);
    let blocks: Vec<_> = blocks.map(|block| since(block.member("time")).unwrap_or(ended)).collect();
    Some(Passed { started, ended, told: listed.is_some(), blocks: blocks.into_iter() })
}

/// Of milliseconds.
fn nanoseconds(text: &str) -> Option<Moment> {
    let milliseconds: f64 = text.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a float beyond i128 becomes its nearest end")]
    Some((milliseconds * 1e6).round() as Moment)
}

#[cfg(test)]
mod tests {
    use super::{put_in_order, put_in_order_if_timed};
    use formats::{Input, ReadOptions, Session};
    use transcript::session::Side;

    const OPEN: &str = r#"{"startedDateTime":"2026-01-01T00:00:00.000100Z","time":90,
        "request":{"method":"GET","url":"http://h/sse","headers":[]},
        "response":{"status":200,"headers":[],"content":{"mimeType":"text/event-stream","text":
        "event: endpoint\ndata: /m\n\n: still here\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\ndata: {\"cut"}},
        "_events":[{"at":0,"time":0.1},{"at":1,"time":5},{"at":2,"time":10.000},{"at":3,"time":20.4}]}"#;

    fn post(started: &str, id: u8) -> String {
        format!(
            r#"{{"startedDateTime":"2026-01-01T00:00:00.{started}Z","time":0.2,"request":{{"method":"POST","url":"http://h/m",
            "headers":[],"postData":{{"mimeType":"application/json","text":"{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}"}}}},
            "response":{{"status":202,"headers":[],"content":{{"size":0,"mimeType":""}}}}}}"#
        )
    }

    fn read(archive: &str) -> Session {
        let mut bytes = archive.as_bytes();
        let mut input = Input::new(&mut bytes).unwrap();
        Session::read(formats::find("har").unwrap(), &mut input, ReadOptions::default()).unwrap()
    }

    #[test]
    fn what_a_long_stream_said_stands_where_it_came() {
        // Asked within the same millisecond as it is answered.
        let exchanges = [post("010000", 1), post("015000", 2), OPEN.to_owned()].join(",");
        let archive = format!(r#"{{"log":{{"version":"1.2","entries":[{exchanges}]}}}}"#);
        let told = |session: &Session| {
            let entries = session.entries.iter().filter(|entry| entry.message().is_some());
            entries
                .map(|entry| (entry.side == Some(Side::Server), entry.answers, entry.time.unwrap() % 1000))
                .collect::<Vec<_>>()
        };
        assert!(told(&read(&archive))[0].0, "by HAR-ORDER the answers stand first");
        let expected = [(false, None, 10), (true, Some(0), 10), (false, None, 15), (true, Some(2), 20)];
        for put in [put_in_order, put_in_order_if_timed] {
            let mut session = read(&archive);
            put(&mut session, &archive);
            assert_eq!(told(&session), expected);
        }
        let silent = archive.replace("_events", "_others");
        let mut session = read(&silent);
        put_in_order_if_timed(&mut session, &silent);
        assert_eq!(format!("{session:?}"), format!("{:?}", read(&silent)), "it says nothing of its order");
    }

    #[test]
    fn an_archive_without_moments_stays_as_it_is() {
        let archive = r#"{"log":{"entries":[{"request":{"method":"POST","postData":{"mimeType":"application/json",
            "text":"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}"}},"response":{"status":202,"content":{}}}]}}"#;
        let mut session = read(archive);
        put_in_order(&mut session, archive);
        assert_eq!(format!("{session:?}"), format!("{:?}", read(archive)));
    }
}
