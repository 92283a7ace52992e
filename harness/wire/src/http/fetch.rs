//! One document, fetched: what a URL leads to, over redirects, within a deadline and a length.

use super::{Client, Target, Unread, collect, full, runtime, text};
use hyper::{Request, StatusCode, Uri};
use std::time::Duration;

/// How long it may take in all.
const DEADLINE: Duration = Duration::from_secs(60);
/// The longest document.
const LONGEST: usize = 64 << 20;
/// How many redirects are followed.
const REDIRECTS: usize = 5;

/// The document at a URL.
///
/// # Errors
/// A sentence that says why there is none, without the URL.
pub fn fetch(url: &str) -> Result<Vec<u8>, String> {
    let client = Client::new(Some(DEADLINE))?;
    runtime()?.block_on(async {
        tokio::time::timeout(DEADLINE, follow(&client, url))
            .await
            .unwrap_or_else(|_| Err(format!("it took longer than {} seconds", DEADLINE.as_secs())))
    })
}

async fn follow(client: &Client, url: &str) -> Result<Vec<u8>, String> {
    let mut target = Target::parse(url)?;
    for _ in 0..=REDIRECTS {
        let uri = target.uri(None).ok_or("this is not a URL")?;
        let request = Request::get(uri).body(full("")).map_err(|error| error.to_string())?;
        let answer = client.send(request).await.map_err(|failure| failure.why)?;
        match answer.status() {
            StatusCode::OK => {
                return collect(answer.into_body(), LONGEST).await.map_err(|why| match why {
                    Unread::TooLong => "it has more than 64 MiB".to_owned(),
                    Unread::Broken(why) => format!("it broke off: {why}"),
                });
            }
            status if status.is_redirection() => {
                let to = text(answer.headers(), "location").unwrap_or_default();
                let next = if to.starts_with('/') { target.origin() + &to } else { to };
                if target.origin().starts_with("https:") && next.starts_with("http:") {
                    return Err("it redirects from https to http".to_owned());
                }
                if next.parse::<Uri>().is_err() || next.is_empty() {
                    return Err(format!("it answers with {status}, a redirect without an address"));
                }
                target = Target::parse(&next)?;
            }
            status => return Err(format!("it answers with {status}")),
        }
    }
    Err(format!("it redirects more than {REDIRECTS} times"))
}
