//! Messages and timers as people write them: `PreVote { term: 0 }` is `PreVote 0`.
//!
//! A trace holds values as Rust shows them. What cannot be read as such a value stays as it is.

/// A label of more letters than this goes without the names of its fields.
const SHORT: usize = 18;

/// The label with the names of its fields where there are several and they fit, else without.
pub(super) fn phrase(label: &str) -> String {
    let Some(value) = read(label) else { return label.to_owned() };
    let full = value.show(Names::Shown);
    if full.chars().count() <= SHORT { full } else { value.show(Names::Left) }
}

/// The label with the names of its fields, however long that is.
pub(super) fn full(label: &str) -> String {
    read(label).map_or_else(|| label.to_owned(), |value| value.show(Names::Shown))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Shown,
    Left,
}

/// A value as `derive(Debug)` and the standard library show it.
enum Value<'t> {
    /// A number, a name, or whatever else has no parts.
    Atom(&'t str),
    /// `Name(3, 4)`, `Name { term: 3 }`.
    Struct { name: &'t str, fields: Vec<Field<'t>> },
    /// `[1, 2]`, `{1, 2}`, `(1, 2)`.
    Group { open: char, close: char, parts: Vec<Field<'t>> },
}

struct Field<'t> {
    name: Option<&'t str>,
    value: Value<'t>,
}

impl Value<'_> {
    fn show(&self, names: Names) -> String {
        match self {
            Value::Atom(text) => (*text).to_owned(),
            Value::Struct { name, fields } => {
                let said = list(fields, names);
                if said.is_empty() { (*name).to_owned() } else { format!("{name} {said}") }
            }
            Value::Group { open, close, parts } => {
                let part = |part: &Field<'_>| match part.name {
                    Some(key) => format!("{key}: {}", part.value.inside(names)),
                    None => part.value.inside(names),
                };
                let parts: Vec<String> = parts.iter().map(part).collect();
                format!("{open}{}{close}", parts.join(", "))
            }
        }
    }

    /// As part of another value: `Some(3)` is 3.
    fn inside(&self, names: Names) -> String {
        match self {
            Value::Struct { name: "Some", fields } => list(fields, names),
            Value::Struct { fields, .. } if fields.is_empty() => self.show(names),
            Value::Struct { .. } => format!("({})", self.show(names)),
            _ => self.show(names),
        }
    }
}

/// Fields one after the other. A field that is true is said by its name.
fn list(fields: &[Field<'_>], names: Names) -> String {
    let alone = fields.len() == 1;
    let field = |field: &Field<'_>| match (field.name, &field.value) {
        (Some(name), Value::Atom("true")) => name.to_owned(),
        (Some(name), Value::Atom("false")) => format!("not {name}"),
        (Some(name), value) if names == Names::Shown && !alone => format!("{name} {}", value.inside(names)),
        (_, value) => value.inside(names),
    };
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

fn read(label: &str) -> Option<Value<'_>> {
    // Deeper than this nobody nests a message, and a trace may hold anything.
    const DEEPEST: usize = 16;
    let mut reader = Reader { text: label, at: 0 };
    let value = reader.value(DEEPEST)?;
    reader.rest().is_empty().then_some(value)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn take(&mut self, prefix: &str) -> bool {
        let there = self.rest().starts_with(prefix);
        self.at += if there { prefix.len() } else { 0 };
        there
    }

    fn skip_blanks(&mut self) {
        while self.take(" ") {}
    }

    fn value(&mut self, depth: usize) -> Option<Value<'t>> {
        let depth = depth.checked_sub(1)?;
        for (open, close) in [('[', ']'), ('{', '}'), ('(', ')')] {
            if self.take(open.encode_utf8(&mut [0; 4])) {
                return Some(Value::Group { open, close, parts: self.fields(close, depth)? });
            }
        }
        let start = self.at;
        let length = self.rest().find(|sign| ",()[]{}".contains(sign)).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        let word = word.split_once(": ").map_or(word, |(name, _)| name);
        self.at += word.len();
        let name = word.trim_end();
        let is_name = name.starts_with(|first: char| first.is_alphabetic())
            && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if is_name && word.len() == name.len() && self.take("(") {
            return Some(Value::Struct { name, fields: self.fields(')', depth)? });
        }
        if is_name && word.len() == name.len() + 1 && self.take("{ ") {
            return Some(Value::Struct { name, fields: self.fields('}', depth)? });
        }
        // Something of a form of its own may go on in brackets: `4 (round 1)`.
        if word.len() > name.len() && self.take("(") {
            self.at += self.rest().find(')')? + 1;
        }
        let atom = self.text[start..self.at].trim_end();
        (!atom.is_empty()).then_some(Value::Atom(atom))
    }

    /// Parts up to the closing sign.
    fn fields(&mut self, close: char, depth: usize) -> Option<Vec<Field<'t>>> {
        let close = close.to_string();
        let mut fields = Vec::new();
        loop {
            self.skip_blanks();
            if self.take(&close) {
                return Some(fields);
            }
            let mut value = self.value(depth)?;
            let mut name = None;
            if self.take(": ") {
                let Value::Atom(atom) = value else { return None };
                (name, value) = (Some(atom), self.value(depth)?);
            }
            fields.push(Field { name, value });
            self.skip_blanks();
            if !self.take(",") && !self.rest().starts_with(&close) {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_written_as_people_write_them() {
        for (label, expected) in [
            ("Ok", "Ok"),
            ("PreVote { term: 0 }", "PreVote 0"),
            ("Election(17)", "Election 17"),
            ("Capture(3, 16)", "Capture 3, 16"),
            ("Heard { leads: true }", "Heard leads"),
            ("Heard { leads: false }", "Heard not leads"),
            ("Grant { term: 1, n: 2 }", "Grant term 1, n 2"),
            ("Heartbeat { term: 1, round: 12 }", "Heartbeat 1, 12"),
            ("Election([3, 1])", "Election [3, 1]"),
            ("Values({10, 20})", "Values {10, 20}"),
            ("Privilege([])", "Privilege []"),
            ("Prepare(1.1)", "Prepare 1.1"),
            ("Promise(1.1, Some(7))", "Promise 1.1, 7"),
            ("Coordinator { leader: 4, told: [@1, @2] }", "Coordinator 4, [@1, @2]"),
            ("Candidate { lot: 4 (round 1), hops: 2, unique: true }", "Candidate 4 (round 1), 2, unique"),
            ("Wrapped(Other { a: 1, b: 2 })", "Wrapped (Other 1, 2)"),
            ("attack:1:2", "attack:1:2"),
            ("Ask #3", "Ask #3"),
        ] {
            assert_eq!(phrase(label), expected);
        }
        assert_eq!(full("Heartbeat { term: 1, round: 12 }"), "Heartbeat term 1, round 12");
    }

    #[test]
    fn what_is_no_value_stays_as_it_is() {
        let deep = "A(".repeat(60) + &")".repeat(60);
        for label in
            ["", " ", "A(", "A)", "A(1", "(a, b", "A { b: }", "a(,)", "two\nlines", "領導者(選", &deep]
        {
            assert_eq!(phrase(label), label);
        }
    }
}
