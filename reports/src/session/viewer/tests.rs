use crate::check::sample;
use crate::golden::golden;
use crate::session::diagram::Diagram;
use crate::session::diagram::model::RowContent;
use crate::session::diagram::sample::{HOSTILE, arrow, diagram, hostile};
use crate::session::diagram::source::Source;
use crate::session::viewer::{Model, SCRIPT, STYLE, page};
use serde_json::Value;
use transcript::meaning::EventKind;

/// What the page's script reads.
fn model(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"session\">").unwrap();
    let (model, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(model).unwrap()
}

/// A picture in which each row knows what the recording holds of it.
fn whole(mut drawn: Diagram, text: &str) -> Diagram {
    for (at, row) in (0..).zip(&mut drawn.rows) {
        let source = Source {
            offset: at,
            line: at + 1,
            text: text.to_owned(),
            facts: vec![("Event id", text.to_owned())],
            headers: vec![("Headers", vec![(text.to_owned(), text.to_owned())])],
            ..Source::default()
        };
        let is_fold = matches!(row.content, RowContent::Fold(_));
        row.source = (!is_fold).then(|| Box::new(source));
    }
    drawn
}

#[test]
fn the_model_has_every_row_whole_and_each_finding_at_its_row() {
    let drawn = whole(diagram(), "{\"n\": 1.0}");
    let mut file = sample::file();
    for (line, offset) in file.lines.iter_mut().filter(|line| line.line.is_some()).zip([3, 3, 77, 5]) {
        line.offset = Some(offset);
    }
    file.lines[2].other.as_mut().unwrap().offset = 1;
    let model = serde_json::to_string_pretty(&Model::new(&drawn, &[file])).unwrap();
    golden("viewer.txt", [("model", model)]);
}

#[test]
fn a_strangers_text_never_leaves_its_place() {
    let calm = page(&whole(diagram(), "{}"), &[sample::file()]).unwrap();
    let drawn = whole(hostile(), HOSTILE);
    let wild = page(&drawn, &[sample::file()]).unwrap();
    for tag in ["<script", "</script", "<img", "<!--", "<style", "</noscript", "<li"] {
        assert_eq!(wild.matches(tag).count(), calm.matches(tag).count(), "{tag}");
    }
    let obeyed = ['\u{202e}', '\u{2028}', '\u{2066}', '\u{61c}', '\u{1b}', '\0', '\u{ffff}', '\u{e0041}'];
    assert!(!wild.contains(obeyed));
    // And it is there as it was recorded.
    let model = model(&wild);
    assert_eq!(model["rows"][3]["raw"], HOSTILE);
    assert_eq!(model["rows"][3]["headers"][0][1][0][0], HOSTILE);
    assert_eq!(model["title"], HOSTILE);
}

#[test]
fn the_page_runs_its_own_script_and_style_and_asks_for_nothing() {
    let made = page(&diagram(), &[]).unwrap();
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        crate::encoding::digest(STYLE),
        crate::encoding::digest(SCRIPT)
    );
    assert!(made.contains(&policy));
    assert!(
        made.contains(&format!("<style>{STYLE}</style>"))
            && made.contains(&format!("<script>{SCRIPT}</script>"))
    );
    for asked in [
        " style=",
        "url(",
        "@import",
        " src=",
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
    ] {
        assert!(!made.contains(asked), "{asked}");
    }
    assert!(SCRIPT.is_ascii() || !SCRIPT.contains(['\u{2028}', '\u{202e}']));
}

#[test]
fn without_its_script_the_page_says_so_and_lists_a_short_session() {
    let made = page(&diagram(), &[]).unwrap();
    let (_, rest) = made.split_once("<noscript>").unwrap();
    let (words, _) = rest.split_once("</noscript>").unwrap();
    assert!(
        words.contains("needs JavaScript")
            && words.contains("Message 2 at 1:05.000, client to server: tool call echo")
    );
    assert!(words.contains("rejected: invalid-id") && !words.contains("not listed"));
    let rows = (0..600).map(|number| arrow(number, 0, EventKind::Notification, "m").into());
    let long = page(&Diagram { rows: rows.collect(), ..diagram() }, &[]).unwrap();
    assert!(long.contains("100 more rows are not listed here."));
}
