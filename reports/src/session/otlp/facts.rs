//! Spans and attributes as the OpenTelemetry Protocol has them in JSON, and what spans have in common: the parties, the session and
//! the transport.

use crate::object::{OrderedValue, object};
use formats::{OwnedContent, OwnedEntry, Session};
use std::collections::BTreeMap;
use transcript::json::{Json, JsonString};
use transcript::message::Message;
use transcript::session::{Exchange, Side, header};

/// The names of both parties, as the handshake has them.
#[derive(Debug, Default)]
pub(super) struct Names {
    client: Vec<OrderedValue<'static>>,
    server: Vec<OrderedValue<'static>>,
}

impl Names {
    /// Takes what the handshake's `clientInfo` or `serverInfo` says, the first time.
    pub(super) fn take(&mut self, side: Side, info: Option<Json<'_>>) {
        let known = match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        };
        if known.is_empty()
            && let Some(name) = info.and_then(|info| text(info.member("name")?))
        {
            known.push(text_attribute("service.name", name));
            let version = info.and_then(|info| text(info.member("version")?));
            known.extend(version.map(|version| text_attribute("service.version", version)));
        }
    }

    /// The resource of what this side reports.
    pub(super) fn attributes(&self, side: Side) -> Vec<OrderedValue<'static>> {
        let (known, role) = match side {
            Side::Client => (&self.client, "client"),
            Side::Server => (&self.server, "server"),
        };
        match known.is_empty() {
            true => vec![text_attribute("service.name", format!("unknown_service:mcp-{role}"))],
            false => known.clone(),
        }
    }
}

/// What is known of the transport.
#[derive(Debug)]
pub(super) struct Wire<'s> {
    exchanges: BTreeMap<u64, &'s Exchange<'static>>,
    http: bool,
    pipe: bool,
    /// The session id that was seen last.
    session: Option<String>,
}

impl<'s> Wire<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        let exchange = |entry: &'s OwnedEntry| match &entry.what {
            OwnedContent::Exchange(exchange) => Some((entry.exchange?, &**exchange)),
            _ => None,
        };
        let transport = session.trace_start().and_then(|start| text(start.member("_transport")?));
        Self {
            exchanges: session.entries.iter().filter_map(exchange).collect(),
            http: session.transport().is_some() || transport.as_deref().is_some_and(|it| it != "stdio"),
            pipe: transport.as_deref() == Some("stdio"),
            session: None,
        }
    }

    /// The attributes of a request that came with this entry.
    pub(super) fn attributes(&mut self, entry: &OwnedEntry) -> Vec<OrderedValue<'static>> {
        let exchange = entry.exchange.and_then(|number| self.exchanges.get(&number));
        let headers = exchange.into_iter().flat_map(|it| [&it.request_headers, &it.response_headers]);
        let context = entry.context.iter().map(|context| &context.headers);
        let named = headers.chain(context).find_map(|headers| header(headers, "Mcp-Session-Id"));
        self.session = named.map(Into::into).or(self.session.take());
        let mut found: Vec<_> =
            self.session.iter().map(|id| text_attribute("mcp.session.id", id.as_str())).collect();
        if self.http {
            found.push(text_attribute("network.transport", "tcp"));
            found.push(text_attribute("network.protocol.name", "http"));
        } else if self.pipe {
            found.push(text_attribute("network.transport", "pipe"));
        }
        if let Some((address, port)) = exchange.and_then(|exchange| authority(&exchange.url)) {
            found.push(text_attribute("server.address", address));
            found.extend(port.map(|port| attribute("server.port", "intValue", port.to_string())));
        }
        found
    }
}

/// The host and the port of a URL.
fn authority(url: &str) -> Option<(&str, Option<u16>)> {
    let (scheme, rest) = url.split_once("://")?;
    let rest = rest.split(['/', '?', '#']).next()?;
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let usual = match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let (host, port) = match rest.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
        Some((host, port)) => (host, port.parse().ok()),
        None => (rest, usual),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then_some((host, port))
}

/// What a client that traces its requests puts into them (W3C Trace Context): the ids of the trace and of its span.
pub(super) fn parent(message: &Message<'_>) -> Option<(String, String)> {
    let header = text(message.params()?.member("_meta")?.member("traceparent")?)?;
    let mut parts = header.split('-');
    let version = parts.next()?;
    let is_id = |id: &&str, length: usize| {
        id.len() == length
            && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && id.bytes().any(|byte| byte != b'0')
    };
    let trace = parts.next().filter(|id| is_id(id, 32))?;
    let span = parts.next().filter(|id| is_id(id, 16))?;
    (version.len() == 2 && version != "ff" && parts.next().is_some()).then(|| (trace.into(), span.into()))
}

/// Text as Unicode: a lone surrogate is replaced.
pub(super) fn text(value: Json<'_>) -> Option<String> {
    value.as_text().map(unicode)
}

pub(super) fn unicode(text: JsonString<'_>) -> String {
    String::from_utf8_lossy(&text.decode()).into_owned()
}

/// A request, until its answer, in the words of the OpenTelemetry Protocol.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    pub(super) kind: u64,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) attributes: Vec<OrderedValue<'static>>,
    pub(super) status: OrderedValue<'static>,
}

/// `SPAN_KIND_SERVER`, `SPAN_KIND_CLIENT`, and `STATUS_CODE_ERROR`.
pub(super) const SERVER: u64 = 2;
pub(super) const CLIENT: u64 = 3;
pub(super) const ERROR: u64 = 2;

/// An attribute whose value is a text, or an integer of 64 bits, which is spelled as one.
pub(super) fn attribute(
    key: &'static str,
    kind: &'static str,
    value: impl Into<OrderedValue<'static>>,
) -> OrderedValue<'static> {
    object().with("key", key).with("value", object().with(kind, value))
}

/// An attribute whose value is a text.
pub(super) fn text_attribute(key: &'static str, value: impl Into<String>) -> OrderedValue<'static> {
    attribute(key, "stringValue", value.into())
}

impl Span {
    /// The span as a collector takes it: ids in hexadecimal, and times as text.
    pub(super) fn json(&self) -> OrderedValue<'_> {
        object()
            .with("traceId", &self.trace)
            .with("spanId", &self.id)
            .with("parentSpanId", self.parent.as_deref())
            .with("name", &self.name)
            .with("kind", self.kind)
            .with("startTimeUnixNano", nanoseconds(self.start))
            .with("endTimeUnixNano", nanoseconds(self.end))
            .with("attributes", self.attributes.clone())
            .with("status", self.status.clone())
    }
}

/// Nanoseconds since 1970 of milliseconds.
fn nanoseconds(milliseconds: i64) -> String {
    (u64::try_from(milliseconds).unwrap_or_default().saturating_mul(1_000_000)).to_string()
}
