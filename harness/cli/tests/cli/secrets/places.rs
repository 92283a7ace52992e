//! Where a secret may stand: the rows of `places.txt`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::Write as _;
use std::sync::LazyLock;

/// One more place is one more row.
pub(crate) struct Place {
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
    /// Whether all of it is withheld, whatever is in it.
    pub(crate) withheld: bool,
    /// Why names do not find it there, as it is documented.
    pub(crate) by_name: Option<&'static str>,
    /// Why patterns do not.
    pub(crate) by_pattern: Option<&'static str>,
    template: String,
}

pub(crate) static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| {
    let rows = include_str!("places.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(Place::read).collect()
});

impl Place {
    fn read(line: &'static str) -> Self {
        let cells: Vec<&str> = line.splitn(6, '|').map(str::trim).collect();
        let [kind, name, withheld, by_name, by_pattern, said] = cells.try_into().unwrap();
        let (kind, said) = match kind {
            "call" => (
                "message",
                format!(
                    r#"{{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{{"name":"t","arguments":{said}}}}}"#
                ),
            ),
            kind => (kind, said.to_owned()),
        };
        let reason = |cell: &'static str| Some(cell).filter(|cell| !cell.is_empty());
        let template = said.replace('␊', "\n").replace('␍', "\r");
        let (by_name, by_pattern) = (reason(by_name), reason(by_pattern));
        Self { kind, name, withheld: withheld == "withheld", by_name, by_pattern, template }
    }

    /// What is said, with this secret in it.
    pub(crate) fn text(&self, it: &str) -> String {
        let quoted = |text: &str| text.replace('\\', r"\\");
        let payload = URL_SAFE_NO_PAD.encode(format!(r#"{{"sub":"me","token":"{it}"}}"#));
        let (one, two) = it.split_at(it.len() / 2);
        let marks = [
            ("§§§", &*quoted(&quoted(it))),
            ("§§", &quoted(it)),
            ("§q", &it.replace('&', "%26")),
            ("§jwt", &payload),
            ("§1", one),
            ("§2", two),
            ("§", it),
        ];
        marks.iter().fold(self.template.clone(), |text, (mark, with)| text.replace(mark, with))
    }

    /// The bytes of a line.
    pub(crate) fn line(&self, it: &str) -> Vec<u8> {
        self.text(it).split('ÿ').map(str::as_bytes).collect::<Vec<_>>().join(&0xff)
    }

    /// The headers of a body, and the body in its coding.
    pub(crate) fn body(&self, it: &str) -> (String, Vec<u8>) {
        let text = self.text(it);
        let (head, body) = text.split_once("\n\n").unwrap();
        let body = match head.split_once("Content-Encoding: ") {
            None => body.into(),
            Some((_, "gzip")) => {
                let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
                gzip.write_all(body.as_bytes()).unwrap();
                gzip.finish().unwrap()
            }
            Some(_) => {
                let mut zlib = ZlibEncoder::new(Vec::new(), Compression::none());
                zlib.write_all(body.as_bytes()).unwrap();
                zlib.finish().unwrap()
            }
        };
        (head.to_owned(), body)
    }
}
