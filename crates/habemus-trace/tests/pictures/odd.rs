//! Traces that nobody would write: whatever can be wrong with a trace is wrong in one of these.

use std::collections::BTreeMap;

use habemus::{Id, ProblemKind, Status};
use habemus_trace::{Dropped, FORMAT, Happening, Header, Label, Record, Trace};
use serde_json::Value;

/// A small generator of numbers that look random; the same seed gives the same numbers.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Numbers {
        Numbers(seed)
    }

    /// A number below the bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

const TEXTS: &[&str] = &[
    "",
    " ",
    "Election",
    "Election(17)",
    "a < b & \"c\" > d",
    "]]>--><!--",
    "semi;colon # hash: %%{init}%% end",
    "wrap: $$x$$ \\n",
    "two\nlines\r\nand\ta tab",
    "\u{1b}[31mred\u{0}\u{7f}\u{85}\u{2028}\u{fffe}",
    "領導者選舉",
    "👩‍👩‍👧 e\u{301}\u{fe0f}",
    "a message whose label is much longer than anything that could ever fit between two processes",
];

/// A trace in which anything goes.
pub(crate) fn trace(seed: u64) -> Trace {
    let mut numbers = Numbers::new(seed);
    let size = numbers.pick(&[0, 1, 2, 3, 5, 8, 13, 21, 40]);
    let far = numbers.pick(&[1, 10, u64::MAX / 100]);
    let mut processes: Vec<u64> = (0..size).map(|_| numbers.below(60).wrapping_mul(far)).collect();
    if seed.is_multiple_of(3) {
        processes = (1..=size).collect();
    }
    let header = Header {
        format: FORMAT,
        algorithm: numbers.pick(TEXTS).into(),
        problem: numbers.pick(&ProblemKind::ALL),
        title: (numbers.below(2) == 0).then(|| numbers.clone_text()),
        processes: processes.clone(),
        topology: numbers.pick(TEXTS).into(),
        seed: numbers.pick(&[None, Some(u64::MAX)]),
        origin: None,
        cycle: None,
    };
    processes.push(77);
    let pace = numbers.pick(&[0, 1, 1_000, 1_000_000, 3_000_000_000]);
    let mut at = 0_u64;
    let count = numbers.below(120);
    let records = (0..count).map(|_| {
        at = match numbers.below(20) {
            0 => numbers.below(1 << 30),
            1 => at.saturating_add(pace * 1_000),
            2 if seed.is_multiple_of(10) => u64::MAX,
            _ => at.saturating_add(pace / 3 * numbers.below(4)),
        };
        record(&mut numbers, at, &processes)
    });
    Trace { header, records: records.collect() }
}

impl Numbers {
    fn clone_text(&mut self) -> String {
        self.pick(TEXTS).into()
    }
}

fn record(numbers: &mut Numbers, at: u64, processes: &[u64]) -> Record {
    let process = numbers.pick(processes);
    let clock: BTreeMap<u64, u32> =
        (0..numbers.below(4)).map(|_| (numbers.pick(processes), numbers.below(9) as u32)).collect();
    let process = if numbers.below(12) == 0 { None } else { Some(process) };
    Record { at, process, clock, what: happening(numbers, processes) }
}

fn happening(numbers: &mut Numbers, processes: &[u64]) -> Happening {
    let message = numbers.below(25);
    let other = numbers.pick(processes);
    let (kind, label) = (Label::from(numbers.clone_text()), Label::from(numbers.clone_text()));
    let background = numbers.below(4) == 0;
    let statuses = [
        None,
        Some(Status::Idle),
        Some(Status::Waiting),
        Some(Status::Inside),
        Some(Status::Leading),
        Some(Status::Following(Some(Id(3)))),
        Some(Status::Following(None)),
        Some(Status::Decided),
    ];
    let status = numbers.pick(&statuses);
    let links = (0..numbers.below(5)).map(|_| (numbers.pick(processes), numbers.pick(processes))).collect();
    match numbers.below(24) {
        0 => Happening::Start { recovered: background },
        1 => Happening::Crash,
        2 => Happening::Pause,
        3 => Happening::Resume,
        4..10 => Happening::Send { message, to: other, kind, label, background },
        10..16 => Happening::Deliver { message, from: other, kind, label, background },
        16 => {
            let why = numbers.pick(&[Dropped::Loss, Dropped::Cut, Dropped::Down]);
            Happening::Drop { message, from: other, why }
        }
        17 => Happening::Timer { label, background },
        18 => Happening::Command { label, value: Value::Null, status },
        19 => Happening::Output { label, value: Value::Null, status },
        20 if background => Happening::Suspect { suspect: other },
        20 => Happening::Restore { restored: other },
        21 => Happening::Cut { links },
        22 => Happening::Heal { links },
        _ => Happening::Violation { property: kind.to_string(), explanation: label.to_string() },
    }
}
