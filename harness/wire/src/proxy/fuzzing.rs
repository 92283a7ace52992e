//! What must be true of any bytes that come to a recorder's door, as a plain function that panics where it is not.

#![expect(clippy::panic, reason = "a panic is how a property says to a fuzzer that it does not hold")]

use super::endpoint::Endpoint;
use super::events::{ProxyEvent, ResponseHead, Side};
use super::exchange::Exchange;
use super::forward::{outgoing, request_head};
use crate::http::{AllowedHosts, Target, header, header_list};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWriteExt as _, duplex};
use tokio::runtime::Builder;

/// Where the recorder forwards to.
const UPSTREAM: (&str, &str) = ("127.0.0.1:3001", "http://127.0.0.1:3001/mcp");

/// Room for the answers to as many requests as fit into a fuzzer's bytes.
const ROOM: usize = 4 << 20;

/// Headers that end at the recorder.
const ENDS_HERE: &[&str] = &[
    "connection",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The bytes of a connection to a recorder on loopback: requests, or anything else.
///
/// # Panics
/// Where a request passes that names another host, would go to another server than the recorder's or with headers that
/// belong to the connection, or where its entry in the archive is not JSON or has another body.
pub fn heads(bytes: &[u8]) {
    let Ok(runtime) = Builder::new_current_thread().build() else { panic!("no runtime") };
    let Ok(target) = Target::parse(UPSTREAM.1) else { panic!("no target") };
    let hosts = AllowedHosts::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)), &[]);
    runtime.block_on(async {
        let (mut client, server) = duplex(ROOM);
        if client.write_all(bytes).await.is_err() || client.shutdown().await.is_err() {
            panic!("there is room for {} bytes", bytes.len());
        }
        let service = service_fn(|request| async {
            request_holds(&target, &hosts, request).await;
            Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
        });
        let mut connection = hyper::server::conn::http1::Builder::new();
        // The client has closed its side, and its last request is answered all the same.
        connection.preserve_header_case(true).half_close(true);
        // What is not HTTP, hyper answers by itself.
        let _ = connection.serve_connection(TokioIo::new(server), service).await;
        drop(client);
    });
}

async fn request_holds(target: &Target, hosts: &AllowedHosts, request: Request<Incoming>) {
    let (head, body) = request.into_parts();
    let asked = request_head(target, 1, &head);
    assert_eq!(asked.headers.len(), head.headers.len(), "the archive has every header");
    let headers = asked.headers.clone();
    match outgoing(target, hosts.refusal(&head.uri, &head.headers), head.clone()) {
        Ok(sent) => sent_holds(&head, &sent),
        Err((status, why)) => assert!(!status.is_success() && !why.is_empty(), "{status}: {why}"),
    }
    // A peer that goes away in its body leaves what it sent so far.
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let mut exchange = Exchange::new(asked, Duration::ZERO, &Arc::default());
    let head = ResponseHead { status: 200, reason: String::new(), version: "HTTP/1.1".to_owned(), headers };
    for event in [
        ProxyEvent::Part(Side::Request, body.to_vec()),
        // The server says the same: its body has the same type and coding, and comes in pieces.
        ProxyEvent::Response(Box::new(head.clone())),
    ] {
        let _ = exchange.take(event, Duration::ZERO);
    }
    for piece in body.chunks(1 + body.len() / 5) {
        // What is not gzip, although it says so, is lost, and counted.
        let _ = exchange.take(ProxyEvent::Part(Side::Response, piece.to_vec()), Duration::ZERO);
    }
    let _ = exchange.close();
    archive_holds(&mut exchange, &head, &body);
    endpoint_holds(target, &body);
}

/// What goes on to the server.
fn sent_holds(asked: &Parts, sent: &Parts) {
    let (scheme, authority) = (sent.uri.scheme_str(), sent.uri.authority().map(|it| it.as_str()));
    assert_eq!((scheme, authority), (Some("http"), Some(UPSTREAM.0)), "{} goes elsewhere", asked.uri);
    let named = asked.headers.get_all("host").iter().map(|host| String::from_utf8_lossy(host.as_bytes()));
    let named: Vec<_> = named.collect();
    let [host] = &named[..] else { panic!("it names the hosts {named:?}") };
    let authority = host.parse::<Uri>().ok().and_then(|host| host.host().map(str::to_lowercase));
    let local = |host: &str| {
        host == "localhost" || host.starts_with("127.") || host.starts_with('[') && host.ends_with(']')
    };
    assert!(authority.as_deref().is_some_and(local), "it names the host {host}");
    let [before, after] = [asked, sent].map(|head| header_list(&head.headers));
    let nominated: Vec<String> = before
        .iter()
        .filter(|(name, _)| name == "connection")
        .flat_map(|(_, value)| value.split(','))
        .map(|name| name.trim_matches([' ', '\t']).to_ascii_lowercase())
        .collect();
    let ends_here = |name: &str| ENDS_HERE.contains(&name) || nominated.iter().any(|it| it == name);
    // Codings that the archive could not undo are not asked for; every other header passes as it is, in its order.
    let coding = |(name, _): &&(String, String)| name != "accept-encoding";
    let passing = before.iter().filter(|(name, _)| !ends_here(name)).filter(coding);
    assert!(passing.eq(after.iter().filter(coding)), "{before:?} became {after:?}");
    let codings = |headers: &[(String, String)]| -> Vec<String> {
        let values = headers.iter().filter(|(name, value)| name == "accept-encoding" && value.is_ascii());
        values.flat_map(|(_, value)| value.split(',')).map(|coding| coding.trim().to_owned()).collect()
    };
    let known = |coding: &String| {
        let name = coding.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        ["gzip", "identity"].contains(&&*name)
    };
    let passes = before.iter().any(|(name, _)| name == "accept-encoding" && !ends_here(name));
    let mut kept = if passes { codings(&before) } else { Vec::new() };
    kept.retain(known);
    if passes && kept.is_empty() {
        kept.push("identity".to_owned());
    }
    assert_eq!(codings(&after), kept, "other codings are asked for");
}

/// The exchange's entry in the archive.
fn archive_holds(exchange: &mut Exchange, head: &ResponseHead, body: &[u8]) {
    let mut out = Vec::new();
    if let Err(error) = exchange.write("2026-01-01T00:00:00.000Z", true, &mut out) {
        panic!("memory can be written: {error}");
    }
    let entry: Value = match serde_json::from_slice(&out) {
        Ok(entry) => entry,
        Err(error) => panic!("{error}:\n{}", String::from_utf8_lossy(&out)),
    };
    if header(&head.headers, "content-encoding").is_some() {
        return;
    }
    for content in [&entry["request"]["postData"], &entry["response"]["content"]] {
        let text = content["text"].as_str().unwrap_or_default();
        let kept = match content["encoding"].as_str() {
            Some(_) => STANDARD.decode(text).unwrap_or_default(),
            None => text.as_bytes().to_vec(),
        };
        assert_eq!(kept, body, "the archive has another body");
    }
}

/// What the client of an event stream gets as its first event.
fn endpoint_holds(target: &Target, stream: &[u8]) {
    let origin = target.origin();
    let released = Endpoint::new(origin.clone()).relocated(stream);
    assert!(
        released == stream || released.len() + origin.len() == stream.len(),
        "{} became {}",
        stream.escape_ascii(),
        released.escape_ascii()
    );
}
