//! Where results go: the terminal, or a file that is never left half-written.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::error::CliError;

/// Prints a text to standard output.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

/// Prints a value as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| CliError::new(error.to_string()))?;
    print(&text)
}

/// Writes a file at once: under another name first, then renamed. What is there and no file (a pipe,
/// `/dev/null`) is written to, and stays what it is.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    let complain = |error: io::Error| CliError::new(format!("cannot write {}: {error}", path.display()));
    let written_to = |path: &Path| {
        let mut file = io::BufWriter::new(fs::File::create(path)?);
        write(&mut file)?;
        file.flush()
    };
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return written_to(path).map_err(complain);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = written_to(&part);
    match written.and_then(|()| fs::rename(&part, path)) {
        Ok(()) => Ok(()),
        Err(error) => {
            let _ = fs::remove_file(&part);
            Err(complain(error))
        }
    }
}

/// A path as a shell reads it back, for commands that are shown to be repeated.
pub(crate) fn shell_word(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+,:@%=".contains(letter);
    if !path.is_empty() && path.chars().all(is_plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// Whether to colour what goes to standard output.
pub(crate) fn coloured() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never && io::stdout().is_terminal()
}

/// A progress display on standard error, which appears only if the work takes longer than two seconds.
pub(crate) struct Progress {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows what `state` says: how far, and of how much (0 if nobody knows), and a remark.
    pub(crate) fn new(what: &'static str, state: impl Fn() -> (u64, u64, String) + Send + 'static) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = io::stderr().is_terminal().then(|| {
            std::thread::spawn(move || {
                let begin = Instant::now();
                let mut bar: Option<ProgressBar> = None;
                while !seen.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(50));
                    if begin.elapsed() < Duration::from_secs(2) {
                        continue;
                    }
                    let (done, of, remark) = state();
                    let bar = bar.get_or_insert_with(|| bar_for(what, of));
                    bar.set_position(done);
                    bar.set_message(remark);
                }
                if let Some(bar) = bar {
                    bar.finish_and_clear();
                }
            })
        });
        Progress { over, thread }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn bar_for(what: &'static str, of: u64) -> ProgressBar {
    let (bar, template) = if of == 0 {
        (ProgressBar::new_spinner(), "{spinner} {human_pos} {prefix} in {elapsed}  {per_sec}  {msg}")
    } else {
        (ProgressBar::new(of), "{wide_bar} {human_pos}/{human_len} {prefix}  {eta} left  {msg}")
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_prefix(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_spaces_or_quotes_comes_back_from_a_shell_as_it_was() {
        for (path, word) in [
            ("failing-bully-7.toml", "failing-bully-7.toml"),
            ("/home/josé/läufe.toml", "/home/josé/läufe.toml"),
            ("my runs/a.toml", "'my runs/a.toml'"),
            ("it's.toml", r"'it'\''s.toml'"),
            ("$HOME.toml", "'$HOME.toml'"),
        ] {
            assert_eq!(shell_word(Path::new(path)), word);
        }
    }
}
