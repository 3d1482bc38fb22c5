//! Measures the page with a run of a hundred thousand records: `cargo run -p habemus-lab-tests --bin
//! measure`.
//!
//! On a machine that does something else the figures say little, so no test judges them; this does, by its
//! exit code.

use std::process::ExitCode;
use std::time::Instant;

use habemus_lab_tests::{Browser, Setting};
use serde_json::{Value, json};

/// A run of so many records at least.
const RECORDS: u64 = 100_000;
const SCENARIO: &str =
    "algorithm = 'ricart-agrawala'\nprocesses = 5\n[workload]\nentries = 1100\nhold = '1ms'\n";

/// Scrolls down for a while, and takes the time of each frame.
const SCROLL: &str = "(() => { const box = document.querySelector('.scroller'); const times = []; let last; \
                      const frame = (now) => { if (last !== undefined) times.push(now - last); last = now; \
                      box.scrollTop += 400; \
                      if (times.length < 240) requestAnimationFrame(frame); else window.times = \
                      times.sort((a, b) => a - b); }; \
                      box.scrollTop = 1000; requestAnimationFrame(frame); return 1; })()";

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let met = runtime.block_on(measure());
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// For how many seconds of its processor's time the page has worked.
async fn busy(browser: &Browser) -> f64 {
    let metrics = browser.chromium("Performance.getMetrics", json!({})).await;
    let metrics = metrics["metrics"].as_array().cloned().unwrap_or_default();
    let task = metrics.iter().find(|metric| metric["name"] == json!("TaskDuration"));
    task.and_then(|metric| metric["value"].as_f64()).unwrap_or_default()
}

async fn measure() -> bool {
    let browser = Browser::start(Setting::default()).await;
    browser.open("e=s1-chang-roberts").await;
    browser.until("performance.getEntriesByName('first-contentful-paint').length > 0").await;
    let paint = browser.ask("performance.getEntriesByName('first-contentful-paint')[0].startTime").await;
    let paint = paint.as_f64().unwrap_or(f64::INFINITY);
    let drop = format!(
        "(() => {{ const data = new DataTransfer(); data.items.add(new File([{}], 'long.toml')); \
         document.querySelector('.page').dispatchEvent(new DragEvent('drop', {{ bubbles: true, dataTransfer: \
         data }})); return 1; }})()",
        json!(SCENARIO)
    );
    browser.ask(&drop).await;
    browser.until("document.querySelector('[name=algorithm]').value === 'ricart-agrawala'").await;
    let begin = Instant::now();
    browser.end().await;
    let computed = begin.elapsed();
    let events = browser.cursor().await;
    // Everything is known by now: from the beginning to the end is only a way to go.
    browser.click("[name=begin]").await;
    browser.until("document.querySelector('[data-cursor]').dataset.cursor === '0'").await;
    browser.until("document.querySelector('.rows [data-event=\"0\"]') !== null").await;
    let begin = Instant::now();
    let seek = format!(
        "(() => {{ const slider = document.querySelector('[name=position]'); slider.value = {events}; \
         slider.dispatchEvent(new Event('input', {{ bubbles: true }})); return 1; }})()"
    );
    browser.ask(&seek).await;
    browser.until(&format!("document.querySelector('.rows [data-event=\"{events}\"]') !== null")).await;
    let jump = begin.elapsed();
    browser.chromium("Performance.enable", json!({ "timeDomain": "threadTicks" })).await;
    let before = busy(&browser).await;
    let worked = browser.worked();
    browser.ask(SCROLL).await;
    // Whoever asks all the time is work, too.
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    browser.until("window.times !== undefined").await;
    let worked: Vec<String> = browser
        .worked()
        .iter()
        .map(|(kind, now)| (kind, now.saturating_sub(worked.get(kind).copied().unwrap_or_default())))
        .map(|(kind, spent)| format!("{kind} {:.1}", spent.as_secs_f64() * 1000.0 / 240.0))
        .collect();
    let busy = (busy(&browser).await - before) * 1000.0 / 240.0;
    let times = browser.ask("window.times").await;
    let times: Vec<f64> = times.as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    let slow = times[times.len() * 95 / 100];
    // What the page and its engine hold: the engine's memory counts by the worker's.
    browser.chromium("HeapProfiler.collectGarbage", json!({})).await;
    let page = browser.ask("performance.memory.usedJSHeapSize").await.as_f64().unwrap_or_default();
    let engine = "(habemusLab.memory().then(bytes => { window.engineBytes = bytes; }), 1)";
    browser.ask(engine).await;
    browser.until("typeof window.engineBytes === 'number'").await;
    let engine = browser.ask("window.engineBytes").await.as_f64().unwrap_or_default();
    let count =
        "(habemusLab.file('trace').then(trace => { window.records = trace.split('\\n').length - 2; }), 1)";
    browser.ask(count).await;
    browser.until("typeof window.records === 'number'").await;
    let records = browser.ask("window.records").await.as_u64().unwrap_or_default();
    let heap = (page + engine) / 1e6;
    println!("records            {records} in {events} events, computed in {:.1} s", computed.as_secs_f64());
    println!("milliseconds of a processor for a frame: {}", worked.join(", "));
    println!(
        "of which the page itself has {busy:.1}; heap: page {:.0} MB, engine {:.0} MB",
        page / 1e6,
        engine / 1e6
    );
    let mut met = true;
    let mut judge = |what: &str, is_met: bool, found: String| {
        met &= is_met;
        println!("{} {what}: {found}", if is_met { "pass" } else { "FAIL" });
    };
    judge("records, at least 100000", records >= RECORDS, records.to_string());
    judge("first paint, at most 1000 ms", paint <= 1000.0, format!("{paint:.0} ms"));
    judge("scrolling, p95, at most 33 ms a frame", slow <= 33.0, format!("{slow:.1} ms"));
    judge("jump to the end, at most 1000 ms", jump.as_millis() <= 1000, format!("{} ms", jump.as_millis()));
    judge("heap, at most 300 MB", heap <= 300.0, format!("{heap:.0} MB"));
    browser.close().await;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load {}", load.split(' ').take(3).collect::<Vec<_>>().join(" "));
    println!("{}", if met { "all of it is met" } else { "not all of it is met; was the machine idle?" });
    met
}
