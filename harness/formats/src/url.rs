//! URLs as far as anybody compares them: what a reference means beside one, and one spelling for those that mean the same
//! (RFC 3986, sections 5.2 and 6.2; WHATWG URL for what clients make of a slip).

use transcript::json::Json;

/// The URL that the `endpoint` event of a stream at `base` names. Some servers write it as a JSON string, or into an object;
/// clients that post there do as they were asked.
#[must_use]
pub fn announced(base: &str, data: &str) -> String {
    let text = |json: Json<'_>| Some(json.as_text()?.to_str()?.into_owned());
    let inside = Json::parse(data).ok().and_then(|value| {
        ["uri", "url"].iter().find_map(|name| text(value.member(name)?)).or_else(|| text(value))
    });
    normal(&resolve(base, inside.as_deref().unwrap_or(data).trim()))
}

/// What a reference means in a document at `base`, without its fragment (RFC 3986, section 5.2).
#[must_use]
pub fn resolve(base: &str, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or_default();
    if is_absolute(reference) {
        return reference.to_owned();
    }
    let (scheme, rest) = base.split_once("://").unwrap_or(("http", base));
    if let Some(elsewhere) = reference.strip_prefix("//") {
        return format!("{scheme}://{elsewhere}");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let path = bare(tail);
    let whole = match reference.chars().next() {
        None => format!(
            "{path}{}",
            tail.get(path.len()..).and_then(|rest| rest.split('#').next()).unwrap_or_default()
        ),
        Some('?') => format!("{path}{reference}"),
        Some('/') => without_dots(reference),
        Some(_) => {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            without_dots(&format!("{folder}/{reference}"))
        }
    };
    let slash = if whole.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{authority}{slash}{whole}")
}

/// A URL in the spelling that all which mean the same have, without its user and its fragment: for comparing, not for asking.
/// Two hosts that are not in ASCII are taken for one.
#[must_use]
pub fn normal(url: &str) -> String {
    let url = url.trim().split('#').next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return escaped(url) };
    let (before, query) = rest.split_at(bare(rest).len());
    let before = before.replace('\\', "/");
    let (authority, path) = before.split_at(before.find('/').unwrap_or(before.len()));
    let scheme = scheme.to_ascii_lowercase();
    let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let default = if scheme == "https" { ":443" } else { ":80" };
    let foreign = |label: &str| !label.is_ascii() || label.starts_with("xn--");
    let labels = host.strip_suffix(default).unwrap_or(&host).split('.');
    let host: Vec<&str> = labels.map(|label| if foreign(label) { "xn--" } else { label }).collect();
    format!("{scheme}://{}{}", host.join("."), escaped(&(without_dots(path) + query)))
}

/// A text with percents where RFC 3986 wants them, and nowhere else.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        let digits = text.get(at + 1..at + 3).filter(|_| byte == b'%');
        let spelled = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        at += if spelled.is_some() { 3 } else { 1 };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        match spelled {
            Some(byte) if plain(byte) => out.push(char::from(byte)),
            None if byte.is_ascii_graphic() => out.push(char::from(byte)),
            _ => out += &format!("%{:02X}", spelled.unwrap_or(byte)),
        }
    }
    out
}

/// A URL without its query and fragment.
fn bare(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// Whether a reference begins with a scheme.
fn is_absolute(reference: &str) -> bool {
    reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// A path whose `.` and `..` are taken out; the query behind it stays as it is.
fn without_dots(text: &str) -> String {
    let path = bare(text);
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}{}", kept.join("/"), &text[path.len()..])
}

#[cfg(test)]
mod tests {
    use super::{announced, normal, resolve};

    #[test]
    fn references_mean_what_rfc_3986_says() {
        let base = "http://a:81/b/c/sse?x=1";
        for (reference, meant) in [
            ("/messages?s=1", "http://a:81/messages?s=1"),
            ("messages", "http://a:81/b/c/messages"),
            ("../m", "http://a:81/b/m"),
            ("../../../m/.", "http://a:81/m/"),
            ("?s=1", "http://a:81/b/c/sse?s=1"),
            ("//other/m", "http://other/m"),
            ("https://other/m#f", "https://other/m"),
            ("", "http://a:81/b/c/sse?x=1"),
            ("m?u=/../x", "http://a:81/b/c/m?u=/../x"),
        ] {
            assert_eq!(resolve(base, reference), meant, "{reference}");
        }
        assert_eq!(resolve("http://a", "m"), "http://a/m");
    }

    #[test]
    fn the_data_of_an_event_names_an_address() {
        for (base, data, url) in [
            ("http://a:1/sse", "/message?s=1", "http://a:1/message?s=1"),
            ("http://a/x/sse?q=/", "message", "http://a/x/message"),
            ("http://a/x/sse?q", "?s=1", "http://a/x/sse?s=1"),
            ("http://a", "message", "http://a/message"),
            ("http://a/sse", "https://b/m", "https://b/m"),
            ("http://a/sse", r#"{"uri":"/messages"}"#, "http://a/messages"),
            ("http://a/sse", r#""/messages""#, "http://a/messages"),
            ("http://a/sse", " /m \r", "http://a/m"),
        ] {
            assert_eq!(announced(base, data), url, "{base} {data}");
        }
    }

    #[test]
    fn urls_that_mean_the_same_are_spelled_alike() {
        for (url, other) in [
            ("https://example.com:443/m?s=1", "HTTPS://EXAMPLE.com/m?s=1"),
            ("http://a?s=1", "http://a:80/?s=1"),
            ("http://a/%e2%82%ac%2d", "http://a/\u{20ac}-"),
            ("http://u:p@a/x/../m m", "http://a/m%20m#f"),
            ("http://a\\m?x=\\", "http://a/m?x=\\"),
            ("http://b\u{fc}cher.example/m", "http://xn--bcher-kva.example/m"),
        ] {
            assert_eq!(normal(url), normal(other), "{url}");
        }
        for (url, other) in [
            ("http://a:443/m", "http://a/m"),
            ("http://a/m", "http://a/M"),
            ("http://a/m%2Fx", "http://a/m/x"),
            ("http://a/m", "http://a/m/"),
        ] {
            assert_ne!(normal(url), normal(other), "{url}");
        }
        for broken in ["", "%", "%e", "://", "http://", "http://a/%\u{e9}", "?x"] {
            assert_eq!(normal(&normal(broken)), normal(broken), "{broken}");
        }
    }
}
