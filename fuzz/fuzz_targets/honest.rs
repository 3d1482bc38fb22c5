//! Writes what honest ones say where libFuzzer finds it: `HABEMUS_CORPUS=DIRECTORY honest -runs=0`. It is a
//! target like the others, for whatever is instrumented can be linked only with libFuzzer.

#![no_main]

use std::fs;
use std::path::PathBuf;

use habemus_fuzz::{clients, decoder, disks, files, frames, members, settings};

fn write() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::var_os("HABEMUS_CORPUS").unwrap_or_else(|| "corpus".into()));
    let targets = [
        ("clients", clients::examples()),
        ("decoder", decoder::examples()),
        ("disks", disks::examples()),
        ("files", files::examples()),
        ("frames", frames::examples()),
        ("members", members::examples()),
        ("settings", settings::examples()),
    ];
    for (name, examples) in targets {
        fs::create_dir_all(root.join(name))?;
        for (number, example) in examples.iter().enumerate() {
            fs::write(root.join(name).join(format!("example-{number}")), example)?;
        }
    }
    Ok(())
}

libfuzzer_sys::fuzz_target!(init: write().expect("the corpus can be written"), |_bytes: &[u8]| {});
