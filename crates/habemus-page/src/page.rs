//! The files of the page.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of the page, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page(pub BTreeMap<String, Vec<u8>>);

impl Page {
    /// The page that is installed with this program, or that somebody has named: `given`, then the
    /// environment's `HABEMUS_LAB`, then `../share/habemus/lab` beside the directory of the running program.
    ///
    /// # Errors
    /// If a place was named and there is no page.
    pub fn find(given: Option<&Path>) -> Result<Option<Page>, String> {
        let named = given.map(Path::to_owned).or_else(|| std::env::var_os("HABEMUS_LAB").map(PathBuf::from));
        if let Some(directory) = named {
            return Page::read(&directory).map(Some);
        }
        let installed = std::env::current_exe()
            .ok()
            .and_then(|own| Some(own.parent()?.parent()?.join("share/habemus/lab")))
            .filter(|directory| directory.join("index.html").is_file());
        installed.map(|directory| Page::read(&directory)).transpose()
    }

    /// Reads the files of a directory, as [`Page::write`] wrote them.
    ///
    /// # Errors
    /// If there is no page, or a file of it cannot be read.
    pub fn read(directory: &Path) -> Result<Page, String> {
        if !directory.join("index.html").is_file() {
            return Err(format!("there is no page in {}", directory.display()));
        }
        let failed = |what: &Path, error: std::io::Error| format!("cannot read {}: {error}", what.display());
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(directory).map_err(|error| failed(directory, error))? {
            let path = entry.map_err(|error| failed(directory, error))?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_file()) {
                let bytes = std::fs::read(&path).map_err(|error| failed(&path, error))?;
                files.insert(name.to_string_lossy().into_owned(), bytes);
            }
        }
        Ok(Page(files))
    }

    /// Writes the files to a directory.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), String> {
        let failed = |what: &Path, error: std::io::Error| format!("cannot write {}: {error}", what.display());
        std::fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
        for (name, bytes) in &self.0 {
            let file = directory.join(name);
            std::fs::write(&file, bytes).map_err(|error| failed(&file, error))?;
        }
        Ok(())
    }

    /// The file that is asked for by this path, and the type of what is in it; `/` is `index.html`.
    pub fn file(&self, path: &str) -> Option<(&'static str, &[u8])> {
        let name = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
        let bytes = self.0.get(name)?;
        let kind = match name.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("json") => "application/json",
            Some("wasm") => "application/wasm",
            _ => "application/octet-stream",
        };
        Some((kind, bytes))
    }
}
