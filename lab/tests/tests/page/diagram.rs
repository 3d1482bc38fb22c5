//! The diagram: cones, filters, zoom, the splitter, and messages that are dragged.

use habemus_lab_tests::{Browser, Setting};
use serde_json::{Value, json};

use crate::{assert_quiet, choose, download, run};

/// Whether one event knows of another, by the vector clocks of their records.
fn knows(one: &[Value], other: &[Value]) -> bool {
    one.iter().filter(|record| record["clock"].is_object()).any(|one| {
        other.iter().any(|other| {
            let process = other["process"].to_string();
            let counted = other["clock"][&process].as_u64().unwrap_or(u64::MAX);
            one["clock"][&process].as_u64().is_some_and(|known| known >= counted)
        })
    })
}

#[test]
fn the_cones_that_are_shown_are_those_of_the_vector_clocks_for_every_event() {
    run(async {
        let browser = Browser::start(Setting { size: (1440, 1600), ..Setting::default() }).await;
        browser.open("e=s1-chang-roberts").await;
        browser.end().await;
        let last = browser.cursor().await;
        browser.until(&format!("document.querySelectorAll('.rows li').length === {}", last + 1)).await;
        let trace = download(&browser, "[name=trace]").await;
        let records: Vec<Value> =
            trace.lines().skip(1).map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
        // Which records belong to which event: each is a command or an arrival, and what comes of it.
        let mut events: Vec<Vec<Value>> = vec![Vec::new()];
        for record in records {
            if [json!("deliver"), json!("command")].contains(&record["event"]) {
                events.push(Vec::new());
            }
            events.last_mut().expect("there is one").push(record);
        }
        assert_eq!(events.len() as u64, last + 1);
        for event in 1..=last as usize {
            let enter = format!(
                "(document.querySelector('.rows [data-event=\"{event}\"]').dispatchEvent(new \
                    PointerEvent('pointerenter')), 1)"
            );
            browser.ask(&enter).await;
            browser
                .until(&format!("document.querySelector('.rows .origin [data-event=\"{event}\"]') !== null"))
                .await;
            let rows = "['past', 'future'].map(part => [...document.querySelectorAll(`.rows .${part} \
                [data-event]`)].map(row => Number(row.dataset.event)))";
            let shown = browser.ask(rows).await;
            let others = || (0..events.len()).filter(|other| *other != event);
            let past: Vec<usize> = others().filter(|other| knows(&events[event], &events[*other])).collect();
            let future: Vec<usize> =
                others().filter(|other| knows(&events[*other], &events[event])).collect();
            assert_eq!(shown, json!([past, future]), "{event}");
        }
        browser.close().await;
    });
}

#[test]
fn the_diagram_is_filtered_searched_magnified_and_shown_by_time() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        browser.end().await;
        browser.until("document.querySelectorAll('.passage').length >= 8").await;
        browser.click(".filters summary").await;
        browser.click("[data-kind=Elected]").await;
        browser
            .until(
                "[...document.querySelectorAll('.passage title')].every(title => \
            !title.textContent.startsWith('Elected'))",
            )
            .await;
        browser.click("[data-only='17']").await;
        browser.until("document.querySelectorAll('.columns b').length === 1").await;
        browser.click(".filter-list .chip").await;
        browser.until("document.querySelectorAll('.columns b').length === 8").await;
        browser.click(".filters summary").await;
        choose(&browser, "axis", "time").await;
        let tops = "[...document.querySelectorAll('.rows li')].map(row => parseFloat(row.style.top))";
        browser
            .until(&format!(
                "(() => {{ const tops = {tops}; return tops.some((top, n) => n > 0 && top - \
            tops[n - 1] > 30); }})()"
            ))
            .await;
        // Rows never overlap.
        assert_eq!(
            browser
                .ask(&format!(
                    "(() => {{ const tops = {tops}; return tops.every((top, n) => n === \
            0 || top - tops[n - 1] >= 25.9); }})()"
                ))
                .await,
            json!(true)
        );
        let wheel = "(document.querySelector('.scroller').dispatchEvent(new WheelEvent('wheel', { deltaY: \
            -100, ctrlKey: true, bubbles: true, cancelable: true })), 1)";
        browser.ask(wheel).await;
        browser.until("parseFloat(getComputedStyle(document.querySelector('.rows li')).height) > 29").await;
        browser.press("/").await;
        browser.until("document.activeElement?.name === 'search'").await;
        browser.press("24 receives election\u{e007}").await;
        browser
            .until("document.querySelector('.moment').textContent.startsWith('24 receives Election')")
            .await;
        assert_quiet(&browser).await;
        browser.close().await;
    });
}

#[test]
fn the_splitter_moves_by_pointer_and_by_key() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        let height = "document.querySelector('.network').getBoundingClientRect().height";
        let before = browser.ask(height).await.as_f64().expect("a number");
        let drag = "(() => { const bar = document.querySelector('.splitter'); const box = \
            bar.getBoundingClientRect(); \
                    bar.setPointerCapture = () => {}; \
                    const send = (kind, y) => bar.dispatchEvent(new PointerEvent(kind, { bubbles: true, \
                    pointerId: 1, clientX: 300, clientY: y })); \
                    send('pointerdown', box.y + 3); return new Promise(done => setTimeout(() => { \
                    send('pointermove', box.y - 120); \
                    setTimeout(() => { send('pointerup', box.y - 120); done(1); }, 50); }, 50)); })()";
        browser.ask(&format!("({drag}, 1)")).await;
        browser.until(&format!("{height} < {}", before - 90.0)).await;
        let smaller = browser.ask(height).await.as_f64().expect("a number");
        browser.ask("(document.querySelector('.splitter').focus(), 1)").await;
        browser.press(&char::from(fantoccini::key::Key::Down).to_string()).await;
        browser.until(&format!("{height} > {smaller}")).await;
        assert_eq!(browser.cursor().await, 0);
        browser.close().await;
    });
}

/// Drags the head of an arrow to the row of an event.
async fn drag_head(browser: &Browser, head: &str, event: u64) {
    let drag = format!(
        "(() => {{ const head = document.querySelector('[data-head=\"{head}\"]'); const scroller = \
            document.querySelector('.scroller'); \
         scroller.setPointerCapture = () => {{}}; const box = head.getBoundingClientRect(); \
         const goal = document.querySelector('.rows [data-event=\"{event}\"]').getBoundingClientRect(); \
         const send = (thing, kind, y) => thing.dispatchEvent(new PointerEvent(kind, {{ bubbles: true, \
         cancelable: true, pointerId: 1, clientX: box.x + 4, clientY: y }})); \
         send(head, 'pointerdown', box.y + 4); setTimeout(() => {{ send(scroller, 'pointermove', goal.y + \
         goal.height / 2); \
         setTimeout(() => send(scroller, 'pointerup', goal.y + goal.height / 2), 60); }}, 60); return 1; \
         }})()"
    );
    browser.ask(&drag).await;
}

#[test]
fn an_arrow_is_dragged_to_where_its_message_is_to_arrive_or_it_is_said_why_not() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        crate::drop_file(
            &browser,
            "two.toml",
            "algorithm = 'lamport'\nprocesses = 2\nscript = ['0ms acquire 1', '1ms acquire \
                2']\n[network]\nlatency = '9ms'\n",
        )
        .await;
        browser.until("document.querySelectorAll('[data-process]').length === 2").await;
        for _ in 0..3 {
            browser.forward().await;
        }
        let heads = "[...document.querySelectorAll('.passage.on-its-way [data-head]')].map(head => \
            head.dataset.head)";
        browser.until(&format!("({heads}).filter(head => head.startsWith('2-')).length >= 2")).await;
        let heads: Vec<Value> = browser.ask(heads).await.as_array().expect("a list").clone();
        let from_two: Vec<&str> =
            heads.iter().filter_map(Value::as_str).filter(|head| head.starts_with("2-")).collect();
        // The last that 2 sent must not overtake the first.
        drag_head(&browser, from_two.last().expect("2 sends"), 3).await;
        browser.until("document.querySelector('.toast')?.textContent.includes('in order') === true").await;
        drag_head(&browser, from_two[0], 2).await;
        browser.until("document.querySelector('.moment').textContent.startsWith('1 receives')").await;
        assert_eq!(browser.ask("document.querySelectorAll('[data-branch]').length").await, json!(2));
        // And later than it came by itself: to the end of another branch.
        browser.click("[data-branch='0']").await;
        browser.until("document.querySelector('[data-branch=\"0\"]').ariaCurrent === 'true'").await;
        browser.end().await;
        let last = browser.cursor().await;
        let arrived = "[...document.querySelectorAll('.passage.arrived [data-head]')].map(head => \
            head.dataset.head).find(head => head.startsWith('1-'))";
        browser
            .until(&format!(
                "{arrived} !== undefined && document.querySelector('.rows [data-event=\"{last}\"]') !== null"
            ))
            .await;
        let head = browser.ask(arrived).await.as_str().expect("a text").to_owned();
        drag_head(&browser, &head, last).await;
        browser.until("document.querySelectorAll('[data-branch]').length === 3").await;
        browser
            .until("document.querySelector('[data-branch][aria-current=true]').textContent.includes('delay')")
            .await;
        browser.close().await;
    });
}

#[test]
fn forks_cuts_reasons_and_clocks_are_a_key_away() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s0-bully-worst-case&at=3&p=3").await;
        browser.press("x").await;
        browser.until("document.querySelectorAll('.link.cut').length === 7").await;
        browser.press("x").await;
        browser.until("document.querySelectorAll('.link.cut').length === 0").await;
        browser.press("w").await;
        browser.until("document.activeElement?.classList.contains('why-title') === true").await;
        // What is asked for comes into sight in its panel; the page itself stays where it is.
        assert_eq!(
            browser.ask("document.querySelector('.page').getBoundingClientRect().top").await,
            json!(0)
        );
        let before = browser.ask("document.querySelectorAll('[data-branch]').length").await;
        browser.press("f").await;
        browser
            .until(&format!("document.querySelectorAll('[data-branch]').length > Math.max(1, {before})"))
            .await;
        browser.press(&char::from(fantoccini::key::Key::Enter).to_string()).await;
        browser.click(".menu [data-act='drift 3 by 10%']").await;
        browser.until("location.hash.startsWith('#s=')").await;
        assert_quiet(&browser).await;
        browser.close().await;
    });
}

#[test]
fn a_crowd_is_drawn_as_dots_and_somebody_in_it_is_found() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        choose(&browser, "processes", "100").await;
        browser.until("document.querySelectorAll('[data-process]').length === 100").await;
        assert_eq!(browser.ask("document.querySelectorAll('.process .id').length").await, json!(0));
        browser.press("/").await;
        browser.until("document.activeElement?.name === 'search'").await;
        browser.press("77\u{e007}").await;
        browser.until("document.querySelector('[data-selected]')?.dataset.selected === '77'").await;
        assert_eq!(browser.ask("document.querySelector('.process .id').textContent").await, json!("77"));
        browser.close().await;
    });
}

#[test]
fn a_trace_is_dropped_and_pictures_are_taken_along() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("e=s1-chang-roberts").await;
        browser.end().await;
        let trace = download(&browser, "[name=trace]").await;
        assert!(download(&browser, "[name=svg]").await.starts_with("<svg"));
        assert!(download(&browser, "[name=mermaid]").await.contains("sequenceDiagram"));
        assert!(download(&browser, "[name=shiviz]").await.contains("Election"));
        crate::drop_file(&browser, "run.jsonl", &trace).await;
        browser.until("document.querySelector('.hint').textContent.includes('recording')").await;
        browser.end().await;
        let leading = "[...document.querySelectorAll('.process.leading')].map(p => p.dataset.process)";
        assert_eq!(browser.ask(leading).await, json!(["28"]));
        assert_quiet(&browser).await;
        browser.close().await;
    });
}
