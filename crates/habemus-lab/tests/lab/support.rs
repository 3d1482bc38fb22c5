//! A lab that is asked as the page asks it.

use std::path::{Path, PathBuf};

use habemus_lab::Lab;
use serde_json::{Value, json};

/// Where the example runs are.
pub(crate) fn exhibits() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../exhibits")
}

/// The names of all example runs.
pub(crate) fn names() -> Vec<String> {
    let files = std::fs::read_dir(exhibits()).expect("they are there");
    let names = files.filter_map(|file| {
        let name = file.expect("it can be listed").file_name().to_string_lossy().into_owned();
        name.strip_suffix(".toml").map(str::to_owned)
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

pub(crate) fn text(name: &str) -> String {
    std::fs::read_to_string(exhibits().join(format!("{name}.toml"))).expect("it can be read")
}

/// Asks for a piece of the diagram.
pub(crate) fn rows(top: f64, bottom: f64, view: &Value) -> Value {
    json!({ "wish": "rows", "top": top, "bottom": bottom, "view": view })
}

/// A lab, with every example run.
pub(crate) struct Bench(Lab);

impl Bench {
    pub(crate) fn new() -> Self {
        let mut bench = Bench(Lab::new());
        let all: Vec<(String, String)> =
            names().into_iter().map(|name| (name.clone(), text(&name))).collect();
        let known = bench.ask(&json!({ "wish": "exhibits", "exhibits": all }));
        assert_eq!(known["exhibits"].as_array().map(Vec::len), Some(names().len()));
        bench
    }

    /// A lab that shows this example run.
    pub(crate) fn with(exhibit: &str) -> Self {
        let mut bench = Bench::new();
        bench.done(&json!({ "wish": "open", "link": format!("#e={exhibit}") }));
        bench
    }

    /// A lab that shows this scenario.
    pub(crate) fn with_text(text: &str) -> Self {
        let mut bench = Bench::new();
        bench.done(&json!({ "wish": "open", "toml": text }));
        bench
    }

    /// A lab that shows this exercise.
    pub(crate) fn at_exercise(name: &str) -> Self {
        let mut bench = Bench::new();
        bench.done(&json!({ "wish": "open", "exercise": name }));
        bench
    }

    pub(crate) fn ask(&mut self, wish: &Value) -> Value {
        serde_json::from_str(&self.0.ask(&wish.to_string())).expect("it answers JSON")
    }

    /// Asks for what must be granted; gives the frame.
    #[track_caller]
    pub(crate) fn done(&mut self, wish: &Value) -> Value {
        let answer = self.ask(wish);
        assert!(answer["error"].is_null(), "{wish}: {}", answer["error"]);
        answer["frame"].clone()
    }

    #[track_caller]
    pub(crate) fn step(&mut self, by: i64) -> Value {
        self.done(&json!({ "wish": "step", "by": by }))
    }

    #[track_caller]
    pub(crate) fn act(&mut self, text: &str) -> Value {
        self.done(&json!({ "wish": "act", "text": text }))
    }

    /// Goes to the end; gives the frame.
    #[track_caller]
    pub(crate) fn end(&mut self) -> Value {
        loop {
            let answer = self.ask(&json!({ "wish": "run-on" }));
            assert!(answer["error"].is_null(), "{}", answer["error"]);
            if answer["done"] == json!(true) {
                return answer["frame"].clone();
            }
        }
    }

    #[track_caller]
    pub(crate) fn link(&mut self) -> String {
        self.ask(&json!({ "wish": "share" }))["link"].as_str().expect("there is a link").to_owned()
    }

    #[track_caller]
    pub(crate) fn file(&mut self, format: &str) -> String {
        let answer = self.ask(&json!({ "wish": "file", "format": format }));
        answer["file"][1].as_str().expect("there is a file").to_owned()
    }
}
