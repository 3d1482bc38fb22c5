//! The console at a real terminal, and what an interrupt leaves behind.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{command, file, scratch};

/// However loaded the machine, this is long enough.
const LONG: Duration = Duration::from_secs(90);

/// A program at a terminal of 80 columns, and who sits there.
struct Terminal {
    child: Child,
    keys: File,
    shown: mpsc::Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn run(arguments: &[&str]) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are terminals");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let name = name.to_str().expect("it is plain");
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("it has a size");
        let end =
            || Stdio::from(File::options().read(true).write(true).open(name).expect("it can be opened"));
        let mut command = command(arguments);
        command.env("TERM", "xterm").stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().expect("habemus can be run");
        let mut screen = File::from(master);
        let keys = screen.try_clone().expect("it can be shared");
        let (says, shown) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // It fails when nobody is at the other end any more.
            while let Ok(count) = screen.read(&mut bytes) {
                if count == 0 || says.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Terminal { child, keys, shown, seen: String::new() }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("somebody reads");
    }

    /// Waits until this is shown, and forgets everything up to it.
    fn until(&mut self, expected: &str) -> String {
        loop {
            if let Some(place) = self.seen.find(expected) {
                let rest = self.seen.split_off(place + expected.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            match self.shown.recv_timeout(LONG) {
                Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes),
                Err(_) => panic!("'{expected}' does not come: {}", self.seen),
            }
        }
    }

    /// Waits until this is painted, wherever: only cells that change are written, blanks are left out, and
    /// the cursor jumps.
    fn until_painted(&mut self, expected: &str) {
        let expected: String = expected.split_whitespace().collect();
        while !painted(&self.seen).contains(&expected) {
            match self.shown.recv_timeout(LONG) {
                Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes),
                Err(_) => panic!("'{expected}' does not come: {}", painted(&self.seen)),
            }
        }
        self.seen.clear();
    }

    fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().expect("it ends").code()
    }
}

/// What is written, without blanks and without what moves the cursor or changes colours.
fn painted(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    let shown = |part: &str| {
        let end = part.find(|sign: char| sign.is_ascii_alphabetic()).map_or(part.len(), |place| place + 1);
        part[end..].to_owned()
    };
    let all = first + &parts.map(shown).collect::<String>();
    all.split_whitespace().collect()
}

#[test]
fn a_terminal_gets_a_prompt_with_completion_history_and_events_with_their_times() {
    let mut terminal = Terminal::run(&["cluster", "bully", "-n", "3"]);
    terminal.until("3 leads, and every live node knows it.");
    terminal.until("bully> ");
    terminal.press("lea\t");
    terminal.until("leader ");
    terminal.press("\r");
    terminal.until("3 leads, and every live node knows it");
    terminal.until("bully> ");
    terminal.press("kill 3\r");
    terminal.until(" s  2 leads");
    terminal.until(" s  1 follows 2");
    // The line before comes back.
    terminal.press("\x1b[A");
    terminal.until("kill 3");
    terminal.press("\x15frobnicate\r");
    terminal.until("there is no 'frobnicate' here");
    terminal.until("bully> ");
    terminal.press("\x03");
    terminal.until("it was interrupted");
    assert_eq!(terminal.exit_code(), Some(3));
}

#[test]
fn the_dashboard_shows_the_nodes_and_takes_faults_by_keys() {
    let mut terminal = Terminal::run(&["cluster", "majority", "-n", "3", "--dashboard"]);
    terminal.until_painted("majority, 3 nodes");
    terminal.press("k");
    terminal.until_painted("> kill 1");
    terminal.press("r");
    terminal.until_painted("> restart 1");
    terminal.press("q");
    terminal.until("the dashboard was closed");
    assert!(matches!(terminal.exit_code(), Some(0 | 3)));
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).expect("it is there").next().is_none()
}

#[test]
fn an_interrupt_ends_a_scenario_says_what_was_reached_and_leaves_nothing_behind() {
    let folder = scratch("interrupted-cluster");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let scenario =
        "algorithm = \"chang-roberts\"\nprocesses = 2\nuntil = \"1h\"\nscript = [\"0ms elect 1\"]\n";
    let path = file("endless-on-nodes.toml", scenario);
    let mut command = command(&["cluster", &path, "--patience", "1h"]);
    command.env("TMPDIR", &folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("it can be started");
    // Both nodes have written something down: the run has begun.
    let has_begun = || {
        let clusters = std::fs::read_dir(&folder).expect("it is there").flatten();
        let trace = |cluster: &Path, id: u32| cluster.join(format!("node-{id}/trace.jsonl"));
        clusters.map(|cluster| cluster.path()).any(|it| (1..=2).all(|id| trace(&it, id).is_file()))
    };
    let begin = std::time::Instant::now();
    while !has_begun() {
        assert!(begin.elapsed() < LONG, "it does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    kill_process(Pid::from_child(&child), Signal::INT).expect("it lives");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("interrupted") && !said.contains("after 0 ms"), "{said}");
    assert!(is_empty(&folder), "something is left");
}
