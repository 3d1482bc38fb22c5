//! The form of what members say. The one before the present one is understood as well, so that members can be
//! upgraded one after the other.
//!
//! In the form before nothing is said of disks: neither how far a journal goes, nor what is known of others'.

use bytes::Bytes;
use habemus_journal::Extent;
use habemus_replica::{MemberId, PeerMessage};
use serde::Deserialize;

use crate::identity::Hexadecimal;
use crate::others::Life;
use crate::peers::{Opening, Saying, encode};

/// A form of what members say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The one that this program prefers.
    Present,
    /// The one of the version before.
    Before,
}

impl Form {
    /// Whoever changes the form changes this number.
    pub(crate) fn number(self) -> u32 {
        match self {
            Form::Present => 3,
            Form::Before => 2,
        }
    }

    /// The form of this number, if it is understood.
    pub(crate) fn of(number: u32) -> Option<Form> {
        [Form::Present, Form::Before].into_iter().find(|form| form.number() == number)
    }

    /// A message for the other's replica, as it is said in this form.
    pub(crate) fn say(self, message: PeerMessage) -> Bytes {
        match self {
            Form::Present => encode(&Saying::Message(message)),
            Form::Before => encode(&message),
        }
    }

    /// What somebody says in this form.
    pub(crate) fn hear(self, said: &[u8]) -> Option<Saying> {
        match self {
            Form::Present => postcard::from_bytes(said).ok(),
            Form::Before => postcard::from_bytes(said).ok().map(Saying::Message),
        }
    }
}

/// What a connection begins with in the form before. In the present one it is longer, and whoever speaks the
/// form before does not read on.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
enum OpeningBefore {
    Hello { form: u32, cluster: u64, from: MemberId, to: MemberId, life: LifeBefore },
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct LifeBefore {
    disk: Hexadecimal,
    starts: u64,
    life: Hexadecimal,
}

/// What somebody begins with, in whichever form.
pub(crate) fn opening(said: &[u8]) -> Option<Opening> {
    if let Ok(opening) = postcard::from_bytes(said) {
        return Some(opening);
    }
    let OpeningBefore::Hello { form, cluster, from, to, life } = postcard::from_bytes(said).ok()?;
    let LifeBefore { disk, starts, life } = life;
    let life = Life { disk, starts, life, found: Extent::default() };
    (form == Form::Before.number()).then_some(Opening::Hello { form, cluster, from, to, life })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: (u64, MemberId, MemberId) = (7, MemberId(1), MemberId(2));

    fn hello(form: u32, found: Extent) -> Opening {
        let (cluster, from, to) = HELLO;
        let life = Life { disk: Hexadecimal(3), starts: 4, life: Hexadecimal(5), found };
        Opening::Hello { form, cluster, from, to, life }
    }

    fn hello_before(form: u32) -> Bytes {
        let (cluster, from, to) = HELLO;
        let life = LifeBefore { disk: Hexadecimal(3), starts: 4, life: Hexadecimal(5) };
        encode(&OpeningBefore::Hello { form, cluster, from, to, life })
    }

    #[test]
    fn members_of_the_version_before_are_understood() {
        assert_eq!(opening(&hello_before(2)), Some(hello(2, Extent::default())));
        assert_eq!(opening(&hello_before(3)), None, "the present form says more");
        let found = Extent { segment: 1, end: 2 };
        assert_eq!(opening(&encode(&hello(3, found))), Some(hello(3, found)));
    }

    #[test]
    fn members_of_the_version_before_understand() {
        // They read as far as they know.
        let said = encode(&hello(2, Extent { segment: 1, end: 2 }));
        let OpeningBefore::Hello { form, life, .. } = postcard::from_bytes(&said).expect("it is longer");
        assert_eq!((form, life.starts), (2, 4));
        let message = PeerMessage::Forward { term: 3, requests: Vec::new() };
        let said = Form::Before.say(message.clone());
        assert_eq!(postcard::from_bytes(&said), Ok(message.clone()));
        for form in [Form::Present, Form::Before] {
            let heard = form.hear(&form.say(message.clone()));
            assert!(matches!(heard, Some(Saying::Message(heard)) if heard == message));
        }
    }
}
