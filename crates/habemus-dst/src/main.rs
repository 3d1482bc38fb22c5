//! Plays seeds, on all cores, and shows what must not have happened.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write, stderr};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use habemus_dst::{Kind, Outcome, Seen, ending, play, shrink, soak, tell};

/// Deterministic simulation testing of the service: members, disks, clocks, network and clients from one
/// seed.
///
/// Each seed is a run of some 20 s of virtual time: first machines crash, disks tear and fill, networks lose,
/// double and cut, clocks drift, members come and go; then everything is well, and everybody must be served
/// again. A run that breaks a promise is repeated by its seed alone, and shown with as few faults as still
/// break it.
#[derive(Parser)]
#[command(
    name = "habemus vopr",
    version,
    after_help = "Examples:
  habemus vopr --seeds 1000        a thousand runs, on all cores
  habemus vopr --first 4711 --seeds 1 --trace run.jsonl
                                   one run again, with its faults if it fails, and a trace of it
  habemus vopr --hours 24          one run of a day, with what it holds of memory and disk
  habemus draw run.jsonl           what happened at the end of it

It exits with 0 if every promise was kept, with 1 if one was not, and with 2 if the command makes no sense."
)]
struct Flags {
    /// How many seeds are played.
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// On how many threads; all cores if nothing is said.
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// A violation is shown as it came, not with fewer faults.
    #[arg(long)]
    no_shrinking: bool,
    /// Where the trace of a violation is written; or that of the first seed, if every promise is kept.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// How many events the trace has at most, counted from the end; 0 for all.
    #[arg(long, value_name = "COUNT", default_value_t = 300)]
    events: usize,
    /// Instead, one run of the first seed for so many virtual hours, with the same members.
    #[arg(long, value_name = "COUNT", conflicts_with = "trace")]
    hours: Option<u64>,
}

/// So many seeds have everything that can go wrong, or something is wrong with them.
const ENOUGH: u64 = 500;

/// What all runs together came to.
#[derive(Default)]
struct Sum {
    runs: u64,
    micros: u64,
    events: u64,
    answered: u64,
    entered: u64,
    seen: Seen,
    violations: Vec<Outcome>,
}

impl Sum {
    fn add(&mut self, outcome: Outcome) {
        self.runs += 1;
        self.micros += outcome.micros;
        self.events += outcome.events;
        self.answered += outcome.answered;
        self.entered += outcome.entered;
        self.seen.add(&outcome.seen);
        if outcome.violation.is_some() {
            self.violations.push(outcome);
        }
    }
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let threads = flags.threads.unwrap_or(cores);
    // A panic is a violation, too, and would not say where it came from.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let thread = std::thread::current();
        eprintln!("panic while playing {}", thread.name().unwrap_or("a seed"));
        hook(info);
    }));
    if let Some(hours) = flags.hours {
        return soak_for(hours, flags.first);
    }
    let begin = Instant::now();
    let sum = play_all(&flags, threads);
    show(&sum, begin.elapsed(), threads);
    let mut failed = None;
    for outcome in &sum.violations {
        failed = Some(show_violation(outcome.clone(), !flags.no_shrinking));
    }
    if let Some(path) = &flags.trace {
        let outcome = failed.unwrap_or_else(|| play(flags.first));
        if let Err(error) = write_trace(path, flags.events, &outcome) {
            eprintln!("{}: {error}", path.display());
            return ExitCode::from(2);
        }
    }
    // What never happened proves nothing.
    let is_quiet = flags.seeds >= ENOUGH && !sum.seen.missing().is_empty();
    if sum.violations.is_empty() && !is_quiet { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One long run, with a line for each hour of it.
fn soak_for(hours: u64, seed: u64) -> ExitCode {
    let (begin, mut shown) = (Instant::now(), 0);
    println!("  hour     events  revisions   answered     inside  disk kB  store kB  memory kB     seconds");
    let played = soak(seed, (hours * 3600).div_ceil(33), |standing| {
        let hour = standing.micros / 3_600_000_000;
        if hour > shown {
            shown = hour;
            println!(
                "{hour:>6} {:>10} {:>10} {:>10} {:>10} {:>8} {:>9} {:>10} {:>11.1}",
                standing.events,
                standing.revisions,
                standing.answered,
                standing.entered,
                standing.disk / 1000,
                standing.store / 1000,
                resident_kilobytes().map_or("?".to_owned(), |kilobytes| kilobytes.to_string()),
                begin.elapsed().as_secs_f64()
            );
        }
    });
    match played {
        Ok(standing) => {
            let all = standing.seen.count(Kind::Fault);
            println!("{all} calamities, and every promise was kept");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("seed {seed}, after {shown} hours: {why}");
            ExitCode::FAILURE
        }
    }
}

/// How much memory this process has, where the system says so.
fn resident_kilobytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Plays all seeds; stops soon after the first violation.
fn play_all(flags: &Flags, threads: NonZeroUsize) -> Sum {
    let (next, sum) = (AtomicU64::new(0), Mutex::new(Sum::default()));
    let shown = Mutex::new(Instant::now());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= flags.seeds {
                return;
            }
            let seed = flags.first.wrapping_add(number);
            // A thread of its own for each seed carries its name, for the case of a panic.
            let name = format!("seed {seed}");
            let playing = std::thread::Builder::new().name(name).spawn(move || play(seed));
            let Some(outcome) = playing.ok().and_then(|playing| playing.join().ok()) else {
                eprintln!("seed {seed} did not come to its end");
                std::process::exit(1);
            };
            if outcome.violation.is_some() {
                next.store(flags.seeds, Ordering::Relaxed);
            }
            let mut sum = sum.lock().expect("no thread panics with it");
            sum.add(outcome);
            report_progress(&shown, sum.runs, flags.seeds);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.get() {
            scope.spawn(work);
        }
    });
    sum.into_inner().expect("no thread panics with it")
}

fn report_progress(shown: &Mutex<Instant>, runs: u64, seeds: u64) {
    let mut shown = shown.lock().expect("no thread panics with it");
    let every = if stderr().is_terminal() { Duration::from_secs(1) } else { Duration::from_secs(30) };
    if shown.elapsed() >= every {
        *shown = Instant::now();
        let _ = writeln!(stderr(), "{runs} of {seeds} seeds");
    }
}

fn show(sum: &Sum, took: Duration, threads: NonZeroUsize) {
    let seconds = sum.micros as f64 / 1e6;
    println!(
        "{} runs, {:.1} virtual minutes in {:.1} s on {threads} threads",
        sum.runs,
        seconds / 60.0,
        took.as_secs_f64()
    );
    let per_core = seconds / 60.0 / took.as_secs_f64().max(1e-9) / threads.get() as f64;
    println!("{per_core:.2} virtual minutes a second and thread, {} events", sum.events);
    println!("{} calls about keys answered, {} times inside a lock", sum.answered, sum.entered);
    print!("{}", sum.seen);
    for (kind, name) in sum.seen.missing() {
        println!("never seen of {kind}: {name}");
    }
    if sum.violations.is_empty() {
        println!("every promise was kept");
    }
}

/// Shows a violation, with as few faults as still lead to one, and gives that run.
fn show_violation(outcome: Outcome, shrinks: bool) -> Outcome {
    let seed = outcome.seed;
    println!("\nseed {seed}: {}", outcome.violation.as_deref().unwrap_or_default());
    println!("again: habemus vopr --first {seed} --seeds 1");
    if !shrinks {
        return outcome;
    }
    eprintln!("looking for fewer faults than {}", outcome.script.len());
    let small = shrink(outcome, |_| {});
    println!("with {} faults: {}", small.script.len(), small.violation.as_deref().unwrap_or_default());
    print!("{}", small.script);
    small
}

fn write_trace(path: &Path, events: usize, outcome: &Outcome) -> std::io::Result<()> {
    let trace = tell(outcome.seed, outcome.script.clone());
    let trace = ending(trace, if events == 0 { usize::MAX } else { events });
    trace.write(BufWriter::new(File::create(path)?))?;
    let file = path.display();
    println!("the last {} events are in {file}: habemus draw {file}", trace.records.len());
    Ok(())
}
