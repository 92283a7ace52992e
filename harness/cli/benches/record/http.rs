//! Traffic over Streamable HTTP: POSTs on a few connections, each with its answer.

use super::{
    INITIALIZED, Load, Recorder, Run, Server, Traffic, call, everything, initialize, median, resident, root,
};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::env;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// How many connections are busy at a time.
const CONNECTIONS: usize = 4;

const SESSION: &str = "mcp-session-id";

/// A server that gives back each request, once it has parsed it, at the port that the environment names.
pub(super) fn serve() {
    let listener =
        TcpListener::bind(("127.0.0.1", env::var("PORT").unwrap().parse::<u16>().unwrap())).unwrap();
    listener.set_nonblocking(true).unwrap();
    runtime().block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            tokio::spawn(async {
                let serving = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service_fn(answer));
                let _ = serving.await;
            });
        }
    });
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let message: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let mut response =
        Response::new(Full::new(if message.get("id").is_some() { body } else { Bytes::new() }));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Sessions over HTTP, recorded in this folder.
pub(super) struct Posts<'f> {
    pub(super) folder: &'f Path,
}

struct Session {
    server: Child,
    /// And whether it is ours.
    recorder: Option<(Child, bool)>,
    runtime: Runtime,
    wire: Wire,
}

#[derive(Clone)]
struct Wire {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
    session: Option<HeaderValue>,
}

impl Posts<'_> {
    fn session(&self, server: Server, between: Option<&Recorder>) -> Session {
        let port = free_port();
        let mut command = match server {
            Server::Echo => {
                let mut command = Command::new(env::current_exe().unwrap());
                command.arg("serve-http");
                command
            }
            Server::Everything => {
                let mut command = Command::new("node");
                command.arg("--import").arg(root().join("scripts/peers/loopback.mjs"));
                command.arg(everything()).arg("streamableHttp");
                command
            }
        };
        let server = start(command.env("PORT", port.to_string()), port);
        let origin = format!("http://127.0.0.1:{port}");
        let upstream = format!("{origin}/mcp");
        let (recorder, url) = match between {
            None => (None, upstream),
            Some(recorder) => {
                let port = free_port();
                let holes =
                    [("{port}", &*port.to_string()), ("{origin}", &origin), ("{upstream}", &upstream)];
                let started = start(&mut recorder.command(self.folder, &holes), port);
                (Some((started, recorder.is_own())), format!("http://127.0.0.1:{port}/mcp"))
            }
        };
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let (runtime, mut wire) = (runtime(), Wire { client, url, session: None });
        wire.session = runtime.block_on(wire.post(initialize().into(), 0));
        runtime.block_on(wire.post(INITIALIZED.into(), 0));
        Session { server, recorder, runtime, wire }
    }
}

impl Wire {
    /// Posts one message, takes the whole answer, which has at least this size, and tells the session that it names.
    async fn post(&self, body: Bytes, size: usize) -> Option<HeaderValue> {
        let mut request = Request::post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request.header(SESSION, session);
        }
        let answer = self.client.request(request.body(Full::new(body)).unwrap()).await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
        let session = answer.headers().get(SESSION).cloned();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(body.len() >= size, "{body:?}");
        session
    }
}

impl Session {
    fn end(mut self) {
        drop(self.wire);
        drop(self.runtime);
        if let Some((recorder, is_own)) = &mut self.recorder {
            // Some write their file only now; it is not measured.
            Command::new("kill").arg(recorder.id().to_string()).status().unwrap();
            if !recorder.wait().unwrap().success() && *is_own {
                println!("  (a recording is incomplete, and says so)");
            }
        }
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

impl Traffic for Posts<'_> {
    fn round_trip(&self, server: Server, between: Option<&Recorder>, count: usize) -> Duration {
        let session = self.session(server, between);
        let call = Bytes::from(call(600));
        let time = median(count, || {
            session.runtime.block_on(session.wire.post(call.clone(), 400));
        });
        session.end();
        time
    }

    fn through(&self, server: Server, between: Option<&Recorder>, load: Load) -> Option<Run> {
        let session = self.session(server, between);
        let call = Bytes::from(call(load.size));
        let since = Instant::now();
        session.runtime.block_on(async {
            let posting = (0..CONNECTIONS).map(|lane| {
                let (wire, call) = (session.wire.clone(), call.clone());
                let count = (load.count + lane) / CONNECTIONS;
                tokio::spawn(async move {
                    for _ in 0..count {
                        wire.post(call.clone(), load.size * 3 / 4).await;
                    }
                })
            });
            for lane in posting.collect::<Vec<_>>() {
                lane.await.unwrap();
            }
        });
        let took = since.elapsed();
        let peak = session.recorder.as_ref().map_or(0.0, |(recorder, _)| resident(recorder));
        session.end();
        Some(Run { took, peak })
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts a program, and waits until somebody listens at the port.
fn start(command: &mut Command, port: u16) -> Child {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(since.elapsed() < Duration::from_secs(30), "nobody listens: {command:?}");
        thread::sleep(Duration::from_millis(20));
    }
    child
}
