//! Time, timers, topologies, branches side by side, and what a link of the command opens.

use habemus_lab_tests::{Browser, Setting};
use serde_json::json;

use crate::{assert_quiet, choose, command_says, drop_file, habemus, root, run};

#[test]
fn played_by_its_own_time_a_run_comes_to_the_same_end() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        choose(&browser, "speed", "×0.01").await;
        browser.press(" ").await;
        // A run of some tens of milliseconds takes seconds: it is under way for a while, and then over.
        browser.until("Number(document.querySelector('[data-cursor]').dataset.cursor) > 0").await;
        assert_eq!(browser.ask("document.querySelector('.moment').dataset.over").await, json!("false"));
        choose(&browser, "speed", "×100").await;
        browser.until("document.querySelector('.moment').dataset.over === 'true'").await;
        let said = command_says(&root().join("exhibits/s1-chang-roberts.toml"));
        assert_eq!(json!(browser.fingerprint().await), said["fingerprint"]);
        assert_quiet(&browser).await;
        browser.close().await;
    });
}

#[test]
fn timers_are_arcs_topologies_are_chosen_and_branches_are_compared() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s0-bully-worst-case&at=3").await;
        browser.until("document.querySelectorAll('.timer-arc').length > 0").await;
        browser.open("e=s1-chang-roberts").await;
        choose(&browser, "algorithm", "yo-yo").await;
        browser.until("document.querySelector('[name=topology]') !== null").await;
        choose(&browser, "topology", "star").await;
        browser
            .until(
                "document.querySelectorAll('.link').length === \
            document.querySelectorAll('[data-process]').length - 1",
            )
            .await;
        browser.open("e=s1-chang-roberts").await;
        browser.end().await;
        let seek = "(() => { const slider = document.querySelector('[name=position]'); slider.value = 7; \
                    slider.dispatchEvent(new Event('input', { bubbles: true })); return 1; })()";
        browser.ask(seek).await;
        browser.until("document.querySelector('[data-cursor]').dataset.cursor === '7'").await;
        browser.press("5").await;
        browser.until("document.querySelector('[data-selected]')?.dataset.selected === '28'").await;
        browser.press("c").await;
        browser.until("document.querySelector('[data-process=\"28\"]').classList.contains('down')").await;
        browser.until("document.querySelector('[data-differs=\"8\"]') !== null").await;
        let words = browser
            .ask("[...document.querySelectorAll('[data-differs] dd')].map(part => part.textContent)")
            .await;
        let words: Vec<&str> =
            words.as_array().expect("a list").iter().filter_map(|part| part.as_str()).collect();
        assert!(words[0].contains("28 crashes") && words[1].contains("receives"), "{words:?}");
        browser.until("document.querySelector('.rows .differs [data-event=\"8\"]') !== null").await;
        assert_quiet(&browser).await;
        browser.close().await;
    });
}

/// Words of messages that lie on other words, or on the middle of a process.
const COVERED: &str = "(() => { const boxes = [...document.querySelectorAll('.message:has(text) \
    rect')].map(rect => rect.getBoundingClientRect()); \
                       const over = (one, other) => one.left < other.right - 1 && other.left < one.right - 1 \
                       && one.top < other.bottom - 1 && other.top < one.bottom - 1; \
                       const names = [...document.querySelectorAll('.process .id')].map(name => \
                       name.getBoundingClientRect()); \
                       return [boxes.length, boxes.filter((box, n) => names.some(name => over(box, name)) || \
                       boxes.slice(0, n).some(other => over(box, other))).length]; })()";

#[test]
fn words_of_messages_lie_on_no_others_and_on_no_process() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        // What moves would be measured on its way.
        let still = json!({ "features": [{ "name": "prefers-reduced-motion", "value": "reduce" }] });
        browser.chromium("Emulation.setEmulatedMedia", still).await;
        let mut max_words = 0;
        for (exhibit, step) in [("s0-bully-worst-case", 4), ("s4-yo-yo", 6), ("s1-ricart-agrawala", 1)] {
            browser.open(&format!("e={exhibit}")).await;
            for at in (0..8).map(|turn| 2 + turn * step) {
                browser.open(&format!("e={exhibit}&at={at}")).await;
                browser.until("document.querySelector('.network svg').clientWidth > 0").await;
                let found = browser.ask(COVERED).await;
                max_words = max_words.max(found[0].as_u64().expect("a number"));
                assert_eq!(found[1], json!(0), "{exhibit} at {at}");
            }
        }
        assert!(max_words >= 8, "{max_words}");
        browser.close().await;
    });
}

#[test]
fn another_lock_with_a_name_is_chosen() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        let text = "algorithm = 'lamport'\nprocesses = 3\nresources = ['orders', \
            'stock']\n[workload]\nentries = 1\n";
        drop_file(&browser, "locks.toml", text).await;
        browser.until("document.querySelector('[name=lock]')?.value === 'orders'").await;
        choose(&browser, "lock", "stock").await;
        browser.until("document.querySelector('.network .title').textContent.includes('stock')").await;
        assert_quiet(&browser).await;
        browser.close().await;
    });
}

#[test]
fn the_paper_is_pulled_and_an_event_under_the_pointer_shows_whom_it_reached() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        browser.end().await;
        browser.until("document.querySelector('.rows [data-event=\"20\"]') !== null").await;
        let enter = "(document.querySelector('.rows [data-event=\"20\"]').dispatchEvent(new \
            PointerEvent('pointerenter')), 1)";
        browser.ask(enter).await;
        browser
            .until(
                "document.querySelectorAll('.process.before').length === 7 && \
            document.querySelectorAll('.process.after').length === 0",
            )
            .await;
        let top =
            browser.ask("document.querySelector('.scroller').scrollTop").await.as_f64().expect("a number");
        let cursor = browser.cursor().await;
        let box_ = browser
            .ask(
                "(() => { const box = \
            document.querySelector('.scroller').getBoundingClientRect(); return [box.x + 400, box.y + 60]; \
            })()",
            )
            .await;
        let (x, y) = (box_[0].as_f64().expect("a number"), box_[1].as_f64().expect("a number"));
        for (kind, y) in [
            ("mousePressed", y),
            ("mouseMoved", y + 40.0),
            ("mouseMoved", y + 90.0),
            ("mouseReleased", y + 90.0),
        ] {
            let mouse =
                json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1 });
            browser.chromium("Input.dispatchMouseEvent", mouse).await;
        }
        browser.until(&format!("document.querySelector('.scroller').scrollTop < {}", top - 60.0)).await;
        assert_eq!(browser.cursor().await, cursor, "whoever pulls does not click");
        browser.close().await;
    });
}

#[test]
fn the_command_prints_a_link_that_opens_the_same_run_and_an_error_is_told_in_portuguese() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        let words = "run bully --processes 5 -o leader=5 --start none --crash 5@20ms";
        let told = |how| habemus().args(words.split(' ')).arg(how).output().expect("it can be started");
        let output = told("--lab");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let link = said.lines().find_map(|line| line.split_once("http://127.0.0.1:4223/#"));
        let (_, link) = link.unwrap_or_else(|| panic!("no link in {said}"));
        browser.open(link).await;
        browser.end().await;
        let fingerprint = browser.fingerprint().await;
        let output = told("--json");
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(json!(fingerprint), said["fingerprint"]);
        browser.open("e=s1-chang-roberts&lang=pt").await;
        browser.until("document.documentElement.lang === 'pt'").await;
        drop_file(&browser, "bad.toml", "algorithm = 'nobody'\n").await;
        browser
            .until(
                "document.querySelector('.toast')?.firstChild.data.startsWith('este cenário não') === true",
            )
            .await;
        assert_eq!(browser.ask("document.querySelector('.toast code').lang").await, json!("en"));
        browser.close().await;
    });
}
