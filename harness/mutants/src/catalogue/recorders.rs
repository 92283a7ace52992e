//! Mistakes about the files of small recorders that are not lines of JSON.

use crate::json::{drop_if, is_string, member, set_if};
use crate::on_text::{Shape, in_text, on_document, on_shape, on_text};

mutants! {
    "recorders/any-version" ["SRV-BYTES"] "reads a cassette whatever the number of its format is"
        => on_document(Shape::List, set_if(member("format_version", |it| it.text() != "3"), "format_version", "3"));
    "recorders/text-for-a-message-passed" ["RPL-NOISE"] "passes over an entry that holds text in the place of a message"
        => on_shape(Shape::List, |_, text| {
            in_text(text, &["messages", "*"], &mut drop_if(member("payload", is_string)))
        });
    "recorders/half-a-message-passed" ["SRV-BYTES"] "passes over a message that a text archive ends within"
        => on_text(|_, text| {
            let last = text.rfind("\n{\n")?;
            (!text[last..].contains("\n}")).then(|| text[..=last].to_owned())
        }).only("txtar");
}
