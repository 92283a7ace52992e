//! A session for a terminal: a line for each message, its words on the arrow.

use super::canvas::{Part, part};
use super::line_text::{fit, seconds, width, wrap};
use super::model::{Annotation, Arrow, Diagram, Flag, Note, Row, RowContent, Severity};
use super::parts::{found, parts};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use transcript::meaning::EventKind;

/// How it is to be shown.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    /// With colours.
    pub colour: bool,
    /// How many columns there are.
    pub width: usize,
}

/// Nothing is drawn narrower.
const NARROWEST: usize = 50;
/// How far apart participants are where there are more than two, and their words are beside them.
const APART: usize = 12;
/// How wide a time is at least.
const TIME: usize = 11;

/// The picture for a terminal.
pub fn text(diagram: &Diagram, terminal: TextOptions) -> String {
    TextLayout::new(diagram, terminal).draw()
}

struct TextLayout<'d> {
    diagram: &'d Diagram,
    terminal: TextOptions,
    width: usize,
    /// The column of the first participant, if there is one.
    first: usize,
    /// The columns of the participants.
    participants: Vec<usize>,
    /// Where words begin that are beside the participants; none where they are on the arrows.
    beside: Option<usize>,
    number: usize,
    /// How wide times are; nothing where there are none.
    time: usize,
    banded: bool,
    out: String,
}

impl<'d> TextLayout<'d> {
    fn new(diagram: &'d Diagram, terminal: TextOptions) -> Self {
        let number = |row: &Row| if let RowContent::Arrow(arrow) = &row.content { arrow.number } else { 0 };
        let number = diagram.rows.iter().map(number).max().unwrap_or_default().to_string().len();
        let times = diagram.rows.iter().filter_map(|row| row.time);
        let time = times.map(|time| (seconds(time).len() + 1).max(TIME)).max().unwrap_or_default();
        let banded = diagram.rows.iter().any(|row| row.opens().is_some());
        let width = terminal.width.max(NARROWEST);
        let first = 2 * usize::from(banded) + number + time + 2;
        let count = diagram.participants.len();
        let (participants, beside) = match count {
            0..=2 => ([first, width - 1].into_iter().take(count).collect(), None),
            _ => {
                let apart = APART.min(width.saturating_sub(first + 20) / count).max(2);
                let places = (0..count).map(|participant| first + participant * apart);
                (places.collect(), Some(first + (count - 1) * apart + 3))
            }
        };
        let out = String::new();
        Self { diagram, terminal, width, first, participants, beside, number, time, banded, out }
    }

    fn draw(mut self) -> String {
        let title = fit(&self.diagram.title, self.width);
        self.line(&self.paint(&title, Style::new().bold()));
        for about in wrap(&self.diagram.about.join(" · "), self.width, 3) {
            self.line(&self.paint(&about, Style::new().dimmed()));
        }
        self.line("");
        if self.beside.is_some() {
            self.legend();
        }
        self.heads();
        for row in &self.diagram.rows {
            match &row.content {
                RowContent::Arrow(arrow) => self.arrow(arrow, row),
                RowContent::Note(note) => self.note(note, row),
                RowContent::Fold(fold) => self.between("⋮", &[part("f", fold.words())], None),
            }
            self.annotations(&row.annotations, row.opens().or(row.band));
        }
        self.foot();
        self.out
    }

    /// The names of participants that are too close for them.
    fn legend(&mut self) {
        for (participant, at) in self.diagram.participants.iter().zip(0..) {
            let about =
                if participant.about.is_empty() { String::new() } else { format!(": {}", participant.about) };
            let words = fit(&format!("{} {}{about}", letter(at), participant.name), self.width);
            self.line(&words);
        }
        self.line("");
    }

    fn heads(&mut self) {
        let mut line = String::new();
        for (at, participant) in self.diagram.participants.iter().enumerate() {
            let column = self.participants[at];
            let name = if self.beside.is_some() {
                letter(at)
            } else {
                fit(&participant.name, self.width.saturating_sub(self.first + 2) / 2)
            };
            let start =
                if at > 0 && self.beside.is_none() { column + 1 - width(&name).min(column) } else { column };
            line.push_str(&" ".repeat(start.saturating_sub(width(&line))));
            line.push_str(&name);
        }
        self.line(&self.paint(&line, Style::new().bold()));
    }

    fn arrow(&mut self, arrow: &Arrow, row: &Row) {
        let (Some(&from), Some(&to)) = (self.participants.get(arrow.from), self.participants.get(arrow.to))
        else {
            return;
        };
        let (left, right, forth) = (from.min(to), from.max(to), to > from);
        let (shaft, style) = match arrow.kind {
            EventKind::ToolCall | EventKind::Request => ("─", Style::new()),
            EventKind::Notification => ("─", Style::new().dimmed()),
            EventKind::Result => ("╌", Style::new()),
            EventKind::Error => ("╌", severity(Severity::Error)),
        };
        let tip = match (arrow.flags.contains(&Flag::Unanswered), arrow.kind, forth) {
            (true, ..) => "✗",
            (_, EventKind::Notification, true) => "▻",
            (_, EventKind::Notification, false) => "◅",
            (.., true) => "►",
            (.., false) => "◄",
        };
        let mut line = self.lead(Some(arrow.number), row.time, row.band.map(|_| "│"));
        let mut before = self.first;
        for (at, &participant) in self.participants.iter().enumerate() {
            let gap = participant.saturating_sub(before);
            if at == 0 || before <= left || participant > right {
                line.push_str(&" ".repeat(gap));
            } else if self.beside.is_none() {
                line.push_str(&self.shaft(arrow, gap, shaft, tip, style, forth));
            } else {
                let drawn = match (forth && participant == right, !forth && before == left + 1) {
                    (true, _) => format!("{}{tip}", shaft.repeat(gap.saturating_sub(1))),
                    (_, true) => format!("{tip}{}", shaft.repeat(gap.saturating_sub(1))),
                    _ => shaft.repeat(gap),
                };
                line.push_str(&self.paint(&drawn, style));
            }
            line.push_str(match (participant == from, participant > left && participant < right) {
                (true, _) if forth => "├",
                (true, _) => "┤",
                (_, true) => "┼",
                _ => "│",
            });
            before = participant + 1;
        }
        if let Some(beside) = self.beside {
            line.push_str(&" ".repeat(beside - before));
            line.push_str(&self.words(&parts(arrow, self.width.saturating_sub(beside))));
        }
        self.line(&line);
    }

    /// An arrow with its words on it, in this many columns.
    fn shaft(
        &self,
        arrow: &Arrow,
        columns: usize,
        shaft: &str,
        tip: &str,
        style: Style,
        forth: bool,
    ) -> String {
        let words = parts(arrow, columns.saturating_sub(6));
        let used = words.iter().map(|part| width(&part.text) + 1).sum::<usize>();
        let rest = shaft.repeat(columns.saturating_sub(used + 3));
        let words = self.words(&words);
        let (start, end) = match forth {
            true => (shaft.to_owned(), format!("{rest}{tip}")),
            false => (format!("{tip}{shaft}"), rest),
        };
        format!("{} {words} {}", self.paint(&start, style), self.paint(&end, style))
    }

    fn note(&mut self, note: &Note, row: &Row) {
        let (words, time, mark) = match (note.opens, note.severity) {
            (Some(_), _) => (part("b", note.text.as_str()), None, Some("┌")),
            (None, severity) => {
                let class = if severity == Severity::Note { "f" } else { severity.class() };
                (part(class, format!("○ {}", note.text)), row.time, row.band.map(|_| "│"))
            }
        };
        let lead = self.lead(None, time, mark);
        self.beside_or_between("│", &[words], &lead);
    }

    fn annotations(&mut self, annotations: &[Annotation], band: Option<u64>) {
        for annotation in annotations {
            for mut words in found(annotation, self.room().saturating_sub(2)) {
                if let Some(first) = words.first_mut() {
                    first.text.insert_str(0, "  ");
                }
                self.between("│", &words, band);
            }
        }
    }

    fn between(&mut self, participant: &str, words: &[Part], band: Option<u64>) {
        let lead = self.lead(None, None, band.map(|_| "│"));
        self.beside_or_between(participant, words, &lead);
    }

    /// Words that are on no arrow: between two participants, or beside many.
    fn beside_or_between(&mut self, participant: &str, words: &[Part], lead: &str) {
        let mut left = self.room();
        let mut fitted: Vec<Part> = Vec::new();
        for word in words {
            let text = fit(&word.text, left);
            left = left.saturating_sub(width(&text) + 1);
            fitted.push(part(word.class, text));
        }
        let used = fitted.iter().map(|part| width(&part.text) + 1).sum::<usize>().saturating_sub(1);
        let words = self.words(&fitted);
        let mut line = lead.to_owned();
        match self.beside {
            None => {
                line.push_str(participant);
                let _ = write!(line, " {words}");
                if self.participants.len() > 1 {
                    line.push_str(&" ".repeat(self.room().saturating_sub(used) + 1));
                    line.push_str(participant);
                }
            }
            Some(beside) => {
                let mut at = self.first;
                for &column in &self.participants {
                    line.push_str(&" ".repeat(column.saturating_sub(at)));
                    line.push_str(participant);
                    at = column + 1;
                }
                line.push_str(&" ".repeat(beside.saturating_sub(at)));
                line.push_str(&words);
            }
        }
        self.line(&line);
    }

    /// How many columns words have that are on no arrow.
    fn room(&self) -> usize {
        match (self.beside, self.participants.as_slice()) {
            (Some(beside), _) => self.width.saturating_sub(beside),
            (None, [first, last]) => last.saturating_sub(first + 3),
            _ => self.width.saturating_sub(self.first + 3),
        }
    }

    /// What comes before the first participant: the band, the number and the time.
    fn lead(&self, number: Option<u64>, time: Option<i64>, mark: Option<&str>) -> String {
        let mut lead = String::new();
        if self.banded {
            let _ = write!(lead, "{} ", mark.unwrap_or(" "));
        }
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let _ = write!(lead, "{number:>0$}", self.number);
        if self.time > 0 {
            let time = time.map(seconds).unwrap_or_default();
            let _ = write!(lead, "{time:>0$}", self.time);
        }
        lead.push_str("  ");
        self.paint(&lead, Style::new().dimmed())
    }

    fn foot(&mut self) {
        if !self.diagram.foot.is_empty() {
            self.line("");
        }
        for annotation in &self.diagram.foot {
            let name = format!(
                "{} {}",
                annotation.severity.sign(),
                fit(&annotation.name, self.width.saturating_sub(2))
            );
            self.line(&self.paint(&name, severity(annotation.severity)));
            for line in wrap(&annotation.text, self.width - 2, 6) {
                self.line(&format!("  {line}"));
            }
        }
    }

    fn words(&self, parts: &[Part]) -> String {
        let painted = |part: &Part| self.paint(&part.text, style(part.class));
        parts.iter().map(painted).collect::<Vec<_>>().join(" ")
    }

    fn paint(&self, text: &str, style: Style) -> String {
        match self.terminal.colour && style != Style::new() && !text.trim().is_empty() {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }
}

/// The short name of a participant: a letter, and beyond the letters its number.
fn letter(participant: usize) -> String {
    match u8::try_from(participant) {
        Ok(participant @ 0..26) => char::from(b'A' + participant).to_string(),
        _ => (participant + 1).to_string(),
    }
}

fn severity(severity: Severity) -> Style {
    style(severity.class())
}

fn style(class: &str) -> Style {
    let coloured = |colour: AnsiColor| Style::new().bold().fg_color(Some(colour.into()));
    match class {
        "b" => Style::new().bold(),
        "f" => Style::new().dimmed(),
        "bad" => coloured(AnsiColor::Red),
        "odd" => coloured(AnsiColor::Yellow),
        "calm" => coloured(AnsiColor::Blue),
        _ => Style::new(),
    }
}
