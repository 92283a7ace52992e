//! A mock on the standard streams of this process, which its client holds.

use super::catalogue::Catalogue;
use super::client::MockClient;
use super::{Action, Matching, Served};
use crate::StartError;
use crate::interrupt;
use crate::play::http::Answers;
use crate::play::plan::{Mismatch, MismatchKind, Plan, TICK};
use crate::stdio::{Inbox, PipeEvent, listen, standard_streams};
use std::fs::File;
use std::sync::Arc;
use transcript::json::Json;
use transcript::message::Message;
use transcript::rejection::Code;

/// Answers until the client closes its end and all is answered, or this process is asked to end.
pub fn as_server(plan: &Plan<'_>, matching: &Matching) -> Result<Served, StartError> {
    let catalogue =
        Catalogue::new(plan.script, plan.rules, Answers::AsRecorded).map_err(StartError::Unusable)?;
    let (from, to) = standard_streams()?;
    plan.journal.began("server", "stdio", None);
    catalogue.report(plan);
    let inbox = Arc::new(Inbox::default());
    listen(from, plan.variants.slow_read, plan.longest(), plan.journal.clone(), &inbox);
    let client = MockClient::new(&catalogue, matching);
    let mut mock = StdioMock { plan, client, inbox, to, served: Served::default(), gone: false };
    mock.serve();
    let StdioMock { mut client, mut served, .. } = mock;
    client.server.take().into_iter().for_each(|live| live.close(plan.patience));
    served.new = client.live.new;
    served.played = plan.over(served.played);
    Ok(served)
}

struct StdioMock<'p> {
    plan: &'p Plan<'p>,
    client: MockClient<'p>,
    inbox: Arc<Inbox>,
    to: File,
    served: Served,
    /// The client reads no more.
    gone: bool,
}

impl StdioMock<'_> {
    fn serve(&mut self) {
        let mut ended = false;
        while !(self.gone || interrupt::requested() || ended && self.client.is_idle()) {
            match self.inbox.next(TICK) {
                Some(PipeEvent::Line(line, _)) => self.line(&line),
                Some(PipeEvent::TooLong(bytes)) => {
                    self.report(&Mismatch::new(MismatchKind::TooLong(bytes), None))
                }
                Some(PipeEvent::End(broken)) => {
                    ended = true;
                    if let Some(why) = broken {
                        self.report(&Mismatch::protocol(format!("the client broke off: {why}")));
                    }
                }
                Some(PipeEvent::Live(came)) => {
                    let actions = self.client.heard_live(*came);
                    self.act(actions);
                }
                Some(PipeEvent::Taken | PipeEvent::Refused(_) | PipeEvent::Closed) | None => {}
            }
            let late = self.client.expire(self.plan.patience);
            self.act(late);
        }
    }

    fn line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        match Message::parse(&text) {
            Ok(message) => self.message(message),
            Err(refusal) if refusal.code == Code::Batch => {
                self.report(&Mismatch::new(MismatchKind::Batch, Some(text.clone().into_owned())));
                let items: Vec<Json<'_>> = Json::parse(&text).into_iter().flat_map(Json::items).collect();
                let messages = items.iter().filter_map(|item| Message::parse(item.text()).ok());
                messages.for_each(|message| self.message(message));
            }
            Err(_) if text.trim().is_empty() => {}
            Err(refusal) => {
                self.report(&Mismatch::new(
                    MismatchKind::NoMessage(refusal.message),
                    Some(text.clone().into_owned()),
                ));
                self.write(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is not a message"}}"#);
            }
        }
    }

    fn message(&mut self, message: Message<'_>) {
        self.served.played.received += 1;
        let (actions, _) = self.client.receive(message, 0);
        self.act(actions);
    }

    fn act(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send { text, .. } => self.write(&text),
                Action::Report(mismatch) => self.report(&mismatch),
                Action::Ask(text) => {
                    let inbox = Arc::clone(&self.inbox);
                    let hand_on = move |came| inbox.put(PipeEvent::Live(Box::new(came)));
                    let ended = self.client.ask_live(&text, self.plan.longest(), hand_on, &mut self.served);
                    self.act(ended);
                }
            }
        }
    }

    fn write(&mut self, text: &str) {
        let mut bytes = Vec::new();
        self.plan.variants.line(text, &mut bytes);
        match self.plan.variants.write(&bytes, &mut self.to, self.plan.journal, &mut |_| ()) {
            Ok(()) => self.served.played.sent += 1,
            Err(error) if !self.gone => {
                self.gone = true;
                self.report(&Mismatch::protocol(format!("the client accepts no more messages: {error}")));
            }
            Err(_) => {}
        }
    }

    fn report(&mut self, mismatch: &Mismatch) {
        self.plan.report(&mut self.served.played, mismatch);
    }
}
