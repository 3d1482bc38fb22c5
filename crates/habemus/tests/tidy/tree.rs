//! The files of the project.

use std::path::{Path, PathBuf};

/// Folders that are made by running something, and belong to nobody.
const MADE: [&str; 4] = ["target", "corpus", "artifacts", "node_modules"];

/// A file, with its path from the project's root, and its text.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// Its lines with their numbers.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.split('\n').enumerate().map(|(index, line)| (index + 1, line))
    }

    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }
}

/// Where the project is.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file under this folder of the project whose name ends like this, in the order of their paths.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<File> {
    let mut found = Vec::new();
    collect(&root().join(folder), folder, ending, &mut found);
    assert!(!found.is_empty(), "there is no {ending} in {folder}");
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(folder: &Path, name: &str, ending: &str, found: &mut Vec<File>) {
    for entry in std::fs::read_dir(folder).expect("the project can be read") {
        let entry = entry.expect("it can be listed");
        let own = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().expect("it is a file or a folder");
        let path = if name.is_empty() { own.clone() } else { format!("{name}/{own}") };
        if kind.is_dir() && !own.starts_with('.') && !MADE.contains(&own.as_str()) {
            collect(&entry.path(), &path, ending, found);
        } else if kind.is_file() && own.ends_with(ending) {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_else(|why| panic!("{path}: {why}"));
            found.push(File { path, text });
        }
    }
}

/// Fails with all that is wrong, so that it can be mended at once.
#[track_caller]
pub(crate) fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} to mend:\n{}", wrong.len(), wrong.join("\n"));
}
