//! Plants bugs in a copy of the service's sources, one at a time, and sees whether the simulation finds them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use habemus_dst::PlantedBug;

/// Plants every bug of `planted.toml` in a copy of the sources, builds it, and plays seeds until one breaks a promise.
#[derive(Parser)]
#[command(
    name = "planted",
    after_help = "Examples:
  cargo run --release -p habemus-dst --bin planted
  cargo run --release -p habemus-dst --bin planted -- --seeds 1000 --only clock

It exits with 0 if every bug was found, and with 1 if one was not."
)]
struct Flags {
    /// How many seeds are played at most for each bug.
    #[arg(long, default_value_t = 300)]
    seeds: u64,
    /// Only bugs with this in their name or file.
    #[arg(long)]
    only: Option<String>,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    match try_all(&flags) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn try_all(flags: &Flags) -> Result<bool, String> {
    let garden = Garden::lay_out()?;
    let wanted = |bug: &PlantedBug| {
        flags.only.as_ref().is_none_or(|only| bug.name.contains(only) || bug.file.contains(only))
    };
    if garden.play(flags.seeds.min(20))?.is_some() {
        return Err("the simulation finds something although nothing was planted".to_owned());
    }
    let (mut planted, mut found) = (0, 0);
    for bug in PlantedBug::all().iter().filter(|bug| wanted(bug)) {
        planted += 1;
        let outcome = garden.plant(bug, flags.seeds);
        found += usize::from(matches!(outcome, Ok(Some(_))));
        let told = outcome.map_or_else(|why| why, |found| found.unwrap_or_else(|| "NOT FOUND".to_owned()));
        println!("{}\n    {told}", bug.name);
    }
    println!("{found} of {planted} found within {} seeds", flags.seeds);
    Ok(found == planted)
}

/// A copy of the sources, as they were at the beginning: work may go on beside it.
struct Garden(PathBuf);

impl Garden {
    fn lay_out() -> Result<Garden, String> {
        let crates =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("there is no directory of crates")?;
        let root = crates.parent().ok_or("there is no root")?;
        let copy = root.join("target/planted");
        let manifest = read(&root.join("Cargo.toml"))?;
        let members = [
            "habemus",
            "habemus-dst",
            "habemus-journal",
            "habemus-replica",
            "habemus-store",
            "habemus-trace",
        ];
        let listed: Vec<String> = members.iter().map(|name| format!("\"crates/{name}\"")).collect();
        let manifest = manifest.replace("\"crates/*\"", &listed.join(", "));
        write(&copy.join("Cargo.toml"), &manifest)?;
        write(&copy.join("Cargo.lock"), &read(&root.join("Cargo.lock"))?)?;
        write(&copy.join("README.md"), "")?;
        for name in members {
            copy_all(&crates.join(name), &copy.join("crates").join(name))?;
        }
        Ok(Garden(copy))
    }

    /// Plants one bug and plays; says how it was found, if it was.
    fn plant(&self, bug: &PlantedBug, seeds: u64) -> Result<Option<String>, String> {
        let place = self.0.join("crates").join(&bug.file);
        let source = read(&place)?;
        write(&place, &bug.plant(&source)?)?;
        let outcome = self.play(seeds);
        write(&place, &source)?;
        outcome.map_err(|why| format!("{}: {why}", bug.name))
    }

    fn play(&self, seeds: u64) -> Result<Option<String>, String> {
        let target = self.0.join("target");
        let mut build = Command::new("cargo");
        build.args(["build", "--release", "--quiet", "--package", "habemus-dst", "--bin", "habemus-dst"]);
        build.current_dir(&self.0).env("CARGO_TARGET_DIR", &target);
        let built = build.output().map_err(|error| format!("cargo: {error}"))?;
        if !built.status.success() {
            return Err(String::from_utf8_lossy(&built.stderr).into_owned());
        }
        let mut play = Command::new(target.join("release/habemus-dst"));
        play.args(["--seeds", &seeds.to_string(), "--no-shrinking"]);
        let played = play.output().map_err(|error| format!("habemus-dst: {error}"))?;
        if played.status.success() {
            return Ok(None);
        }
        let said = [played.stdout, played.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let told = said.lines().find(|line| line.starts_with("seed ") || line.starts_with("panic "));
        Ok(Some(told.unwrap_or("it ended in an odd way").chars().take(160).collect()))
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file unless it is there already, so that nothing is built without need.
fn write(path: &Path, content: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    let failed = |error| format!("{}: {error}", path.display());
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    fs::write(path, content).map_err(failed)
}

fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_all(&path, &to)?;
        } else {
            write(&to, &read(&path)?)?;
        }
    }
    Ok(())
}
