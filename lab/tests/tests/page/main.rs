//! The lab's page in a real browser: what it shows is what the command computes.

mod admin;
mod basics;
mod check;
mod course;
mod diagram;
mod live;
mod moments;
mod palette;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Command;

use habemus_lab_tests::{Browser, Setting};
use serde_json::{Value, json};

const PHONE: Setting = Setting { size: (390, 844), phone: true, dark: false };
const DARK: Setting = Setting { size: (1440, 900), phone: false, dark: true };

fn run<F: Future<Output = ()>>(test: F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(test);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A program, beside the command.
fn habemus_at(name: &str) -> PathBuf {
    let habemus =
        std::env::var_os("HABEMUS").map_or_else(|| root().join("target/debug/habemus"), PathBuf::from);
    let program = habemus.with_file_name(name);
    assert!(program.exists(), "{}: cargo build --workspace --bins first", program.display());
    program
}

/// The command.
fn habemus() -> Command {
    Command::new(habemus_at("habemus"))
}

/// What the command says of a scenario.
fn command_says(scenario: &Path) -> Value {
    let output = habemus().arg("run").arg(scenario).arg("--json").output().expect("it can be started");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{}: {error}", scenario.display()))
}

async fn assert_quiet(browser: &Browser) {
    let console = browser.log("browser").await;
    assert!(console.is_empty(), "{console:?}");
}

/// What an audit of accessibility finds on the page.
async fn axe(browser: &Browser) -> Value {
    // Whoever builds the page asks npm, and it is built when somebody wants to know where it is.
    habemus_lab_tests::address();
    let axe = std::fs::read_to_string(root().join("lab/node_modules/axe-core/axe.min.js"))
        .expect("npm has brought it");
    browser.client.execute(&axe, Vec::new()).await.expect("it can be loaded");
    browser
        .ask("(window.found = undefined, axe.run().then(found => { window.found = found.violations; }), 1)")
        .await;
    browser.until("window.found !== undefined").await;
    browser
        .ask(
            "window.found.map(v => [v.id, v.nodes.slice(0, 4).map(n => n.html.slice(0, 160) + \
            n.failureSummary)])",
        )
        .await
}

/// Drops a file on the page.
async fn drop_file(browser: &Browser, name: &str, text: &str) {
    let drop = format!(
        "(() => {{ const data = new DataTransfer(); data.items.add(new File([{}], {})); \
         document.querySelector('.page').dispatchEvent(new DragEvent('drop', {{ bubbles: true, dataTransfer: \
         data }})); \
         return 1; }})()",
        json!(text),
        json!(name)
    );
    browser.ask(&drop).await;
}

/// Catches what the page would download.
const GRAB: &str = "(window.grabbed = undefined, URL.createObjectURL = (blob) => { blob.text().then(text => \
    { window.grabbed = text; }); \
                    return 'about:blank#'; }, HTMLAnchorElement.prototype.click = () => {}, 1)";

/// Gives the text of the file that a button makes.
async fn download(browser: &Browser, button: &str) -> String {
    browser.ask(GRAB).await;
    browser.click(button).await;
    grabbed(browser).await
}

async fn grabbed(browser: &Browser) -> String {
    browser.until("typeof window.grabbed === 'string'").await;
    browser.ask("window.grabbed").await.as_str().expect("a text").to_owned()
}

/// Chooses something in a list.
async fn choose(browser: &Browser, name: &str, value: &str) {
    let choose = format!(
        "(() => {{ const select = document.querySelector('[name={name}]'); select.value = {}; \
         select.dispatchEvent(new Event('change', {{ bubbles: true }})); return select.value; }})()",
        json!(value)
    );
    assert_eq!(browser.ask(&choose).await, json!(value), "{name}");
}
