//! libFuzzer invents what `disks` suffers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| habemus_fuzz::disks::attack(bytes));
