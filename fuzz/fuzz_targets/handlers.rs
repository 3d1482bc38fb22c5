//! libFuzzer invents what `handlers` suffers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| habemus_fuzz::handlers::attack(bytes));
