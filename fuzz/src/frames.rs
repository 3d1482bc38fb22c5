//! Any bytes as what comes to the door at which members of the service hear each other: somebody's first
//! words, or the frames of one that was let in. They are refused, or can be said again and are the same.

use habemus_replica::PeerMessage;
use habemus_server::hostile;

use crate::members;

/// The first byte says which of the two it is.
pub fn attack(bytes: &[u8]) {
    let Some((&kind, rest)) = bytes.split_first() else { return };
    if kind % 2 == 0 {
        hostile::opening(rest);
        return;
    }
    let heard = hostile::messages(rest);
    // Snapshots come after the others, and no more than two of them wait.
    let (snapshots, mut expected): (Vec<_>, Vec<_>) = heard.into_iter().partition(PeerMessage::is_snapshot);
    let sent = [&expected[..], &snapshots].concat();
    expected.extend(snapshots.into_iter().take(2));
    assert_eq!(hostile::messages(&hostile::frames(&sent)), expected);
}

/// Each of the first words, and what two honest members say then.
pub fn examples() -> Vec<Vec<u8>> {
    let of_kind = |kind: u8, said: &[u8]| [&[kind], said].concat();
    let mut all: Vec<Vec<u8>> = hostile::openings().iter().map(|it| of_kind(0, it)).collect();
    for story in members::examples() {
        let said = hostile::frames(&members::told(&story));
        all.push(of_kind(1, &said));
        // One whole message in two parts: as members send what is long.
        all.push(of_kind(1, &in_parts(&said)));
    }
    all
}

/// The first message of these, whose frame is whole, in two parts.
fn in_parts(said: &[u8]) -> Vec<u8> {
    let (length, rest) = said.split_first_chunk::<4>().expect("a frame begins with its length");
    let message = &rest[1..u32::from_be_bytes(*length) as usize];
    let (first, last) = message.split_at(message.len() / 2);
    let part = |kind: u8, part: &[u8]| [&(part.len() as u32 + 1).to_be_bytes()[..], &[kind], part].concat();
    [part(1, first), part(2, last)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_ones_are_understood() {
        assert!(hostile::openings().iter().all(|it| hostile::opening(it)));
        let examples = examples();
        let stories = examples.iter().filter(|it| it[0] == 1).map(|it| hostile::messages(&it[1..]).len());
        let stories: Vec<usize> = stories.collect();
        assert!(stories[0] > 5 && stories[1] == 1, "{stories:?}");
    }
}
