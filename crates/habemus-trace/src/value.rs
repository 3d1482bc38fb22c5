//! Values as Rust shows them: what a trace holds of messages and processes, read and written for people.

/// Whether the names of fields are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Shown,
    Left,
}

/// A value as `derive(Debug)` and the standard library show it.
#[derive(PartialEq, Eq)]
pub(crate) enum Value<'t> {
    /// A number, a name, or whatever else has no parts.
    Atom(&'t str),
    /// `Name(3, 4)`, `Name { term: 3 }`.
    Struct { name: &'t str, fields: Vec<Field<'t>> },
    /// `[1, 2]`, `{1, 2}`, `(1, 2)`.
    Group { open: char, close: char, parts: Vec<Field<'t>> },
}

/// A part of a value, which may have a name.
#[derive(PartialEq, Eq)]
pub(crate) struct Field<'t> {
    pub(crate) name: Option<&'t str>,
    pub(crate) value: Value<'t>,
}

impl Value<'_> {
    /// In a line.
    pub(crate) fn show(&self, names: Names) -> String {
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

    /// As the value of a variable: nothing is a dash, and an empty collection the empty set.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Value::Atom("None") => "–".to_owned(),
            Value::Group { parts, .. } if parts.is_empty() => "∅".to_owned(),
            Value::Struct { name: "Some", fields } => list(fields, Names::Left),
            _ => self.show(Names::Left),
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

/// Reads a value; `None` if the text is none.
pub(crate) fn read(label: &str) -> Option<Value<'_>> {
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
