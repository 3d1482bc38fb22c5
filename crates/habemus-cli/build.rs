//! What `habemus --version` says: the version, and the commit that it was built from.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=HABEMUS_COMMIT");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = match commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo:rustc-env=HABEMUS_VERSION={version}");
}

/// The commit: as whoever packages it says, as a published crate knows it, or as git does.
fn commit() -> Option<String> {
    if let Ok(commit) = std::env::var("HABEMUS_COMMIT") {
        return Some(commit);
    }
    if let Ok(published) = std::fs::read_to_string(".cargo_vcs_info.json") {
        let (_, after) = published.split_once("\"sha1\": \"")?;
        return Some(after.get(..12)?.to_owned());
    }
    // While one works on it, a commit need not build everything again that did not change.
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return Some("built for tests".to_owned());
    }
    // It changes with every commit, wherever HEAD points to.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
