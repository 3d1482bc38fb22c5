//! What the variables of each algorithm mean, as its own source says it.

use std::collections::BTreeMap;
use std::path::Path;

/// What is said of each field.
type Fields = BTreeMap<String, String>;

/// What the sources say of the fields of their structures: by module, and there by field, as JSON.
///
/// # Errors
/// If the sources cannot be read.
pub(crate) fn fields(root: &Path) -> Result<String, String> {
    let mut modules: BTreeMap<String, Fields> = BTreeMap::new();
    for problem in ["election", "mutex", "agreement"] {
        let folder = root.join("crates/habemus/src").join(problem);
        read(&folder, None, &mut modules)
            .map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    }
    serde_json::to_string(&modules).map_err(|error| error.to_string())
}

/// Reads the files of a folder; those of a folder within it belong to the module of that name.
fn read(folder: &Path, module: Option<&str>, modules: &mut BTreeMap<String, Fields>) -> std::io::Result<()> {
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let module = module.unwrap_or(&stem);
        if path.is_dir() {
            read(&path, Some(module), modules)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") && stem != "tests" {
            let known = modules.entry(module.to_owned()).or_default();
            for (field, said) in fields_of(&std::fs::read_to_string(&path)?) {
                known.entry(field).or_insert(said);
            }
        }
    }
    Ok(())
}

/// The documented fields of the structures in a source that is formatted as usual.
fn fields_of(source: &str) -> Fields {
    let mut fields = Fields::new();
    let mut is_within = false;
    let mut said: Vec<&str> = Vec::new();
    for line in source.lines() {
        if line == "}" {
            is_within = false;
        } else if line.ends_with('{') && (line.starts_with("pub struct ") || line.starts_with("struct ")) {
            is_within = true;
        } else if let Some(words) = line.strip_prefix("    /// ") {
            said.push(words);
        } else {
            let name =
                line.trim_start_matches("    ").trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            let field = name.split_once(": ").map(|(name, _)| name);
            let is_name = |name: &&str| {
                name.chars().all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '_')
            };
            if let Some(name) = field.filter(is_name).filter(|_| is_within && !said.is_empty()) {
                fields.entry(name.to_owned()).or_insert(said.join(" "));
            }
            said.clear();
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_with_what_their_source_says() {
        let source = "/// Not this.\npub struct Ring {\n    /// Whether it is on its way.\n    /// Or \
            not.\n    pub on: bool,\n    \
                      bare: u8,\n}\nenum Other {\n    /// Nor this: it is a variant.\n    One,\n}\n";
        let fields: Vec<(String, String)> = fields_of(source).into_iter().collect();
        assert_eq!(fields, [("on".to_owned(), "Whether it is on its way. Or not.".to_owned())]);
    }
}
