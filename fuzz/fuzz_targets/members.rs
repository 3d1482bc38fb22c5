//! libFuzzer invents what `members` suffers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| habemus_fuzz::members::attack(bytes));
