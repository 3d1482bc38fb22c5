//! No trace, however odd, breaks a picture.

use std::collections::BTreeMap;

use habemus_trace::draw::{self, Options, Window};
use habemus_trace::{Happening, Trace};
use unicode_width::UnicodeWidthStr;

use crate::exhibits;
use crate::odd::{self, Numbers};

const RUNS: u64 = 400;

/// Odd traces, each with odd options, and the exhibits.
fn cases() -> impl Iterator<Item = (Trace, Options)> {
    let odd = (0..RUNS).map(|seed| {
        let mut numbers = Numbers::new(seed ^ 0xfeed);
        let options = Options {
            background: numbers.below(2) == 0,
            title: (numbers.below(3) == 0).then(|| "A title\nof <two> lines".into()),
            width: numbers.pick(&[0, 1, 5, 20, 33, 60, 80, 80, 80, 132]),
            color: numbers.below(2) == 0,
            window: numbers.pick(&[
                Window::All,
                Window::All,
                Window::Last(0),
                Window::Last(1),
                Window::Last(7),
                Window::Last(50),
                Window::Last(usize::MAX),
                Window::Between { from: Some(1_000), to: None },
                Window::Between { from: None, to: Some(1 << 20) },
                Window::Between { from: Some(9), to: Some(3) },
                Window::Violation,
            ]),
        };
        (odd::trace(seed), options)
    });
    odd.chain(exhibits::all().into_iter().map(|(_, trace)| (trace, Options::default())))
}

#[test]
fn text_keeps_within_its_width() {
    for (trace, options) in cases() {
        let text = draw::text(&trace, &options);
        for line in without_colours(&text).lines() {
            assert!(line.width() <= options.width, "{options:?}: {line:?}");
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
}

#[test]
fn colours_do_not_change_the_text() {
    for (trace, options) in cases() {
        let plain = draw::text(&trace, &Options { color: false, ..options.clone() });
        let coloured = draw::text(&trace, &Options { color: true, ..options });
        assert_eq!(without_colours(&coloured), plain);
    }
}

/// What is longer than a page is wide goes on in the next row.
#[test]
fn svg_is_well_formed_and_never_wider_than_a_page() {
    for (trace, options) in cases() {
        let svg = draw::svg(&trace, &options);
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|why| panic!("{why}: {svg}"));
        let root = document.root_element();
        assert!(root.has_tag_name(("http://www.w3.org/2000/svg", "svg")));
        let width: f64 = root.attribute("width").and_then(|width| width.parse().ok()).unwrap_or_default();
        // Names of twenty digits take their room besides.
        assert!(width > 0.0 && width <= 1_600.0, "{width}");
        for node in document.descendants() {
            for attribute in node.attributes() {
                let value = attribute.value();
                assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
            }
        }
    }
}

/// What is outside the window is counted, and what is inside is drawn.
#[test]
fn a_window_shows_its_part_and_counts_the_rest() {
    let trace = exhibits::bully();
    let drawn = |window| draw::text(&trace, &Options { window, ..Options::default() });
    let between = drawn(Window::Between { from: Some(5_000_000), to: Some(8_000_000) });
    assert!(between.contains("earlier event") && between.contains("later event"), "{between}");
    assert!(between.contains("suspects 5") && !between.contains("recovers"), "{between}");
    assert_eq!(drawn(Window::Violation), drawn(Window::All), "nothing is violated here");
    let broken = exhibits::all().into_iter().find(|(name, _)| *name == "two-inside").expect("it is there").1;
    let around = draw::text(&broken, &Options { window: Window::Violation, ..Options::default() });
    assert!(around.contains("violated"), "{around}");
}

#[test]
fn mermaid_closes_what_it_opens() {
    for (trace, options) in cases() {
        let source = draw::mermaid(&trace, &options);
        let mut active = BTreeMap::new();
        for line in source.lines().map(str::trim) {
            if let Some(process) = line.strip_prefix("activate ") {
                assert!(!std::mem::replace(active.entry(process).or_insert(false), true), "{source}");
            } else if let Some(process) = line.strip_prefix("deactivate ") {
                assert_eq!(active.insert(process, false), Some(true), "{source}");
            }
            let text = line.split_once(": ").map_or("", |(_, text)| text);
            assert!(!text.contains([':', '<', '>', '%', '$', '\\']), "{line}");
        }
        assert!(active.values().all(|active| !active), "{source}");
        assert_eq!(
            source.matches("rect ").count(),
            source.lines().filter(|line| line.trim() == "end").count()
        );
    }
}

/// ShiViz refuses a log unless the events of each host are numbered 1, 2, 3 … and no clock knows of an
/// event that is not in the log.
#[test]
fn shiviz_clocks_have_no_gaps() {
    for (trace, options) in cases() {
        let log = draw::shiviz(&trace, &options);
        let mut lines = log.lines();
        assert_eq!(lines.next(), Some(r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"));
        assert_eq!(lines.next(), Some(""));
        let lines: Vec<&str> = lines.collect();
        let mut own: BTreeMap<String, u32> = BTreeMap::new();
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        for event in lines.chunks(2) {
            let (host, clock) = event[1].split_once(' ').expect("a host and a clock");
            let clock: BTreeMap<String, u32> = serde_json::from_str(clock).expect("the clock is JSON");
            let count = own.entry(host.into()).or_default();
            *count += 1;
            assert_eq!(clock.get(host), Some(&*count), "{}", event[1]);
            for (host, count) in clock {
                assert!(count > 0);
                let max = known.entry(host).or_default();
                *max = count.max(*max);
            }
        }
        assert!(known.iter().all(|(host, count)| own.get(host) >= Some(count)), "{log}");
    }
}

#[test]
fn shiviz_keeps_the_clocks_of_a_whole_trace() {
    for (_, trace) in exhibits::all() {
        let log = draw::shiviz(&trace, &Options { background: true, ..Options::default() });
        let clocks = trace.records.iter().filter(|record| !record.clock.is_empty()).map(|record| {
            let entries = record.clock.iter().map(|(id, count)| format!("\"p{id}\":{count}"));
            format!(
                "p{} {{{}}}",
                record.process.expect("it has a clock"),
                entries.collect::<Vec<_>>().join(",")
            )
        });
        let written: Vec<&str> = log.lines().skip(3).step_by(2).collect();
        assert_eq!(written, clocks.collect::<Vec<_>>());
    }
}

/// Leaving the background out must leave the order of the rest as it was.
#[test]
fn shiviz_keeps_the_order_when_it_leaves_events_out() {
    let trace = exhibits::bully();
    let log = draw::shiviz(&trace, &Options::default());
    let clocks: Vec<BTreeMap<String, u32>> = log
        .lines()
        .skip(3)
        .step_by(2)
        .map(|line| {
            serde_json::from_str(line.split_once(' ').expect("a host and a clock").1).expect("it is JSON")
        })
        .collect();
    let is_background = |what: &Happening| {
        matches!(what, Happening::Send { background: true, .. } | Happening::Deliver { background: true, .. })
    };
    let kept: Vec<_> =
        trace.records.iter().filter(|r| !r.clock.is_empty() && !is_background(&r.what)).collect();
    assert_eq!(clocks.len(), kept.len());
    assert!(kept.len() < trace.records.iter().filter(|record| !record.clock.is_empty()).count());
    for (i, first) in kept.iter().enumerate() {
        for (j, second) in kept.iter().enumerate() {
            assert_eq!(is_before(&first.clock, &second.clock), is_before(&clocks[i], &clocks[j]), "{i} {j}");
        }
    }
}

fn is_before<K: Ord>(first: &BTreeMap<K, u32>, second: &BTreeMap<K, u32>) -> bool {
    first != second && first.iter().all(|(id, count)| second.get(id) >= Some(count))
}

/// The text without ANSI escape sequences.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}
