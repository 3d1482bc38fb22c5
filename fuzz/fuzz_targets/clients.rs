//! libFuzzer invents what `clients` suffers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| habemus_fuzz::clients::attack(bytes));
