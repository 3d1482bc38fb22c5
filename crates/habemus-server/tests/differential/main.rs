//! The same requests to etcd and to habemusd, and the same answers: keys, revisions, events, errors.
//!
//! `HABEMUS_REQUESTS=20000 cargo test -p habemus-server --test differential` sends more of them, and
//! `HABEMUS_SEED=7` others. Without Debian's etcd-server nothing is compared, and the test says so.

mod answers;
mod gateway;
mod oracle;
mod requests;
#[path = "../server/support.rs"]
#[allow(dead_code)]
mod support;

use rand_pcg::Pcg32;

use crate::answers::{Answered, Both};
use crate::requests::Generator;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn etcd_and_habemus_answer_alike() {
    if !support::installed("etcd", "etcd-server") {
        return;
    }
    let directory = support::Directory::new();
    let etcd = oracle::Etcd::start(&directory.join("etcd"));
    let habemus = support::Running::start(&directory.join("habemus"), &[]);
    let mut both = Both::new(&etcd.address, habemus.address()).await;
    let seed = setting("HABEMUS_SEED", 1);
    let mut generator = Generator::new(Pcg32::new(seed, 0));
    let (mut refused, count) = (0, setting("HABEMUS_REQUESTS", 300));
    for number in 0..count {
        let request = generator.next();
        let (theirs, ours) = both.send(&request).await;
        assert_eq!(
            ours, theirs,
            "seed {seed}, request {number}: {request:?}\nleft is habemus, right is etcd"
        );
        generator.note(&theirs);
        refused += u64::from(matches!(theirs, Answered::Refused { .. }));
    }
    assert!(refused > count / 50 && refused < count / 2, "{refused} of {count} were refused");
    let (theirs, ours) = both.watched(generator.revision()).await;
    assert!(theirs.len() as u64 > count / 5, "there was something to watch");
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs, "seed {seed}: left is what habemus told a watcher, right what etcd did");
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn programs_run_under_the_locks_of_etcd_too() {
    if !support::installed("etcd", "etcd-server") {
        return;
    }
    let directory = support::Directory::new();
    let etcd = oracle::Etcd::start(&directory.join("etcd"));
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_habemusctl"));
        command.args(arguments).env("HABEMUS_ENDPOINTS", &etcd.address).stdin(std::process::Stdio::null());
        let output = command.output().expect("habemusctl was built");
        (output.status.code(), String::from_utf8(output.stdout).expect("it writes text"))
    };
    // Inside, the lock is held for everybody else, and seen to be.
    let own = env!("CARGO_BIN_EXE_habemusctl");
    let script =
        format!("{own} lock door --try -- true; echo $?; {own} locks door | grep -c ' holds '; exit 3");
    assert_eq!(run(&["lock", "door", "--", "sh", "-c", &script]), (Some(3), "124\n1\n".to_owned()));
    assert_eq!(run(&["lock", "door", "--try", "--", "true"]).0, Some(0), "it is free again");
    let script = format!("{own} leader seat | cut -d' ' -f2");
    let elected = run(&["elect", "seat", "--value", "me", "--", "sh", "-c", &script]);
    assert_eq!(elected, (Some(0), "me\n".to_owned()));
    assert_eq!(run(&["leader", "seat"]), (Some(1), "nobody\n".to_owned()));
}
