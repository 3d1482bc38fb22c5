//! The variables of a process as a tree, read from what derived `Debug` writes.

use serde::Serialize;

/// A variable, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variable {
    /// Its name; empty for a member of a list.
    pub name: String,
    /// The name of the type or variant, or the whole value if it has no parts.
    pub value: String,
    /// What the value is, if it has no parts.
    pub leaf: Leaf,
    /// Its parts.
    pub parts: Vec<Variable>,
}

/// What a value without parts is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leaf {
    /// Nothing of that kind: it has parts, or is a plain value.
    Plain,
    /// Where a process is reached: the value is its identifier.
    Process,
}

/// Reads what derived `Debug` writes. Addresses, written `@3`, are replaced by the identifier that `name`
/// gives.
pub fn read_variables(text: &str, name: &dyn Fn(usize) -> Option<u64>) -> Variable {
    let mut reader = Reader { rest: text, name };
    reader.value(String::new())
}

struct Reader<'a> {
    rest: &'a str,
    name: &'a dyn Fn(usize) -> Option<u64>,
}

impl Reader<'_> {
    fn value(&mut self, name: String) -> Variable {
        let word = self.word();
        let bracket = self.rest.chars().next();
        let parts = match bracket {
            Some(open @ ('{' | '(' | '[')) => {
                self.rest = &self.rest[1..];
                self.parts(match open {
                    '{' => '}',
                    '(' => ')',
                    _ => ']',
                })
            }
            _ => return self.leaf(name, word),
        };
        // `Some(3)` is 3, and `Id(3)` is 3: what wraps one value says little.
        if let [only] = &parts[..]
            && bracket == Some('(')
            && matches!(word.as_str(), "Some" | "Ok" | "")
            && only.name.is_empty()
        {
            return Variable { name, ..only.clone() };
        }
        let value = if word.is_empty() && parts.is_empty() { "∅".to_owned() } else { word };
        Variable { name, value, leaf: Leaf::Plain, parts }
    }

    fn leaf(&self, name: String, word: String) -> Variable {
        let address = word.strip_prefix('@').and_then(|address| address.parse().ok());
        let (value, leaf) = match address.and_then(|address| (self.name)(address)) {
            Some(id) => (id.to_string(), Leaf::Process),
            None if word == "None" => ("–".to_owned(), Leaf::Plain),
            None => (word, Leaf::Plain),
        };
        Variable { name, value, leaf, parts: Vec::new() }
    }

    fn parts(&mut self, close: char) -> Vec<Variable> {
        let mut parts = Vec::new();
        loop {
            self.space();
            match self.rest.chars().next() {
                None => return parts,
                Some(end) if end == close => {
                    self.rest = &self.rest[end.len_utf8()..];
                    return parts;
                }
                Some(',') => self.rest = &self.rest[1..],
                Some(_) => {
                    let before = self.rest.len();
                    parts.push(self.part());
                    if self.rest.len() == before {
                        // Nothing that anybody writes; better a piece too few than no end.
                        self.rest = "";
                    }
                }
            }
        }
    }

    /// `name: value`, `key: value`, or a value alone.
    fn part(&mut self) -> Variable {
        let first = self.value(String::new());
        self.space();
        match self.rest.strip_prefix(": ") {
            Some(rest) => {
                self.rest = rest;
                self.value(first.shown())
            }
            None => first,
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Everything up to a bracket, a comma, or a colon with a space behind it; a text in quotes is one piece.
    fn word(&mut self) -> String {
        self.space();
        let mut quoted = false;
        let mut escaped = false;
        let mut end = self.rest.len();
        for (at, sign) in self.rest.char_indices() {
            let ends = match sign {
                '{' | '(' | '[' | '}' | ')' | ']' | ',' => true,
                ':' => self.rest[at..].starts_with(": "),
                _ => false,
            };
            if ends && !quoted {
                end = at;
                break;
            }
            if sign == '"' && !escaped {
                quoted = !quoted;
            }
            escaped = sign == '\\' && !escaped;
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.trim().to_owned()
    }
}

impl Variable {
    /// In a line.
    pub fn shown(&self) -> String {
        if self.parts.is_empty() {
            return self.value.clone();
        }
        let parts: Vec<String> = self.parts.iter().map(Variable::shown).collect();
        format!("{}({})", self.value, parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Variable {
        read_variables(text, &|address| [3, 17, 24].get(address).copied())
    }

    #[test]
    fn a_structure_is_a_tree_of_its_fields() {
        let tree = read(
            "Lamport { clock: 7, asked: Some(Timestamp { at: 3, id: 17 }), replied: {@0, @2}, last: None }",
        );
        assert_eq!(tree.value, "Lamport");
        let names: Vec<&str> = tree.parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["clock", "asked", "replied", "last"]);
        assert_eq!((tree.parts[0].value.as_str(), tree.parts[3].value.as_str()), ("7", "–"));
        assert_eq!(tree.parts[1].value, "Timestamp");
        let replied: Vec<(&str, Leaf)> =
            tree.parts[2].parts.iter().map(|part| (part.value.as_str(), part.leaf)).collect();
        assert_eq!(replied, [("3", Leaf::Process), ("24", Leaf::Process)]);
    }

    #[test]
    fn maps_tuples_and_texts_are_read() {
        let tree =
            read("X { map: {@1: Granted, (2, @0): 5}, word: \"a, {b}\\\" c\", pair: (1, 2), none: {} }");
        assert_eq!(tree.parts[0].parts[0].name, "17");
        assert_eq!(tree.parts[0].parts[0].value, "Granted");
        assert_eq!(tree.parts[0].parts[1].name, "(2, 3)");
        assert_eq!(tree.parts[1].value, "\"a, {b}\\\" c\"");
        assert_eq!(tree.parts[2].parts.len(), 2);
        assert_eq!(tree.parts[3].value, "∅");
        assert_eq!(read("Idle"), read_variables("Idle", &|_| None));
    }
}
