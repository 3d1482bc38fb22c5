//! Messages between members as frames: what is long goes in parts, and others get through between those of a
//! snapshot.
//!
//! A frame is a byte that says what it is, and a message or a part of one. Frames are short, so whoever
//! announces a long one is not believed, and a snapshot of any length delays no heartbeat.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};

/// No part is longer.
const PART: usize = 1 << 20;

/// No frame is longer.
pub(crate) const MAX_FRAME: usize = PART + 1;

/// No message is longer; snapshots are the longest.
const MAX_MESSAGE: usize = 1 << 30;

/// So many snapshots wait for one member. What is more is dropped: the engine makes another when it waited in
/// vain.
const MAX_WAITING: usize = 2;

/// A message that is short.
const WHOLE: u8 = 0;
/// A part of a message, of which more follow in the next frames.
const MORE: u8 = 1;
/// Its last part.
const LAST: u8 = 2;
/// Added to say that it is a part of a snapshot.
const OF_A_SNAPSHOT: u8 = 2;

fn frame(kind: u8, part: &[u8]) -> Bytes {
    let mut frame = Vec::with_capacity(part.len() + 1);
    frame.push(kind);
    frame.extend_from_slice(part);
    frame.into()
}

/// The next part of what is left of a message.
fn split(left: &mut Bytes, offset: u8) -> Bytes {
    let part = left.split_to(left.len().min(PART));
    frame(offset + if left.has_remaining() { MORE } else { LAST }, &part)
}

/// What is to be sent on a connection.
#[derive(Debug, Default)]
pub(crate) struct Sending {
    snapshots: VecDeque<Bytes>,
}

impl Sending {
    /// The frames of a message that goes at once.
    pub(crate) fn frames(mut message: Bytes) -> impl Iterator<Item = Bytes> {
        let whole = (message.len() <= PART).then(|| frame(WHOLE, &std::mem::take(&mut message)));
        let parts = std::iter::from_fn(move || message.has_remaining().then(|| split(&mut message, 0)));
        whole.into_iter().chain(parts)
    }

    /// A snapshot, which goes when there is nothing else.
    pub(crate) fn wait(&mut self, snapshot: Bytes) {
        if self.snapshots.len() < MAX_WAITING {
            self.snapshots.push_back(snapshot);
        }
    }

    /// Whether a snapshot waits, or what is left of one.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.snapshots.is_empty()
    }

    /// The next part of the snapshots.
    pub(crate) fn next_part(&mut self) -> Option<Bytes> {
        let left = self.snapshots.front_mut()?;
        let part = split(left, OF_A_SNAPSHOT);
        if !left.has_remaining() {
            self.snapshots.pop_front();
        }
        Some(part)
    }
}

/// What has come on a connection of messages that are not complete yet.
#[derive(Debug, Default)]
pub(crate) struct Receiving {
    message: Vec<u8>,
    snapshot: Vec<u8>,
}

/// Somebody does not speak the members' language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no part of a message")]
pub(crate) struct NoPart;

impl Receiving {
    /// Takes a frame, and gives the message that it completes.
    pub(crate) fn take(&mut self, mut frame: Bytes) -> Result<Option<Bytes>, NoPart> {
        let kind = frame.try_get_u8().map_err(|_| NoPart)?;
        let (message, is_last) = match kind {
            WHOLE => return Ok(Some(frame)),
            MORE | LAST => (&mut self.message, kind == LAST),
            _ if kind == OF_A_SNAPSHOT + MORE || kind == OF_A_SNAPSHOT + LAST => {
                (&mut self.snapshot, kind == OF_A_SNAPSHOT + LAST)
            }
            _ => return Err(NoPart),
        };
        if frame.is_empty() || message.len() + frame.len() > MAX_MESSAGE {
            return Err(NoPart);
        }
        message.extend_from_slice(&frame);
        Ok(is_last.then(|| std::mem::take(message).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: usize, seed: u8) -> Bytes {
        (0..length).map(|at| (at % 251) as u8 ^ seed).collect()
    }

    fn received(frames: impl IntoIterator<Item = Bytes>) -> Vec<Bytes> {
        let mut receiving = Receiving::default();
        let takes = frames.into_iter().map(|frame| {
            assert!(frame.len() <= MAX_FRAME);
            receiving.take(frame).expect("it is a frame")
        });
        takes.flatten().collect()
    }

    #[test]
    fn a_message_of_any_length_comes_as_it_was() {
        for length in [0, 1, PART - 1, PART, PART + 1, 2 * PART, 3 * PART + 7] {
            let message = bytes(length, 3);
            assert_eq!(received(Sending::frames(message.clone())), [message], "{length}");
        }
    }

    #[test]
    fn others_get_through_between_the_parts_of_a_snapshot() {
        let (first, second) = (bytes(3 * PART, 1), bytes(PART + 1, 2));
        let (short, long) = (bytes(5, 3), bytes(2 * PART + 5, 4));
        let mut sending = Sending::default();
        sending.wait(first.clone());
        sending.wait(second.clone());
        let mut frames = Vec::new();
        frames.extend(sending.next_part());
        frames.extend(Sending::frames(short.clone()));
        frames.extend(sending.next_part());
        frames.extend(Sending::frames(long.clone()));
        while sending.is_waiting() {
            frames.extend(sending.next_part());
        }
        assert_eq!(received(frames), [short, long, first, second]);
    }

    #[test]
    fn more_snapshots_than_may_wait_are_dropped() {
        let mut sending = Sending::default();
        for seed in 0..10 {
            sending.wait(bytes(9, seed));
        }
        let frames: Vec<_> = std::iter::from_fn(|| sending.next_part()).collect();
        assert_eq!(received(frames), [bytes(9, 0), bytes(9, 1)]);
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for frame in [&[][..], &[9, 1], &[5], &[255, 0, 0], &[1], &[2], &[3], &[4]] {
            assert_eq!(Receiving::default().take(Bytes::from_static(frame)), Err(NoPart), "{frame:?}");
        }
    }
}
