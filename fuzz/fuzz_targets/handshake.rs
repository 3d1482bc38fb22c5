//! libFuzzer invents what `handshake` suffers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| habemus_fuzz::handshake::attack(bytes));
