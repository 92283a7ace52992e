//! Sessions over HTTP: a client that asks on one connection, and listens to a stream of events on another.

use super::call;
use formats::Format;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::Duration;

const CALLS: usize = 120;

/// A server that answers each POST, and each GET with a stream of events; its port.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || serve(stream));
        }
    });
    port
}

fn serve(mut stream: TcpStream) -> Option<()> {
    let mut from = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (is_stream, body) = request(&mut from)?;
        if is_stream {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).ok()?;
            for number in 0.. {
                let pad = "y".repeat(number % 7 * 500);
                let message = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"{pad}","level":"info","n":{number}}}}}"#
                );
                stream.write_all(format!("data: {message}\n\n").as_bytes()).ok()?;
                thread::sleep(Duration::from_millis(3));
            }
        }
        let id = body.split("\"id\":").nth(1)?.split(',').next()?.parse().ok()?;
        let [_, answer] = call(id);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:";
        stream.write_all(format!("{head} {}\r\n\r\n{answer}", answer.len()).as_bytes()).ok()?;
    }
}

/// Whether the next request or response is a GET, and its body.
fn request(from: &mut BufReader<TcpStream>) -> Option<(bool, String)> {
    let (mut first, mut length) = (String::new(), 0);
    from.read_line(&mut first).ok().filter(|&count| count > 0)?;
    loop {
        let mut line = String::new();
        from.read_line(&mut line).ok().filter(|&count| count > 0)?;
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    Some((first.starts_with("GET"), String::from_utf8(body).ok()?))
}

/// Asks up to so many times, as long as there are answers; how many there were, and what was said.
fn ask(address: &str, calls: usize) -> (usize, Vec<String>) {
    let (mut passed, mut said) = (0, Vec::new());
    let Ok(mut to) = TcpStream::connect(address) else { return (0, said) };
    to.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut from = BufReader::new(to.try_clone().unwrap());
    for number in 0..calls {
        let [asked, answer] = call(number);
        said.extend([asked.clone(), answer.clone()]);
        let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                    Accept: application/json, text/event-stream\r\nContent-Length:";
        if to.write_all(format!("{head} {}\r\n\r\n{asked}", asked.len()).as_bytes()).is_err() {
            break;
        }
        let Some((_, came)) = request(&mut from) else { break };
        assert_eq!(came, answer);
        passed += 1;
    }
    (passed, said)
}

/// Waits until the recorder says where it listens. What it says besides can be read.
fn address(child: &mut Child) -> (Option<String>, BufReader<ChildStderr>) {
    let mut words = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    words.read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).map(str::to_owned);
    (address, words)
}

/// A session whose recorder is killed after `delay`, or when all has been said; where it is to be converted it is told to
/// end first, so that a kill may come while it converts.
pub(super) fn killed(out: &Path, format: &Format, delay: Duration) -> (usize, Vec<String>) {
    let to = format!("http://127.0.0.1:{}/mcp", server());
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .args(["record", "--format", format.name, "--listen", "0", "--to", &to, "-o"])
        .arg(out)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&child);
    let (address, _words) = address(&mut child);
    // From here on, so that a slow start takes no moment away from the session.
    let killing = thread::spawn(move || {
        thread::sleep(delay);
        let _ = kill_process(pid, Signal::KILL);
    });
    let done = address.map_or((0, Vec::new()), |address| {
        let listening = TcpStream::connect(&address).ok().map(|mut stream| {
            let _ = stream
                .write_all(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
            thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()))
        });
        let done = ask(&address, CALLS);
        let _ = kill_process(pid, Signal::INT);
        drop(listening);
        done
    });
    // It is not waited for before, so that its number stays its own.
    killing.join().unwrap();
    child.wait().unwrap();
    done
}

/// A session on a disk of so many blocks, ended by Ctrl-C: what passed, what was said, what the recorder said, and its exit
/// code.
pub(super) fn on_a_small_disk(out: &Path, blocks: usize) -> (usize, Vec<String>, String, i32) {
    let to = format!("http://127.0.0.1:{}/mcp", server());
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_mcp-concord"), "record"])
        .args(["--format", "har", "--listen", "0", "--to", &to, "-o"])
        .arg(out)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (address, mut rest) = address(&mut child);
    let (passed, said) = ask(&address.unwrap(), 12);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut words = String::new();
    rest.read_to_string(&mut words).unwrap();
    (passed, said, words, child.wait().unwrap().code().unwrap())
}
