//! The plays of `tests.txt`. Each has a session and, behind `---` with the side that is played, what happens: the messages of
//! the other side that come, the messages that are sent then, `=` with the number of the message that was received, and `!`
//! with a mismatch.

use super::{Order, Player};
use crate::play::script::tests::script;
use crate::play::testing::{plays, spelled};
use transcript::diff::{DiffOptions, PointerPattern};
use transcript::session::Side;

/// What happens in a play; `words` are the side, whether the order is loose, and what may differ.
fn play(session: &[&str], words: &str, lines: &[String]) -> Vec<String> {
    let role = if words.contains("server") { Side::Server } else { Side::Client };
    let order = if words.contains("loose") { Order::Loose } else { Order::Strict };
    let ignore = words.split(' ').filter(|word| word.starts_with('/'));
    let ignore = ignore.map(|text| PointerPattern::parse(text).unwrap()).collect();
    let (own, other) = if role == Side::Server { ("< ", "> ") } else { ("> ", "< ") };
    let script = script(session, role).unwrap();
    let mut player = Player::new(&script, DiffOptions { ignore, redacted: None }, order);
    let mut log = Vec::new();
    let speak = |player: &mut Player<'_>, log: &mut Vec<String>| {
        while let Some(said) = player.next_message() {
            log.push(format!("{own}{}", said.text));
        }
    };
    speak(&mut player, &mut log);
    for came in lines.iter().filter_map(|line| line.strip_prefix(other)) {
        log.push(format!("{other}{came}"));
        for heard in player.receive(came) {
            log.extend(heard.step.map(|step| format!("= {step}")));
            log.extend(heard.mismatch.map(|mismatch| format!("! {}", mismatch.headline())));
        }
        speak(&mut player, &mut log);
    }
    let missing = player.missing("it is over");
    assert_eq!(player.is_over(), missing.is_none());
    log.extend(missing.map(|mismatch| format!("! {}", mismatch.headline())));
    log
}

#[test]
fn every_play_goes_as_written() {
    plays(include_str!("tests.txt"), play);
}

#[test]
fn what_nobody_waits_for_may_be_overtaken() {
    let session = ["> - notifications/initialized", "< - n", "> 1 tools/list"].map(spelled);
    let session: Vec<&str> = session.iter().map(String::as_str).collect();
    let script = script(&session, Side::Server).unwrap();
    let mut player = Player::new(&script, DiffOptions::default(), Order::Strict);
    assert_eq!(player.receive(&session[0][2..])[0].mismatch, None);
    assert_eq!(player.receive(&session[2][2..])[0].mismatch, None);
    assert_eq!(player.next_message().unwrap().step, 1);
    assert!(player.is_over());
}
