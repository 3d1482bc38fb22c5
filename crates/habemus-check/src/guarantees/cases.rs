//! Models that are no algorithm under a kind of fault: agreements, whose faults are options of theirs, and
//! the exhibits of the notes in which something goes wrong.

use std::time::Duration;

use habemus::Address;

use crate::setting::{ANY_NUMBER, Setting, Speed, Timers};

/// A model of its own.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The algorithm.
    pub algorithm: &'static str,
    /// What is special; it stands in the table where other rows name their faults.
    pub name: &'static str,
    /// The identifiers of the processes.
    pub ids: &'static [u64],
    /// The failure detector, if not the algorithm's usual one.
    pub detector: Option<&'static str>,
    /// Options of the algorithm.
    pub options: &'static [(&'static str, &'static str)],
    /// The flags that ask for the rest,
    pub flags: &'static str,
    /// and what they change.
    pub change: fn(&mut Setting),
}

/// Whoever enters is given a token, so that it can be seen whether tokens grow.
const FENCED: &[(&str, &str)] = &[("fencing", "true")];

/// Every case, with its algorithm's others.
pub const CASES: &[Case] = &[
    Case {
        algorithm: "yo-yo",
        name: "a partition that is noticed",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("hello-timeout", "100ms")],
        flags: " --start all --partitions 1 --timers messages-first",
        change: |setting| {
            setting.timers = Timers::MessagesFirst;
            setting.budget.partitions = 1;
        },
    },
    Case {
        algorithm: "majority",
        name: "no pre-vote, a crash and recovery, messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("pre-vote", "false")],
        flags: " --start all --timers messages-first --crashes 1 --recoveries 1",
        change: |setting| {
            timely(setting, 10_000_000);
            (setting.budget.crashes, setting.budget.recoveries) = (1, 1);
        },
    },
    Case {
        algorithm: "majority",
        name: "no pre-vote, a doubled message, messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("pre-vote", "false")],
        flags: " --start all --timers messages-first --duplication 1",
        change: |setting| {
            timely(setting, 10_000_000);
            setting.budget.duplications = 1;
        },
    },
    Case {
        algorithm: "majority",
        name: "no pre-vote, a partition, messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("pre-vote", "false")],
        flags: " --start all --timers messages-first --partitions 1",
        change: |setting| {
            timely(setting, 10_000_000);
            setting.budget.partitions = 1;
        },
    },
    Case {
        algorithm: "coordinator",
        name: "a timeout of 20 ms",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("timeout", "20ms")],
        flags: " --timers any",
        change: |setting| setting.timers = Timers::AnyTime,
    },
    Case {
        algorithm: "coordinator",
        name: "a timeout of 20 ms, fenced",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("timeout", "20ms"), ("fencing", "true")],
        flags: " --timers any",
        change: |setting| setting.timers = Timers::AnyTime,
    },
    Case {
        algorithm: "coordinator",
        name: "n = 2, fenced, 2 entries each, a crash and recovery",
        ids: &[1, 2],
        detector: None,
        options: FENCED,
        flags: " --entries 2 --crashes 1 --recoveries 1",
        change: |setting| {
            setting.entries = 2;
            (setting.budget.crashes, setting.budget.recoveries) = (1, 1);
        },
    },
    Case {
        algorithm: "coordinator",
        name: "a timeout of 20 ms, late clients",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("timeout", "20ms")],
        flags: " --timers late-clients",
        change: |setting| setting.timers = Timers::LateClients,
    },
    Case {
        algorithm: "coordinator",
        name: "a timeout of 20 ms, a lease of 10 ms, late clients",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("timeout", "20ms"), ("lease", "10ms")],
        flags: " --timers late-clients",
        change: |setting| setting.timers = Timers::LateClients,
    },
    Case {
        algorithm: "coordinator",
        name: "a timeout of 20 ms, a lease of 10 ms, timed: drift within 1 %, delays to 5 ms",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("timeout", "20ms"), ("lease", "10ms")],
        flags: " --timers timed --drift 1% --delay 0ms..5ms",
        change: |setting| timed(setting, 1, 5),
    },
    Case {
        algorithm: "coordinator",
        name: "a timeout of 20 ms, a lease of 10 ms, timed: drift beyond, 20 %, delays to 5 ms",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("timeout", "20ms"), ("lease", "10ms")],
        flags: " --timers timed --drift 20% --delay 0ms..5ms",
        change: |setting| timed(setting, 20, 5),
    },
    Case {
        algorithm: "elected-coordinator",
        name: "n = 2, a lease of 100 ms, timed: drift within 10 %, delays to 1 ms",
        ids: &[1, 2],
        detector: None,
        options: &[("lease", "100ms")],
        flags: " --timers timed --drift 10% --delay 0ms..1ms",
        change: |setting| timed(setting, 10, 1),
    },
    Case {
        algorithm: "elected-coordinator",
        name: "n = 2, a lease of 100 ms, timed: drift beyond, 12 %, delays to 1 ms",
        ids: &[1, 2],
        detector: None,
        options: &[("lease", "100ms")],
        flags: " --timers timed --drift 12% --delay 0ms..1ms",
        change: |setting| timed(setting, 12, 1),
    },
    Case {
        algorithm: "token-ring",
        name: "fenced, 2 entries each",
        ids: &[1, 2, 3],
        detector: None,
        options: FENCED,
        flags: " --entries 2",
        change: |setting| setting.entries = 2,
    },
    Case {
        algorithm: "lamport",
        name: "n = 2, fenced, 3 entries each",
        ids: &[1, 2],
        detector: None,
        options: FENCED,
        flags: " --entries 3",
        change: |setting| setting.entries = 3,
    },
    Case {
        algorithm: "ricart-agrawala",
        name: "any number of entries",
        ids: &[1, 2, 3],
        detector: None,
        options: &[],
        flags: " --entries any",
        change: |setting| setting.entries = ANY_NUMBER,
    },
    Case {
        algorithm: "ricart-agrawala",
        name: "bare replies, any number of entries",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("variant", "bare-replies")],
        flags: " --entries any",
        change: |setting| setting.entries = ANY_NUMBER,
    },
    Case {
        algorithm: "ricart-agrawala",
        name: "n = 2, fenced, 3 entries each",
        ids: &[1, 2],
        detector: None,
        options: FENCED,
        flags: " --entries 3",
        change: |setting| setting.entries = 3,
    },
    Case {
        algorithm: "suzuki-kasami",
        name: "fenced, 2 entries each",
        ids: &[1, 2, 3],
        detector: None,
        options: FENCED,
        flags: " --entries 2",
        change: |setting| setting.entries = 2,
    },
    Case {
        algorithm: "raymond",
        name: "fenced, 2 entries each",
        ids: &[1, 2, 3],
        detector: None,
        options: FENCED,
        flags: " --entries 2",
        change: |setting| setting.entries = 2,
    },
    Case {
        algorithm: "maekawa",
        name: "plain, sets of a plane",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("sets", "plane"), ("variant", "plain")],
        flags: "",
        change: |_| {},
    },
    Case {
        algorithm: "quorum",
        name: "3 coordinators, 3 participants",
        ids: &[1, 2, 3, 11, 12, 13],
        detector: None,
        options: &[("coordinators", "3"), ("timeout", "none")],
        flags: " --clients 11,12,13",
        change: |setting| {
            setting.clients = vec![Address(3), Address(4), Address(5)];
            setting.max_states = Some(1_000_000);
        },
    },
    Case {
        algorithm: "quorum",
        name: "3 coordinators, one forgets",
        ids: &[1, 2, 3, 11, 12],
        detector: None,
        options: &[("coordinators", "3"), ("timeout", "none")],
        flags: " --clients 11,12 --crashes 1 --recoveries 1 --amnesia --faulty 1,2,3",
        change: |setting| forgetful(setting, 3),
    },
    Case {
        algorithm: "quorum",
        name: "5 coordinators, one forgets",
        ids: &[1, 2, 3, 4, 5, 11, 12],
        detector: None,
        options: &[("coordinators", "5"), ("timeout", "none")],
        flags: " --clients 11,12 --crashes 1 --recoveries 1 --amnesia --faulty 1,2,3,4,5",
        change: |setting| {
            forgetful(setting, 5);
            setting.max_states = Some(5_000_000);
        },
    },
    Case {
        algorithm: "flood-set",
        name: "f = 1, 2 rounds, 1 crash",
        ids: &[1, 2, 3],
        detector: None,
        options: &[],
        flags: " --start all --crashes 1",
        change: |setting| setting.budget.crashes = 1,
    },
    Case {
        algorithm: "flood-set",
        name: "1 round, 1 crash",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("rounds", "1")],
        flags: " --start all --crashes 1",
        change: |setting| setting.budget.crashes = 1,
    },
    Case {
        algorithm: "flood-set",
        name: "n = 4, f = 2, 3 rounds, 2 crashes",
        ids: &[1, 2, 3, 4],
        detector: None,
        options: &[("failures", "2")],
        flags: " --start all --crashes 2",
        change: |setting| setting.budget.crashes = 2,
    },
    Case {
        algorithm: "flood-set",
        name: "n = 4, 2 rounds, 2 crashes",
        ids: &[1, 2, 3, 4],
        detector: None,
        options: &[("failures", "2"), ("rounds", "2")],
        flags: " --start all --crashes 2",
        change: |setting| setting.budget.crashes = 2,
    },
    Case {
        algorithm: "flood-set",
        name: "news only, f = 1, 2 rounds, 1 crash",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("variant", "news-only")],
        flags: " --start all --crashes 1",
        change: |setting| setting.budget.crashes = 1,
    },
    Case {
        algorithm: "byzantine-generals",
        name: "n = 4, m = 1, the commander betrays",
        ids: &[1, 2, 3, 4],
        detector: None,
        options: &[("traitors", "1")],
        flags: " --start 1",
        change: commanded,
    },
    Case {
        algorithm: "byzantine-generals",
        name: "n = 4, m = 1, a lieutenant betrays",
        ids: &[1, 2, 3, 4],
        detector: None,
        options: &[("traitors", "4")],
        flags: " --start 1",
        change: commanded,
    },
    Case {
        algorithm: "byzantine-generals",
        name: "n = 3, m = 1, a lieutenant betrays",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("traitors", "3")],
        flags: " --start 1",
        change: commanded,
    },
    Case {
        algorithm: "signed-generals",
        name: "n = 3, m = 1, the commander betrays",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("traitors", "1")],
        flags: " --start 1",
        change: commanded,
    },
    Case {
        algorithm: "signed-generals",
        name: "n = 3, m = 1, a lieutenant betrays",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("traitors", "3")],
        flags: " --start 1",
        change: commanded,
    },
    Case {
        algorithm: "signed-generals",
        name: "n = 4, m = 2, commander and lieutenant betray",
        ids: &[1, 2, 3, 4],
        detector: None,
        options: &[("m", "2"), ("traitors", "1,2")],
        flags: " --start 1",
        change: commanded,
    },
    Case {
        algorithm: "interactive-consistency",
        name: "n = 4, m = 1, 4 betrays",
        ids: &[1, 2, 3, 4],
        detector: None,
        options: &[("traitors", "4")],
        flags: " --start all",
        change: |setting| setting.max_states = Some(500_000),
    },
    Case {
        algorithm: "interactive-consistency",
        name: "n = 3, m = 1, 3 betrays",
        ids: &[1, 2, 3],
        detector: None,
        options: &[("traitors", "3")],
        flags: " --start all",
        change: |_| {},
    },
    Case {
        algorithm: "paxos",
        name: "messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[],
        flags: " --start all --timers messages-first",
        change: |setting| setting.timers = Timers::MessagesFirst,
    },
    Case {
        algorithm: "paxos",
        name: "a crash, messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[],
        flags: " --start all --timers messages-first --crashes 1",
        change: |setting| {
            setting.timers = Timers::MessagesFirst;
            setting.budget.crashes = 1;
            setting.max_states = Some(500_000);
        },
    },
    Case {
        algorithm: "paxos",
        name: "1 proposes, a crash and recovery, messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[],
        flags: " --start 1 --timers messages-first --crashes 1 --recoveries 1",
        change: |setting| {
            commanded(setting);
            timely(setting, 4_000_000);
            (setting.budget.crashes, setting.budget.recoveries) = (1, 1);
        },
    },
    Case {
        algorithm: "paxos",
        name: "a lost message, messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[],
        flags: " --start all --timers messages-first --loss 1",
        change: |setting| {
            timely(setting, 500_000);
            setting.budget.losses = 1;
        },
    },
    Case {
        algorithm: "paxos",
        name: "a doubled message, messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[],
        flags: " --start all --timers messages-first --duplication 1",
        change: |setting| {
            timely(setting, 500_000);
            setting.budget.duplications = 1;
        },
    },
    Case {
        algorithm: "paxos",
        name: "a false suspicion, messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[],
        flags: " --start all --timers messages-first --suspicions 1",
        change: |setting| {
            timely(setting, 2_000_000);
            setting.budget.suspicions = 1;
        },
    },
    Case {
        algorithm: "paxos",
        name: "a partition, messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[],
        flags: " --start all --timers messages-first --partitions 1",
        change: |setting| {
            timely(setting, 500_000);
            setting.budget.partitions = 1;
        },
    },
    Case {
        algorithm: "paxos",
        name: "two wrong timeouts, messages before timers",
        ids: &[1, 2, 3],
        detector: None,
        options: &[],
        flags: " --start all --timers messages-first --wrong-timeouts 2",
        change: |setting| {
            timely(setting, 500_000);
            setting.budget.wrong_timeouts = 2;
        },
    },
];

/// Whatever is under way comes before timers, up to so many states.
fn timely(setting: &mut Setting, max_states: u64) {
    (setting.timers, setting.max_states) = (Timers::MessagesFirst, Some(max_states));
}

/// One coordinator among the first so many forgets, and the last two processes are participants.
fn forgetful(setting: &mut Setting, coordinators: u32) {
    (setting.budget.crashes, setting.budget.recoveries, setting.budget.amnesia) = (1, 1, true);
    setting.faulty = (0..coordinators).map(Address).collect();
    setting.clients = vec![Address(coordinators), Address(coordinators + 1)];
}

/// Timers run by clocks that drift by so many per cent, and messages take so many milliseconds at most.
fn timed(setting: &mut Setting, percent: u32, delay: u64) {
    let delay = (Duration::ZERO, Duration::from_millis(delay));
    setting.timers = Timers::Timed(Speed { drift: percent * 10_000, delay });
}

/// The first process commands, or proposes alone.
fn commanded(setting: &mut Setting) {
    setting.start = crate::setting::Start::These(vec![Address(0)]);
}

/// The exhibits in which something goes wrong: the file, and the row and the property by which the checker
/// finds it without a script. Where the exhibit has more processes than can be explored, the row has fewer.
pub const EXHIBITS: &[(&str, &str, Option<&str>, &str, &str)] = &[
    ("s4-anonymous-ring-two", "anonymous-ring", None, "none", "uniqueness"),
    ("s4-yo-yo-cut", "yo-yo", None, "a partition that is noticed", "uniqueness"),
    ("s4-yo-yo-cut-waits", "yo-yo", None, "a partition", "E2"),
    ("s4-timeout-hurts", "coordinator", None, "a timeout of 20 ms", "EM1"),
    ("s4-timeout-fenced", "coordinator", None, "a timeout of 20 ms, fenced", "EM1"),
    ("s4-no-timeout", "coordinator", None, "a crash", "EM2"),
    ("s4-quorum-amnesia", "quorum", None, "3 coordinators, one forgets", "EM1"),
    ("s4-quorum-deadlock", "quorum", None, "3 coordinators, 3 participants", "EM2"),
    ("s1-maekawa-deadlock", "maekawa", None, "plain, sets of a plane", "EM2"),
    ("s1-generals-three", "byzantine-generals", None, "n = 3, m = 1, a lieutenant betrays", "agreement"),
    ("s1-flood-set-too-few-rounds", "flood-set", None, "n = 4, 2 rounds, 2 crashes", "agreement"),
    ("s2-capture-async-as-printed", "capture-async", Some("as-printed"), "none", "uniqueness"),
    ("s4-chang-roberts-as-printed", "chang-roberts", Some("as-printed"), "none", "E2"),
    ("s4-franklin-as-printed", "franklin", Some("as-printed"), "none", "E2"),
];
