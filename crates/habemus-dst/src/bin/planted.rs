//! Plants bugs in a copy of the service's sources, and sees whether the simulation finds each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use habemus_dst::PlantedBug;

/// Plants every bug of `planted.toml` in a copy of the sources, builds it, and plays seeds with each of them
/// until one breaks a promise.
#[derive(Parser)]
#[command(
    name = "planted",
    after_help = "Examples:
  cargo run --release -p habemus-dst --bin planted
  cargo run --release -p habemus-dst --bin planted -- --seeds 1000 --only clock
  cargo run --release -p habemus-dst --bin planted -- --threads 1 --page docs/planted.md

It exits with 0 if every bug was found, and with 1 if one was not."
)]
struct Flags {
    /// How many seeds are played at most for each bug.
    #[arg(long, default_value_t = 300)]
    seeds: u64,
    /// Only bugs with this in their name or file.
    #[arg(long)]
    only: Option<String>,
    /// On how many threads seeds are played, and the copy is built; all cores if nothing is said.
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Write what was found, and by whom, as a page.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

/// How a bug was found.
struct Found {
    /// By which seed.
    seed: u64,
    /// By whom: the kind of promise that was broken, or a panic.
    judge: String,
    /// In which words.
    words: String,
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
    garden.build(flags.threads)?;
    if garden.play(0, flags.seeds.min(20), flags.threads)?.is_some() {
        return Err("the simulation finds something although nothing was planted".to_owned());
    }
    let (mut planted, mut rows) = (0, Vec::new());
    for (number, bug) in PlantedBug::all().into_iter().enumerate().filter(|(_, bug)| wanted(bug)) {
        planted += 1;
        match garden.play(number + 1, flags.seeds, flags.threads) {
            Ok(Some(found)) => {
                println!("{}\n    seed {}: {}: {}", bug.name, found.seed, found.judge, found.words);
                rows.push((bug, found));
            }
            Ok(None) => println!("{}\n    NOT FOUND", bug.name),
            Err(why) => println!("{}\n    {why}", bug.name),
        }
    }
    let found = rows.len();
    println!("{found} of {planted} found within {} seeds", flags.seeds);
    if let Some(path) = &flags.page {
        fs::write(path, page(flags, planted, &rows))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(found == planted)
}

/// What was found, and by whom, for people.
fn page(flags: &Flags, planted: usize, rows: &[(PlantedBug, Found)]) -> String {
    let mut text = format!(
        "# Bugs that the simulation finds\n\n\
         Each is one change of one place in the service's sources, as \
         [`planted.toml`](../crates/habemus-dst/planted.toml) has it. \
         This page is\nwritten by the command that plants them all, and with each of them plays seeds from 0 \
         on until a promise \
         is broken:\n\n\
         ```text\ncargo run --release -p habemus-dst --bin planted -- --seeds {} --threads 1 --page \
         docs/planted.md\n```\n\n\
         {} of {planted} were found. [What is judged](simulation-testing.md#what-is-judged) says who the \
         judges are.\n\n\
         | bug | in | seed | judge | in its words |\n|---|---|---|---|---|\n",
        flags.seeds,
        rows.len(),
    );
    for (bug, found) in rows {
        let words = found.words.replace('|', "\\|").replace('<', "\\<");
        text += &format!("| {} | {} | {} | {} | {words} |\n", bug.name, bug.file, found.seed, found.judge);
    }
    text
}

/// What is copied: the simulation, and whatever it is made of.
const MEMBERS: [&str; 6] =
    ["habemus", "habemus-dst", "habemus-journal", "habemus-replica", "habemus-store", "habemus-trace"];

/// The workspace's manifest, with nothing in the workspace but what is copied.
fn alone(manifest: &str) -> Result<String, String> {
    let mut manifest: toml::Table = manifest.parse().map_err(|error| format!("Cargo.toml: {error}"))?;
    let workspace = manifest.get_mut("workspace").and_then(toml::Value::as_table_mut);
    let workspace = workspace.ok_or("Cargo.toml is no workspace")?;
    let members: Vec<String> = MEMBERS.iter().map(|name| format!("crates/{name}")).collect();
    workspace.insert("members".to_owned(), members.into());
    workspace.remove("default-members");
    Ok(manifest.to_string())
}

/// A copy of the sources, as they were at the beginning, with all bugs in it, none of them at work: work may
/// go on beside it.
struct Garden(PathBuf);

impl Garden {
    fn lay_out() -> Result<Garden, String> {
        let crates =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("there is no directory of crates")?;
        let root = crates.parent().ok_or("there is no root")?;
        let copy = root.join("target/planted");
        let manifest = read(&root.join("Cargo.toml"))?;
        write(&copy.join("Cargo.toml"), &alone(&manifest)?)?;
        write(&copy.join("Cargo.lock"), &read(&root.join("Cargo.lock"))?)?;
        write(&copy.join("README.md"), "")?;
        let mut sources: BTreeMap<PathBuf, String> = BTreeMap::new();
        for name in MEMBERS {
            read_all(&crates.join(name), &copy.join("crates").join(name), &mut sources)?;
        }
        let all = PlantedBug::all();
        for (number, bug) in all.iter().enumerate() {
            let source =
                sources.get_mut(&copy.join("crates").join(&bug.file)).ok_or("there is no such file")?;
            *source = bug.plant(number + 1, source)?;
        }
        let with_bugs: BTreeSet<&str> = all.iter().filter_map(|bug| bug.file.split('/').next()).collect();
        for name in with_bugs {
            let library = copy.join("crates").join(name).join("src/lib.rs");
            *sources.get_mut(&library).ok_or("there is no library")? += WHICH;
        }
        for (path, source) in &sources {
            write(path, source)?;
        }
        Ok(Garden(copy))
    }

    fn target(&self) -> PathBuf {
        self.0.join("target")
    }

    fn build(&self, threads: Option<NonZeroUsize>) -> Result<(), String> {
        let mut build = Command::new("cargo");
        build.args(["build", "--release", "--quiet", "--package", "habemus-dst", "--bin", "habemus-dst"]);
        build.args(threads.map(|threads| format!("--jobs={threads}")));
        build.current_dir(&self.0).env("CARGO_TARGET_DIR", self.target());
        let built = build.output().map_err(|error| format!("cargo: {error}"))?;
        let said = || String::from_utf8_lossy(&built.stderr).into_owned();
        if built.status.success() { Ok(()) } else { Err(said()) }
    }

    /// Plays with one of the bugs, or with none for 0; says how it was found, if it was.
    fn play(
        &self,
        number: usize,
        seeds: u64,
        threads: Option<NonZeroUsize>,
    ) -> Result<Option<Found>, String> {
        let mut play = Command::new(self.target().join("release/habemus-dst"));
        play.env("HABEMUS_PLANTED", number.to_string());
        play.args(["--seeds", &seeds.to_string(), "--no-shrinking"]);
        play.args(threads.map(|threads| format!("--threads={threads}")));
        let played = play.output().map_err(|error| format!("habemus-dst: {error}"))?;
        if played.status.success() {
            return Ok(None);
        }
        let said = [played.stdout, played.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        found(&said).map(Some).ok_or_else(|| format!("it ended in an odd way: {said}"))
    }
}

/// How the simulation says that it found something: `seed 7: locks: …`, or `panic while playing seed 7` and
/// the panic.
fn found(said: &str) -> Option<Found> {
    let brief = |text: &str| text.chars().take(100).collect::<String>();
    let mut lines = said.lines();
    let line = lines.find(|line| line.starts_with("seed ") || line.starts_with("panic "))?;
    if let Some(seed) = line.strip_prefix("panic while playing seed ") {
        let words = lines.find(|line| !line.is_empty() && !line.starts_with("thread "))?;
        return Some(Found { seed: seed.parse().ok()?, judge: "a panic".to_owned(), words: brief(words) });
    }
    let (seed, rest) = line.strip_prefix("seed ")?.split_once(": ")?;
    let (judge, words) = rest.split_once(": ")?;
    Some(Found { seed: seed.parse().ok()?, judge: judge.to_owned(), words: brief(words) })
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

/// All files under a directory, with where their copies go.
fn read_all(from: &Path, to: &Path, into: &mut BTreeMap<PathBuf, String>) -> Result<(), String> {
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            read_all(&path, &to, into)?;
        } else {
            into.insert(to, read(&path)?);
        }
    }
    Ok(())
}

/// What each crate with bugs is given: which of them is at work.
const WHICH: &str = r#"
pub(crate) fn planted(number: usize) -> bool {
    static WHICH: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    let which = || std::env::var("HABEMUS_PLANTED").ok().and_then(|it| it.parse().ok());
    *WHICH.get_or_init(|| which().unwrap_or(0)) == number
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_is_a_workspace_of_what_is_copied() {
        let manifest = include_str!("../../../../Cargo.toml");
        let alone: toml::Table = alone(manifest).expect("it is a workspace").parse().expect("it is written");
        let members = alone["workspace"]["members"].as_array().expect("it is a list");
        assert_eq!(members.len(), MEMBERS.len());
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for member in members {
            let directory = root.join(member.as_str().expect("it is a path"));
            assert!(directory.join("Cargo.toml").exists(), "{member}");
        }
        assert!(alone["profile"]["release"].is_table(), "it is built like the original");
    }

    #[test]
    fn what_the_simulation_says_tells_seed_and_judge() {
        let said = "3 runs\nwhat went wrong: 1 crash\n\nseed 12: locks: two are inside: a\nagain: …\n";
        let first = found(said).expect("it says so");
        assert_eq!((first.seed, &first.judge[..], &first.words[..]), (12, "locks", "two are inside: a"));
        let panicked = "panic while playing seed 3\n\nthread 'seed 3' panicked at a.rs:1:\nno such entry\n";
        let second = found(panicked).expect("it says so");
        assert_eq!((second.seed, &second.judge[..], &second.words[..]), (3, "a panic", "no such entry"));
        assert!(found("error: unexpected argument").is_none());
    }
}
