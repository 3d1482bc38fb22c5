//! What files mean.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus_scenario::*;

fn read(text: &str) -> Scenario {
    match parse("f.toml", text) {
        Ok(parsed) => parsed.scenario,
        Err(errors) => panic!("{errors}\n{text}"),
    }
}

/// The only line of a script among the processes 1 to 5.
fn cue(line: &str) -> Cue {
    let mut script = read(&format!("algorithm = \"x\"\nprocesses = 5\nscript = ['{line}']")).script;
    assert_eq!(script.len(), 1);
    script.remove(0)
}

fn action(text: &str) -> Action {
    cue(&format!("1ms {text}")).action
}

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

#[test]
fn what_a_file_does_not_say_is_as_usual() {
    let expected = Scenario { algorithm: "bully".into(), ids: vec![1, 2, 3], ..Scenario::default() };
    assert_eq!(read("algorithm = \"bully\"\nprocesses = 3\n[network]\n[options]\n[expect]"), expected);
    let scenario = read("algorithm = \"bully\"\nprocesses = 3\n[workload]\n[random]\n");
    let workload = Workload {
        entries: 1,
        clients: vec![],
        hold: (milliseconds(5), milliseconds(5)),
        think: (milliseconds(0), milliseconds(5)),
        rate: 0.0,
    };
    assert_eq!(scenario.workload, Some(workload));
    let random = RandomFaults {
        crashes: 0.0,
        recover_after: Some((milliseconds(50), milliseconds(200))),
        amnesia: false,
        max_down: 1,
        pauses: 0.0,
        pause_for: (milliseconds(10), milliseconds(200)),
        cuts: 0.0,
        cut_for: (milliseconds(10), milliseconds(200)),
        partitions: 0.0,
        partition_for: (milliseconds(10), milliseconds(200)),
        drifts: 0.0,
        drift_by: 0.1,
        suspicions: 0.0,
        suspect_for: (milliseconds(10), milliseconds(200)),
        until: milliseconds(2000),
    };
    assert_eq!(scenario.random, Some(random));
    let scripted = read("algorithm = \"x\"\nprocesses = 3\nscript = ['1ms acquire 1']\n[workload]\n");
    assert_eq!(scripted.workload.map(|workload| workload.entries), Some(0));
    let five = read("algorithm = \"x\"\nprocesses = 5\n[random]\nrecover-after = 'never'").random;
    assert_eq!(five.map(|random| (random.max_down, random.recover_after)), Some((2, None)));
}

#[test]
fn every_key_has_its_meaning() {
    let scenario = read(
        r#"
        title = "All of it"
        notes = "S4"
        algorithm = "coordinator"
        ids = [4, 2, 3, 1]
        links = ["1-2", "3-2", "3-4"]
        detector = "heartbeat"
        seed = 18446744073709551615
        until = "10_000 events"
        time-limit = "10s"
        event-limit = 1_000_000
        script = ["20ms crash 4"]
        resources = ["orders", "stock"]

        [options]
        timeout = "50ms"
        number = 0xff
        negative = -3
        float = 1.5
        yes = true
        list = [1, "two", 3.5, false]

        [network]
        model = "partially-synchronous"
        gst = "1s"
        delta = "10ms"
        latency = "exponential 5ms"
        order = "any"
        loss = 0.01
        duplication = "0.5%"
        links = { "1->2" = "100ms", 2-3 = "7ms" }

        [random]
        crashes = "2/s"
        recover-after = "50ms..200ms"
        amnesia = true
        max-down = 2
        pauses = "1/s"
        pause-for = "20ms"
        cuts = "30/min"
        cut-for = "1ms..2ms"
        partitions = "15/min"
        partition-for = "300ms"
        drifts = "3/s"
        drift-by = "5%"
        suspicions = "4/s"
        suspect-for = "5ms..9ms"
        until = "2s"

        [workload]
        entries = 3
        clients = "2..1"
        hold = "5ms..6ms"
        think = "7ms"
        rate = "2.5/s"

        [expect]
        leader = 4
        leaders = []
        entered = [1, 3, 1]
        decided = [1, "attack", 3]
        within = "3s"
        holds = ["EM1", "EM2"]
        violates = ["EM3"]
        outside = ["fencing"]
        quiet = true
        leader-changes = "<= 3"
        refused-writes = 1

        [expect.messages]
        total = 24
        Election = ">= 8"
        "#,
    );
    let text = |text: &str| text.to_owned();
    let options = [
        ("timeout", "50ms"),
        ("number", "255"),
        ("negative", "-3"),
        ("float", "1.5"),
        ("yes", "true"),
        ("list", "1,two,3.5,false"),
    ];
    let expected = Scenario {
        title: Some(text("All of it")),
        notes: Some(text("S4")),
        algorithm: text("coordinator"),
        ids: vec![4, 2, 3, 1],
        topology: Some(TopologyChoice::Links(vec![(1, 2), (3, 2), (3, 4)])),
        detector: Some(text("heartbeat")),
        options: options.map(|(name, value)| (text(name), text(value))).into(),
        seed: u64::MAX,
        choices: Vec::new(),
        network: Network {
            model: TimeModel::PartiallySynchronous { gst: milliseconds(1000), delta: milliseconds(10) },
            latency: Latency::Exponential { mean: milliseconds(5) },
            links: BTreeMap::from([
                ((1, 2), Latency::Constant(milliseconds(100))),
                ((2, 3), Latency::Constant(milliseconds(7))),
                ((3, 2), Latency::Constant(milliseconds(7))),
            ]),
            fifo: false,
            loss: 0.01,
            duplication: 0.005,
        },
        script: vec![Cue { occasion: Occasion::At(milliseconds(20)), action: Action::Crash(vec![4]) }],
        resources: vec![text("orders"), text("stock")],
        random: Some(RandomFaults {
            crashes: 2.0,
            recover_after: Some((milliseconds(50), milliseconds(200))),
            amnesia: true,
            max_down: 2,
            pauses: 1.0,
            pause_for: (milliseconds(20), milliseconds(20)),
            cuts: 0.5,
            cut_for: (milliseconds(1), milliseconds(2)),
            partitions: 0.25,
            partition_for: (milliseconds(300), milliseconds(300)),
            drifts: 3.0,
            drift_by: 0.05,
            suspicions: 4.0,
            suspect_for: (milliseconds(5), milliseconds(9)),
            until: milliseconds(2000),
        }),
        workload: Some(Workload {
            entries: 3,
            clients: vec![2, 1],
            hold: (milliseconds(5), milliseconds(6)),
            think: (milliseconds(7), milliseconds(7)),
            rate: 2.5,
        }),
        until: Until::Events(10_000),
        time_limit: Some(milliseconds(10_000)),
        event_limit: 1_000_000,
        expect: Expectations {
            leader: Some(4),
            leaders: Some(vec![]),
            entered: Some(vec![1, 3, 1]),
            decided: Some(text("1,attack,3")),
            within: Some(milliseconds(3_000)),
            holds: vec![text("EM1"), text("EM2")],
            violates: vec![text("EM3")],
            outside: vec![text("fencing")],
            messages: BTreeMap::from([
                (text("total"), Count::exactly(24)),
                (text("Election"), Count { min: 8, max: u64::MAX }),
            ]),
            leader_changes: Some(Count { min: 0, max: 3 }),
            quiet: Some(true),
            refused_writes: Some(Count::exactly(1)),
        },
    };
    assert_eq!(scenario, expected);
}

#[test]
fn other_ways_to_say_it() {
    assert_eq!(read("algorithm = \"x\"\nids = \"0..3\"").ids, [0, 1, 2, 3]);
    assert_eq!(read("algorithm = \"x\"\nids = \"3..0\"").ids, [3, 2, 1, 0]);
    let ring = read("algorithm = \"x\"\nprocesses = 2\ntopology = \"ring\"\nuntil = \"500ms\"");
    assert_eq!(ring.topology, Some(TopologyChoice::Named("ring".into())));
    assert_eq!(ring.until, Until::Time(milliseconds(500)));
    let synchronous =
        read("algorithm = \"x\"\nprocesses = 2\nnetwork.model = 'synchronous'\nnetwork.pulse = '9ms'");
    assert_eq!(synchronous.network.model, TimeModel::Synchronous { pulse: milliseconds(9) });
    let messages = read("algorithm = \"x\"\nprocesses = 2\nexpect.messages = '1..3'").expect.messages;
    assert_eq!(messages, BTreeMap::from([("total".to_owned(), Count { min: 1, max: 3 })]));
    let all = read("algorithm = \"x\"\nprocesses = 2\nworkload.clients = 'all'").workload;
    assert_eq!(all.map(|workload| workload.clients), Some(vec![]));
    let windows = read("\u{feff}algorithm = \"x\"\r\nprocesses = 2\r\n");
    assert_eq!(windows.ids, [1, 2]);
}

#[test]
fn every_occasion_has_its_meaning() {
    let when = |process, what, nth| Occasion::When(Trigger { process, what, nth });
    for (text, occasion) in [
        ("20ms", Occasion::At(milliseconds(20))),
        ("1.5 s", Occasion::At(milliseconds(1500))),
        ("0ms", Occasion::At(milliseconds(0))),
        ("when 3 sends Ok:", when(Some(3), TriggerKind::Sends("Ok".into()), 1)),
        ("when 3 receives Ok for the 2nd time:", when(Some(3), TriggerKind::Receives("Ok".into()), 2)),
        ("when anyone leads:", when(None, TriggerKind::Leads, 1)),
        ("when anyone follows for the 11th time :", when(None, TriggerKind::Follows, 11)),
        ("when 2 enters:", when(Some(2), TriggerKind::Enters, 1)),
        ("when 2 leaves:", when(Some(2), TriggerKind::Leaves, 1)),
        ("when 2 decides:", when(Some(2), TriggerKind::Decides, 1)),
        ("when 2 crashes:", when(Some(2), TriggerKind::Crashes, 1)),
        ("after 17 events:", Occasion::After(17)),
        ("after 1 event:", Occasion::After(1)),
        ("when 2 suspects:", when(Some(2), TriggerKind::Suspects, 1)),
    ] {
        assert_eq!(cue(&format!("{text} crash 1")).occasion, occasion, "{text}");
        let ids = [1, 2, 3, 4, 5];
        assert_eq!(script::parse_occasion(text, &Processes::new(&ids)), Ok(occasion), "{text}");
    }
}

#[test]
fn every_action_has_its_meaning() {
    let command = |word: &str, processes| Action::Command { word: word.into(), processes };
    let message = |fate, nth| Action::Message { fate, from: 1, to: 2, nth };
    for (text, meaning) in [
        ("elect 4", command("elect", vec![4])),
        ("elect all", command("elect", vec![1, 2, 3, 4, 5])),
        ("acquire 5,1..3", command("acquire", vec![5, 1, 2, 3])),
        ("step-down 3..1", command("step-down", vec![3, 2, 1])),
        ("propose attack by 1,3", command("propose attack", vec![1, 3])),
        ("propose 7 by all", command("propose 7", vec![1, 2, 3, 4, 5])),
        ("propose 3", command("propose", vec![3])),
        ("crash 5", Action::Crash(vec![5])),
        ("recover 5", Action::Recover { processes: vec![5], amnesia: false }),
        ("recover 4, 5 with amnesia", Action::Recover { processes: vec![4, 5], amnesia: true }),
        ("pause 3", Action::Pause(vec![3])),
        ("resume 3", Action::Resume(vec![3])),
        ("slow 3 by 50ms", Action::Slow { processes: vec![3], by: milliseconds(50) }),
        ("slow 3 by 0ms", Action::Slow { processes: vec![3], by: milliseconds(0) }),
        ("drift 3 by 10%", Action::Drift { processes: vec![3], rate: 1.1 }),
        ("drift 3 by -5 %", Action::Drift { processes: vec![3], rate: 0.95 }),
        ("cut 1-2", Action::Cut(vec![(1, 2), (2, 1)])),
        ("cut 1->2", Action::Cut(vec![(1, 2)])),
        ("cut 1 -> 2, 3-4", Action::Cut(vec![(1, 2), (3, 4), (4, 3)])),
        ("partition 1,2 | 3..5", Action::Partition(vec![vec![1, 2], vec![3, 4, 5]])),
        ("partition 1", Action::Partition(vec![vec![1]])),
        ("heal", Action::Heal(vec![])),
        ("heal 1-2", Action::Heal(vec![(1, 2), (2, 1)])),
        ("loss 5%", Action::Loss(0.05)),
        ("loss 0.05", Action::Loss(0.05)),
        ("suspect 5 by 2", Action::Suspect { by: 2, suspect: 5 }),
        ("restore 5 by 2", Action::Restore { by: 2, restored: 5 }),
        ("deliver 1->2", message(MessageFate::Deliver, 1)),
        ("deliver 3rd 1->2", message(MessageFate::Deliver, 3)),
        ("duplicate 1 -> 2", message(MessageFate::Duplicate, 1)),
        ("lose 2nd 1->2", message(MessageFate::Lose, 2)),
        ("delay 2nd 1->2 by 50ms", message(MessageFate::Delay(milliseconds(50)), 2)),
        ("fire 2 Retry(3, @1) ", Action::Fire { process: 2, timer: "Retry(3, @1)".to_owned() }),
    ] {
        assert_eq!(action(text), meaning, "{text}");
        let ids = [1, 2, 3, 4, 5];
        assert_eq!(script::parse_action(&meaning.to_string(), &Processes::new(&ids)), Ok(meaning), "{text}");
    }
}
