//! libFuzzer invents what `files` suffers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| habemus_fuzz::files::attack(bytes));
