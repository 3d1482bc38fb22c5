//! Takes pictures of the lab: `cargo run -p habemus-lab-tests --bin screenshots DIRECTORY [NAMES...]`; and of
//! the service's admin page, if a member is named: `… --bin screenshots DIRECTORY
//! http://127.0.0.1:2379/admin`, or of real nodes, with the link that `habemus cluster … --lab` prints.

use std::path::{Path, PathBuf};

use habemus_lab_tests::{Browser, Setting};
use serde_json::json;

const PHONE: Setting = Setting { size: (390, 844), phone: true, dark: false };
const WIDE: Setting = Setting { size: (1440, 900), phone: false, dark: false };
const DARK: Setting = Setting { dark: true, ..WIDE };

/// What is shown: a name, how, a link, what is done there, and whether the details are shown instead of the
/// diagram.
const PICTURES: &[(&str, Setting, &str, &[&str])] = &[
    ("ring", WIDE, "e=s1-chang-roberts&at=9&p=24", &[]),
    ("ring-dark", DARK, "e=s1-chang-roberts&at=9&p=24", &[]),
    ("two-leaders", WIDE, "e=s4-anonymous-ring-two&at=99&p=1", &[]),
    ("waiting", DARK, "e=s1-ricart-agrawala&at=9&p=2&lang=pt", &[]),
    ("menu", WIDE, "e=s0-bully-worst-case&at=8&p=3", &["[data-process='3']"]),
    ("cut", WIDE, "e=s4-majority-leader-cut-off&at=60&p=2", &[]),
    ("portuguese", WIDE, "e=s0-bully-four-notices&at=12&p=6&lang=pt", &[]),
    ("phone", PHONE, "e=s1-chang-roberts&at=9&p=24", &[]),
    ("phone-details", PHONE, "e=s1-chang-roberts&at=9&p=24&lang=pt", &[".tabs button:last-child"]),
    ("crowd", WIDE, "e=s2-capture-async-16&at=40&p=3", &[]),
    ("exercise", WIDE, "x=two-leaders", &["[name=hint]"]),
    ("question", WIDE, "x=follow-the-ring&at=1&lang=pt", &[]),
    ("exercise-phone", PHONE, "x=two-leaders&lang=pt", &[".tabs button:last-child"]),
    ("check", WIDE, "e=s4-anonymous-ring-two&at=3", &["[name=check-begin]"]),
    ("filters", DARK, "e=s4-lease&at=30&p=1", &[".filters summary"]),
    ("time", WIDE, "e=s4-lease&at=20&p=1", &["axis=time"]),
    ("dots", WIDE, "e=s1-chang-roberts", &["processes=100"]),
    ("editor", WIDE, "x=most-messages", &["[name=edit-exercise]"]),
    ("timers", WIDE, "e=s0-bully-worst-case&at=9&p=3", &[]),
    ("wave", WIDE, "e=s4-yo-yo&at=12&p=2", &[]),
    ("help", DARK, "e=s4-yo-yo&at=5", &["[name=help]"]),
    ("first", WIDE, "", &[]),
    ("first-dark", DARK, "", &["[name=language]"]),
    ("first-phone", PHONE, "", &[]),
    (
        "branches",
        WIDE,
        "e=s1-chang-roberts&at=7&p=28",
        &["[name=end]", "key:\u{e011}", "key:f", "key:c", ".branches"],
    ),
    ("zoom", WIDE, "e=s0-bully-worst-case&at=20&p=3", &["[name=zoom-in]", "[name=zoom-in]"]),
    (
        "small",
        DARK,
        "e=s0-bully-worst-case&at=30&p=3",
        &["[name=zoom-out]", "[name=zoom-out]", "[name=zoom-out]"],
    ),
    ("message", WIDE, "e=s1-ricart-agrawala&at=9&p=2", &["message:Request"]),
    ("class", DARK, "e=s1-ricart-agrawala&at=9&p=2&lang=pt", &["[name=teacher]"]),
    ("search", WIDE, "e=s1-ricart-agrawala&at=9&p=2", &["key:/"]),
    ("down", WIDE, "e=s0-bully-worst-case&at=60&p=7&lang=pt", &[".next"]),
];

fn main() {
    let directory = PathBuf::from(std::env::args().nth(1).expect("usage: screenshots DIRECTORY [NAMES...]"));
    let wanted: Vec<String> = std::env::args().skip(2).collect();
    std::fs::create_dir_all(&directory).expect("the directory can be made");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        if let Some(address) = wanted.iter().find(|wanted| wanted.starts_with("http")) {
            return match address.contains("#live=") {
                true => live(address, &directory).await,
                false => admin(address, &directory).await,
            };
        }
        for (name, setting, link, clicks) in PICTURES {
            if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
                continue;
            }
            let browser = Browser::start(*setting).await;
            browser.open(link).await;
            for click in *clicks {
                if let Some((name, value)) = click.split_once('=').filter(|_| !click.starts_with(['[', '.']))
                {
                    let script = format!(
                        "(() => {{ const field = document.querySelector('[name={name}]'); field.value = \
                            '{value}'; \
                         field.dispatchEvent(new Event('change', {{ bubbles: true }})); return 1; }})()"
                    );
                    browser.ask(&script).await;
                } else if let Some(key) = click.strip_prefix("key:") {
                    browser.press(key).await;
                    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
                } else if let Some(kind) = click.strip_prefix("message:") {
                    let script = format!(
                        "([...document.querySelectorAll('.message')].find(thing => \
                            thing.textContent.includes('{kind}')) \
                         .dispatchEvent(new MouseEvent('contextmenu', {{bubbles: true}})), 1)"
                    );
                    browser.ask(&script).await;
                } else if [".branches", ".next"].contains(click) {
                    browser
                        .ask(&format!(
                            "(document.querySelector('{click}').scrollIntoView({{ block: \
                        'center' }}), 1)"
                        ))
                        .await;
                } else if click.starts_with("[data-process") {
                    let script = format!(
                        "(document.querySelector(\"{click}\").dispatchEvent(new MouseEvent('contextmenu', \
                            {{bubbles: true}})), 1)"
                    );
                    browser.ask(&script).await;
                } else {
                    browser.click(click).await;
                }
            }
            tokio::time::sleep(std::time::Duration::from_millis(1200)).await;
            take(browser, &directory, name).await;
        }
    });
}

/// The service's admin page, as it is now.
async fn admin(address: &str, directory: &Path) {
    for (name, setting, is_portuguese) in
        [("admin", WIDE, false), ("admin-dark", DARK, true), ("admin-phone", PHONE, false)]
    {
        let browser = Browser::start(setting).await;
        browser.client.goto(address).await.expect("a member serves it");
        browser.until("document.querySelector('#members') !== null").await;
        if is_portuguese {
            browser.click("[name=language]").await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1200)).await;
        take(browser, directory, name).await;
    }
}

/// Real nodes, the first of which is killed.
async fn live(address: &str, directory: &Path) {
    for (name, setting) in [("live", WIDE), ("live-phone", PHONE)] {
        let browser = Browser::start(setting).await;
        browser.client.goto(address).await.expect("the cluster serves it");
        browser.until("document.querySelector('.process.leading') !== null").await;
        browser.click(".process.leading").await;
        browser.until("document.querySelector('[name=do]') !== null").await;
        browser.click("[name=do]").await;
        browser.click(".menu [data-act^=kill]").await;
        browser.until("document.querySelector('.process.down') !== null").await;
        tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
        take(browser, directory, name).await;
    }
}

async fn take(browser: Browser, directory: &Path, name: &str) {
    let shot = browser.chromium("Page.captureScreenshot", json!({ "format": "png" })).await;
    let data = shot["data"].as_str().unwrap_or_default();
    std::fs::write(directory.join(format!("{name}.png")), decode(data)).expect("it can be written");
    println!("{name}");
    browser.close().await;
}

/// Base 64.
fn decode(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let values = text.bytes().filter_map(|byte| digits.iter().position(|digit| *digit == byte));
    let values: Vec<u32> = values.map(|value| value as u32).collect();
    let piece = |chunk: &[u32]| {
        let word = chunk.iter().chain(&[0, 0, 0]).take(4).fold(0, |word, digit| word << 6 | digit);
        (0..chunk.len() - 1).map(|place| (word >> (16 - 8 * place)) as u8).collect::<Vec<u8>>()
    };
    values.chunks(4).flat_map(piece).collect()
}
