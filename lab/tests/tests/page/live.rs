//! Real nodes in the page.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use habemus_lab_tests::{Browser, Setting};
use serde_json::json;

use crate::{assert_quiet, habemus, run};

#[test]
fn the_leader_of_real_nodes_is_killed_in_the_page_and_the_new_one_is_shown() {
    let scratch = std::env::temp_dir().join(format!("habemus-live-{}", std::process::id()));
    let (page, trace) = (scratch.join("page"), scratch.join("run.jsonl"));
    let built = habemus_lab_build::build().unwrap_or_else(|error| panic!("{error}"));
    built.write(&page).unwrap_or_else(|error| panic!("{error}"));
    let mut cluster = habemus()
        .args(["cluster", "--algorithm", "bully", "-n", "5", "--trace"])
        .arg(&trace)
        .arg(format!("--lab={}", page.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it can be started");
    let mut said = BufReader::new(cluster.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    let link = said.find(|line| line.contains("#live=")).expect("it prints a link");
    // What it says later must have somebody who hears it, and tells why it ended if it should not have.
    let rest = std::thread::spawn(move || said.collect::<Vec<_>>().join("\n"));
    assert!(link.starts_with("http://127.0.0.1:"), "{link}");
    run(async {
        let browser = Browser::start(Setting::default()).await;
        // Whoever does not know the token learns nothing and says nothing.
        let (origin, token) = link.split_once("#live=").expect("it has a token");
        browser.client.goto(origin).await.expect("the page is served");
        let ask = "fetch('live?token=0').then(answer => { window.answered = answer.status; }), 1";
        browser.ask(&format!("({ask})")).await;
        browser.until("window.answered === 403").await;
        assert!(token.len() >= 32);
        browser.client.goto("about:blank").await.expect("a blank page");
        let _ = browser.log("browser").await;
        browser.client.goto(&link).await.expect("the page is served");
        browser
            .until("document.querySelector('[data-process=\"5\"]')?.classList.contains('leading') === true")
            .await;
        let menu = "(document.querySelector('[data-process=\"5\"]').dispatchEvent(new \
            MouseEvent('contextmenu', {bubbles: true})), 1)";
        browser.ask(menu).await;
        browser.click(".menu [data-act='kill 5']").await;
        browser.until("document.querySelector('[data-process=\"5\"]').classList.contains('down')").await;
        browser.until("document.querySelector('[data-process=\"4\"]').classList.contains('leading')").await;
        browser.ask("(document.querySelector('[name=console]').value = 'leader', 1)").await;
        browser.click(".console form button").await;
        browser.until("document.querySelector('.replies')?.textContent.includes('4 leads') === true").await;
        assert_quiet(&browser).await;
        browser.ask("(document.querySelector('[name=console]').value = 'quit', 1)").await;
        browser.click(".console form button").await;
        browser.close().await;
    });
    let ended = cluster.wait().expect("it ends");
    let rest = rest.join().expect("it reads");
    assert!(ended.success(), "{ended}: {rest}");
    let drawn = habemus().arg("draw").arg(&trace).output().expect("it can be started");
    assert!(drawn.status.success() && !drawn.stdout.is_empty(), "{drawn:?}");
    std::fs::remove_dir_all(&scratch).expect("it is there");
    assert_eq!(json!(drawn.status.code()), json!(0));
}
