//! libFuzzer invents what `decoder` suffers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| habemus_fuzz::decoder::attack(bytes));
