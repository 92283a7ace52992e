//! Rows in words.

use super::model::{Fold, RowContent};
use super::sample;

#[test]
fn every_row_is_said_in_a_sentence() {
    let diagram = sample::diagram();
    let said: Vec<String> = diagram.rows.iter().map(|row| diagram.sentence(row)).collect();
    assert_eq!(
        said[1],
        "Message 0 at 0.000 s, client to server: request initialize, id 0: {\"capabilities\":{}}."
    );
    assert_eq!(
        said[2],
        "Message 1 at 0.120 s, server to client: result of initialize, id 0, answers message 0 after 120 ms, \
         SSE id 7: {}."
    );
    assert!(
        said[3].contains(", never answered: {\"message\":\"hello\"}. error jsonrpc.id.null: the id is null.")
    );
    assert!(
        said[4].contains("12 messages folded, 3 to 14: 6 requests, 5 answers, 1 notification"),
        "{}",
        said[4]
    );
    assert!(diagram.overview().contains("between client and server: jsonrpc, 3 messages."));
}

#[test]
fn folds_add_up() {
    let mut one = Fold { span: Some((3, 5)), requests: 2, answers: 1, ..Fold::default() };
    one.join(&Fold { notes: 2, ..Fold::default() });
    one.join(&Fold { span: Some((6, 6)), notifications: 1, ..Fold::default() });
    assert_eq!(one.words(), "4 messages folded, 3 to 6: 2 requests, 1 answer, 1 notification, 2 notes");
    assert_eq!(
        Fold { notes: 2, odd: 1, ..Fold::default() }.words(),
        "folded: 2 notes, 1 of these out of the ordinary"
    );
    let row = RowContent::Fold(Fold { span: Some((9, 9)), answers: 1, ..Fold::default() }).into();
    assert_eq!(sample::diagram().sentence(&row), "message 9 folded: 1 answer.");
}
