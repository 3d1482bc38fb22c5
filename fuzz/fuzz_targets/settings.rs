//! libFuzzer invents what `settings` suffers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| habemus_fuzz::settings::attack(bytes));
