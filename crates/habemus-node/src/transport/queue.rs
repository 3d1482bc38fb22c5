//! What waits to be sent to one peer, and what was sent but may have to be sent again.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use habemus::catalogue::Links;

use super::frame::{Body, FRAME_LIMIT, Frame, FrameError};
use crate::clock::BootInstant as Instant;

/// So many frames wait at most; one more is dropped.
pub const MAX_WAITING: usize = 4096;

/// So many bytes wait at most; a frame for which there is no room is dropped.
pub const MAX_WAITING_BYTES: usize = 16 << 20;

/// So many frames may be on their way that the peer has not acknowledged: the others wait.
pub const WINDOW: usize = 512;

/// A frame's number takes at most so many bytes.
const NUMBER: usize = 10;

/// So long a frame waits for a peer that is away, unless the algorithm assumes that every message arrives.
/// Who comes later finds as little as in the simulator, where what is sent to a process that is down is lost.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// The queue to one peer.
///
/// While the same life of the peer is connected, or comes back, every frame arrives once and in order, unless
/// it was dropped: because more than [`MAX_WAITING`] frames or [`MAX_WAITING_BYTES`] waited, or because the
/// peer was away for longer than its patience and the algorithm does not mind.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Frames in order; the first `sent` of them have been sent.
    frames: VecDeque<Waiting>,
    /// How many bytes those have.
    bytes: usize,
    sent: usize,
    /// How many frames the peer has: the first of `frames` is the next one.
    acknowledged: u64,
    /// Which life of the peer the sent ones went to.
    peer_life: Option<u64>,
    links: Links,
    patience: Duration,
    pub(crate) connected: bool,
    /// Whether nothing is to be sent, although it could be.
    pub(crate) held_back: bool,
}

#[derive(Debug)]
struct Waiting {
    since: Instant,
    /// Until when it pretends to be on its way: a process that is new by then gets it all the same.
    until: Instant,
    body: Bytes,
}

impl Queue {
    /// An empty queue for an algorithm that assumes this of its links.
    pub(crate) fn new(links: Links, patience: Duration) -> Self {
        Queue {
            frames: VecDeque::new(),
            bytes: 0,
            sent: 0,
            acknowledged: 0,
            peer_life: None,
            links,
            patience,
            connected: false,
            held_back: false,
        }
    }

    /// Puts a frame in that pretends to be on its way until `until`; says whether there was room.
    pub(crate) fn push(&mut self, body: &Body, now: Instant, until: Instant) -> bool {
        let body = body.encode();
        if body.len() > FRAME_LIMIT - NUMBER {
            return false;
        }
        let is_full =
            |queue: &Queue| queue.waiting() >= MAX_WAITING || queue.bytes + body.len() > MAX_WAITING_BYTES;
        if !self.connected && (self.links == Links::Timely || is_full(self)) {
            self.forget_old(now);
        }
        if is_full(self) {
            return false;
        }
        self.bytes += body.len();
        self.frames.push_back(Waiting { since: now, until, body });
        true
    }

    /// Appends the next frame to send, if there is one and the peer keeps up; says whether.
    pub(crate) fn next(&mut self, batch: &mut BytesMut) -> bool {
        if self.sent >= WINDOW || self.held_back {
            return false;
        }
        let Some(frame) = self.frames.get(self.sent) else { return false };
        self.sent += 1;
        Frame::write(self.acknowledged + self.sent as u64, &frame.body, batch);
        true
    }

    /// The peer has all frames up to `received`.
    pub(crate) fn acknowledge(&mut self, received: u64) -> Result<(), FrameError> {
        let news = received.checked_sub(self.acknowledged).filter(|news| *news <= self.sent as u64);
        let news = news.ok_or(FrameError::Garbled("acknowledgement"))?;
        for _ in 0..news {
            self.remove(0);
        }
        (self.sent, self.acknowledged) = (self.sent - news as usize, received);
        Ok(())
    }

    /// A connection stands: `life` is the peer's, which has `received` frames of this life of ours. Says
    /// whether that can be: if not, somebody else has spoken in this node's name.
    pub(crate) fn connect(&mut self, life: u64, received: u64, now: Instant) -> bool {
        self.connected = true;
        let mut plausible = true;
        if self.peer_life == Some(life) {
            // What it has need not be kept; what it has not is sent again.
            plausible = self.acknowledge(received).is_ok();
        } else {
            // What was sent was meant for a life that is over, but for what has not arrived yet.
            for index in (0..self.sent).rev() {
                if self.frames[index].until <= now {
                    self.remove(index);
                }
            }
            self.sent = 0;
            // One that was never met may have lived all the time: what it was told meanwhile is still for it.
            let was_met = self.peer_life.replace(life).is_some();
            if was_met {
                self.forget_old(now);
            }
        }
        // Frames are counted from what the peer has, whatever it is: so nobody can silence this node.
        (self.sent, self.acknowledged) = (0, received);
        if self.links == Links::Timely {
            self.forget_old(now);
        }
        plausible
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
            && now.duration_since(frame.since) > self.patience
            && frame.until <= now
        {
            self.remove(self.sent);
        }
    }

    fn remove(&mut self, index: usize) {
        if let Some(frame) = self.frames.remove(index) {
            self.bytes -= frame.body.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(name: usize) -> Body {
        Body::Open { name: name.to_string() }
    }

    fn timely() -> Queue {
        Queue::new(Links::Timely, PATIENCE)
    }

    /// The frames that are sent now: their numbers and names.
    fn sent(queue: &mut Queue) -> Vec<(u64, String)> {
        let one = |queue: &mut Queue| {
            let mut bytes = BytesMut::new();
            queue.next(&mut bytes).then_some(bytes)
        };
        let frames = std::iter::from_fn(|| one(queue));
        let read = |bytes: BytesMut| match Frame::decode(&bytes[4..]).unwrap() {
            Frame { number, body: Body::Open { name } } => (number, name),
            other => panic!("{other:?}"),
        };
        frames.map(read).collect()
    }

    fn names(queue: &mut Queue) -> Vec<String> {
        sent(queue).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn the_same_life_gets_again_what_it_has_not_received() {
        let (mut queue, now) = (timely(), Instant::now());
        assert!(queue.connect(7, 0, now));
        (1..5).for_each(|name| assert!(queue.push(&body(name), now, now)));
        assert_eq!(names(&mut queue), ["1", "2", "3", "4"]);
        queue.disconnect();
        queue.push(&body(5), now, now);
        assert!(queue.connect(7, 2, now));
        let again = [(3, "3"), (4, "4"), (5, "5")].map(|(number, name)| (number, name.to_owned()));
        assert_eq!(sent(&mut queue), again);
    }

    #[test]
    fn a_new_life_gets_nothing_that_was_sent_to_the_old_one() {
        let (mut queue, now) = (timely(), Instant::now());
        queue.connect(7, 0, now);
        (0..3).for_each(|name| assert!(queue.push(&body(name), now, now)));
        names(&mut queue);
        queue.disconnect();
        queue.push(&body(4), now, now);
        assert!(queue.connect(8, 0, now));
        assert_eq!(sent(&mut queue), [(1, "4".to_owned())]);
    }

    #[test]
    fn a_new_life_gets_what_was_sent_to_the_old_one_and_has_not_arrived_yet() {
        let (mut queue, now) = (timely(), Instant::now());
        queue.connect(7, 0, now);
        queue.push(&body(1), now, now);
        queue.push(&body(2), now, now + Duration::from_secs(1));
        names(&mut queue);
        queue.disconnect();
        queue.push(&body(3), now, now);
        queue.connect(8, 0, now + Duration::from_millis(500));
        assert_eq!(names(&mut queue), ["2", "3"]);
    }

    #[test]
    fn frames_wait_for_a_peer_only_so_long() {
        let (mut queue, now) = (timely(), Instant::now());
        queue.push(&body(1), now, now);
        queue.push(&body(2), now + PATIENCE, now);
        queue.connect(7, 0, now + PATIENCE + Duration::from_millis(1));
        assert_eq!(names(&mut queue), ["2"]);
    }

    #[test]
    fn where_every_message_must_arrive_frames_wait_for_the_same_life_and_not_for_the_next() {
        for (life, expected) in [(7, ["1", "2"].as_slice()), (8, &[])] {
            let (mut queue, now) = (Queue::new(Links::Reliable, PATIENCE), Instant::now());
            queue.connect(7, 0, now);
            queue.disconnect();
            queue.push(&body(1), now, now);
            queue.push(&body(2), now, now);
            queue.connect(life, 0, now + 100 * PATIENCE);
            assert_eq!(names(&mut queue), expected);
        }
    }

    #[test]
    fn where_every_message_must_arrive_frames_wait_for_a_peer_that_was_never_met() {
        let (mut queue, now) = (Queue::new(Links::Reliable, PATIENCE), Instant::now());
        queue.push(&body(1), now, now);
        queue.connect(7, 0, now + 100 * PATIENCE);
        assert_eq!(names(&mut queue), ["1"]);
    }

    #[test]
    fn there_is_room_for_so_many_and_no_more() {
        for links in [Links::Timely, Links::Reliable] {
            let (mut queue, now) = (Queue::new(links, PATIENCE), Instant::now());
            assert!((0..MAX_WAITING).all(|name| queue.push(&body(name), now, now)));
            assert!(!queue.push(&body(0), now, now));
            // What is old makes room.
            assert!(queue.push(&body(0), now + 2 * PATIENCE, now));
        }
    }

    #[test]
    fn there_is_room_for_so_many_bytes_and_no_more() {
        let (mut queue, now) = (timely(), Instant::now());
        let large = Body::Open { name: "x".repeat((1 << 20) - 64) };
        assert_eq!((0..100).filter(|_| queue.push(&large, now, now)).count(), MAX_WAITING_BYTES >> 20);
        let too_long = Body::Open { name: "x".repeat(FRAME_LIMIT) };
        assert!(!timely().push(&too_long, now, now));
    }

    #[test]
    fn only_so_many_are_on_their_way_until_the_peer_acknowledges_some() {
        let (mut queue, now) = (timely(), Instant::now());
        queue.connect(7, 0, now);
        (0..WINDOW + 9).for_each(|name| assert!(queue.push(&body(name), now, now)));
        assert_eq!(sent(&mut queue).len(), WINDOW);
        assert_eq!(sent(&mut queue), []);
        queue.acknowledge(4).unwrap();
        assert_eq!(sent(&mut queue).len(), 4);
        // Nobody has received what was never sent.
        assert!(queue.acknowledge(3).is_err() && queue.acknowledge(5 + WINDOW as u64).is_err());
    }

    #[test]
    fn who_spoke_in_our_name_cannot_silence_us() {
        let (mut queue, now) = (timely(), Instant::now());
        queue.connect(7, 0, now);
        queue.push(&body(1), now, now);
        names(&mut queue);
        queue.disconnect();
        assert!(!queue.connect(7, 1 << 40, now), "nobody sent so many");
        assert_eq!(sent(&mut queue), [((1 << 40) + 1, "1".to_owned())]);
    }
}
