//! Plants the bugs of `by-hand.toml` in a copy of the sources, and sees who notices each: the unit tests, the
//! rows of the table that tests recheck, or the small models.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use habemus::catalogue;
use habemus_check::CheckHandle;
use habemus_check::guarantees::{QUICK, manifest, models};
use habemus_check::mutants::rehearse;
use serde::Deserialize;

const BUGS: &str = include_str!("../by-hand.toml");
/// The states after which a small model is left, if nothing else is said.
const STATES: u64 = 2_000;
/// What is copied.
const MEMBERS: [&str; 6] =
    ["habemus", "habemus-check", "habemus-report", "habemus-scenario", "habemus-signatures", "habemus-trace"];
/// What the algorithms' crate is given: which bug is at work.
const WHICH: &str = r#"
pub(crate) fn planted(number: usize) -> bool {
    static WHICH: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    let which = || std::env::var("HABEMUS_PLANTED").ok().and_then(|it| it.parse().ok());
    *WHICH.get_or_init(|| which().unwrap_or(0)) == number
}
"#;

#[derive(Deserialize)]
struct Bugs {
    bug: Vec<Bug>,
}

/// One change of one place.
#[derive(Deserialize)]
struct Bug {
    name: String,
    algorithm: String,
    file: String,
    find: String,
    replace: String,
}

fn bugs() -> Vec<Bug> {
    let bugs: Bugs = toml::from_str(BUGS).expect("a test reads it");
    bugs.bug
}

impl Bug {
    /// The source with the bug in it, which is there while it is its turn.
    fn plant(&self, number: usize, source: &str) -> Result<String, String> {
        let replace = self.replace.replace("PLANTED", &format!("crate::planted({number})"));
        match source.matches(&self.find).count() {
            1 => Ok(source.replace(&self.find, &replace)),
            count => Err(format!("{}: {} has that place {count} times", self.name, self.file)),
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments[..] {
        [judge, algorithm, states, rows] if judge == "judge" => {
            judge_one(algorithm, states.parse().unwrap_or(STATES), rows.parse().unwrap_or(QUICK))
        }
        [] => try_all(STATES),
        [states] => match states.parse() {
            Ok(states) => try_all(states),
            Err(error) => Err(format!("{states}: {error}")),
        },
        _ => Err("usage: by_hand [STATES]".to_owned()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// In the copy, with one of the bugs at work: what notices.
fn judge_one(algorithm: &str, states: u64, rows: u64) -> Result<bool, String> {
    let entry = catalogue::entry(algorithm).map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let quick = manifest().into_iter().filter(|row| row.algorithm == algorithm && row.states <= rows);
    let mut by_rows = String::new();
    let (mut refuted, mut otherwise) = (None, 0);
    for recorded in quick {
        let Some(model) = models().into_iter().find(|model| model.is_of(&recorded)) else { continue };
        let Some((row, _)) = model.check(&CheckHandle::default()) else { continue };
        otherwise += usize::from(row != recorded);
        let broken = row.broken_promises();
        refuted = refuted.or_else(|| broken.first().map(|what| format!("{}: {what}", row.faults)));
    }
    by_rows += &refuted.unwrap_or_else(|| "no promise refuted".to_owned());
    println!("rows | {by_rows}; {otherwise} rows differ | {:.1} s", begun.elapsed().as_secs_f32());
    let begun = Instant::now();
    let rehearsal = rehearse(entry, states);
    let seconds = begun.elapsed().as_secs_f32();
    for promise in &rehearsal.broken {
        let steps = promise.steps.map_or(String::new(), |steps| format!(" in {steps} steps"));
        println!("models | {}: {}{steps}", promise.model, promise.by);
    }
    println!("models | {} of {} | {seconds:.1} s", rehearsal.broken.len(), rehearsal.models);
    Ok(rehearsal.broken.is_empty())
}

fn try_all(states: u64) -> Result<bool, String> {
    let garden = Garden::lay_out()?;
    garden.build()?;
    let mut all = true;
    for (number, bug) in bugs().into_iter().enumerate() {
        println!("\n{} ({})", bug.name, bug.algorithm);
        let begun = Instant::now();
        let module = bug.file.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
        let units = garden.run(number + 1, "units", &[module])?;
        let verdict = if units.0 { "nothing" } else { "a test fails" };
        println!("units | {verdict} | {:.1} s", begun.elapsed().as_secs_f32());
        let judged = garden.run(
            number + 1,
            "judge",
            &[bug.algorithm.clone(), states.to_string(), QUICK.to_string()],
        )?;
        print!("{}", judged.1);
        all &= !judged.0;
    }
    Ok(all)
}

/// A copy of the sources with all bugs in it, none of them at work.
struct Garden(PathBuf);

impl Garden {
    fn lay_out() -> Result<Garden, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let crates = here.parent().ok_or("there is no directory of crates")?;
        let root = crates.parent().ok_or("there is no root")?;
        let copy = root.join("target/by-hand");
        let manifest = fs::read_to_string(root.join("Cargo.toml")).map_err(|error| error.to_string())?;
        let mut manifest: toml::Table = manifest.parse().map_err(|error| format!("Cargo.toml: {error}"))?;
        let workspace = manifest.get_mut("workspace").and_then(toml::Value::as_table_mut);
        let workspace = workspace.ok_or("Cargo.toml is no workspace")?;
        let members: Vec<String> = MEMBERS.iter().map(|name| format!("crates/{name}")).collect();
        workspace.insert("members".to_owned(), members.into());
        workspace.remove("default-members");
        write(&copy.join("Cargo.toml"), &manifest.to_string())?;
        let lock = fs::read_to_string(root.join("Cargo.lock")).map_err(|error| error.to_string())?;
        write(&copy.join("Cargo.lock"), &lock)?;
        write(&copy.join("README.md"), "")?;
        let mut sources = BTreeMap::new();
        for name in MEMBERS {
            read_all(&crates.join(name), &copy.join("crates").join(name), &mut sources)?;
        }
        let library = copy.join("crates/habemus/src");
        for (number, bug) in bugs().iter().enumerate() {
            let source = sources.get_mut(&library.join(&bug.file)).ok_or("there is no such file")?;
            *source = bug.plant(number + 1, source)?;
        }
        *sources.get_mut(&library.join("lib.rs")).ok_or("there is no library")? += WHICH;
        // The checker's own tests are left alone, and what they need takes long to build.
        let manifest = sources.get_mut(&copy.join("crates/habemus-check/Cargo.toml"));
        let manifest = manifest.ok_or("there is no manifest")?;
        for name in ["habemus-sim", "stateright"] {
            *manifest = manifest.replace(&format!("{name}.workspace = true\n"), "");
        }
        for (path, source) in &sources {
            write(path, source)?;
        }
        Ok(Garden(copy))
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.args(arguments).current_dir(&self.0).env("CARGO_TARGET_DIR", self.0.join("target"));
        cargo
    }

    fn build(&self) -> Result<(), String> {
        let judge = ["build", "--release", "--quiet", "--package", "habemus-check", "--example", "by_hand"];
        let units = ["test", "--quiet", "--package", "habemus", "--lib", "--no-run"];
        for arguments in [&judge[..], &units] {
            let built = self.cargo(arguments).status().map_err(|error| format!("cargo: {error}"))?;
            if !built.success() {
                return Err("the copy could not be built".to_owned());
            }
        }
        Ok(())
    }

    /// Runs the judge or the unit tests with one bug at work: whether all is well, and what was said.
    fn run(&self, number: usize, what: &str, arguments: &[String]) -> Result<(bool, String), String> {
        let mut command = match what {
            "units" => self.cargo(&["test", "--quiet", "--package", "habemus", "--lib", "--"]),
            _ => {
                let mut judge = Command::new(self.0.join("target/release/examples/by_hand"));
                judge.arg(what);
                judge
            }
        };
        command.args(arguments).env("HABEMUS_PLANTED", number.to_string());
        let ran = command.output().map_err(|error| format!("{what}: {error}"))?;
        Ok((ran.status.success(), String::from_utf8_lossy(&ran.stdout).into_owned()))
    }
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
    let failed = |error| format!("{}: {error}", from.display());
    for entry in fs::read_dir(from).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            read_all(&path, &to, into)?;
        } else if let Ok(text) = fs::read_to_string(&path) {
            into.insert(to, text);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bug_has_its_place_and_there_are_more_than_ten() {
        let mut sources: BTreeMap<String, String> = BTreeMap::new();
        let all = bugs();
        for (number, bug) in all.iter().enumerate() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../habemus/src").join(&bug.file);
            let read = || fs::read_to_string(path).expect("the file is there");
            let source = sources.entry(bug.file.clone()).or_insert_with(read);
            *source = bug.plant(number + 1, source).unwrap_or_else(|why| panic!("{why}"));
            assert!(catalogue::entry(&bug.algorithm).is_ok(), "{}", bug.name);
        }
        assert!(all.len() > 10 && sources.len() == all.len(), "each is in an algorithm of its own");
    }
}
