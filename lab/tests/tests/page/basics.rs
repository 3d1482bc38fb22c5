//! Watching, breaking, sharing, in every light and language.

use fantoccini::key::Key;
use habemus_lab_tests::{Browser, Setting, address};
use serde_json::{Value, json};

use crate::{
    DARK, GRAB, PHONE, assert_quiet, axe, choose, command_says, download, drop_file, grabbed, root, run,
};

fn exhibits() -> Vec<String> {
    let files = std::fs::read_dir(root().join("exhibits")).expect("they are there");
    let names = files.filter_map(|file| {
        let name = file.expect("it can be listed").file_name().to_string_lossy().into_owned();
        name.strip_suffix(".toml").map(str::to_owned)
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Opens each exhibit by its link, goes to its end, and gives what the page then says of it.
const PLAY_ALL: &str = r"async (names) => {
    const find = (selector) => document.querySelector(selector);
    const until = async (is) => { while (!is()) await new Promise((resolve) => setTimeout(resolve, 3)); };
    const played = [];
    for (const name of names) {
        location.hash = 'e=' + name;
        await until(() => find('select[name=exhibit]').value === name);
        find('[name=end]').click();
        await until(() => find('.moment').dataset.over === 'true');
        const verdicts = [...document.querySelectorAll('[data-property]')]
            .map((p) => [p.dataset.property, p.dataset.verdict]);
        const messages = Number(find('[data-messages]').dataset.messages);
        const fingerprint = find('.fingerprint code').textContent;
        played.push([find('select[name=exhibit]').value, fingerprint, messages, verdicts]);
    }
    return played;
}";

#[test]
fn every_exhibit_by_link_ends_as_the_command_has_it_without_a_word_in_the_console_or_a_request_elsewhere() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        // From here on there is no network: all that is needed has been loaded.
        browser.chromium("Network.enable", json!({})).await;
        let off = json!({ "offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        browser.chromium("Network.emulateNetworkConditions", off).await;
        let all = json!(exhibits());
        browser.ask(&format!("(({PLAY_ALL})({all}).then(played => {{ window.played = played; }}), 1)")).await;
        browser.until("window.played !== undefined").await;
        let played = browser.ask("window.played").await;
        for (name, played) in exhibits().iter().zip(played.as_array().expect("a list")) {
            let said = command_says(&root().join(format!("exhibits/{name}.toml")));
            let verdict = |property: &Value| json!([property["name"], property["verdict"]]);
            let verdicts: Vec<Value> =
                said["properties"].as_array().expect("a list").iter().map(verdict).collect();
            let expected = json!([name, said["fingerprint"], said["statistics"]["messages"], verdicts]);
            assert_eq!(*played, expected, "{name}");
        }
        assert_quiet(&browser).await;
        let requests = browser.log("performance").await;
        let urls = requests.iter().filter_map(|entry| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            message["message"]["params"]["request"]["url"].as_str().map(str::to_owned)
        });
        let elsewhere: Vec<String> = urls
            .filter(|url| {
                !url.starts_with(address()) && !url.starts_with("data:") && !url.starts_with("about:")
            })
            .collect();
        assert!(elsewhere.is_empty(), "{elsewhere:?}");
        browser.close().await;
    });
}

/// What the diagram's rows say.
const STEPS: &str = "[...document.querySelectorAll('.rows .row-words')].map(words => words.textContent)";

#[test]
fn the_ring_of_the_notes_goes_on_back_and_on_again_through_the_same_states_to_28() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        let mut forward = vec![browser.picture().await];
        let mut told = vec![browser.ask("document.querySelector('.said').textContent").await];
        for _ in 0..20 {
            browser.forward().await;
            forward.push(browser.picture().await);
        }
        for step in (0..20_u64).rev() {
            browser.click("[name=back]").await;
            browser
                .until(&format!("document.querySelector('[data-cursor]').dataset.cursor === '{step}'"))
                .await;
            assert_eq!(browser.picture().await, forward[step as usize], "{step}");
        }
        for (step, picture) in forward.iter().enumerate().skip(1) {
            browser.forward().await;
            assert_eq!(browser.picture().await, *picture, "{step}");
            told.push(browser.ask("document.querySelector('.said').textContent").await);
        }
        let leading = "[...document.querySelectorAll('.process.leading')].map(p => p.dataset.process)";
        assert_eq!(browser.ask(leading).await, json!(["28"]));
        assert_eq!(browser.ask(STEPS).await, json!(told), "a screen reader hears every step");
        let cost = "[document.querySelector('[data-messages]').dataset.messages, \
            document.querySelector('[data-bound]').dataset.bound]";
        assert_eq!(browser.ask(cost).await, json!(["19", "23"]));
        assert_quiet(&browser).await;
        browser.close().await;
    });
}

/// With what the page is used.
#[derive(Clone, Copy)]
enum Hand {
    Pointer,
    Keys,
}

/// Opens the link of one browser in another, with a profile of its own; and plays its file on the command
/// line.
async fn assert_shared(browser: &Browser, hand: Hand) {
    let cursor = browser.cursor().await;
    browser.ask("(navigator.clipboard.writeText = async (text) => { window.copied = text; }, 1)").await;
    match hand {
        Hand::Pointer => browser.click("[name=share]").await,
        Hand::Keys => browser.press("s").await,
    }
    browser
        .until(&format!("window.copied?.includes('#s=') === true && window.copied.includes('&at={cursor}')"))
        .await;
    let link = browser.ask("window.copied.split('#')[1]").await.as_str().expect("a text").to_owned();
    let here = browser.fingerprint().await;
    let other = Browser::start(Setting::default()).await;
    other.open(&link).await;
    assert_eq!((other.cursor().await, other.fingerprint().await), (cursor, here));
    match hand {
        Hand::Pointer => browser.end().await,
        Hand::Keys => {
            browser.press(&char::from(Key::End).to_string()).await;
            browser.until("document.querySelector('.moment').dataset.over === 'true'").await;
        }
    }
    other.end().await;
    let end = browser.fingerprint().await;
    assert_eq!(other.fingerprint().await, end);
    let text = match hand {
        Hand::Pointer => download(browser, "[name=scenario]").await,
        Hand::Keys => {
            browser.ask(GRAB).await;
            while browser.ask("document.activeElement.name === 'scenario'").await != json!(true) {
                browser.press(&char::from(Key::Tab).to_string()).await;
            }
            browser.press(&char::from(Key::Enter).to_string()).await;
            grabbed(browser).await
        }
    };
    let file = std::env::temp_dir().join(format!("habemus-lab-{}-{cursor}.toml", std::process::id()));
    std::fs::write(&file, text).expect("it can be written");
    let said = command_says(&file);
    std::fs::remove_file(&file).expect("it is there");
    assert_eq!(json!(end), said["fingerprint"]);
    other.close().await;
}

#[test]
fn a_process_crashed_by_its_menu_is_crashed_in_the_link_and_on_the_command_line() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts&at=7").await;
        let menu = "(document.querySelector('[data-process=\"28\"]').dispatchEvent(new \
            MouseEvent('contextmenu', {bubbles: true})), 1)";
        browser.ask(menu).await;
        browser.click(".menu [data-act='crash 28']").await;
        browser.until("document.querySelector('[data-process=\"28\"]').classList.contains('down')").await;
        assert_shared(&browser, Hand::Pointer).await;
        assert_quiet(&browser).await;
        browser.close().await;
    });
}

#[test]
fn the_keyboard_alone_does_the_same() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        let right = char::from(Key::Right).to_string();
        for step in 1..=7 {
            browser.press(&right).await;
            browser
                .until(&format!("document.querySelector('[data-cursor]').dataset.cursor === '{step}'"))
                .await;
        }
        browser.press("5").await;
        browser.until("document.querySelector('[data-selected]')?.dataset.selected === '28'").await;
        // Its menu, by the keyboard; the first entry has the focus.
        browser.press(&char::from(Key::Enter).to_string()).await;
        browser.until("document.activeElement?.dataset?.act === 'crash 28'").await;
        browser.press(&char::from(Key::Enter).to_string()).await;
        browser.until("document.querySelector('[data-process=\"28\"]').classList.contains('down')").await;
        browser.until("document.querySelector('.said').textContent.includes('28 crashes')").await;
        assert_shared(&browser, Hand::Keys).await;
        browser.close().await;
    });
}

#[test]
fn the_second_message_of_a_link_is_refused_with_the_reason_unless_any_order_will_do() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        for (order, refused) in [("fifo", true), ("any", false)] {
            browser.open("e=s1-chang-roberts").await;
            let text = format!(
                "algorithm = 'lamport'\nprocesses = 2\nscript = ['0ms acquire 1', '1ms acquire \
                    2']\n[network]\n\
                 latency = '9ms'\norder = '{order}'\n"
            );
            drop_file(&browser, "two.toml", &text).await;
            browser.until("document.querySelectorAll('[data-process]').length === 2").await;
            for _ in 0..3 {
                browser.forward().await;
            }
            let second = "[...document.querySelectorAll('[data-link=\"2->1\"]')].at(-1)";
            let click = format!("({second}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }})), 1)");
            browser.ask(&click).await;
            browser.click(".menu [data-act='deliver 2nd 2->1']").await;
            if refused {
                browser
                    .until("document.querySelector('.toast')?.textContent.includes('in order') === true")
                    .await;
                assert_eq!(browser.cursor().await, 3);
            } else {
                browser.until("document.querySelector('[data-cursor]').dataset.cursor === '4'").await;
            }
        }
        browser.close().await;
    });
}

#[test]
fn whoever_waits_is_told_why_in_both_languages() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-ricart-agrawala").await;
        let inside = "document.querySelector('.process.inside') !== null";
        while browser.ask(inside).await != json!(true) {
            browser.forward().await;
        }
        let holder = browser.ask("document.querySelector('.process.inside').dataset.process").await;
        let holder = holder.as_str().expect("a text").to_owned();
        browser.click(&format!("[data-process='{holder}']")).await;
        browser
            .until(&format!("document.querySelector('[data-selected]')?.dataset.selected === '{holder}'"))
            .await;
        browser.press("p").await;
        browser.until("document.querySelector('.process.paused') !== null").await;
        while browser.ask("document.querySelector('.process.waiting') !== null").await != json!(true) {
            browser.forward().await;
        }
        browser.click(".process.waiting").await;
        browser
            .until(&format!(
                "document.querySelector('.why')?.textContent.includes('{holder} is in the \
            critical section, and paused') === true"
            ))
            .await;
        browser.click("[name=language]").await;
        browser
            .until(&format!(
                "document.querySelector('.why').textContent.includes('{holder} está na seção \
            crítica, e pausado')"
            ))
            .await;
        // The holder says whom it keeps waiting.
        browser.click(&format!("[data-process='{holder}']")).await;
        browser
            .until(&format!(
                "document.querySelector('.why')?.textContent.includes('Adiados até {holder} sair: ') === true"
            ))
            .await;
        // With a cut link, the link is named.
        browser.open("e=s1-ricart-agrawala&lang=en").await;
        drop_file(
            &browser,
            "cut.toml",
            "algorithm = 'ricart-agrawala'\nprocesses = 3\nscript = ['0ms cut \
            1-2', '1ms acquire 1']\n[workload]\nentries = 0\n",
        )
        .await;
        browser
            .until(
                "document.querySelectorAll('.link.cut').length === 1 || \
            document.querySelector('[data-cursor]').dataset.cursor === '0'",
            )
            .await;
        browser.end().await;
        browser.click("[data-process='1']").await;
        browser
            .until("document.querySelector('.why')?.textContent.includes('the link 1→2 is cut') === true")
            .await;
        browser.close().await;
    });
}

#[test]
fn an_audit_of_accessibility_finds_nothing_in_either_light() {
    run(async {
        for (setting, link) in [
            (Setting::default(), "e=s1-chang-roberts&at=9&p=24"),
            (DARK, "e=s4-anonymous-ring-two&at=9&p=1&lang=pt"),
            (PHONE, "e=s1-ricart-agrawala&at=9&p=2"),
            (DARK, "x=follow-the-ring&at=1&lang=pt"),
            (Setting::default(), "x=two-leaders"),
        ] {
            let browser = Browser::start(setting).await;
            browser.open(link).await;
            browser.until("document.querySelectorAll('.rows li').length > 0").await;
            browser
                .ask("(document.querySelectorAll('details').forEach(part => { part.open = true; }), 1)")
                .await;
            assert_eq!(axe(&browser).await, json!([]), "{link}");
            browser.close().await;
        }
    });
}

/// Nothing is wider than the window.
const FITS: &str = "document.documentElement.scrollWidth <= innerWidth && \
    document.querySelector('main').scrollWidth <= innerWidth";

#[test]
fn on_a_phone_nothing_scrolls_sideways_a_long_press_crashes_and_a_stroke_parts() {
    run(async {
        let browser = Browser::start(PHONE).await;
        browser.open("e=s0-bully-worst-case&at=3").await;
        assert_eq!(browser.ask(FITS).await, json!(true));
        let place = browser
            .ask(
                "(() => { const box = document.querySelector('[data-process=\"3\"] \
                .body').getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; \
                })()",
            )
            .await;
        let (x, y) =
            (place[0].as_f64().expect("a number") as i64, place[1].as_f64().expect("a number") as i64);
        touch(&browser, &[(x, y)], 900).await;
        browser.click(".menu [data-act='crash 3']").await;
        browser.until("document.querySelector('[data-process=\"3\"]').classList.contains('down')").await;
        let stroke = browser
            .ask(
                "(() => { const box = document.querySelector('.network svg').getBoundingClientRect(); \
                return [box.x + box.width * 0.63, box.y + 4, box.x + box.width * 0.63, box.bottom - 4]; })()",
            )
            .await;
        let number = |place: usize| stroke[place].as_f64().expect("a number") as i64;
        let (from, to) = ((number(0), number(1)), (number(2), number(3)));
        let middle = ((from.0 + to.0) / 2, (from.1 + to.1) / 2);
        touch(&browser, &[from, middle, to], 30).await;
        browser.until("document.querySelectorAll('.link.cut').length > 0").await;
        browser.click(".tabs button:last-child").await;
        browser.until("document.querySelector('.panels').offsetHeight > 0").await;
        assert_eq!(browser.ask(FITS).await, json!(true));
        // Nor does any other part of the page, and an exercise is read without looking for it.
        for link in
            ["", "x=two-leaders&lang=pt", "e=s4-anonymous-ring-two&at=99&p=1&lang=pt", "e=s4-lease&at=20&p=1"]
        {
            browser.open(link).await;
            if !link.starts_with("e=") {
                browser.until("document.querySelector('.course')?.offsetHeight > 0").await;
            }
            assert_eq!(browser.ask(FITS).await, json!(true), "{link}");
            browser.click("[name=help]").await;
            browser.until("document.querySelector('dialog') !== null").await;
            assert_eq!(browser.ask(FITS).await, json!(true), "{link}");
            browser.click("dialog button").await;
        }
        assert_quiet(&browser).await;
        browser.close().await;
    });
}

/// What stands on the page, also where only a screen reader finds it; what is code is in no language.
const WORDS: &str = "(() => { const walker = document.createTreeWalker(document.querySelector('.page'), \
    NodeFilter.SHOW_TEXT); \
                     const words = []; while (walker.nextNode()) { const node = walker.currentNode; \
                     if (!node.parentElement.closest('[lang=en], [name=algorithm], .variables, code')) \
                     words.push(node.data); } \
                     for (const thing of document.querySelectorAll('[aria-label], [title], [placeholder]')) \
                     { \
                     if (!thing.closest('[lang=en]')) for (const name of ['aria-label', 'title', \
                     'placeholder']) \
                     words.push(thing.getAttribute(name) ?? ''); } return ' ' + words.join(' \
                     ').toLowerCase() + ' '; })()";

#[test]
fn nothing_in_portuguese_is_left_in_english() {
    let english = [
        " the ", " is ", " of ", " and ", " to ", "receives", "sends", "waits", "what ", "messages",
        "promised", " next", "follows", "starts", "entered", " at most", "leader", " with ", "crash",
        "elected",
    ];
    // What is on the wire and in scripts is called as in the sources.
    let names = ["habemosleader", "elected(", " elected ", "crash ", "heartbeat"];
    run(async {
        let browser = Browser::start(Setting::default()).await;
        for link in [
            "e=s1-ricart-agrawala&at=6&p=2&lang=pt",
            "e=s4-anonymous-ring-two&at=99&p=1&lang=pt",
            "e=s4-timeout-hurts&at=99&p=2&lang=pt",
            "e=s0-bully-worst-case&at=40&p=3&lang=pt",
            "x=two-leaders&lang=pt",
            "x=choose-a-timeout&at=99&lang=pt",
        ] {
            browser.open(link).await;
            browser.until("document.documentElement.lang === 'pt'").await;
            browser.until("document.querySelectorAll('.rows li').length > 0").await;
            let words = browser.ask(WORDS).await.as_str().expect("a text").to_owned();
            let words = names.iter().fold(words, |words, name| words.replace(name, " "));
            let left: Vec<&&str> = english.iter().filter(|word| words.contains(**word)).collect();
            assert!(left.is_empty(), "{link}: {left:?} in {words}");
        }
        browser.close().await;
    });
}

#[test]
fn an_engine_that_stops_is_replaced_and_the_experiment_comes_back() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts&at=7&p=24").await;
        browser.press("c").await;
        browser.until("document.querySelector('[data-process=\"24\"]').classList.contains('down')").await;
        browser.until("location.hash.includes('&at=8')").await;
        let before = browser.fingerprint().await;
        browser.ask("(habemusLab.panic(), 1)").await;
        browser
            .until("document.querySelector('.toast')?.textContent.includes('engine stopped') === true")
            .await;
        assert_eq!((browser.cursor().await, browser.fingerprint().await), (8, before));
        browser.forward().await;
        browser.close().await;
    });
}

#[test]
fn of_a_long_run_only_what_is_seen_is_drawn() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        choose(&browser, "algorithm", "all-to-all").await;
        browser.until("document.querySelector('.network svg').ariaLabel.endsWith('all-to-all')").await;
        choose(&browser, "processes", "60").await;
        browser.until("document.querySelectorAll('[data-process]').length === 60").await;
        browser.end().await;
        assert!(browser.cursor().await > 3_000);
        // The first and the last rows are there as soon as one looks. The page itself goes to the row of the
        // cursor when it knows its place, which may be after we have looked elsewhere: so one looks until it
        // is there.
        for (place, event) in [("0", 0), ("1e9", browser.cursor().await)] {
            let look = format!("document.querySelector('.scroller').scrollTop = {place}");
            browser
                .until(&format!(
                    "({look}, document.querySelector('.rows [data-event=\"{event}\"]') !== null)"
                ))
                .await;
        }
        assert!(browser.ask("document.querySelectorAll('.rows li').length").await.as_u64() < Some(300));
        browser.close().await;
    });
}

#[test]
fn the_page_is_as_small_as_it_must_be() {
    let page = habemus_lab_build::build().unwrap_or_else(|error| panic!("{error}"));
    let compressed = |name: &str| {
        let mut small = Vec::new();
        // A site compresses its files once, with the last effort that brotli has, 11; with the one before
        // they are some percent larger, and the test takes half the time.
        let parameters = brotli::enc::BrotliEncoderParams {
            quality: 10,
            lgwin: 24,
            size_hint: 5 << 20,
            ..Default::default()
        };
        let mut bytes = page.0[name].as_slice();
        brotli::BrotliCompress(&mut bytes, &mut small, &parameters).expect("memory can be written");
        small.len()
    };
    let engine = compressed("engine_bg.wasm");
    assert!(engine <= 900_000, "{engine}");
    let checker = compressed("checker_bg.wasm");
    assert!(checker <= 900_000, "{checker}");
    let view = ["index.html", "main.js", "worker.js", "checker.js", "style.css"];
    let view: usize = view.map(compressed).iter().sum();
    assert!(view <= 60_000, "{view}");
}

/// Touches the screen at one place for so long, or goes from place to place.
async fn touch(browser: &Browser, places: &[(i64, i64)], milliseconds: u64) {
    let points = |place: (i64, i64)| json!([{ "x": place.0, "y": place.1 }]);
    let send = |kind: &str, points: Value| {
        let parameters = json!({ "type": kind, "touchPoints": points });
        async move { browser.chromium("Input.dispatchTouchEvent", parameters).await }
    };
    send("touchStart", points(places[0])).await;
    for place in &places[1..] {
        tokio::time::sleep(std::time::Duration::from_millis(milliseconds)).await;
        send("touchMove", points(*place)).await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(milliseconds)).await;
    send("touchEnd", json!([])).await;
}
