//! A fingerprint of a run: the same on every machine, another as soon as anything differs.

use habemus::Address;
use postcard::ser_flavors::Flavor;
use serde::Serialize;

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

    /// A number with the bytes that it would have on a wire: seven bits in each, the lowest first.
    #[inline]
    pub(crate) fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes(&[number as u8 | 0x80]);
            number >>= 7;
        }
        self.bytes(&[number as u8]);
    }

    /// A value as it would go over a wire; gives its length in bytes. It is written nowhere.
    #[inline]
    pub(crate) fn serialised(&mut self, value: &impl Serialize) -> usize {
        let flavor = Swallow { digest: *self, length: 0 };
        let swallowed = postcard::serialize_with_flavor(value, flavor);
        let swallowed = swallowed.expect("a plain value can always be serialised");
        *self = swallowed.digest;
        swallowed.length
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

/// Takes the bytes of a value as they come.
struct Swallow {
    digest: Digest,
    length: usize,
}

impl Flavor for Swallow {
    type Output = Swallow;

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.digest.bytes(&[byte]);
        self.length += 1;
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.digest.bytes(bytes);
        self.length += bytes.len();
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Swallow> {
        Ok(self)
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

    #[test]
    fn a_value_counts_with_the_bytes_that_it_would_have_on_a_wire() {
        let value = (3_u64, "abc", [Some(700_u32), None]);
        let bytes = postcard::to_allocvec(&value).expect("a plain value can be serialised");
        let (mut one, mut other) = (Digest::default(), Digest::default());
        one.bytes(&bytes);
        assert_eq!(other.serialised(&value), bytes.len());
        assert_eq!(one, other);
        for number in [0_u64, 127, 128, 300, u64::MAX] {
            let (mut one, mut other) = (Digest::default(), Digest::default());
            one.varint(number);
            other.serialised(&number);
            assert_eq!(one, other);
        }
    }
}
