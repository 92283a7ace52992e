//! Reading JSON-RPC lines.

use crate::input::{Input, ReadError};
use crate::{Options, lines};
use transcript::message::Message;
use transcript::session::{Content, Entry, Sink};

pub(super) fn read(input: &mut Input<'_>, options: Options, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    lines::each(input, |line| {
        let content = match Message::parse(line.text) {
            Ok(message) => Content::Message(message),
            Err(refusal) => {
                let refusal = refusal.on_a_line(line.open_ended);
                if !(options.lenient && refusal.is_noise()) {
                    return Err(line.refuse(refusal, ""));
                }
                Content::Noise(refusal.message)
            }
        };
        sink(Entry::new(line.spot(0, ""), content)).map_err(|halt| line.halted(halt, 0, ""))
    })
}
