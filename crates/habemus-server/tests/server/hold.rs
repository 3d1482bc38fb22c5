//! Programs under a lock: whatever becomes of the one that started them, they are dead before anybody else is
//! inside.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::proxy::Proxy;
use crate::support::{Directory, PATIENCE, Running, lines};

fn member() -> (Directory, Running) {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    (directory, member)
}

fn command(member: &Running, arguments: &[&str]) -> Command {
    command_at(member.address(), arguments)
}

fn command_at(address: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_habemusctl"));
    command.args(arguments).env("HABEMUS_ENDPOINTS", address).stdin(Stdio::null());
    command
}

fn output(member: &Running, arguments: &[&str]) -> Output {
    command(member, arguments).output().expect("habemusctl was built")
}

fn told(member: &Running, arguments: &[&str]) -> (Option<i32>, String) {
    let output = output(member, arguments);
    (output.status.code(), String::from_utf8(output.stdout).expect("it writes text"))
}

/// A program under a lock that says the numbers of its own process and of one that it has started, and goes
/// on for ever.
struct Holding {
    wrapper: Child,
    pids: [String; 2],
}

impl Holding {
    fn start(member: &Running, options: &[&str]) -> Holding {
        Holding::start_by(member.address(), "lock", options, &[])
    }

    /// By `lock` or by `elect`, at an address, with variables of the environment.
    fn start_by(address: &str, task: &str, options: &[&str], variables: &[(&str, &str)]) -> Holding {
        // The one that it starts leaves the group, starts another that does, too, and none of them wants to
        // end.
        let inner = "trap \\\"\\\" TERM; while :; do sleep 0.1; done";
        let script = format!(
            "trap '' TERM; setsid sh -c 'trap \"\" TERM; setsid sh -c \"{inner}\" & while :; do sleep 0.1; \
                done' & \
             echo $$ $!; while :; do sleep 0.1; done"
        );
        let arguments = [&[task, "door"], options, &["--", "sh", "-c", &script]].concat();
        let mut wrapper = command_at(address, &arguments);
        let mut wrapper = wrapper
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .expect("habemusctl was built");
        let said = lines(&mut wrapper).recv_timeout(PATIENCE).expect("it is inside");
        let (own, other) = said.split_once(' ').expect("it says two numbers");
        Holding { pids: [own.to_owned(), other.to_owned()], wrapper }
    }

    fn signal(&self, name: &str) {
        let pid = self.wrapper.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status();
        assert!(sent.expect("there is a program to send signals").success());
    }

    /// Waits for the lock; when it is had, both must be dead. Says how long that took.
    fn next_is_alone(&self, member: &Running) -> Duration {
        let asked = Instant::now();
        assert!(self.are_dead_when_next_is_inside(member), "somebody is inside who should be dead");
        asked.elapsed()
    }

    /// Waits for the lock, and says whether both are dead when it is had.
    fn are_dead_when_next_is_inside(&self, member: &Running) -> bool {
        let [own, other] = &self.pids;
        // A zombie is dead, whether or not anybody has taken note of it.
        let alive = |pid: &str| format!("grep -qs '^State:.[^Z]' /proc/{pid}/status");
        let script = format!("if {} || {}; then exit 77; fi", alive(own), alive(other));
        let (code, _) = told(member, &["lock", "door", "--wait", "30s", "--", "sh", "-c", &script]);
        assert!(matches!(code, Some(0 | 77)), "the lock cannot be had: {code:?}");
        code == Some(0)
    }
}

/// Lets somebody hold the lock by a session that nobody renews any more, and sees to it that it is dead when
/// the next one is inside. Whoever must kill it has a few hundredths of a session's time for that: a machine
/// that gives it no turn for so long, of which the token must save the resource, is given another chance,
/// with a longer session.
fn dies_in_time(member: &Running, attempt: impl Fn(&str) -> Holding) {
    let ttls = ["1s", "1s", "2s", "5s"];
    let in_time = ttls.iter().any(|ttl| attempt(ttl).are_dead_when_next_is_inside(member));
    assert!(in_time, "somebody is inside who should be dead, with sessions of {ttls:?}");
}

impl Drop for Holding {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.wrapper.kill());
        drop(self.wrapper.wait());
    }
}

#[test]
fn a_program_runs_under_a_lock_and_its_code_is_told() {
    let (_directory, member) = member();
    let script = "echo $HABEMUS_LOCK $((HABEMUS_TOKEN == ETCD_LOCK_REV)) ${ETCD_LOCK_KEY%/*}; exit 7";
    let (code, said) = told(&member, &["lock", "door", "--", "sh", "-c", script]);
    assert_eq!((code, said.as_str()), (Some(7), "door 1 door\n"));
    assert_eq!(told(&member, &["lock", "door", "--", "sh", "-c", "kill -9 $$"]).0, Some(128 + 9));
    assert_eq!(told(&member, &["lock", "door", "--", "/nowhere/at/all"]).0, Some(127));
    assert_eq!(told(&member, &["lock", "door", "--", "/"]).0, Some(126));
    assert_eq!(told(&member, &["locks"]).1.lines().count(), 1, "nobody is left");
}

#[test]
fn input_and_signals_are_passed_on() {
    use std::io::Write;
    let (_directory, member) = member();
    let mut cat = command(&member, &["lock", "door", "--", "cat"]);
    let mut cat = cat.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("habemusctl was built");
    cat.stdin.take().expect("it was piped").write_all(b"through\n").expect("it reads");
    let output = cat.wait_with_output().expect("it is ours");
    assert_eq!(output.stdout, b"through\n");

    let script = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let mut wrapper = command(&member, &["lock", "door", "--", "sh", "-c", script]);
    let mut wrapper = wrapper.stdout(Stdio::piped()).spawn().expect("habemusctl was built");
    assert_eq!(lines(&mut wrapper).recv_timeout(PATIENCE).as_deref(), Ok("ready"));
    let sent = Command::new("kill").arg(wrapper.id().to_string()).status();
    assert!(sent.expect("there is a program to send signals").success());
    assert_eq!(wrapper.wait().expect("it is ours").code(), Some(5));
}

#[test]
fn whoever_does_not_wait_is_told_and_leaves_no_trace() {
    let (_directory, member) = member();
    let holding = Holding::start(&member, &[]);
    assert_eq!(told(&member, &["lock", "door", "--try", "--", "true"]).0, Some(124));
    assert_eq!(told(&member, &["lock", "door", "--wait", "200ms", "--", "true"]).0, Some(124));
    let (_, locks) = told(&member, &["locks"]);
    assert_eq!(locks.lines().count(), 2, "{locks}");
    assert!(locks.lines().nth(1).is_some_and(|line| line.starts_with("door ") && line.contains(" holds ")));
    assert_eq!(told(&member, &["locks", "door"]).1, locks);
    drop(holding);
}

#[test]
fn a_wrapper_that_is_killed_takes_the_program_with_it_and_nobody_waits() {
    let (_directory, member) = member();
    let holding = Holding::start(&member, &["--ttl", "60s"]);
    holding.signal("KILL");
    assert!(holding.next_is_alone(&member) < Duration::from_secs(20), "nobody waits for the session's end");
}

#[test]
fn a_wrapper_that_is_stopped_loses_the_program_in_time() {
    let (_directory, member) = member();
    dies_in_time(&member, |ttl| {
        let holding = Holding::start(&member, &["--ttl", ttl, "--grace", "200ms"]);
        holding.signal("STOP");
        holding
    });
}

#[test]
fn a_service_that_does_not_answer_costs_the_program_its_life() {
    let (_directory, member) = member();
    let mut holding = Holding::start(&member, &["--ttl", "1s", "--grace", "200ms"]);
    member.signal("STOP");
    assert_eq!(holding.wrapper.wait().expect("it is ours").code(), Some(123));
    member.signal("CONT");
    holding.next_is_alone(&member);
}

#[test]
fn a_short_session_has_a_short_grace_and_one_that_leaves_no_time_is_refused() {
    let (_directory, member) = member();
    let run = ["--", "sh", "-c", "sleep 0.3"];
    assert_eq!(told(&member, &[&["lock", "door", "--ttl", "2s"], &run[..]].concat()).0, Some(0));
    let output = output(&member, &[&["lock", "door", "--ttl", "2s", "--grace", "1500ms"], &run[..]].concat());
    assert_eq!(output.status.code(), Some(125));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("give 1s or less, or a longer --ttl"), "{said}");
}

#[test]
fn a_leader_is_seen_and_so_is_that_nobody_leads() {
    let (_directory, member) = member();
    assert_eq!(told(&member, &["leader", "seat"]), (Some(1), "nobody\n".to_owned()));
    let mut follower = command(&member, &["leader", "seat", "--follow"]);
    let mut follower = follower.stdout(Stdio::piped()).spawn().expect("habemusctl was built");
    let seen = lines(&mut follower);
    let next = || seen.recv_timeout(PATIENCE).expect("it is told");
    assert_eq!(next(), "nobody");
    let arguments = ["elect", "seat", "--value", "me", "--", "sh", "-c", "echo $HABEMUS_TOKEN; sleep 0.3"];
    let (code, token) = told(&member, &arguments);
    assert_eq!(code, Some(0));
    assert_eq!(next(), format!("{} me", token.trim_end()));
    assert_eq!(next(), "nobody");
    follower.kill().and_then(|()| follower.wait()).expect("it is ours");
    let (code, status) = told(&member, &["status"]);
    assert!(code == Some(0) && status.contains(" leader "), "{status}");
}

#[test]
fn a_service_that_is_not_there_is_told_as_such() {
    let mut nowhere = Command::new(env!("CARGO_BIN_EXE_habemusctl"));
    nowhere.args(["lock", "door", "--endpoints", "127.0.0.1:1", "--", "true"]).stdin(Stdio::null());
    assert_eq!(nowhere.output().expect("habemusctl was built").status.code(), Some(125));
}

#[test]
fn a_network_that_is_cut_costs_the_program_its_life_before_another_is_inside() {
    let (_directory, member) = member();
    let proxy = Proxy::to(member.address());
    // A network that says nothing, and one that says that it is cut, and stays so.
    for breaks in [false, true] {
        dies_in_time(&member, |ttl| {
            proxy.heal();
            let options = ["--ttl", ttl, "--grace", "200ms"];
            let holding = Holding::start_by(proxy.address(), "lock", &options, &[]);
            proxy.silence();
            if breaks {
                proxy.break_all();
            }
            holding
        });
    }
    proxy.heal();
    let mut holding = Holding::start_by(proxy.address(), "lock", &["--ttl", "1s", "--grace", "200ms"], &[]);
    proxy.silence();
    assert_eq!(holding.wrapper.wait().expect("it is ours").code(), Some(123));
}

#[test]
fn a_leader_that_is_cut_off_is_dead_before_another_leads_and_leads_again_when_it_can() {
    let (_directory, member) = member();
    let proxy = Proxy::to(member.address());
    let cut_off = |ttl: &str| {
        proxy.heal();
        let options = ["--ttl", ttl, "--grace", "200ms", "--value", "cut off"];
        let holding = Holding::start_by(proxy.address(), "elect", &options, &[]);
        proxy.silence();
        holding
    };
    // A lock and an election of one name are the same queue.
    dies_in_time(&member, cut_off);
    let _holding = cut_off("1s");
    assert_eq!(told(&member, &["lock", "door", "--wait", "30s", "--", "true"]).0, Some(0), "it has lost it");
    proxy.heal();
    let deadline = Instant::now() + PATIENCE;
    while told(&member, &["leader", "door"]).0 != Some(0) {
        assert!(Instant::now() < deadline, "it does not lead again");
    }
    assert!(told(&member, &["leader", "door"]).1.ends_with("cut off\n"));
}

/// Debian's library that lies to a program about the time, if it is there.
fn faketime() -> Option<std::path::PathBuf> {
    let mut found = std::fs::read_dir("/usr/lib")
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("faketime/libfaketime.so.1"));
    let found = found.find(|path| path.exists());
    if found.is_none() {
        eprintln!("NOT TESTED: libfaketime is missing. Install it with: sudo apt-get install libfaketime");
    }
    found
}

#[test]
fn a_clock_that_is_set_changes_nothing() {
    let Some(library) = faketime() else { return };
    let (directory, member) = member();
    let file = directory.join("time");
    std::fs::write(&file, "+0\n").expect("it is ours");
    let text = |path: &std::path::Path| path.to_str().expect("it is a text").to_owned();
    let (library, path) = (text(&library), text(&file));
    // Clocks that cannot be set are not lied about: the machine's own cannot be set here without setting
    // everybody's.
    let variables = [
        ("LD_PRELOAD", library.as_str()),
        ("FAKETIME_TIMESTAMP_FILE", path.as_str()),
        ("FAKETIME_NO_CACHE", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
    ];
    let date = || {
        let output = Command::new("date").arg("+%s").envs(variables).output().expect("there is a clock");
        String::from_utf8_lossy(&output.stdout).trim().parse::<i64>().expect("it is a number")
    };
    let before = date();
    let options = ["--ttl", "2s", "--grace", "200ms"];
    let mut holding = Holding::start_by(member.address(), "lock", &options, &variables);
    for step in ["+1h", "-1h"] {
        std::fs::write(&file, format!("{step}\n")).expect("it is ours");
        assert!((date() - before).abs() > 3000, "the clock was set");
        // Longer than it would take to be lost.
        std::thread::sleep(Duration::from_millis(2500));
        assert_eq!(holding.wrapper.try_wait().expect("it is ours"), None, "it holds it still");
        assert_eq!(told(&member, &["lock", "door", "--try", "--", "true"]).0, Some(124));
    }
    // And it is dead in time all the same.
    member.signal("STOP");
    std::fs::write(&file, "-2h\n").expect("it is ours");
    assert_eq!(holding.wrapper.wait().expect("it is ours").code(), Some(123));
    member.signal("CONT");
    holding.next_is_alone(&member);
}
