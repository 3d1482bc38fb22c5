//! A fingerprint of a run: the same on every machine, another as soon as anything differs.

use habemus::Address;

use crate::time::Time;

/// FNV-1a over 64 bits: simple, fixed for ever, and the same for every byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    #[inline]
    pub(crate) fn number(&mut self, number: u64) {
        // One round per number: speed matters more here than the quality of single bits.
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    /// Something that happens at `one`, and concerns `other`.
    #[inline]
    pub(crate) fn event(&mut self, tag: u64, at: Time, one: Address, other: Address) {
        self.number(tag | (u64::from(one.0) << 8));
        self.number(at);
        self.number(u64::from(other.0));
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_content_count() {
        let digest = |numbers: &[u64], text: &str| {
            let mut digest = Digest::default();
            numbers.iter().for_each(|number| digest.number(*number));
            digest.bytes(text.as_bytes());
            digest.value()
        };
        assert_eq!(digest(&[1, 2], "a"), digest(&[1, 2], "a"));
        assert_ne!(digest(&[1, 2], "a"), digest(&[2, 1], "a"));
        assert_ne!(digest(&[1, 2], "a"), digest(&[1, 2], "b"));
    }
}
