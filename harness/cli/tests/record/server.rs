//! A server that does what its name says: this test binary, started again behind the recorder.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::time::Duration;
use std::{process, thread};

pub(crate) fn serve(mode: &str) {
    match mode {
        // Gives back whatever comes, by pieces of its own.
        "mirror" => mirror(),
        "answers" => answers(),
        "noise" => {
            say(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}\nlistening on 3000\r\n\xff\xfe\n42\n");
            answers();
            say(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/last\"}");
        }
        "half" => {
            say(b"{\"jsonrpc\":\"2.0\",\"id\":");
            drain();
        }
        "exits" => {
            io::stderr().write_all(b"the server's own words\n").unwrap();
            answers();
            process::exit(7);
        }
        "crashes" => {
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line).unwrap();
            say(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
            process::abort();
        }
        "sleeps" => {
            say(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/ready\"}\n");
            sleep();
        }
        "long" => {
            let mut out = io::stdout().lock();
            out.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/long\",\"params\":{\"a\":\"")
                .unwrap();
            let part = vec![b'x'; 1 << 20];
            (0..100).for_each(|_| out.write_all(&part).unwrap());
            out.write_all(b"\"}}\n").unwrap();
            out.write_all(&[b'y'; 5 << 20]).unwrap();
            out.write_all(b"\"\n").unwrap();
        }
        other => panic!("{other}"),
    }
}

/// An empty result for every line that has an id.
fn answers() {
    for line in io::stdin().lock().lines() {
        let message: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap_or_default();
        if let Some(id) = message.get("id") {
            say(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n").as_bytes());
        }
    }
}

fn mirror() {
    let (mut input, mut chunk) = (io::stdin().lock(), vec![0; 50_000]);
    while let Ok(count @ 1..) = input.read(&mut chunk) {
        say(&chunk[..count]);
    }
}

fn say(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    out.write_all(bytes).unwrap();
    out.flush().unwrap();
}

fn drain() {
    io::copy(&mut io::stdin().lock(), &mut io::sink()).unwrap();
}

fn sleep() {
    thread::sleep(Duration::from_secs(60));
}
