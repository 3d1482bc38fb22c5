//! Who survives.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::weave::Mutant;
use crate::work::{Work, target};

/// A mutant that is busy for so long hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// The states after which a model is left.
const STATES: &str = "3000";

/// Tries every mutant, and lists those that nobody catches.
pub fn judge(root: &Path, mut work: Work) -> Result<ExitCode, String> {
    let copy = root.join("target/mutation");
    work.prepare(root, &copy)?;
    let judge = built(&copy, &["build", "-p", "habemus-judge"])?;
    let tests = built(&copy, &["test", "-p", "habemus", "--lib", "--no-run"])?;
    let known = crate::equivalent(root)?;
    let mut by_file: BTreeMap<&str, Vec<&Mutant>> = BTreeMap::new();
    for mutant in work.mutants().filter(|mutant| known.iter().all(|(key, _)| *key != mutant.key())) {
        by_file.entry(&mutant.file).or_default().push(mutant);
    }
    let (mut tried, mut survivors) = (0, 0);
    for (file, mutants) in by_file {
        let mut left: Vec<&Mutant> = mutants.clone();
        for algorithm in algorithms(file) {
            let caught = caught(&judge, &algorithm, &left);
            left.retain(|mutant| !caught.contains(&mutant.number));
        }
        let by_checker = mutants.len() - left.len();
        left.retain(|mutant| passes(&tests, file, mutant.number));
        eprintln!(
            "{file}: {} mutants, the checker catches {by_checker}, unit tests {}, {} survive",
            mutants.len(),
            mutants.len() - by_checker - left.len(),
            left.len()
        );
        left.iter().for_each(|mutant| println!("{}:{}  {}", mutant.file, mutant.line, mutant.key()));
        tried += mutants.len();
        survivors += left.len();
    }
    eprintln!("{tried} mutants, {survivors} survive, {} are known to be equivalent", known.len());
    Ok(if survivors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The algorithms whose models put a file to the test.
fn algorithms(file: &str) -> Vec<String> {
    let part = file.split('/').nth(1).unwrap_or_default().trim_end_matches(".rs");
    let names: &[&str] = match part {
        "elected" => &["elected-coordinator"],
        "voting_sets" => &["maekawa"],
        "timestamp" => &["ricart-agrawala", "lamport"],
        "hearsay" | "lockstep" | "treason" => {
            &["byzantine-generals", "signed-generals", "interactive-consistency"]
        }
        "way" => &["franklin", "hirschberg-sinclair"],
        "tried" => &["capture-sync", "capture-async"],
        // No algorithm by itself.
        "mod" | "any" | "state" | "recurring" => &[],
        _ => return vec![part.replace('_', "-")],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Builds something in the copy, and says where it is.
fn built(copy: &Path, arguments: &[&str]) -> Result<PathBuf, String> {
    let output = Command::new("cargo")
        .args(arguments)
        .args(["--message-format=json", "--quiet"])
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target(copy))
        .output()
        .map_err(|why| why.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    let missing = || format!("nothing was built: {}", String::from_utf8_lossy(&output.stderr));
    programs.next_back().ok_or_else(missing)
}

/// The mutants of an algorithm that its models catch.
fn caught(judge: &Path, algorithm: &str, mutants: &[&Mutant]) -> Vec<u32> {
    let mut waiting: Vec<u32> = mutants.iter().map(|mutant| mutant.number).collect();
    let mut caught = Vec::new();
    while !waiting.is_empty() {
        let numbers = waiting.iter().map(u32::to_string);
        let child = Command::new(judge)
            .arg(STATES)
            .arg(algorithm)
            .args(numbers)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else { return caught };
        let Some(output) = child.stdout.take() else { return caught };
        let (sender, lines) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let before = waiting.len();
        let mut hangs = false;
        while !waiting.is_empty() {
            // The first look is at the algorithm itself, in every model.
            let patience = if waiting.len() == before { 10 * PATIENCE } else { PATIENCE };
            match lines.recv_timeout(patience) {
                Ok(line) => {
                    let number = waiting.remove(0);
                    if line.split('\t').nth(1) == Some("caught") {
                        caught.push(number);
                    }
                }
                Err(error) => {
                    hangs = error == mpsc::RecvTimeoutError::Timeout || waiting.len() < before;
                    break;
                }
            }
        }
        let _ = child.kill();
        let _ = child.wait();
        let _ = reader.join();
        if !waiting.is_empty() {
            if !hangs {
                // Nothing is known of this algorithm.
                return caught;
            }
            // It hangs, or it has taken the judge with it: somebody would notice.
            caught.push(waiting.remove(0));
        }
    }
    caught
}

/// Whether the unit tests of a file pass all the same.
fn passes(tests: &Path, file: &str, number: u32) -> bool {
    let parts: Vec<&str> = file.trim_end_matches(".rs").split('/').take(2).collect();
    let module = if parts[1] == "mod" { format!("{}::tests::", parts[0]) } else { parts.join("::") + "::" };
    let child = Command::new(tests)
        .args([&*module, "--quiet", "--test-threads", "1"])
        .env("HABEMUS_MUTANT", number.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return true };
    for _ in 0..600 {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(Duration::from_millis(50)),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}
