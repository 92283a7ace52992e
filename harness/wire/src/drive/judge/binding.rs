//! Which request each response answers, in the order in which messages were sent and in that of a recording.

use transcript::contract::Contract;
use transcript::message::Message;
use transcript::session::{Content, Entry, Location, Side};

/// For each text, whether it is a response, and which of the texts it answers. What is no message answers nothing, and a tool
/// call under an id that was used before (COR-DUPLICATE) is passed over, since no reading binds it.
pub(super) fn answers<'t>(
    texts: impl Iterator<Item = (&'t str, Option<Side>)>,
) -> Vec<Option<Option<usize>>> {
    let mut contract = Contract::default();
    // Which of the texts each event is.
    let mut events: Vec<usize> = Vec::new();
    let bind = |(at, (text, side)): (usize, (&str, Option<Side>))| {
        let message = Message::parse(text).ok()?;
        let mut entry = Entry::new(Location::default(), Content::Message(message));
        entry.side = side;
        let event = contract.take(&entry).ok()??;
        events.push(at);
        let request = event.answers.and_then(|index| events.get(usize::try_from(index).ok()?).copied());
        event.is_response().then_some(request)
    };
    texts.enumerate().map(bind).collect()
}

#[cfg(test)]
mod tests {
    use super::answers;
    use transcript::session::Side::{Client, Server};

    #[test]
    fn responses_are_bound_by_side_and_past_what_is_no_message() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
        let ask = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
        let reply = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let texts = [
            ("noise", Server),
            (call, Client),
            (call, Client),
            (ask, Server),
            (reply, Client),
            (reply, Server),
        ];
        let bound = |sided: bool| answers(texts.iter().map(|&(text, side)| (text, sided.then_some(side))));
        assert_eq!(bound(true), [None, None, None, None, Some(Some(3)), Some(Some(1))]);
        assert_eq!(bound(false)[4..], [Some(Some(1)), Some(Some(3))]);
        assert_eq!(answers([(reply, None)].into_iter()), [Some(None)]);
    }
}
