//! A play under way, whatever carries it: what is next, what was reported, and how long it goes on while nothing comes.

use super::plan::{Mismatch, MismatchKind, Plan, Played};
use super::player::{Order, Player};
use crate::messages::internal_error;
use std::time::{Duration, Instant};

/// A play under way.
pub(super) struct Game<'p> {
    plan: &'p Plan<'p>,
    pub(super) player: Player<'p>,
    /// Errors for requests that depart from the session, to be sent next.
    pub(super) refusals: Vec<String>,
    /// This side closed before the session was over, as its variant asks.
    pub(super) closed_early: bool,
    /// A wait ran out although something came: nothing that was awaited.
    pub(super) talks_on: bool,
    /// How much of what is awaited has come, and when the last of it did.
    progress: (u64, Instant),
    tally: Played,
}

impl<'p> Game<'p> {
    pub(super) fn new(plan: &'p Plan<'p>, order: Order) -> Self {
        let mut player = Player::new(plan.script, plan.rules.clone(), order);
        player.refuses = plan.refuse;
        let (progress, tally) = ((0, Instant::now()), Played::default());
        Self { plan, player, refusals: Vec::new(), closed_early: false, talks_on: false, progress, tally }
    }

    /// How long a wait may be, with what this side takes on top.
    pub(super) fn patience(&self) -> Duration {
        self.plan.patience + self.plan.variants.delay + self.plan.variants.slow_read
    }

    /// Begins a wait of its own.
    pub(super) fn wait_anew(&mut self) {
        self.progress = (0, Instant::now());
    }

    /// Whether nothing came for too long that was awaited, which is messages, and what `more` counts. What else comes meanwhile
    /// does not put that off.
    pub(super) fn is_late(&mut self, more: u64) -> bool {
        let progress = self.player.sent + self.player.received + more;
        if progress != self.progress.0 {
            self.progress = (progress, Instant::now());
        }
        self.talks_on = self.progress.1.elapsed() > self.patience();
        self.talks_on
    }

    /// Why a wait is over that ran out.
    pub(super) fn silence(&self) -> String {
        let waited = self.plan.waited();
        match self.talks_on {
            true => format!("for {waited} only messages arrived that the session does not have"),
            false => format!("nothing arrived for {waited}"),
        }
    }

    /// Whether this side closes now, as its variant asks.
    pub(super) fn closes(&mut self) -> bool {
        self.closed_early |= self.plan.variants.close_after == Some(self.player.sent);
        self.closed_early
    }

    pub(super) fn report(&mut self, mismatch: Mismatch) {
        self.plan.report(&mut self.tally, &mismatch);
    }

    /// Reports what was not done, or not done right, with this message of the session.
    pub(super) fn report_at(&mut self, step: usize, why: String) {
        self.report(Mismatch { step: Some(step), ..Mismatch::protocol(why) });
    }

    /// Reports the first message that did not come, for this reason; whether there is one.
    pub(super) fn miss(&mut self, why: &str) -> bool {
        let missing = self.player.missing(why);
        let any = missing.is_some();
        missing.into_iter().for_each(|missing| self.report(missing));
        any
    }

    /// Takes what is meant to be a message, and reports how it departs from the session: which of its steps came; none where it
    /// is not text.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> Option<Vec<usize>> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            let came = String::from_utf8_lossy(bytes).into_owned();
            self.report(Mismatch::new(MismatchKind::NoMessage("it is not UTF-8".to_owned()), Some(came)));
            return None;
        };
        let received = self.player.receive(text);
        let steps = received.iter().filter_map(|one| one.step).collect();
        for one in received {
            let Some(mismatch) = one.mismatch else { continue };
            if let Some(id) = one.refused {
                let why = mismatch.describe(self.plan.script, self.plan.name);
                self.refusals.push(internal_error(&id, &format!("mcp-concord play: {why}")));
            }
            self.report(mismatch);
        }
        Some(steps)
    }

    pub(super) fn played(&self) -> Played {
        Played { sent: self.player.sent, received: self.player.received, ..self.tally }
    }
}

#[cfg(test)]
mod tests {
    use super::{Game, Order};
    use crate::play::Variants;
    use crate::play::script::tests::of_bytes;
    use crate::play::testing::played;
    use std::time::Duration;
    use transcript::session::Side;

    #[test]
    fn only_what_is_awaited_puts_the_end_off() {
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let script = of_bytes("jsonrpc", ping, Side::Server).unwrap();
        let pause = || std::thread::sleep(Duration::from_millis(1));
        played(&script, Duration::ZERO, &Variants::default(), |plan| {
            let mut game = Game::new(plan, Order::Strict);
            pause();
            assert!(game.is_late(0));
            game.progress.0 = 1;
            pause();
            assert!(game.is_late(1), "nothing more has come");
        });
        played(&script, Duration::from_secs(3600), &Variants::default(), |plan| {
            let mut game = Game::new(plan, Order::Strict);
            assert!(!game.is_late(0) && !game.is_late(1));
        });
    }
}
