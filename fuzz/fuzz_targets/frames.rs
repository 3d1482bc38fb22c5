//! libFuzzer invents what `frames` suffers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| habemus_fuzz::frames::attack(bytes));
