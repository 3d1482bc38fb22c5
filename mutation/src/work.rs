//! The copy of the workspace that holds the mutants.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::sites::{self, Site};
use crate::weave::{self, Mutant, Woven};

/// Where algorithms are, below the core's sources.
const FOLDERS: [&str; 3] = ["election", "mutex", "agreement"];
/// The crates that the judge needs.
const CRATES: [&str; 7] = [
    "habemus",
    "habemus-check",
    "habemus-report",
    "habemus-scenario",
    "habemus-signatures",
    "habemus-sim",
    "habemus-trace",
];
/// So many times mutants that do not compile are taken out.
const ROUNDS: usize = 40;
const CORE: &str = "crates/habemus/src";

/// The sources with their mutants.
pub struct Work {
    sources: Vec<Source>,
    left_out: Vec<u32>,
}

struct Source {
    /// Below the core's sources.
    file: String,
    text: String,
    sites: Vec<Site>,
    first: u32,
    mutants: Vec<Mutant>,
}

impl Work {
    /// Reads all sources of algorithms whose path has one of these parts; all, if there are none.
    pub fn read(root: &Path, parts: &[String]) -> Result<Self, String> {
        let mut files = Vec::new();
        for folder in FOLDERS {
            collect(&root.join(CORE).join(folder), &mut files).map_err(|why| why.to_string())?;
        }
        files.sort();
        let mut sources = Vec::new();
        let mut first = 1;
        for path in files {
            let file = path.strip_prefix(root.join(CORE)).unwrap_or(&path).display().to_string();
            let is_wanted = parts.is_empty() || parts.iter().any(|part| file.contains(part.as_str()));
            if file.ends_with("tests.rs") || !is_wanted {
                continue;
            }
            let text = std::fs::read_to_string(&path).map_err(|why| format!("{file}: {why}"))?;
            let sites = sites::sites(&text).map_err(|why| format!("{file}: {why}"))?;
            let mutants = weave::number(&file, &text, &sites, first);
            let next = first + mutants.len() as u32;
            sources.push(Source { file, text, sites, first, mutants });
            first = next;
        }
        Ok(Work { sources, left_out: Vec::new() })
    }

    /// Every mutant that was not left out.
    pub fn mutants(&self) -> impl Iterator<Item = &Mutant> {
        let all = self.sources.iter().flat_map(|source| &source.mutants);
        all.filter(|mutant| !self.left_out.contains(&mutant.number))
    }

    /// Copies the workspace, weaves the mutants in, and leaves out what does not compile.
    pub fn prepare(&mut self, root: &Path, copy: &Path) -> Result<(), String> {
        self.copy_workspace(root, copy).map_err(|why| format!("the copy fails: {why}"))?;
        for _ in 0..ROUNDS {
            let woven = self.write(copy).map_err(|why| why.to_string())?;
            let errors = compile(copy)?;
            if errors.is_empty() {
                return Ok(());
            }
            let before = self.left_out.len();
            for (file, spans) in &errors {
                let Some(woven) = woven.get(file) else { return Err(format!("{file} does not compile")) };
                self.left_out.extend(blamed(woven, spans));
            }
            self.left_out.sort_unstable();
            self.left_out.dedup();
            if self.left_out.len() == before {
                return Err(format!("these do not compile, and no mutant is to blame: {errors:?}"));
            }
            eprintln!("{} mutants do not compile", self.left_out.len());
        }
        Err("there is no end of what does not compile".to_owned())
    }

    /// Copies the workspace and asks cargo whether it is one.
    pub fn check_copy(&self, root: &Path, copy: &Path) -> Result<(), String> {
        self.copy_workspace(root, copy).map_err(|why| format!("the copy fails: {why}"))?;
        let output = Command::new("cargo")
            .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
            .current_dir(copy)
            .output()
            .map_err(|why| why.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(said)
    }

    fn copy_workspace(&self, root: &Path, copy: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(copy)?;
        for file in ["Cargo.lock", "README.md"] {
            write_if_new(&copy.join(file), &std::fs::read(root.join(file))?)?;
        }
        let workspace = of_crates_alone(&std::fs::read_to_string(root.join("Cargo.toml"))?);
        write_if_new(&copy.join("Cargo.toml"), workspace.as_bytes())?;
        let woven: Vec<PathBuf> =
            self.sources.iter().map(|source| copy.join(CORE).join(&source.file)).collect();
        let library = copy.join(CORE).join("lib.rs");
        let is_woven = |path: &Path| path == library || woven.iter().any(|woven| woven == path);
        for name in CRATES {
            copy_folder(&root.join("crates").join(name), &copy.join("crates").join(name), &is_woven)?;
        }
        copy_folder(&root.join("mutation/judge"), &copy.join("crates/habemus-judge"), &is_woven)?;
        let text = std::fs::read_to_string(root.join(CORE).join("lib.rs"))?;
        write_if_new(&library, (text + SWITCH).as_bytes())
    }

    fn write(&self, copy: &Path) -> std::io::Result<BTreeMap<String, Woven>> {
        let mut all = BTreeMap::new();
        for source in &self.sources {
            let woven = weave::weave(&source.text, &source.sites, source.first, &self.left_out);
            write_if_new(&copy.join(CORE).join(&source.file), woven.text.as_bytes())?;
            all.insert(source.file.clone(), woven);
        }
        Ok(all)
    }
}

/// The mutants to blame for errors at these places: those in which they are, or else the nearest around them.
fn blamed(woven: &Woven, spans: &[(usize, usize)]) -> Vec<u32> {
    let mut blamed = Vec::new();
    for &(start, end) in spans {
        let within: Vec<u32> = woven
            .places
            .iter()
            .filter(|(place, _)| place.start < end && start < place.end)
            .map(|(_, number)| *number)
            .collect();
        if within.is_empty() {
            let before = woven.places.iter().filter(|(place, _)| place.start <= start);
            blamed.extend(before.max_by_key(|(place, _)| place.start).map(|(_, number)| *number));
        } else if start + 400 < end {
            // It is about a whole block: somebody inside, and who it is the next round tells.
            blamed.extend(within.first());
        } else {
            blamed.extend(within);
        }
    }
    blamed
}

/// By file, where the compiler finds errors.
type Errors = BTreeMap<String, Vec<(usize, usize)>>;

/// Where it is built: beside the copy, so that nobody else waits for it.
pub fn target(copy: &Path) -> PathBuf {
    copy.with_extension("build")
}

fn compile(copy: &Path) -> Result<Errors, String> {
    let output = Command::new("cargo")
        .args(["check", "-p", "habemus", "--lib", "--profile", "test", "--message-format=json", "--quiet"])
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target(copy))
        .output()
        .map_err(|why| why.to_string())?;
    let mut errors = Errors::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        if message["reason"] != "compiler-message" || message["message"]["level"] != "error" {
            continue;
        }
        for span in message["message"]["spans"].as_array().into_iter().flatten() {
            let file = span["file_name"].as_str().unwrap_or_default();
            let file = file.split_once("habemus/src/").map_or(file, |(_, file)| file);
            let at = |name: &str| span[name].as_u64().unwrap_or(0) as usize;
            if span["is_primary"] == true {
                errors.entry(file.to_owned()).or_default().push((at("byte_start"), at("byte_end")));
            }
        }
    }
    if errors.is_empty() && !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(errors)
}

fn collect(folder: &Path, to: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, to)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            to.push(path);
        }
    }
    Ok(())
}

/// The switch that is added to the core.
const SWITCH: &str = "
#[doc(hidden)]
#[allow(missing_docs)]
pub mod mutant {
    use std::sync::atomic::{AtomicU32, Ordering};

    static AWAKE: AtomicU32 = AtomicU32::new(u32::MAX);

    pub fn wake(number: u32) {
        AWAKE.store(number, Ordering::Relaxed);
    }

    #[inline]
    pub fn is(number: u32) -> bool {
        let awake = AWAKE.load(Ordering::Relaxed);
        if awake == u32::MAX { first(number) } else { awake == number }
    }

    #[cold]
    fn first(number: u32) -> bool {
        let named = std::env::var(\"HABEMUS_MUTANT\").ok().and_then(|text| text.parse().ok());
        wake(named.unwrap_or(0));
        is(number)
    }
}
";

/// Copies a folder, but for what is written otherwise.
fn copy_folder(from: &Path, to: &Path, is_woven: &dyn Fn(&Path) -> bool) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &target, is_woven)?;
        } else if !is_woven(&target) {
            write_if_new(&target, &std::fs::read(&path)?)?;
        }
    }
    Ok(())
}

/// The workspace without members that are not copied.
fn of_crates_alone(workspace: &str) -> String {
    let (before, members) = workspace.split_once("members = [").unwrap_or((workspace, ""));
    let (_, after) = members.split_once(']').unwrap_or(("", members));
    format!("{before}members = [\"crates/*\"]{after}")
}

/// What is as it was is not compiled again.
fn write_if_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    std::fs::write(path, bytes)
}
