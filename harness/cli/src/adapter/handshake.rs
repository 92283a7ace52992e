//! What an adapter says of itself at first, held against the formats that there are.

use verdict::protocol::Handshake;

/// A handshake whose formats exist.
pub(super) fn readable(hello: Handshake) -> Result<Handshake, String> {
    let known = || formats::FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    if hello.formats.is_empty() {
        return Err(format!("`formats` is empty; name the formats that it reads, of {}", known()));
    }
    match hello.formats.iter().find(|name| formats::find(name).is_none()) {
        Some(unknown) => {
            Err(format!("`formats` names `{unknown}`, which does not exist; the formats are {}", known()))
        }
        None => Ok(hello),
    }
}

/// The adapter's own name for a format, where it reads it.
pub(super) fn spelling<'h>(hello: &'h Handshake, format: &str) -> Option<&'h str> {
    let wanted = formats::find(format)?;
    let same = |name: &&String| formats::find(name).is_some_and(|format| format.name == wanted.name);
    hello.formats.iter().find(same).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::{readable, spelling};
    use verdict::answer::Level;
    use verdict::protocol::Handshake;

    fn hello(formats: &[&str]) -> Handshake {
        let formats = formats.iter().map(|name| (*name).to_owned()).collect();
        Handshake {
            name: "a".into(),
            version: "2".into(),
            level: Level::Calls,
            formats,
            dialect: None,
            identify: false,
        }
    }

    #[test]
    fn a_format_is_asked_for_in_the_adapters_own_words() {
        let hello = readable(hello(&["sse-legacy", "har"])).unwrap();
        assert_eq!(spelling(&hello, "http-sse"), Some("sse-legacy"));
        assert_eq!(spelling(&hello, "inspector"), None);
    }

    #[test]
    fn formats_that_do_not_exist_are_refused_by_name() {
        for (formats, part) in [
            (&["har", "pcap"][..], "`pcap`, which does not exist; the formats are jsonrpc"),
            (&[], "`formats` is empty; name the formats that it reads, of jsonrpc"),
        ] {
            let why = readable(hello(formats)).unwrap_err();
            assert!(why.contains(part), "{part} is missing in: {why}");
        }
    }
}
