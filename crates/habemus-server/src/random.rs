//! Numbers that nobody can guess.

/// Sixty-four bits.
pub(crate) fn bits() -> u64 {
    let mut bytes = [0; 8];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    assert_eq!(filled, Ok(8), "the kernel always has eight random bytes, once it has started");
    u64::from_le_bytes(bytes)
}

/// A positive number, for sessions and members.
pub(crate) fn positive() -> i64 {
    i64::try_from(bits() >> 1).expect("the highest bit is zero").max(1)
}
