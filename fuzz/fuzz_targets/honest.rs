//! Writes what honest ones say where libFuzzer finds it: `honest DIRECTORY`.

use std::fs;
use std::path::PathBuf;

use habemus_fuzz::{clients, decoder, disks, files, frames, members, settings};

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| "corpus".into()));
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
