//! Mutants of the sources: every one in a single build, one awake at a time.
//!
//! ```text
//! mutation/run list [PATH...]     what can be changed
//! mutation/run check              whether what is built, and what is listed as equivalent, is there
//! mutation/run try [PATH...]      who survives checker and unit tests
//! ```
//!
//! The sources of the algorithms are copied with all their mutants in them. What does not compile is left
//! out, as the compiler names it. A judge checks each algorithm once as it is and once with each of its
//! mutants awake, in many small models; who is not caught there is put to the unit tests of its file.

mod judge;
mod sites;
mod weave;
mod work;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use work::Work;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = root();
    let paths: &[String] = arguments.get(1..).unwrap_or_default();
    let result = match arguments.first().map(String::as_str) {
        Some("list") => Work::read(&root, paths).map(|work| {
            work.mutants().for_each(|mutant| println!("{}:{}  {}", mutant.file, mutant.line, mutant.key()));
            ExitCode::SUCCESS
        }),
        Some("check") => Work::read(&root, &[]).and_then(|work| check(&root, &work)),
        Some("try") => Work::read(&root, paths).and_then(|work| judge::judge(&root, work)),
        _ => Err("usage: mutation/run list|check|try [PATH...]".to_owned()),
    };
    result.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(2)
    })
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The mutants that were shown to be equivalent, each with the reason.
pub fn equivalent(root: &Path) -> Result<Vec<(String, String)>, String> {
    let text =
        std::fs::read_to_string(root.join("mutation/equivalent.txt")).map_err(|why| why.to_string())?;
    let mut entries = Vec::new();
    let mut reason = String::new();
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(why) => why.clone_into(&mut reason),
            None if line.trim().is_empty() => reason.clear(),
            None if reason.is_empty() => return Err(format!("equivalent.txt says no reason for {line}")),
            None => entries.push((line.trim().to_owned(), reason.clone())),
        }
    }
    Ok(entries)
}

fn check(root: &Path, work: &Work) -> Result<ExitCode, String> {
    // The copy in which mutants are built must still be a workspace.
    work.check_copy(root, &root.join("target/mutation"))?;
    let mut code = ExitCode::SUCCESS;
    for (key, _) in equivalent(root)? {
        if work.mutants().all(|mutant| mutant.key() != key) {
            eprintln!("equivalent.txt is stale, there is no such mutant: {key}");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}
