//! The JSON of the OpenTelemetry Protocol, as far as it is written: ids in hexadecimal, kinds and codes as numbers, and
//! integers of 64 bits as text.

use serde::Serialize;

/// All of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Traces<'a> {
    pub(super) resource_spans: Vec<ResourceSpans<'a>>,
}

/// The spans that one party reports.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceSpans<'a> {
    pub(super) resource: Resource,
    pub(super) scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Debug, Serialize)]
pub(super) struct Resource {
    pub(super) attributes: Vec<Attribute>,
}

#[derive(Debug, Serialize)]
pub(super) struct ScopeSpans<'a> {
    pub(super) scope: Scope,
    pub(super) spans: Vec<&'a Span>,
}

#[derive(Debug, Serialize)]
pub(super) struct Scope {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

/// A request, until its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Span {
    pub(super) trace_id: String,
    pub(super) span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_span_id: Option<String>,
    pub(super) name: String,
    pub(super) kind: u8,
    pub(super) start_time_unix_nano: String,
    pub(super) end_time_unix_nano: String,
    pub(super) attributes: Vec<Attribute>,
    pub(super) status: Status,
}

/// `SPAN_KIND_SERVER` and `SPAN_KIND_CLIENT`.
pub(super) const SERVER: u8 = 2;
pub(super) const CLIENT: u8 = 3;

/// How it ended: nothing is said where it went well.
#[derive(Debug, Default, Serialize)]
pub(super) struct Status {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
}

/// `STATUS_CODE_ERROR`.
pub(super) const ERROR: u8 = 2;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Attribute {
    key: &'static str,
    value: Value,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
enum Value {
    StringValue(String),
    IntValue(String),
}

impl Attribute {
    pub(super) fn text(key: &'static str, value: impl Into<String>) -> Self {
        Self { key, value: Value::StringValue(value.into()) }
    }

    pub(super) fn integer(key: &'static str, value: u16) -> Self {
        Self { key, value: Value::IntValue(value.to_string()) }
    }
}
