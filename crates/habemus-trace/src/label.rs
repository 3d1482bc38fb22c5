//! Words of a trace: written once, shared by every record that says the same.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that does not change. A copy costs nothing: the delivery of a message has the words of its sending.
#[derive(Clone)]
pub struct Label(Words);

#[derive(Clone)]
enum Words {
    /// Part of the program, as the kinds of messages are.
    Fixed(&'static str),
    /// Few bytes, of which the first so many count: they need no memory of their own.
    Short(u8, [u8; SHORT]),
    Shared(Arc<str>),
}

/// So many bytes lie where the other variants have an address and a length.
const SHORT: usize = 22;

impl Label {
    /// A text of the program itself.
    pub const fn fixed(text: &'static str) -> Self {
        Label(Words::Fixed(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Words::Fixed(text) => text,
            Words::Short(length, bytes) => {
                // They were copied from a text.
                std::str::from_utf8(&bytes[..usize::from(*length)]).unwrap_or_default()
            }
            Words::Shared(text) => text,
        }
    }
}

impl Deref for Label {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Label {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Label {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..text.len()) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                Label(Words::Short(text.len() as u8, bytes))
            }
            None => Label(Words::Shared(text.into())),
        }
    }
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Label::from(text.as_str())
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Label {}

impl PartialEq<str> for Label {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Label {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Label::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_equal_wherever_they_are_kept() {
        assert_eq!(Label::fixed("Election"), Label::from("Election"));
        assert_eq!(Label::fixed("Election"), "Election");
        assert_ne!(Label::fixed("Election"), Label::from("Elected".to_owned()));
        let json = serde_json::to_string(&Label::fixed("Ok")).expect("a text can be written");
        assert_eq!(serde_json::from_str::<Label>(&json).expect("and read"), "Ok");
        for text in ["", "Größe", "a text that has twenty", "a text of twenty-three."] {
            assert_eq!(Label::from(text), text);
        }
        assert_eq!(size_of::<Label>(), 24);
        assert_eq!(format!("{:>4}|{:?}", Label::from("ab"), Label::from("ab")), "  ab|\"ab\"");
    }
}
