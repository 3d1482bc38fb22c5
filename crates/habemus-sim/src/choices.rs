//! What the algorithms choose.

use habemus::Chooser;
use habemus_report::{Stream, Use};

/// The choices of the algorithms: those that a scenario prescribes, then those that its seed draws.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    /// The last is the next.
    prescribed: Vec<u32>,
    stream: Stream,
}

impl Choices {
    pub(crate) fn new(prescribed: &[u32], seed: u64) -> Self {
        let prescribed = prescribed.iter().rev().copied().collect();
        Choices { prescribed, stream: Stream::new(seed, Use::Choices) }
    }
}

impl Chooser for Choices {
    fn choose(&mut self, bound: u32) -> u32 {
        match self.prescribed.pop() {
            Some(choice) => choice.min(bound.saturating_sub(1)),
            None => self.stream.choose(bound),
        }
    }
}
