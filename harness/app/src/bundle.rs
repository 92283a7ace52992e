//! A bundle: the page of a session with its recording inside, so that one file shows what happened and can be read again.
//!
//! The recording is in a comment at the head of the page, on a line of its own: gzip in Base64, which no comment ends in.

use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufRead, BufReader, Read, Write};

/// What every bundle begins with.
pub(crate) const SIGN: &[u8] = b"<!doctype html>\n<!-- mcp-concord bundle";

/// What follows it, to the end of its line.
const ABOUT: &str = ": `mcp-concord read` and `check` take the recording out of this file again\n";

const DOCTYPE: &str = "<!doctype html>\n";
const VIEWER: &str = "<div id=\"viewer\">";

/// Writes a page of `show` with this overview above the session, and with the recording inside.
///
/// # Errors
/// Where something cannot be read or written.
pub fn bundle(page: &str, overview: &str, mut recording: impl Read, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(SIGN)?;
    out.write_all(ABOUT.as_bytes())?;
    let mut packer = GzEncoder::new(EncoderWriter::new(&mut *out, &STANDARD), Compression::default());
    io::copy(&mut recording, &mut packer)?;
    packer.finish()?.finish()?;
    out.write_all(b"\n-->\n")?;
    let text = overview.replace('&', "&amp;").replace('<', "&lt;");
    let overview =
        format!("<details class=\"overview\"><summary>Overview</summary><pre>{text}</pre></details>\n");
    let page = page.strip_prefix(DOCTYPE).unwrap_or(page);
    let (head, session) = page.split_at(page.find(VIEWER).unwrap_or(0));
    [head, &overview, session].into_iter().try_for_each(|part| out.write_all(part.as_bytes()))
}

/// The recording, still packed, of a bundle that was read up to the end of its sign.
pub(crate) fn recording<'a>(bundle: impl Read + Send + 'a) -> io::Result<impl Read + Send + 'a> {
    let mut bundle = BufReader::new(bundle);
    bundle.skip_until(b'\n')?;
    Ok(DecoderReader::new(Line(Some(bundle)), &STANDARD))
}

/// What is left of a line.
struct Line<R>(Option<R>);

impl<R: BufRead> Read for Line<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(reader) = &mut self.0 else { return Ok(0) };
        let found = reader.fill_buf()?;
        if found.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let most = found.len().min(buffer.len());
        match found[..most].iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                buffer[..end].copy_from_slice(&found[..end]);
                self.0 = None;
                Ok(end)
            }
            None => {
                buffer[..most].copy_from_slice(&found[..most]);
                reader.consume(most);
                Ok(most)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DOCTYPE, VIEWER, bundle};
    use crate::Decoded;
    use std::io;

    fn read(bytes: &[u8]) -> Result<String, String> {
        io::read_to_string(Decoded::new("a.html", bytes, |_| {})).map_err(|error| error.to_string())
    }

    #[test]
    fn the_recording_comes_out_of_its_bundle_as_it_was() {
        let long = "{\"-->\": \"é\"}\n".repeat(5000);
        let page = format!("{DOCTYPE}<html>{VIEWER}</div></html>\n");
        for recording in ["", "{", &long] {
            let mut out = Vec::new();
            bundle(&page, "a < b & c", recording.as_bytes(), &mut out).unwrap();
            assert_eq!(read(&out).as_deref(), Ok(recording));
            let text = String::from_utf8(out.clone()).unwrap();
            let end = "<html><details class=\"overview\"><summary>Overview</summary><pre>a &lt; b &amp; c</pre></details>";
            assert!(text.ends_with(&format!("\n-->\n{end}\n{VIEWER}</div></html>\n")), "{text}");
            assert_eq!(text.matches("<!doctype").count(), 1);
            let data = text.find("again\n").unwrap() + 7;
            out[data + 9] = b'!';
            assert!(read(&out).unwrap_err().starts_with("the bundle is damaged"));
            assert_eq!(read(&out[..data + 8]).unwrap_err(), "the bundle is cut off");
        }
    }

    #[test]
    fn other_pages_are_read_as_they_are() {
        for text in ["<!", "<!doctype html>\n<!-- other", "<!doctype html>\n<!-- mcp-concord bundl"] {
            assert_eq!(read(text.as_bytes()).as_deref(), Ok(text));
        }
    }
}
