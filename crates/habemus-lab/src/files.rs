//! Files to take along: traces, and pictures of them.

use habemus_trace::{Trace, draw};

use crate::error::LabError;

/// A file of a trace, and its name.
pub(crate) fn file(name: &str, format: &str, trace: &Trace) -> Result<(String, String), LabError> {
    let options = draw::Options::default();
    Ok(match format {
        "trace" => {
            let mut bytes = Vec::new();
            trace.write(&mut bytes).map_err(|_| LabError::Missing("trace"))?;
            (format!("{name}.jsonl"), String::from_utf8_lossy(&bytes).into_owned())
        }
        "svg" => (format!("{name}.svg"), draw::svg(trace, &options)),
        "mermaid" => (format!("{name}.mmd"), draw::mermaid(trace, &options)),
        "shiviz" => (format!("{name}.log"), draw::shiviz(trace, &options)),
        _ => return Err(LabError::Missing("format")),
    })
}
