//! The pictures of the exhibits, compared with those that were looked at and found good.
//!
//! Set `HABEMUS_REWRITE=1` to write them anew, and look at the difference.

use std::path::PathBuf;

use habemus_trace::Trace;
use habemus_trace::draw::{self, Options, Window};

use crate::exhibits;

#[test]
fn text() {
    compare("txt", draw::text);
}

#[test]
fn mermaid() {
    compare("mmd", draw::mermaid);
}

#[test]
fn svg() {
    compare("svg", draw::svg);
}

#[test]
fn shiviz() {
    compare("log", draw::shiviz);
}

#[test]
fn text_in_colour_with_the_background_and_only_the_end() {
    let options = Options {
        background: true,
        color: true,
        window: Window::Last(20),
        title: Some("The end".into()),
        width: 100,
    };
    check("bully-end.txt", &draw::text(&exhibits::bully(), &options));
    check("bully-end.mmd", &draw::mermaid(&exhibits::bully(), &options));
    check("bully-end.svg", &draw::svg(&exhibits::bully(), &options));
    check("bully-end.log", &draw::shiviz(&exhibits::bully(), &options));
}

fn compare(extension: &str, draw: fn(&Trace, &Options) -> String) {
    for (name, trace) in exhibits::all() {
        check(&format!("{name}.{extension}"), &draw(&trace, &Options::default()));
    }
}

fn check(name: &str, drawn: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("HABEMUS_REWRITE").is_some_and(|value| value == "1") {
        std::fs::write(&path, drawn).unwrap_or_else(|why| panic!("cannot write {}: {why}", path.display()));
        return;
    }
    let golden = std::fs::read_to_string(&path)
        .unwrap_or_else(|why| panic!("cannot read {}: {why} (HABEMUS_REWRITE=1 writes it)", path.display()));
    assert!(golden == drawn, "{name} has changed (HABEMUS_REWRITE=1 rewrites it); it is now:\n{drawn}");
}
