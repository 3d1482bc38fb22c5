//! A member that somebody starts at a terminal, and what it makes of it that the terminal is gone.

use std::fs::File;
use std::io::{BufRead, BufReader};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{Directory, Running, command, put, signal};

#[test]
fn who_started_it_at_a_terminal_and_closes_that_has_stopped_it() {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are terminals");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let terminal = File::open(name.to_str().expect("it is plain")).expect("it can be opened");
    let directory = Directory::new();
    let data = directory.join("data").display().to_string();
    let mut member = Running::begin(command(&["--listen", "127.0.0.1:0", "--data", &data]).stdin(terminal));
    member.signal("HUP");
    assert_eq!(member.wait(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_takes_the_same_signal_for_new_certificates_and_goes_on() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    member.signal("HUP");
    put(&member.channel().await, "a", "1").await.expect("it answers");
    assert_eq!(member.stop(), Some(0));
}

#[test]
fn a_log_that_nobody_reads_any_more_stops_no_member() {
    let directory = Directory::new();
    let data = directory.join("data").display().to_string();
    let mut child =
        command(&["--listen", "127.0.0.1:0", "--data", &data]).spawn().expect("habemusd was built");
    let mut log = BufReader::new(child.stderr.take().expect("it was piped"));
    let mut line = String::new();
    while !line.contains(" listens ") {
        line.clear();
        assert_ne!(log.read_line(&mut line).expect("it is text"), 0, "it does not listen");
    }
    drop(log);
    signal(&child, "TERM");
    assert_eq!(
        child.wait().expect("it is ours").code(),
        Some(0),
        "it says that it stops, and nobody hears it"
    );
}
