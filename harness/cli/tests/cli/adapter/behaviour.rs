//! An adapter that does what it is told to do wrong: this test binary, started again by the program under test.
//!
//! It reads with the built-in readers, so that whatever goes wrong is the fault that its name says.

use serde_json::Value;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, process, thread};
use transcript::json::{Json, write_compact};

const HELLO: &str = concat!(
    r#"{"protocol":1,"name":"faulty","version":"1.2.3","formats":["jsonrpc","inspector"],"#,
    r#""level":"events"}"#
);

/// The long-lived adapter. `note` is a file for what a test wants to know.
pub(crate) fn serve(mode: &str, note: &str) {
    let mut reads = 0;
    match mode {
        "dies-on-start" => die("there is no moon today"),
        "hangs-on-start" => sleep(600),
        "banner" => say("Welcome to the reader!"),
        _ => {}
    }
    fs::write(note, process::id().to_string()).unwrap();
    for line in io::stdin().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match request["cmd"].as_str().unwrap() {
            "start" => {
                assert_eq!(request["protocol"], 1);
                match mode {
                    "banner-at-once" => say(&("Welcome to the reader!\n".to_owned() + &hello(mode))),
                    "out-of-turn" => say(&(hello(mode) + "\n{\"seq\":1,\"meaning\":{\"events\":[]}}")),
                    _ => say(&hello(mode)),
                }
            }
            "read" => {
                reads += 1;
                let answer = answer(mode, &request);
                let seq = request["seq"].as_u64().unwrap();
                behave(mode, note, reads, seq, &answer, &request);
            }
            "identify" => {
                let path = request["path"].as_str().unwrap();
                say(&format!("{{\"seq\":{},{}}}", request["seq"], identified(mode, path)));
            }
            "stop" if mode == "ignores-stop" => sleep(600),
            "stop" => return,
            other => die(other),
        }
    }
    if mode == "ignores-stop" {
        sleep(600);
    }
}

fn identified(mode: &str, path: &str) -> String {
    let found = formats::identify::identify_any(&mut fs::File::open(path).unwrap()).ok().flatten();
    match found {
        Some(found) => {
            let found = if mode == "misidentifies" { found.replace("\"stdio\"", "\"mixed\"") } else { found };
            format!("\"identification\":{}", found.replace('\n', ""))
        }
        None => "\"rejection\":{\"message\":\"what is this?\"}".to_owned(),
    }
}

fn hello(mode: &str) -> String {
    let (from, to) = match mode {
        "other-protocol" => ("\"protocol\":1", "\"protocol\":2"),
        "unknown-format" => ("inspector", "pcap"),
        "unknown-level" => ("events", "tools"),
        "typed-ids" => ("\"version\":\"1.2.3\",", "\"version\":\"1.2.3\",\"dialect\":\"typed-ids\","),
        "an-odd-dialect" => ("\"version\":\"1.2.3\",", "\"version\":\"1.2.3\",\"dialect\":\"typd-ids\","),
        "no-version" => ("\"version\":\"1.2.3\",", ""),
        "calls" => ("events", "calls"),
        "one-format" => (",\"inspector\"", ""),
        "identifies" | "misidentifies" => {
            ("[\"jsonrpc\",\"inspector\"]", "[\"har\",\"mcp-replay\",\"http-sse\"],\"identify\":true")
        }
        _ => ("", ""),
    };
    HELLO.replacen(from, to, 1)
}

fn behave(mode: &str, note: &str, reads: u32, seq: u64, answer: &str, request: &Value) {
    let whole = |seq: u64| format!("{{\"seq\":{seq},{answer}}}");
    match mode {
        "twice" => say(&format!("{}\n{}", whole(seq), whole(seq))),
        "twice-late" => {
            say(&whole(seq));
            thread::sleep(Duration::from_millis(20));
            say(&whole(seq));
            // Whenever it arrives, no answer of another number may stand behind it.
            sleep(600);
        }
        "other-seq" => say(&whole(seq + 1)),
        "no-seq" => say(&format!("{{{answer}}}")),
        "no-members" => say(&format!("{{\"seq\":{seq}}}")),
        "talks" => say(&format!("reading {}", request["path"].as_str().unwrap())),
        "closes-stdout" => become_shell("exec 1>&- 3>&-; sleep 600", ""),
        "closes-stdin" => become_shell("exec 0<&-; printf '%s\\n' \"$0\"; sleep 600", &whole(seq)),
        "gigabyte" => {
            let chunk = vec![b'a'; 1 << 20];
            let mut out = io::stdout().lock();
            for _ in 0..1024 {
                if out.write_all(&chunk).is_err() {
                    return;
                }
            }
        }
        "forks-and-hangs" => {
            let mut child = Command::new("sleep").arg("600").spawn().unwrap();
            fs::write(note, child.id().to_string()).unwrap();
            child.wait().unwrap();
        }
        "dies-on-third" if reads == 3 => {
            die(&format!("cannot digest {}", request["path"].as_str().unwrap()));
        }
        "slow" => {
            thread::sleep(Duration::from_millis(120));
            say(&whole(seq));
        }
        "hangs" => sleep(600),
        // What an adapter puts into the folder of the transcripts: names that it may expect there.
        "pipes" | "links" => {
            let folder = Path::new(request["path"].as_str().unwrap()).parent().unwrap();
            for number in 0..100 {
                let name = folder.join(format!("{number:06}.dat"));
                if mode == "links" {
                    let _ = std::os::unix::fs::symlink(note, name);
                } else if reads == 1 {
                    assert!(Command::new("mkfifo").arg(name).stderr(Stdio::null()).status().is_ok());
                }
            }
            say(&whole(seq));
        }
        "hog" => {
            let hoard = vec![1_u8; 256 << 20];
            thread::sleep(Duration::from_secs(5));
            assert_eq!(hoard.iter().map(|byte| u64::from(*byte)).sum::<u64>(), 256 << 20);
            say(&whole(seq));
        }
        _ => say(&whole(seq)),
    }
}

/// Becomes a shell, which can close a pipe and live on.
fn become_shell(script: &str, argument: &str) {
    let error = std::os::unix::process::CommandExt::exec(Command::new("sh").args(["-c", script, argument]));
    die(&error.to_string());
}

/// The members of an answer.
fn answer(mode: &str, request: &Value) -> String {
    let (format, path) = (request["format"].as_str().unwrap(), request["path"].as_str().unwrap());
    if mode == "unsupported" && format == "inspector" {
        return r#""unsupported":"no inspector on Sundays""#.into();
    }
    if mode == "reads-nothing" {
        return r#""unsupported":"not today""#.into();
    }
    if mode == "agreeable" {
        return r#""meaning":{"events":[]}"#.into();
    }
    if formats::find(format).is_none() {
        return format!("\"unsupported\":\"no {format}\"");
    }
    let file = fs::File::open(path);
    let neutral = path.rsplit_once('/').is_some_and(|(_, name)| {
        let (letters, ending) = name.split_at(16);
        ending == ".dat" && letters.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    assert!(neutral, "{path} gives something away");
    let Ok(mut file) = file else {
        return format!("\"rejection\":{{\"message\":\"{path} cannot be read\"}}");
    };
    match formats::meaning(formats::find(format).unwrap(), &mut file, formats::ReadOptions::default()) {
        Err(formats::ReadError::Rejected(rejection)) => {
            let message = serde_json::to_string(&format!("{path}: {rejection}")).unwrap();
            format!("\"rejection\":{{\"code\":\"{}\",\"message\":{message}}}", rejection.code.name())
        }
        Err(error) => panic!("{error}"),
        Ok(meaning) => {
            let value = Json::parse(&meaning.text).unwrap();
            match mode {
                "calls" => {
                    let calls = verdict::projection::calls(value);
                    let list = Json::parse(&calls).unwrap().member("calls").map(compact).unwrap();
                    format!("\"calls\":{list},\"authorization_discovery\":null")
                }
                "loses" => {
                    let mut events: Vec<_> = value.member("events").unwrap().items().map(compact).collect();
                    events.pop();
                    format!("\"meaning\":{{\"events\":[{}]}}", events.join(","))
                }
                "changes" => {
                    let method = process::id();
                    let event = format!("{{\"kind\":\"notification\",\"method\":\"{method}\"}}");
                    format!("\"meaning\":{{\"events\":[{event}]}}")
                }
                "rounds" => {
                    format!("\"meaning\":{}", compact(value).replace("9007199254740993", "9007199254740992"))
                }
                _ => format!("\"meaning\":{}", compact(value)),
            }
        }
    }
}

fn compact(value: Json<'_>) -> String {
    let mut out = Vec::new();
    write_compact(value, &mut out);
    String::from_utf8(out).unwrap()
}

/// The one-shot command.
pub(crate) fn once(mode: &str, path: &str, format: &str) {
    let request = serde_json::json!({ "path": path, "format": format });
    let answer = format!("{{{}}}", answer(mode, &request));
    let rejection = answer.starts_with("{\"rejection\"");
    match mode {
        "wordless" if rejection => eprintln!("it is broken"),
        "wrong-code" if rejection => process::exit(1),
        "torn" => print!("{answer}"),
        "hangs" => sleep(600),
        "mute" => {}
        _ => println!("{answer}"),
    }
    if rejection || mode == "torn" {
        process::exit(65);
    }
}

fn say(line: &str) {
    let mut out = io::stdout().lock();
    // All at once. Whoever is killed while it talks has nobody to tell.
    if out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).is_err() {
        process::exit(9);
    }
}

fn die(words: &str) -> ! {
    eprintln!("{words}");
    process::exit(7);
}

fn sleep(seconds: u64) {
    thread::sleep(Duration::from_secs(seconds));
}
