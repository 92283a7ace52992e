//! A session as SVG: the places of participants, arrows, bars and words, in whole numbers. Colours never say by themselves: an
//! answer is dashed, an error says so, a fault has a sign and a word.

use super::canvas::{Canvas, Group};
use super::line_text::{fit, seconds, wrap};
use super::model::{Annotation, Arrow, Diagram, Flag, Fold, Note, Row, RowContent, Severity, is_answer};
use super::parts::{found, parts};
use std::collections::BTreeMap;
use transcript::meaning::EventKind;

/// How a picture is to be drawn.
#[derive(Debug, Clone, Copy)]
pub struct SvgOptions {
    /// How wide, in the units of the picture.
    pub width: u16,
    /// As a file of its own, which brings its style and says every row in its description; else as a part of a page
    /// that has [`super::STYLE`] and says the rows itself.
    pub standalone: bool,
}

impl Default for SvgOptions {
    fn default() -> Self {
        Self { width: 960, standalone: true }
    }
}

/// The picture as SVG.
pub fn svg(diagram: &Diagram, look: SvgOptions) -> String {
    let mut desc = vec![diagram.overview()];
    if look.standalone {
        desc.extend(diagram.rows.iter().map(|row| diagram.sentence(row)));
        let foot = diagram.foot.iter();
        desc.extend(foot.map(|it| format!("{}: {}.", fit(&it.name, 80), fit(&it.text, 400))));
    }
    let mut drawing = SvgLayout::new(diagram, i32::from(look.width).max(NARROWEST));
    drawing.all();
    let canvas = Canvas {
        width: drawing.width,
        height: drawing.y + MARGIN,
        title: fit(&diagram.title, 200),
        desc: desc.join("\n"),
        groups: drawing.ground.into_iter().chain(drawing.groups).collect(),
    };
    canvas.spell(look.standalone)
}

const NARROWEST: i32 = 320;
const MARGIN: i32 = 12;
/// How wide a column of text is taken to be: a little more than any usual font needs at 12 px, in tenths.
const COLUMN: i32 = 74;
const ROW: i32 = 34;
const LINE: i32 = 17;
const HEAD: i32 = 26;

struct SvgLayout<'d> {
    diagram: &'d Diagram,
    width: i32,
    /// The places of the participants.
    participants: Vec<i32>,
    y: i32,
    top: i32,
    /// What lies behind everything: bands and participants.
    ground: Vec<Group>,
    groups: Vec<Group>,
    /// Where a request arrived: its participant and its height, by its number.
    asked: BTreeMap<u64, (usize, i32)>,
    /// When a request waits: its participant, from where to where.
    bars: Vec<(usize, i32, i32)>,
    /// The band that is open: its number, and where it began.
    band: Option<(u64, i32)>,
}

impl<'d> SvgLayout<'d> {
    fn new(diagram: &'d Diagram, width: i32) -> Self {
        let timed = diagram.rows.iter().any(|row| row.time.is_some());
        let left = if timed { 150 } else { 72 };
        let gaps = i32::try_from(diagram.participants.len().saturating_sub(1)).unwrap_or(1).max(1);
        let gap = (width - left - 48).max(120 * gaps) / gaps;
        let participants = (0..diagram.participants.len())
            .map(|participant| left + gap * i32::try_from(participant).unwrap_or_default());
        Self {
            diagram,
            width: width.max(left + gap * gaps + 48),
            participants: participants.collect(),
            y: MARGIN,
            top: 0,
            ground: Vec::new(),
            groups: Vec::new(),
            asked: BTreeMap::new(),
            bars: Vec::new(),
            band: None,
        }
    }

    fn all(&mut self) {
        self.heading();
        self.heads();
        self.top = self.y;
        self.y += 6;
        for row in &self.diagram.rows {
            self.bands(row);
            match &row.content {
                RowContent::Arrow(arrow) => self.arrow(arrow, row),
                RowContent::Note(note) => self.note(note, row),
                RowContent::Fold(fold) => self.fold(fold, row),
            }
        }
        self.close_band();
        self.y += 8;
        self.lifelines();
        if self.diagram.rows.len() > 12 {
            self.heads();
        }
        self.foot();
    }

    fn heading(&mut self) {
        let mut group = Group::default();
        self.y += 14;
        group.text(
            "h",
            (MARGIN, self.y),
            "start",
            fit(&self.diagram.title, self.columns(self.width - 24) * 3 / 4),
        );
        if !self.diagram.about.is_empty() {
            for line in wrap(&self.diagram.about.join(" · "), self.columns(self.width - 24), 3) {
                self.y += LINE + 1;
                group.text("f", (MARGIN, self.y), "start", line);
            }
        }
        self.y += 14;
        self.groups.push(group);
    }

    fn heads(&mut self) {
        let mut group = Group { bare: true, ..Group::default() };
        let room = self.participants.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(self.width);
        for (participant, &x) in self.diagram.participants.iter().zip(&self.participants) {
            let name = fit(&participant.name, self.columns(room - 24));
            let wide = self.extent(&name) + 20;
            let left = (x - wide / 2).clamp(2, (self.width - wide - 2).max(2));
            group.area("head", (left, self.y), (wide, HEAD), 5);
            group.text("b", (left + wide / 2, self.y + 17), "middle", name);
        }
        self.y += HEAD;
        self.groups.push(group);
    }

    /// The participants and what was waited for on them, behind everything else.
    fn lifelines(&mut self) {
        let mut group = Group::default();
        for &x in &self.participants {
            group.path("lane", &format!("M{x} {}V{}", self.top, self.y));
        }
        let mut busy: Vec<(usize, i32, i32)> = Vec::new();
        let bars = std::mem::take(&mut self.bars);
        for (participant, from, to) in bars {
            busy.retain(|&(_, _, end)| end > from);
            let used = |depth: i32| busy.iter().any(|&(other, at, _)| other == participant && at == depth);
            let depth = (0..4).find(|&depth| !used(depth)).unwrap_or(4);
            let x = self.participants.get(participant).copied().unwrap_or_default() - 4 + depth * 4;
            group.area("bar", (x, from), (8, to - from), 2);
            busy.push((participant, depth, to));
        }
        self.ground.push(group);
    }

    /// Opens and closes the band that a row belongs to.
    fn bands(&mut self, row: &Row) {
        let of = row.opens().or(row.band);
        if self.band.map(|(band, _)| band) != of || row.opens().is_some() {
            self.close_band();
            if let Some(band) = of {
                self.y += 4;
                self.band = Some((band, self.y));
            }
        }
    }

    fn close_band(&mut self) {
        if let Some((_, from)) = self.band.take() {
            let mut group = Group::default();
            group.area("band", (MARGIN / 2, from), (self.width - MARGIN, self.y - from + 4), 6);
            self.ground.insert(0, group);
            self.y += 6;
        }
    }

    fn arrow(&mut self, arrow: &Arrow, row: &Row) {
        let (Some(&from), Some(&to)) = (self.participants.get(arrow.from), self.participants.get(arrow.to))
        else {
            return;
        };
        let mut group = Group { title: self.diagram.sentence(row), ..Group::default() };
        let top = self.y;
        let (label, line) = (top + 14, top + 22);
        if arrow.flags.contains(&Flag::Differs) {
            group.bare = true;
            group.area("here", (MARGIN / 2, top), (self.width - MARGIN, ROW - 4), 4);
        }
        group.text("s", (38, line + 2), "end", format!("{}", arrow.number));
        if let Some(time) = row.time {
            group.text("s", (130, line + 2), "end", seconds(time));
        }
        // Several participants: the words may run on beyond a short arrow, as far as the picture goes.
        let left = from.min(to) + 10;
        let right = if self.participants.len() > 2 { self.width - MARGIN } else { from.max(to) - 10 };
        let words = parts(arrow, self.columns(right - left));
        group.parts((left, label), "start", &words);
        let (class, tip) = match arrow.kind {
            EventKind::ToolCall | EventKind::Request => ("ask", "tip"),
            EventKind::Notification => ("tell", "tip-open"),
            EventKind::Result => ("reply", "tip"),
            EventKind::Error => ("wrong", "tip-wrong"),
        };
        let back = if to > from { -1 } else { 1 };
        let unanswered = arrow.flags.contains(&Flag::Unanswered);
        group.path(class, &format!("M{from} {line}H{}", to + back * 7));
        let (near, up, down) = (to + back * 9, line - 4, line + 4);
        let outline = match tip {
            "tip-open" => format!("M{near} {up}L{to} {line}L{near} {down}"),
            _ => format!("M{to} {line}L{near} {up}V{down}Z"),
        };
        group.path(tip, &outline);
        if unanswered {
            let x = to - back * 12;
            group.path("cross", &format!("M{} {}l8 8m0 -8l-8 8", x - 4, line - 4));
        }
        if is_answer(arrow.kind) {
            if let Some((participant, asked)) = arrow.answers.and_then(|number| self.asked.remove(&number))
                && participant == arrow.from
            {
                self.bars.push((participant, asked, line));
            }
        } else if arrow.id.is_some() && !unanswered {
            self.asked.insert(arrow.number, (arrow.to, line));
        }
        self.y += ROW;
        self.annotations(&mut group, &row.annotations);
        self.groups.push(group);
    }

    fn note(&mut self, note: &Note, row: &Row) {
        let mut group = Group { title: self.diagram.sentence(row), ..Group::default() };
        let base = self.y + 15;
        let left = if note.opens.is_some() {
            MARGIN + 4
        } else {
            self.participants.first().map_or(MARGIN, |x| x + 10)
        };
        let time = row.time.filter(|_| note.opens.is_none());
        if let Some(time) = time {
            group.text("s", (130, base), "end", seconds(time));
        }
        let class = match (note.severity, note.opens) {
            (Severity::Note, Some(_)) => "b",
            (Severity::Note, None) => "f",
            (severity, _) => severity.class(),
        };
        let sign = if note.opens.is_some() || note.severity != Severity::Note { "" } else { "○ " };
        let words = fit(&note.text, self.columns(self.width - left - MARGIN).saturating_sub(2));
        group.text(class, (left, base), "start", format!("{sign}{words}"));
        self.y += 23;
        self.annotations(&mut group, &row.annotations);
        self.groups.push(group);
    }

    fn fold(&mut self, fold: &Fold, row: &Row) {
        let mut group = Group { title: self.diagram.sentence(row), bare: true, ..Group::default() };
        self.y += 6;
        group.area("break", (MARGIN / 2, self.y), (self.width - MARGIN, 24), 4);
        let words = fit(&format!("⋮ {}", fold.words()), self.columns(self.width - 40));
        group.text("f", (self.width / 2, self.y + 16), "middle", words);
        self.y += 32;
        self.groups.push(group);
    }

    fn annotations(&mut self, group: &mut Group, annotations: &[Annotation]) {
        let left = self.participants.first().map_or(MARGIN, |x| x + 10);
        let columns = self.columns(self.width - left - MARGIN);
        for (line, at) in
            annotations.iter().flat_map(|annotation| found(annotation, columns).into_iter().zip(0..))
        {
            let inwards = if at > 0 { 20 } else { 0 };
            group.parts((left + inwards, self.y + 9), "start", &line);
            self.y += LINE;
        }
        if !annotations.is_empty() {
            self.y += 3;
        }
    }

    fn foot(&mut self) {
        for annotation in &self.diagram.foot {
            let mut group = Group { bare: true, ..Group::default() };
            self.y += 10;
            let lines = wrap(&annotation.text, self.columns(self.width - 48), 4);
            let height = LINE * (1 + i32::try_from(lines.len()).unwrap_or_default()) + 10;
            let class = if annotation.severity == Severity::Error { "foot" } else { "head" };
            group.area(class, (MARGIN / 2, self.y), (self.width - MARGIN, height), 5);
            let head = format!(
                "{} {}",
                annotation.severity.sign(),
                fit(&annotation.name, self.columns(self.width - 60))
            );
            group.text(annotation.severity.class(), (MARGIN + 6, self.y + 18), "start", head);
            for (line, at) in lines.into_iter().zip(2..) {
                group.text("f", (MARGIN + 6, self.y + LINE * at + 1), "start", line);
            }
            self.y += height;
            self.groups.push(group);
        }
    }

    fn columns(&self, extent: i32) -> usize {
        usize::try_from(extent.max(0) * 10 / COLUMN).unwrap_or_default()
    }

    fn extent(&self, text: &str) -> i32 {
        i32::try_from(super::line_text::width(text)).unwrap_or_default() * COLUMN / 10
    }
}
