use super::foreign;
use crate::{Input, ReadError, detect};

/// Why this file is not opened, or what it is where it is opened and no recording; however the bytes come.
fn said(bytes: &[u8]) -> String {
    let found = [1, 2, 3, 100, 1 << 20].map(|size| {
        let mut parts = std::io::BufReader::with_capacity(size, bytes);
        let mut input = match Input::new(&mut parts) {
            Ok(input) => input,
            Err(ReadError::Rejected(rejection)) => return rejection.message,
            Err(error) => panic!("{error}"),
        };
        match detect(&mut input) {
            Err(ReadError::Rejected(rejection)) => return rejection.message,
            found => assert!(found.unwrap().is_none()),
        }
        foreign(input.text()).unwrap_or_default().to_owned()
    });
    assert!(found.iter().all(|said| *said == found[0]), "{found:?}");
    found[0].clone()
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn utf_16_is_told_with_a_way_to_utf_8() {
    assert!(said(b"\xff\xfe").starts_with("byte 0xff is not UTF-8"));
    let message = "{\"jsonrpc\":\"2.0\",\"method\":\"\u{e9}\u{4e16}\"}\r\n";
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let said = said(&utf16(&format!("\u{feff}{message}"), bytes));
        assert!(said.contains("is UTF-16, as `>` in Windows PowerShell writes it"), "{said}");
        assert!(said.contains("`iconv -f UTF-16 -t UTF-8 FILE > NEW`"), "{said}");
    }
    assert!(said(&utf16(message, u16::to_le_bytes)).contains("iconv -f UTF-16LE -t UTF-8"));
    assert!(said(&utf16(message, u16::to_be_bytes)).contains("iconv -f UTF-16BE -t UTF-8"));
    assert!(said(b"\xff{}").starts_with("byte 0xff is not UTF-8"));
}

#[test]
fn compressed_files_are_told_with_a_way_to_unpack_them() {
    assert!(
        said(b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab").contains("gzip; unpack it with `gunzip -c FILE > NEW`")
    );
    assert!(said(b"\x28\xb5\x2f\xfd\x24\x01").contains("`zstd -dc FILE > NEW`"));
    assert!(said(b"\xfd7zXZ\0\0").contains("`xz -dc FILE > NEW`"));
    assert!(said(b"BZh91AY&SY\xad\xff").contains("`bzip2 -dc FILE > NEW`"));
    assert!(said(b"x\x9c\x4b").contains("compressed with zlib"));
    assert!(said(b"PK\x03\x04\x14\0\0\0\x08\0\xff\xfe").contains("a ZIP archive"));
    assert!(said(b"\xd4\xc3\xb2\xa1\x02\0\x04\0").contains("a capture of packets"));
    assert!(said(b"\n\r\r\n\x1c\0\0\0M<+\x1a\x01\0\0\0\xff\xff").contains("a capture of packets"));
    assert!(said(b"(\xb5").starts_with("byte 0xb5 is not UTF-8"));
}

/// Longer than what is looked at, and cut anywhere.
#[test]
fn a_long_document_that_was_encoded_twice_is_told_with_a_way_to_decode_it() {
    let known = |text: &str| {
        said(text.as_bytes()).contains("encoded twice; decode it once with `jq -r . FILE > NEW`")
    };
    for unit in [r#"\"\u00e9\ud83d\ude00\\n\","#, "1,"] {
        for pad in 0..40 {
            let text = format!("\"{}[{}1]\"", " ".repeat(pad), unit.repeat((80 << 10) / unit.len()));
            assert!(known(&text), "{unit} behind {pad}");
        }
    }
    assert!(!known(&format!("\"[{}\"", "a".repeat(80 << 10))));
}

#[test]
fn a_long_list_of_an_offer_is_told() {
    let long =
        format!(r#"{{"tools":[{}{{}}],"prompts":[]}}"#, r#"{"name":"a","inputSchema":{}},"#.repeat(4000));
    assert!(said(long.as_bytes()).contains("what a server offers, as `fastmcp inspect` writes it"));
}
