//! Ctrl-C in the midst of every command that takes long: it ends, says so by its exit code, and nothing goes
//! on.
//!
//! How long that takes is printed (`--nocapture`), and judged where the machine is known to be idle: with
//! `HABEMUS_IDLE=1` a second is the limit.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// However loaded the machine, this is long enough.
const LONG: Duration = Duration::from_secs(90);

/// The directory in which this build's programs are.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_habemus-demo")).parent().expect("it is in a directory").to_owned()
}

/// A command that takes long, and how it ends when it is interrupted.
struct Long {
    line: &'static str,
    /// What it says when it is where it is to be interrupted; otherwise that is as soon as it listens to
    /// signals.
    says: &'static str,
    code: i32,
}

const fn long(line: &'static str) -> Long {
    Long { line, says: "", code: 3 }
}

const ALL: &[Long] = &[
    long("habemus run bully -n 20000"),
    long("habemus sweep majority -n 5 --crash-rate 2/s --seeds 100000000"),
    long("habemus compare bully all-to-all -n 5000"),
    long("habemus check ricart-agrawala -n 4 --entries any"),
    long("habemus check bully -n 4 --crashes 1 --recoveries 1"),
    long("habemus guarantees"),
    long("habemus mutants"),
    long("habemus cost --all"),
    long("habemus detectors --seeds 100000000"),
    long("habemus quorum --coordinators 33 --failure 1% --samples 100000000000"),
    long("habemus cluster ENDLESS"),
    long("habemus cluster bully -n 3"),
    Long { says: "http://", code: 0, ..long("habemus lab --page PAGE --port 0 --no-browser") },
    Long { says: "listens", code: 0, ..long("habemusd --listen 127.0.0.1:0 --data DATA") },
    long("habemus-demo"),
    Long { says: "fail-over", ..long("habemus-demo") },
    Long { says: "kill -STOP", ..long("habemus-demo") },
    Long { says: "--follow", code: 0, ..long("habemus-demo --keep --no-browser") },
];

/// Waits until something is the case.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONG, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process has something of its own to do about Ctrl-C.
fn listens(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
    let caught = caught.and_then(|caught| u64::from_str_radix(caught, 16).ok()).unwrap_or_default();
    caught & 1 << (Signal::INT.as_raw() - 1) != 0
}

/// The processes that have this in their environment.
fn with_mark(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("there is a list of processes").flatten();
    let environments = processes.filter_map(|process| std::fs::read(process.path().join("environ")).ok());
    environments.filter(|text| text.windows(mark.len()).any(|part| part == mark.as_bytes())).count()
}

/// Interrupts one of them in its midst, as a terminal does: everybody in its group is told.
fn interrupt(long: &Long, folder: &Path) {
    let line = long.line;
    let place = |name: &str| folder.join(name).display().to_string();
    let words = line.split(' ').map(|word| match word {
        "PAGE" => place("page"),
        "DATA" => place("data"),
        "ENDLESS" => place("endless.toml"),
        word => word.to_owned(),
    });
    let words: Vec<String> = words.collect();
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).expect("a directory can be made");
    std::fs::create_dir_all(folder.join("page")).expect("a directory can be made");
    std::fs::write(folder.join("page/index.html"), "<p>lab").expect("a file can be written");
    let endless =
        "algorithm = \"chang-roberts\"\nprocesses = 2\nuntil = \"1h\"\nscript = [\"0ms elect 1\"]\n";
    std::fs::write(folder.join("endless.toml"), endless).expect("a file can be written");
    let said = folder.join("said");
    let file =
        || Stdio::from(File::options().append(true).create(true).open(&said).expect("a file can be made"));
    let mut command = Command::new(programs().join(&words[0]));
    command.args(&words[1..]).stdin(Stdio::piped()).stdout(file()).stderr(file()).process_group(0);
    command.env("TMPDIR", &temporary).env("HABEMUS_LAB", place("page")).env("INTERRUPTED_IN", folder);
    let mut child = command.spawn().expect("it was built");
    let told = || std::fs::read_to_string(&said).unwrap_or_default();
    until(line, || listens(&child) && told().contains(long.says));
    std::thread::sleep(Duration::from_millis(300));
    let pid = Pid::from_child(&child);
    let begin = Instant::now();
    kill_process_group(pid, Signal::INT).unwrap_or_else(|_| panic!("{line} has ended by itself: {}", told()));
    let mut ended = None;
    while ended.is_none() && begin.elapsed() < LONG {
        ended = child.try_wait().expect("it is a child of ours");
        std::thread::sleep(Duration::from_millis(5));
    }
    if ended.is_none() {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.wait();
    let code = ended.and_then(|status| status.code());
    let took = begin.elapsed();
    println!("{:5} ms  {code:?}  {line}", took.as_millis());
    assert_eq!(code, Some(long.code), "{line}: {}", told());
    assert!(std::env::var_os("HABEMUS_IDLE").is_none() || took.as_secs() < 1, "{line} took {took:?}");
    until("nothing is left behind", || with_mark(&format!("INTERRUPTED_IN={}\0", folder.display())) == 0);
    let left: Vec<_> = std::fs::read_dir(&temporary).expect("it is there").flatten().collect();
    assert!(left.is_empty(), "{line} leaves {left:?}");
}

/// The next one that nobody has taken yet.
fn next_of(next: &AtomicUsize) -> (usize, Option<&'static Long>) {
    let index = next.fetch_add(1, Ordering::Relaxed);
    (index, ALL.get(index))
}

#[test]
fn an_interrupt_ends_every_command_with_its_code_and_leaves_nothing_behind() {
    // Most of them wait rather than compute: some at once.
    let next = AtomicUsize::new(0);
    let work = || {
        while let (index, Some(long)) = next_of(&next) {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("interrupted-{index}"));
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).expect("a directory can be made");
            interrupt(long, &folder);
        }
    };
    std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(work))));
}
