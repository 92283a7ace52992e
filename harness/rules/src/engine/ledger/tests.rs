use super::{Answer, FULL_OF_IDS, Ledger, MOST_BESIDE, MOST_IDS, MOST_OPEN, Use};
use transcript::json::member_index;
use transcript::message::Message;
use transcript::session::{Content, Entry, Location, Side};

fn ask(ledger: &mut Ledger, id: &str, params: &str) {
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
    let parts = member_index(&text);
    let message = Message::parse(&text).unwrap().indexed(&parts);
    let entry = Entry::new(Location::default(), Content::Message(message));
    ledger.ask(&entry, &message, "tools/call", Some(Side::Client), None);
}

fn answer(ledger: &mut Ledger, id: &str) -> Answer {
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    ledger.answer(&Message::parse(&text).unwrap(), Some(Side::Server))
}

#[test]
fn more_open_requests_than_are_followed_are_told_of_and_held_against_nobody() {
    let mut ledger = Ledger::default();
    for id in 0..MOST_OPEN {
        ask(&mut ledger, &id.to_string(), "{}");
    }
    assert_eq!((ledger.count(), ledger.full()), (MOST_OPEN, None));
    ask(&mut ledger, "\"one more\"", "{}");
    assert_eq!(ledger.count(), MOST_OPEN);
    assert!(ledger.full().is_some_and(|why| why.contains("50,000")));
    // What was followed is answered as ever; of the rest nothing is known, nor of what was never asked.
    assert!(matches!(answer(&mut ledger, "7"), Answer::To(asked) if &*asked.id == "7"));
    assert!(matches!(answer(&mut ledger, "\"one more\""), Answer::Untold));
    assert!(matches!(answer(&mut ledger, "\"never\""), Answer::Untold));
    assert_eq!(ledger.count(), MOST_OPEN - 1);
}

#[test]
fn ids_in_no_order_are_remembered_up_to_a_limit_and_those_that_count_up_are_not_in_the_way() {
    let mut ledger = Ledger::default();
    let ask_and_answer = |ledger: &mut Ledger, id: &str| {
        ask(ledger, id, "{}");
        assert!(matches!(answer(ledger, id), Answer::To(_)), "{id}");
    };
    for id in 0..2 * MOST_IDS {
        ask_and_answer(&mut ledger, &id.to_string());
    }
    assert_eq!(ledger.full(), None);
    for id in 0..=MOST_IDS + 1_000 {
        ask_and_answer(&mut ledger, &format!("\"{id}x\""));
    }
    assert_eq!(ledger.full(), Some(FULL_OF_IDS));
    let remembered: usize = ledger.used.iter().map(super::CallIds::remembered).sum();
    assert!((MOST_IDS..=MOST_IDS + 1_000).contains(&remembered), "{remembered}");
    ask_and_answer(&mut ledger, "\"new\"");
    assert_eq!(ledger.used.iter().map(super::CallIds::remembered).sum::<usize>(), remembered);
    // An id from before is known still, and of a new one nobody can tell whether it was used.
    assert!(matches!(answer(&mut ledger, "\"1x\""), Answer::Again));
    assert!(matches!(answer(&mut ledger, "\"new\""), Answer::Untold));
    ask(&mut ledger, "\"new\"", "{}");
    assert_eq!(ledger.last_use(), Some(Use::Fresh));
}

#[test]
fn what_is_inside_of_open_params_is_held_up_to_a_limit_and_found_beyond_it() {
    let mut ledger = Ledger::default();
    let params = format!(r#"{{"list":[{}1],"name":"a"}}"#, "1,".repeat(50_000));
    for id in 0..20 {
        ask(&mut ledger, &id.to_string(), &params);
    }
    assert!((MOST_BESIDE..2 * MOST_BESIDE).contains(&ledger.beside), "{}", ledger.beside);
    for id in 0..20 {
        let Answer::To(asked) = answer(&mut ledger, &id.to_string()) else { panic!("{id} was asked") };
        assert_eq!(asked.param("name").unwrap().text(), "\"a\"");
    }
    assert_eq!((ledger.beside, ledger.held), (0, 0));
}
