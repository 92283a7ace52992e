//! Shapes with whole numbers for coordinates, spelled as SVG.
//!
//! Markup, and nothing else: no script, no reference to anything outside, no style attribute, no id, so that a page may
//! hold many pictures under a policy that lets only its own style sheet run. Every text is escaped.

use std::fmt::Write as _;

/// The style sheet of every picture, for pages that hold some: both colour schemes, under the class `picture`.
pub const STYLE: &str = include_str!("../../../templates/picture.css");

/// A drawing, and a description for those who cannot see it.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) title: String,
    pub(super) desc: String,
    pub(super) groups: Vec<Group>,
}

/// Shapes that belong together, with the words that a pointer brings up.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) title: String,
    /// Its words are on a colour of their own, and cross no line.
    pub(super) bare: bool,
    pub(super) shapes: String,
}

/// A piece of a text in a style of its own.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// A piece of a text.
pub(super) fn part(class: &'static str, text: impl Into<String>) -> Part {
    Part { class, text: text.into() }
}

impl Group {
    pub(super) fn path(&mut self, class: &str, path: &str) {
        let _ = write!(self.shapes, "\n<path class=\"{class}\" d=\"{path}\"/>");
    }

    pub(super) fn area(&mut self, class: &str, (x, y): (i32, i32), (width, height): (i32, i32), round: i32) {
        let (width, height) = (width.max(0), height.max(0));
        let _ = write!(
            self.shapes,
            "\n<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\"/>"
        );
    }

    /// A text whose `anchor` (start, middle or end) is at its place.
    pub(super) fn text(&mut self, class: &'static str, place: (i32, i32), anchor: &str, text: String) {
        self.parts(place, anchor, &[part(class, text)]);
    }

    pub(super) fn parts(&mut self, (x, y): (i32, i32), anchor: &str, parts: &[Part]) {
        let spelled =
            |part: &Part| format!("<tspan class=\"{}\">{}</tspan>", part.class, escaped(&part.text));
        let parts: Vec<String> = parts.iter().map(spelled).collect();
        let parts = parts.join(" ");
        let _ = write!(self.shapes, "\n<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{parts}</text>");
    }
}

impl Canvas {
    /// The picture as SVG: a file of its own, or a part of a page that has [`STYLE`].
    pub(super) fn spell(&self, standalone: bool) -> String {
        let Self { width, height, title, desc, groups } = self;
        let (declaration, namespace, style) = match standalone {
            true => (
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
                " xmlns=\"http://www.w3.org/2000/svg\"",
                format!("\n<style>\n{STYLE}</style>"),
            ),
            false => ("", "", String::new()),
        };
        let mut out = format!(
            "{declaration}<svg{namespace} class=\"picture\" role=\"img\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<title>{}</title>\n<desc>{}</desc>{style}\n\
             <rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>",
            escaped(title),
            escaped(desc)
        );
        for Group { title, bare, shapes } in groups {
            out.push_str(if *bare { "\n<g class=\"bare\">" } else { "\n<g>" });
            if !title.is_empty() {
                let _ = write!(out, "<title>{}</title>", escaped(title));
            }
            out.push_str(shapes);
            out.push_str("\n</g>");
        }
        out + "\n</svg>\n"
    }
}

fn escaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    // Memory takes every write.
    let _ = tera::escape_html(text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
