//! How a meaning and its calls are written: a list of objects, and a summary behind it.

use transcript::json::{Json, write_compact, write_string};

/// The member with the events of a meaning, and the one with the calls of a projection.
pub(crate) const EVENTS: &str = "events";
pub(crate) const CALLS: &str = "calls";

/// A document with a list of objects, and with a summary where there is one: `null` would say that nothing was visible.
pub(crate) fn document<T>(
    list: &str,
    items: impl IntoIterator<Item = T>,
    summary: Option<Json<'_>>,
    write: impl Fn(&T, &mut Object<'_>),
) -> String {
    let mut out = format!("{{\"{list}\": [").into_bytes();
    for (index, item) in items.into_iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"\n{" } else { b",\n{" });
        write(&item, &mut Object { out: &mut out, first: true });
        out.push(b'}');
    }
    out.extend_from_slice(b"\n]");
    if let Some(summary) = summary {
        out.extend_from_slice(b",\n");
        Object { out: &mut out, first: true }.value("authorization_discovery", Some(summary));
    }
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}

/// An object that is being written.
pub(crate) struct Object<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

impl Object<'_> {
    fn name(&mut self, name: &str) {
        if !std::mem::take(&mut self.first) {
            self.out.extend_from_slice(b", ");
        }
        self.out.extend_from_slice(format!("\"{name}\": ").as_bytes());
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn string(&mut self, name: &str, text: &str) {
        self.name(name);
        write_string(text.as_bytes(), self.out);
    }

    pub(crate) fn optional(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.string(name, text);
        }
    }

    pub(crate) fn value(&mut self, name: &str, value: Option<Json<'_>>) {
        if let Some(value) = value {
            self.name(name);
            write_compact(value, self.out);
        }
    }

    /// The members of a call.
    pub(crate) fn call(
        &mut self,
        tool: Option<Json<'_>>,
        arguments: Option<Json<'_>>,
        outcome: Option<(&str, Json<'_>)>,
    ) {
        self.value("tool", tool);
        self.value("arguments", arguments);
        let Some((name, value)) = outcome else { return self.text("outcome", "null") };
        self.text("outcome", "{");
        Object { out: self.out, first: true }.value(name, Some(value));
        self.out.push(b'}');
    }
}
