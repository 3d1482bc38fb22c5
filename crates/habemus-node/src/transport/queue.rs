//! What waits to be sent to one peer, and what was sent but may have to be sent again.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::frame::{Body, Frame};

/// So many frames wait at most; one more is dropped.
pub const MAX_WAITING: usize = 4096;

/// So many frames are kept after sending, for the case that the connection breaks before they arrive.
pub const MAX_KEPT: usize = 512;

/// So long a frame waits for a peer that is away. Who comes later finds as little as in the simulator, where
/// what is sent to a process that is down is lost.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// The queue to one peer.
///
/// While the same life of the peer is connected, or comes back, every frame arrives once and in order, unless
/// more than [`MAX_KEPT`] were on their way when the connection broke or more than [`MAX_WAITING`] wait.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Frames in order; the first `sent` of them have been sent.
    frames: VecDeque<Waiting>,
    sent: usize,
    /// The number of the last frame that was put in.
    last: u64,
    /// Which life of the peer the sent ones went to.
    peer_life: Option<u64>,
    pub(crate) connected: bool,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    since: Instant,
    /// Until when it pretends to be on its way: a process that is new by then gets it all the same.
    until: Instant,
    bytes: Bytes,
}

impl Queue {
    /// Puts a frame in that pretends to be on its way until `until`; says whether there was room.
    pub(crate) fn push(&mut self, body: Body, now: Instant, until: Instant) -> bool {
        if !self.connected {
            self.forget_old(now);
        }
        if self.waiting() >= MAX_WAITING {
            return false;
        }
        self.last += 1;
        let frame = Frame { number: self.last, body };
        let bytes = frame.encode_with_length();
        self.frames.push_back(Waiting { number: self.last, since: now, until, bytes });
        true
    }

    /// The next frame to send.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        let bytes = self.frames.get(self.sent)?.bytes.clone();
        self.sent += 1;
        if self.sent > MAX_KEPT {
            self.frames.pop_front();
            self.sent -= 1;
        }
        Some(bytes)
    }

    /// A connection stands: `life` is the peer's, which has all frames up to `received`.
    pub(crate) fn connect(&mut self, life: u64, received: u64, now: Instant) {
        self.connected = true;
        if self.peer_life == Some(life) {
            // What it has need not be kept; what it has not is sent again.
            while self.frames.front().is_some_and(|frame| frame.number <= received) {
                self.frames.pop_front();
            }
        } else {
            // What was sent was meant for a life that is over, but for what has not arrived yet.
            let unsent = self.frames.split_off(self.sent);
            self.frames.retain(|frame| frame.until > now);
            self.frames.extend(unsent);
            self.peer_life = Some(life);
        }
        self.sent = 0;
        self.forget_old(now);
    }

    pub(crate) fn disconnect(&mut self) {
        self.connected = false;
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.frames.len() - self.sent
    }

    /// Forgets what has waited too long for a peer that is away.
    fn forget_old(&mut self, now: Instant) {
        while let Some(frame) = self.frames.get(self.sent)
            && now.duration_since(frame.since) > PATIENCE
            && frame.until <= now
        {
            self.frames.remove(self.sent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(name: usize) -> Body {
        Body::Open { name: name.to_string() }
    }

    fn numbers(queue: &mut Queue) -> Vec<u64> {
        let frames = std::iter::from_fn(|| queue.next());
        frames.map(|bytes| Frame::decode(&bytes[4..]).unwrap().number).collect()
    }

    #[test]
    fn the_same_life_gets_again_what_it_has_not_received() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.connect(7, 0, now);
        (0..4).for_each(|name| assert!(queue.push(body(name), now, now)));
        assert_eq!(numbers(&mut queue), [1, 2, 3, 4]);
        queue.disconnect();
        queue.push(body(5), now, now);
        queue.connect(7, 2, now);
        assert_eq!(numbers(&mut queue), [3, 4, 5]);
    }

    #[test]
    fn a_new_life_gets_nothing_that_was_sent_to_the_old_one() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.connect(7, 0, now);
        (0..3).for_each(|name| assert!(queue.push(body(name), now, now)));
        numbers(&mut queue);
        queue.disconnect();
        queue.push(body(4), now, now);
        queue.connect(8, 0, now);
        assert_eq!(numbers(&mut queue), [4]);
    }

    #[test]
    fn a_new_life_gets_what_was_sent_to_the_old_one_and_has_not_arrived_yet() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.connect(7, 0, now);
        queue.push(body(1), now, now);
        queue.push(body(2), now, now + Duration::from_secs(1));
        numbers(&mut queue);
        queue.disconnect();
        queue.push(body(3), now, now);
        queue.connect(8, 0, now + Duration::from_millis(500));
        assert_eq!(numbers(&mut queue), [2, 3]);
    }

    #[test]
    fn frames_wait_for_a_peer_only_so_long() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.push(body(1), now, now);
        queue.push(body(2), now + PATIENCE, now);
        queue.connect(7, 0, now + PATIENCE + Duration::from_millis(1));
        assert_eq!(numbers(&mut queue), [2]);
    }

    #[test]
    fn there_is_room_for_so_many_and_no_more() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        assert!((0..MAX_WAITING).all(|name| queue.push(body(name), now, now)));
        assert!(!queue.push(body(0), now, now));
        queue.connect(7, 0, now);
        assert_eq!(numbers(&mut queue).len(), MAX_WAITING);
        // Only the last ones are kept for a second try.
        queue.connect(7, 0, now);
        assert_eq!(numbers(&mut queue).len(), MAX_KEPT);
    }
}
