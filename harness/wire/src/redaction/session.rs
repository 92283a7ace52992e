//! Sessions that were read, so that every format can be written again without its secrets.

use super::body::EVENTS;
use super::rules::Redaction;
use formats::{OwnedContent, OwnedEntry, Session, TransportContext};
use transcript::json::{Json, quoted};
use transcript::message::Message;
use transcript::session::{Exchange, Headers, Sse};

impl Redaction {
    /// Takes out of a session what is to be taken out. Order, times, ids, methods and who sent what stay.
    ///
    /// # Errors
    /// A sentence, where a message without what was taken out would be none.
    pub fn session(&self, session: &mut Session) -> Result<(), String> {
        session.entries.iter_mut().try_for_each(|entry| self.entry(entry))
    }

    /// The same of one entry.
    pub fn entry(&self, entry: &mut OwnedEntry) -> Result<(), String> {
        match &mut entry.what {
            OwnedContent::Message(text, shape) => {
                if let Some(new) = self.known_message(text) {
                    let message = Message::parse(&new).map_err(|refusal| {
                        let line = entry.location.line;
                        format!(
                            "the message on line {line} would not be a message once redacted: {}",
                            refusal.message
                        )
                    })?;
                    (*shape, *text) = (message.shape(), message.text().to_owned());
                }
            }
            OwnedContent::Exchange(exchange) => self.exchange(exchange),
            OwnedContent::TraceStart(line) => *line = self.trace_start(line),
            OwnedContent::TraceEnd(line) => *line = self.json_line(line),
            _ => {}
        }
        if let Some(added) = &mut entry.added {
            *added = self.added(added);
        }
        if let Some(sse) = &mut entry.sse {
            self.sse(sse);
        }
        if let Some(TransportContext { text, headers, .. }) = &mut entry.context {
            *text = self.json_line(text);
            self.headers(headers);
        }
        Ok(())
    }

    fn exchange(&self, exchange: &mut Exchange<'static>) {
        exchange.url = self.text(&exchange.url).into_owned().into();
        self.headers(&mut exchange.request_headers);
        self.headers(&mut exchange.response_headers);
        if let Some(form) = &mut exchange.form {
            *form = self.body("application/x-www-form-urlencoded", form.as_bytes()).into();
        }
        if let Some(document) = &mut exchange.document {
            *document = self.body("application/json", document.as_bytes()).into();
        }
        if let Some(fate) = &mut exchange.fate {
            *fate = self.text(fate).into_owned().into();
        }
    }

    fn headers(&self, headers: &mut Headers<'static>) {
        for (name, value) in headers {
            *value = self.header(name, value).into_owned().into();
        }
    }

    fn sse(&self, sse: &mut Sse<'static>) {
        if let Some(data) = &mut sse.data {
            *data = self.data(sse.name.as_deref().unwrap_or_default(), data).into();
        }
        if let Some(name) = sse.name.as_mut().filter(|name| !EVENTS.contains(&&***name)) {
            *name = self.text(name).into_owned().into();
        }
    }

    /// The first line of a trace, which has the server's command.
    fn trace_start(&self, line: &str) -> String {
        let command = Json::parse(line).ok().and_then(|line| line.member("command"));
        let words: Option<Vec<String>> = command.and_then(|words| {
            words.items().map(|word| Some(word.as_text()?.to_str()?.into_owned())).collect()
        });
        let (Some(command), Some(words)) = (command, words) else { return self.json_line(line) };
        let redacted = self.command(&words);
        if redacted == words {
            return self.json_line(line);
        }
        let new: Vec<String> = redacted.iter().map(|word| quoted(word)).collect();
        self.json_line(&line.replacen(command.text(), &format!("[{}]", new.join(",")), 1))
    }

    /// What a line of a trace says beside its message: the whole line, or members with a comma before each.
    fn added(&self, text: &str) -> String {
        let Some(members) = text.strip_prefix(',') else { return self.json_line(text) };
        // A member named `id` or `method` is as much a recorder's own as any other, and no part of an envelope.
        let new = self.message(&format!("[{{{members}}}]"));
        new.map_or_else(|| text.to_owned(), |new| format!(",{}", &new[2..new.len() - 2]))
    }

    fn json_line(&self, text: &str) -> String {
        self.message(text).unwrap_or_else(|| text.to_owned())
    }
}
