//! Spans and attributes as the OpenTelemetry Protocol has them in JSON.

use crate::object::{OrderedValue, object};

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
