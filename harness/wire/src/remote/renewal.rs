//! What follows a session that the server has ended: another, as the specification asks of clients.

use super::session::{ACCEPTANCE, Session, whole};
use crate::http::{EVENTS, JSON, is_stream};
use crate::lock;
use crate::messages::{id_text, messages};
use hyper::Method;
use std::sync::Arc;
use tokio::time::timeout;

impl Session {
    /// Opens a session after the one of this id, which the server has ended, unless another request has; whether there is one.
    pub(super) async fn renew(self: &Arc<Self>, ended: Option<String>) -> bool {
        let _one = self.renewing.lock().await;
        let (opening, id) = {
            let mut state = lock(&self.caller.state);
            let Some(opening) = state.opening.clone() else { return false };
            if state.id != ended {
                return true;
            }
            let ids = messages(&opening).ok().and_then(|said| id_text(*said.first()?).map(str::to_owned));
            (state.id, state.version, state.hello) = (None, None, ids.clone());
            (opening, ids)
        };
        let accept = format!("{JSON}, {EVENTS}");
        let answer = self.caller.send(Method::POST, &accept, None, Some(&opening)).await;
        let Ok(answer) = answer else { return false };
        let is_stream = is_stream(&answer);
        let is_open = answer.status().is_success();
        self.caller.learn(answer.headers());
        self.open.send_modify(|open| open.extend(id.clone()));
        let session = Arc::clone(self);
        tokio::spawn(async move {
            match is_stream {
                true => drop(session.follow(answer.into_body(), id.as_slice()).await),
                false => session.pass(&whole(answer.into_body()).await.unwrap_or_default()).await,
            }
            id.iter().for_each(|id| _ = session.no_longer_open(id));
        });
        let mut open = self.open.subscribe();
        let first = lock(&self.caller.state).hello.clone();
        let answered = open.wait_for(|open| first.as_ref().is_none_or(|id| !open.contains(id)));
        let _ = timeout(ACCEPTANCE, answered).await;
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        is_open && self.caller.send(Method::POST, &accept, None, Some(initialized)).await.is_ok()
    }
}
