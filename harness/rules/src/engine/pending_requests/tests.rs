use super::{
    FULL_OF_IDS, IdUse, MOST_BESIDE, MOST_IDS, MOST_OPEN, PendingRequest, PendingRequests, ResponseMatch,
};
use crate::engine::Method;
use transcript::json::member_index;
use transcript::message::Message;
use transcript::session::{Content, Entry, Location, Side};

fn ask(pending: &mut PendingRequests, id: &str, params: &str) {
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
    let parts = member_index(&text);
    let message = Message::parse(&text).unwrap().indexed(&parts);
    let entry = Entry::new(Location::default(), Content::Message(message));
    pending.ask(
        &entry,
        &message,
        ("tools/call", Method::find("tools/call")),
        Some(Side::Client),
        Default::default(),
    );
}

fn answer(pending: &mut PendingRequests, id: &str) -> ResponseMatch<Box<PendingRequest>> {
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    pending.answer(&Message::parse(&text).unwrap(), Some(Side::Server), Default::default())
}

#[test]
fn more_open_requests_than_are_followed_are_told_of_and_held_against_nobody() {
    let mut pending = PendingRequests::default();
    for id in 0..MOST_OPEN {
        ask(&mut pending, &id.to_string(), "{}");
    }
    assert_eq!((pending.count(), pending.full()), (MOST_OPEN, None));
    ask(&mut pending, "\"one more\"", "{}");
    assert_eq!(pending.count(), MOST_OPEN);
    assert!(pending.full().is_some_and(|why| why.contains("50,000")));
    // What was followed is answered as ever; of the rest nothing is known, nor of what was never asked.
    assert!(matches!(answer(&mut pending, "7"), ResponseMatch::Matched(request) if request.id() == "7"));
    assert!(matches!(answer(&mut pending, "\"one more\""), ResponseMatch::Unknown));
    assert!(matches!(answer(&mut pending, "\"never\""), ResponseMatch::Unknown));
    assert_eq!(pending.count(), MOST_OPEN - 1);
}

#[test]
fn ids_in_no_order_are_remembered_up_to_a_limit_and_those_that_count_up_are_not_in_the_way() {
    let mut pending = PendingRequests::default();
    let ask_and_answer = |pending: &mut PendingRequests, id: &str| {
        ask(pending, id, "{}");
        assert!(matches!(answer(pending, id), ResponseMatch::Matched(_)), "{id}");
    };
    for id in 0..2 * MOST_IDS {
        ask_and_answer(&mut pending, &id.to_string());
    }
    assert_eq!(pending.full(), None);
    for id in 0..=MOST_IDS + 1_000 {
        ask_and_answer(&mut pending, &format!("\"{id}x\""));
    }
    assert_eq!(pending.full(), Some(FULL_OF_IDS));
    let remembered: usize = pending.used.values().flatten().map(super::UsedIds::remembered).sum();
    assert!((MOST_IDS..=MOST_IDS + 1_000).contains(&remembered), "{remembered}");
    ask_and_answer(&mut pending, "\"new\"");
    assert_eq!(pending.used.values().flatten().map(super::UsedIds::remembered).sum::<usize>(), remembered);
    // An id from before is known still, and of a new one nobody can tell whether it was used.
    assert!(matches!(answer(&mut pending, "\"1x\""), ResponseMatch::AlreadyAnswered));
    assert!(matches!(answer(&mut pending, "\"new\""), ResponseMatch::Unknown));
    ask(&mut pending, "\"new\"", "{}");
    assert_eq!(pending.last_use(), Some(IdUse::Fresh));
}

#[test]
fn what_is_inside_of_open_params_is_held_up_to_a_limit_and_found_beyond_it() {
    let mut pending = PendingRequests::default();
    let params = format!(r#"{{"list":[{}1],"name":"a"}}"#, "1,".repeat(50_000));
    for id in 0..20 {
        ask(&mut pending, &id.to_string(), &params);
    }
    assert!((MOST_BESIDE..2 * MOST_BESIDE).contains(&pending.beside), "{}", pending.beside);
    for id in 0..20 {
        let ResponseMatch::Matched(request) = answer(&mut pending, &id.to_string()) else {
            panic!("{id} was asked")
        };
        assert_eq!(request.param("name").unwrap().text(), "\"a\"");
    }
    assert_eq!((pending.beside, pending.held), (0, 0));
}

#[test]
fn the_memory_of_an_answered_request_is_the_next_ones_and_is_counted_as_such() {
    let mut pending = PendingRequests::default();
    let list = |length: usize| format!(r#"{{"list":[{}1],"name":"a"}}"#, "1,".repeat(length));
    let mut id = 0;
    // What is held after a request with so long params was answered and one with others was made.
    let mut held_after = |before: usize, now: usize| {
        ask(&mut pending, &id.to_string(), &list(before));
        let ResponseMatch::Matched(request) = answer(&mut pending, &id.to_string()) else {
            panic!("{id} was asked")
        };
        assert_eq!((pending.beside, pending.held), (0, 0));
        pending.reuse(request);
        ask(&mut pending, &(id + 1).to_string(), &list(now));
        assert_eq!(pending.open()[0].param("list").unwrap().text().len(), 2 * now + 3);
        let held = (pending.held, pending.beside);
        assert!(matches!(answer(&mut pending, &(id + 1).to_string()), ResponseMatch::Matched(_)));
        id += 2;
        held
    };
    let cost = |length: usize| {
        let params = list(length);
        (params.len(), 24 * (member_index(&params).len()))
    };
    assert_eq!(held_after(100, 100), cost(100));
    assert_eq!(held_after(100, 50), cost(100));
    assert_eq!(held_after(100, 5), cost(5));
    // What is too large goes back at once.
    assert_eq!(held_after(100_000, 99_000), cost(99_000));
}
