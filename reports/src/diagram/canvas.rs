//! Shapes with whole numbers for coordinates, and the template that spells them as SVG.
//!
//! Markup, and nothing else: no script, no reference to anything outside, no style attribute, no id, so that a page may
//! hold many pictures under a policy that lets only its own style sheet run.
//!
//! Every text is escaped because the template's name ends in `.svg`, and Tera is told so.

use serde::Serialize;
use std::sync::OnceLock;
use tera::{Context, Tera};

const TEMPLATE: &str = include_str!("../../templates/picture.svg");

/// The style sheet of every picture, for pages that hold some: both colour schemes, under the class `picture`.
pub const STYLE: &str = include_str!("../../templates/picture.css");

/// A drawing, and what is said of it to whoever cannot see it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Canvas {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) title: String,
    pub(super) desc: String,
    pub(super) groups: Vec<Group>,
}

/// Shapes that belong together, with the words that a pointer brings up.
#[derive(Debug, Default, Serialize)]
pub(super) struct Group {
    pub(super) title: String,
    /// Its words stand on a colour of their own, and cross no line.
    pub(super) bare: bool,
    pub(super) shapes: Vec<Shape>,
}

/// A shape: one of a path, a box and a text.
#[derive(Debug, Default, Serialize)]
pub(super) struct Shape {
    class: &'static str,
    path: Option<String>,
    area: Option<Area>,
    text: Option<Text>,
}

#[derive(Debug, Serialize)]
struct Area {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    round: i32,
}

#[derive(Debug, Serialize)]
struct Text {
    x: i32,
    y: i32,
    anchor: &'static str,
    parts: Vec<Part>,
}

/// A piece of a text in a style of its own.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// Where a text stands to its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Group {
    pub(super) fn path(&mut self, class: &'static str, path: String) {
        self.shapes.push(Shape { class, path: Some(path), ..Shape::default() });
    }

    pub(super) fn area(
        &mut self,
        class: &'static str,
        (x, y): (i32, i32),
        (width, height): (i32, i32),
        round: i32,
    ) {
        self.shapes.push(Shape {
            class,
            area: Some(Area { x, y, width: width.max(0), height: height.max(0), round }),
            ..Shape::default()
        });
    }

    pub(super) fn text(
        &mut self,
        class: &'static str,
        (x, y): (i32, i32),
        anchor: Anchor,
        text: impl Into<String>,
    ) {
        self.parts((x, y), anchor, vec![part(class, text)]);
    }

    pub(super) fn parts(&mut self, (x, y): (i32, i32), anchor: Anchor, parts: Vec<Part>) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.shapes.push(Shape { text: Some(Text { x, y, anchor, parts }), ..Shape::default() });
    }
}

/// A piece of a text.
pub(super) fn part(class: &'static str, text: impl Into<String>) -> Part {
    Part { class, text: text.into() }
}

impl Canvas {
    /// The picture as SVG: a file of its own, or a part of a page that has [`STYLE`].
    pub(super) fn spell(&self, standalone: bool) -> Result<String, tera::Error> {
        static TERA: OnceLock<Result<Tera, String>> = OnceLock::new();
        let made = TERA.get_or_init(|| {
            let mut tera = Tera::new();
            tera.autoescape_on([".svg"]);
            tera.add_raw_template("picture.svg", TEMPLATE).map_err(|error| error.to_string())?;
            Ok(tera)
        });
        let tera = made.as_ref().map_err(tera::Error::message)?;
        let mut context = Context::new();
        context.insert("picture", self);
        context.insert("standalone", &standalone);
        context.insert("style", STYLE);
        tera.render("picture.svg", &context)
    }
}
