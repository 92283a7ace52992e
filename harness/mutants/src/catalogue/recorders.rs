//! Mistakes about the files of small recorders that are not lines of JSON.

use crate::json::{drop_if, is_string, lines, member, set_if};
use crate::on_text::{Shape, in_text, on_document, on_shape, on_text};

/// How mcp-vcr begins an item's last line.
const TIME: &str = "  t:";

mutants! {
    "recorders/any-version" ["SRV-BYTES"] "reads a cassette whatever the number of its format is"
        => on_document(Shape::List, set_if(member("format_version", |it| it.text() != "3"), "format_version", "3"));
    "recorders/text-for-a-message-passed" ["RPL-NOISE"] "passes over an entry that holds text in the place of a message"
        => on_shape(Shape::List, |_, text| {
            in_text(text, &["messages", "*"], &mut drop_if(member("payload", is_string)))
        });
    "recorders/half-an-item-read" ["SRV-BYTES"] "reads the last item of a YAML transcript without the line that it ends with"
        => on_text(|_, text| {
            let last = text.rfind("\n- ")?;
            (!text[last..].contains(TIME)).then(|| format!("{}\n{TIME} 0\n", text.trim_end()))
        }).only("mcp-vcr");
    "recorders/underscored-numbers" ["SRV-BYTES"] "reads `1_000` in YAML as 1000"
        => on_text(|_, text| {
            let number = |line: &str| {
                let (key, value) = line.split_once(": ")?;
                let digits = value.contains('_') && value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'_'));
                digits.then(|| format!("{key}: {}", value.replace('_', "")))
            };
            lines(text, &mut |line| number(line))
        }).only("mcp-vcr");
    "recorders/half-a-message-passed" ["SRV-BYTES"] "passes over a message that a text archive ends within"
        => on_text(|_, text| {
            let last = text.rfind("\n{\n")?;
            (!text[last..].contains("\n}")).then(|| text[..=last].to_owned())
        }).only("txtar");
}
