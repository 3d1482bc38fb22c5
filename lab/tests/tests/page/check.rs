//! Every run, in the page and by the command.

use habemus_lab_tests::{Browser, Setting};
use serde_json::json;

use crate::{assert_quiet, choose, habemus, run};

const LEADING: &str = "document.querySelectorAll('.process.leading').length";

#[test]
fn the_page_and_the_command_find_the_same_run_with_two_leaders() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s4-anonymous-ring-two").await;
        choose(&browser, "check-properties", "uniqueness").await;
        browser.click("[name=check-begin]").await;
        browser
            .until("document.querySelector('[data-checked=uniqueness]')?.dataset.verdict === 'violated'")
            .await;
        browser.click("[data-open=uniqueness]").await;
        browser
            .until(
                "document.querySelector('[data-cursor]').dataset.cursor === '0' && \
            location.hash.startsWith('#s=')",
            )
            .await;
        browser.end().await;
        assert_eq!(browser.ask(LEADING).await, json!(2));
        let found = browser.fingerprint().await;
        assert_quiet(&browser).await;
        let check =
            ["check", "anonymous-ring", "-n", "2", "--property", "uniqueness", "--threads", "1", "--lab"];
        let output = habemus().args(check).output().expect("it can be started");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let link =
            said.lines().find_map(|line| line.split_once('#').filter(|(page, _)| page.starts_with("http")));
        let (page, link) = link.unwrap_or_else(|| panic!("no link in {said}"));
        assert_eq!(page, "http://127.0.0.1:4223/");
        browser.open(link).await;
        browser.end().await;
        assert_eq!((browser.ask(LEADING).await, browser.fingerprint().await), (json!(2), found));
        browser.close().await;
    });
}

#[test]
fn a_check_is_cancelled_and_a_cycle_is_marked() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-ricart-agrawala").await;
        choose(&browser, "check-limit", "2000000").await;
        browser.click(".checking details summary").await;
        for fault in ["crashes", "losses", "duplications"] {
            choose(&browser, &format!("fault-{fault}"), "2").await;
        }
        choose(&browser, "check-properties", "EM1").await;
        browser.click("[name=check-begin]").await;
        browser.click("[name=check-cancel]").await;
        browser.until("document.querySelector('[name=check-begin]') !== null").await;
        crate::drop_file(
            &browser,
            "letter.toml",
            "algorithm = 'yo-yo'\nprocesses = 3\nscript = ['0ms elect all']\nuntil = '200 \
                events'\n[options]\nvariant = 'as-printed'\n",
        )
        .await;
        browser.until("document.querySelector('[name=algorithm]').value === 'yo-yo'").await;
        for fault in ["crashes", "losses", "duplications"] {
            choose(&browser, &format!("fault-{fault}"), "0").await;
        }
        choose(&browser, "check-properties", "E2").await;
        browser.click("[name=check-begin]").await;
        browser.click("[data-open=E2]").await;
        browser.until("document.querySelector('.slide-marks .cycle') !== null").await;
        browser.end().await;
        browser.until("document.querySelector('.cycle-words') !== null").await;
        assert_quiet(&browser).await;
        browser.close().await;
    });
}
