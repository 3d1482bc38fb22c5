//! One line of the terminal as a row of cells, which can be written in any order and never gets too long.

use unicode_width::UnicodeWidthChar;

/// How a cell looks when colours are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Faint,
    Strong,
    Label,
    Leader,
    Inside,
    Waiting,
    Bad,
}

impl Paint {
    /// The parameters of the ANSI sequence that selects it.
    fn code(self) -> &'static str {
        match self {
            Paint::Plain => "0",
            Paint::Faint => "2",
            Paint::Strong => "1",
            Paint::Label => "36",
            Paint::Leader => "1;33",
            Paint::Inside => "32",
            Paint::Waiting => "34",
            Paint::Bad => "1;31",
        }
    }
}

/// A line of limited width.
pub(super) struct Line {
    cells: Vec<Cell>,
}

#[derive(Clone, Copy)]
struct Cell {
    /// None in the right half of a character that is two columns wide.
    sign: Option<char>,
    paint: Paint,
}

const EMPTY: Cell = Cell { sign: Some(' '), paint: Paint::Plain };

impl Line {
    /// An empty line of this many columns.
    pub(super) fn new(width: usize) -> Line {
        Line { cells: vec![EMPTY; width] }
    }

    /// Puts one character of one column.
    pub(super) fn put(&mut self, at: usize, sign: char, paint: Paint) {
        self.set(at, Cell { sign: Some(sign), paint });
    }

    /// Writes a text from a column on, in at most `room` columns; the end of a longer text becomes "…".
    pub(super) fn write(&mut self, at: usize, text: &str, room: usize, paint: Paint) {
        let room = room.min(self.cells.len().saturating_sub(at));
        let mut at = at;
        for sign in fit(text, room).chars() {
            match sign.width() {
                Some(1) => self.set(at, Cell { sign: Some(sign), paint }),
                Some(2) => {
                    self.set(at, Cell { sign: Some(sign), paint });
                    self.set(at + 1, Cell { sign: None, paint });
                }
                _ => continue,
            }
            at += sign.width().unwrap_or(0);
        }
    }

    fn set(&mut self, at: usize, cell: Cell) {
        if at >= self.cells.len() {
            return;
        }
        // Whoever overwrites half of a wide character erases the other half.
        if self.cells[at].sign.is_none() && cell.sign.is_some() && at > 0 {
            self.cells[at - 1].sign = Some(' ');
        }
        if cell.sign.is_some() && self.cells.get(at + 1).is_some_and(|next| next.sign.is_none()) {
            self.cells[at + 1].sign = Some(' ');
        }
        self.cells[at] = cell;
    }

    /// The line as text, without blanks at its end.
    pub(super) fn finish(&self, color: bool) -> String {
        let used = self.cells.iter().rposition(|cell| cell.sign != Some(' ')).map_or(0, |last| last + 1);
        let mut text = String::new();
        let mut paint = Paint::Plain;
        for cell in &self.cells[..used] {
            if color && cell.paint != paint && cell.sign != Some(' ') {
                // Back to plain first, because the sequences add up.
                text += if paint == Paint::Plain { "" } else { "\x1b[0m" };
                text += &if cell.paint == Paint::Plain {
                    String::new()
                } else {
                    format!("\x1b[{}m", cell.paint.code())
                };
                paint = cell.paint;
            }
            text.extend(cell.sign);
        }
        text += if paint == Paint::Plain { "" } else { "\x1b[0m" };
        text
    }
}

/// How many columns a text takes.
pub(super) fn columns(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// The text, cut to this many columns.
pub(super) fn fit(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.into();
    }
    let mut left = room.saturating_sub(1);
    let mut short: String = text
        .chars()
        .take_while(|sign| {
            let width = sign.width().unwrap_or(0);
            let fits = width <= left;
            left = left.saturating_sub(width);
            fits
        })
        .collect();
    if room > 0 {
        short.push('…');
    }
    short
}

/// The text in lines of this many columns, broken between words where possible.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a last line");
        if line.is_empty() {
            line.push_str(word);
        } else if columns(line) + 1 + columns(word) <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.into());
        }
    }
    lines.into_iter().map(|line| fit(&line, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_ends_in_an_ellipsis() {
        assert_eq!(fit("Election(17)", 12), "Election(17)");
        assert_eq!(fit("Election(17)", 9), "Election…");
        assert_eq!(fit("領導者", 5), "領導…");
        assert_eq!(fit("領導者", 4), "領…");
        assert_eq!(fit("x", 0), "");
    }

    #[test]
    fn overwriting_half_of_a_wide_character_erases_it() {
        let mut line = Line::new(6);
        line.write(0, "領導", 6, Paint::Plain);
        line.put(1, '│', Paint::Plain);
        assert_eq!(line.finish(false), " │導");
        line.put(2, '│', Paint::Plain);
        assert_eq!(line.finish(false), " ││");
    }

    #[test]
    fn colours_are_switched_off_again() {
        let mut line = Line::new(8);
        line.write(0, "ab", 8, Paint::Bad);
        line.write(3, "c", 8, Paint::Plain);
        assert_eq!(line.finish(true), "\x1b[1;31mab \x1b[0mc");
        assert_eq!(line.finish(false), "ab c");
    }

    #[test]
    fn words_are_kept_together() {
        assert_eq!(wrap("two processes are inside", 13), ["two processes", "are inside"]);
        assert_eq!(wrap("incomprehensibilities", 8), ["incompr…"]);
        assert_eq!(wrap("", 8), [""]);
    }
}
