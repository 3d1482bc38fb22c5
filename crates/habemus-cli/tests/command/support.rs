//! The command, started as a test needs it, and what tests keep in files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command in the project's directory, with an environment that says nothing about colours, columns,
/// languages or nodes: who runs the tests has settings of their own, and no result may hang on them.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_habemus"));
    command.args(arguments).current_dir(root()).env_clear();
    for kept in ["PATH", "TMPDIR"] {
        command.envs(std::env::var_os(kept).map(|value| (kept, value)));
    }
    command
}

/// Runs it to its end.
pub(crate) fn habemus(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command can be started")
}

/// Where the project is.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The path of a scratch file.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command").join(name);
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a scratch folder can be made");
    path
}

/// A scratch file with this text.
pub(crate) fn file(name: &str, text: &str) -> String {
    let path = scratch(name);
    std::fs::write(&path, text).expect("a scratch file can be written");
    path.to_string_lossy().into_owned()
}

/// Whether files that are kept are to be renewed instead of compared.
pub(crate) fn rewrites() -> bool {
    std::env::var_os("HABEMUS_REWRITE").is_some()
}

/// Compares what was just made with the file that is kept under the project's directory, or keeps it.
pub(crate) fn compare(made: &str, kept: &str) {
    let path = root().join(kept);
    if rewrites() {
        std::fs::write(&path, made).expect("the file can be kept");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        made == expected,
        "{kept} is out of date; rewrite it with HABEMUS_REWRITE=1, and review the difference"
    );
}
