//! The same story in the simulator, where the lock gives no tokens.

use std::process::Stdio;

use serde_json::Value;
use tokio::process::Command;

use crate::Failed;
use crate::scratch::{Scratch, cannot_run, program};

/// A holder that was only slow, a lock that is taken away from it, and nobody who looks at tokens.
const WITHOUT_TOKENS: &str = include_str!("without-tokens.toml");

/// How two properties were broken.
pub(crate) struct Broken {
    pub(crate) one_inside: String,
    pub(crate) fencing: String,
}

/// Plays it, and says how it went wrong; `None` of a property that held.
pub(crate) async fn play(scratch: &Scratch) -> Result<Broken, Failed> {
    let file = scratch.join("without-tokens.toml");
    std::fs::write(&file, WITHOUT_TOKENS).map_err(|error| Failed::missing(error.to_string()))?;
    let mut command = Command::new(program("habemus")?);
    command.arg("run").arg(&file).arg("--json").stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.map_err(|error| cannot_run("habemus", &error))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| Failed::story(format!("the simulator does not play the story: {}", said.trim())))?;
    Ok(Broken { one_inside: violation(&report, "EM1")?, fencing: violation(&report, "fencing")? })
}

/// How a property was broken, in the simulator's words.
fn violation(report: &Value, name: &str) -> Result<String, Failed> {
    let properties = report["properties"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found =
        properties.iter().find(|property| property["name"] == name && property["verdict"] == "violated");
    match found.and_then(|property| property["explanation"].as_str()) {
        Some(explanation) => Ok(explanation.to_owned()),
        None => Err(Failed::story(format!("{name} holds in the simulator, where it must be broken"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_story_is_that_of_the_exhibit() {
        let exhibit = include_str!("../../../exhibits/s4-timeout-hurts.toml");
        let of = |text: &str| {
            text.lines().filter(|line| !line.starts_with('#')).skip(1).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(of(WITHOUT_TOKENS), of(exhibit));
    }

    #[test]
    fn a_property_that_holds_where_it_must_not_is_a_failure() {
        let report: Value = serde_json::from_str(
            r#"{"properties": [{"name": "EM1", "verdict": "violated", "explanation": "two"},
                {"name": "fencing", "verdict": "holds", "explanation": null}]}"#,
        )
        .expect("it is JSON");
        assert_eq!(violation(&report, "EM1").expect("it is broken"), "two");
        assert!(violation(&report, "fencing").is_err_and(|failed| failed.why.contains("must be broken")));
    }
}
