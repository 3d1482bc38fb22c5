//! Writing SVG: elements, numbers and text that is safe in XML.

use std::fmt;

/// A point of the picture, in pixels from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

impl Point {
    /// The point that is this part of the way to another.
    pub(super) fn towards(self, other: Point, part: f64) -> Point {
        Point { x: self.x + (other.x - self.x) * part, y: self.y + (other.y - self.y) * part }
    }

    /// How far another point is.
    pub(super) fn distance(self, other: Point) -> f64 {
        let (x, y) = (other.x - self.x, other.y - self.y);
        (x * x + y * y).sqrt()
    }

    pub(super) fn shifted(self, x: f64, y: f64) -> Point {
        Point { x: self.x + x, y: self.y + y }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", number(self.x), number(self.y))
    }
}

/// The picture as far as it is written.
#[derive(Default)]
pub(super) struct Canvas {
    source: String,
}

impl Canvas {
    /// Writes a line of source as it is.
    pub(super) fn raw(&mut self, source: &str) {
        self.source += source;
        self.source.push('\n');
    }

    /// A group that shows a text when the pointer rests on it.
    pub(super) fn group(&mut self, tooltip: &str, content: impl FnOnce(&mut Canvas)) {
        self.raw(&format!("<g><title>{}</title>", escape(tooltip)));
        content(self);
        self.raw("</g>");
    }

    pub(super) fn line(&mut self, class: &str, from: Point, to: Point) {
        self.path(class, &format!("M{from}L{to}"));
    }

    pub(super) fn path(&mut self, class: &str, path: &str) {
        self.raw(&format!(r#"<path class="{class}" d="{path}"/>"#));
    }

    pub(super) fn circle(&mut self, class: &str, center: Point, radius: f64) {
        let (x, y, radius) = (number(center.x), number(center.y), number(radius));
        self.raw(&format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}"/>"#));
    }

    /// A rectangle with its upper left corner there.
    pub(super) fn rectangle(&mut self, class: &str, corner: Point, width: f64, height: f64, round: f64) {
        let [x, y, width, height, round] = [corner.x, corner.y, width, height, round].map(number);
        self.raw(&format!(
            r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{round}"/>"#
        ));
    }

    /// A text whose baseline begins there, or is centred there or ends there if its class says so.
    pub(super) fn text(&mut self, class: &str, at: Point, text: &str) {
        let (x, y) = (number(at.x), number(at.y));
        self.raw(&format!(r#"<text class="{class}" x="{x}" y="{y}">{}</text>"#, escape(text)));
    }

    /// A text along a direction, which has length 1; its baseline is centred there.
    pub(super) fn slanted_text(&mut self, class: &str, at: Point, direction: Point, text: &str) {
        let [cos, sin] = [direction.x, direction.y].map(|part| (part * 10_000.0).round() / 10_000.0);
        let minus_sin = if sin == 0.0 { 0.0 } else { -sin };
        self.raw(&format!(
            r#"<text class="{class}" transform="matrix({cos} {sin} {minus_sin} {cos} {at})">{}</text>"#,
            escape(text)
        ));
    }

    pub(super) fn finish(self) -> String {
        self.source
    }
}

/// A number with one decimal at most.
pub(super) fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // Minus zero is zero.
    if rounded == 0.0 { "0".into() } else { rounded.to_string() }
}

/// How wide a text will be, more or less: nobody knows the font of the viewer.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let widths = text.chars().map(|sign| match sign {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' | '(' | ')' | '[' | ']' | 'f' | 't'
        | 'I' | 'r' => 0.38,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.92,
        _ if sign.is_ascii_uppercase() => 0.68,
        _ if sign.is_ascii() || ('\u{a0}'..'\u{2e80}').contains(&sign) => 0.6,
        _ => 1.1,
    });
    widths.sum::<f64>() * size
}

/// The text, cut to about this many characters.
pub(super) fn shortened(text: &str, max: usize) -> String {
    match text.chars().count() {
        long if long > max => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
        _ => text.into(),
    }
}

/// The text in lines of about this width, broken between words where possible.
pub(super) fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a last line");
        let longer = if line.is_empty() { word.into() } else { format!("{line} {word}") };
        if text_width(&longer, size) <= width {
            *line = longer;
            continue;
        }
        if line.is_empty() {
            lines.pop();
        }
        lines.push(String::new());
        for sign in word.chars() {
            let line = lines.last_mut().expect("there is always a last line");
            if !line.is_empty() && text_width(line, size) + size > width {
                lines.push(sign.into());
            } else {
                line.push(sign);
            }
        }
    }
    lines
}

/// The text as it must be written in XML. Characters that XML cannot contain at all are replaced.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..' ' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(sign),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_safe_in_xml() {
        assert_eq!(escape("a < b && c > \"d\""), "a &lt; b &amp;&amp; c &gt; &quot;d&quot;");
        assert_eq!(escape("one\ntwo\u{1b}[0m\u{ffff}"), "one two\u{fffd}[0m\u{fffd}");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([12.0, 0.04, -0.04, 3.25, -7.5].map(number), ["12", "0", "0", "3.3", "-7.5"]);
    }

    #[test]
    fn lines_are_broken_between_words_and_in_words_that_are_too_long() {
        assert_eq!(wrap("aaaa aaaa aaaa", 10.0, 60.0), ["aaaa aaaa", "aaaa"]);
        assert_eq!(wrap("aa aaaaaaaaaaaa", 10.0, 60.0), ["aa", "aaaaaaaaa", "aaa"]);
        assert_eq!(wrap("", 10.0, 60.0), [""]);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shortened("Coordinator", 11), "Coordinator");
        assert_eq!(shortened("Coordinator", 6), "Coord…");
    }
}
