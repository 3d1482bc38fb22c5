//! Everything that is measured, and what is required of it.

use std::process::{Command, ExitCode};

use habemus::election::chang_roberts::ChangRoberts;

use crate::measurement::Measurement;
use crate::ring::Latency;
use crate::table::{Required, Table, figure};

/// How large the systems are, and how often they run.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The sizes of the rings, in rising order.
    sizes: &'static [usize],
    /// Small rings hold so many elections that they have about as many processes together as this.
    processes: usize,
    /// How often the competitors take turns.
    rounds: usize,
    /// How often the simulator passes the token.
    hops: u64,
    /// How often the peers do: they are slow, and one of them keeps a log of everything in memory.
    peer_hops: u64,
    /// How many seeds a sweep has.
    seeds: u64,
    /// Whether figures are held against what is required.
    judging: bool,
    /// The program of each peer.
    anysystem: String,
    madsim: String,
}

impl Settings {
    /// What the requirements are about.
    pub(crate) fn full(anysystem: &str, madsim: &str) -> Self {
        Settings {
            sizes: &[1_000, 100_000, 1_000_000],
            processes: 200_000,
            rounds: 5,
            hops: 10_000_000,
            peer_hops: 200_000,
            seeds: 500,
            judging: true,
            anysystem: anysystem.to_owned(),
            madsim: madsim.to_owned(),
        }
    }

    /// A quick look, which shows that everything can be measured.
    pub(crate) fn quick(anysystem: &str, madsim: &str) -> Self {
        Settings {
            sizes: &[1_000, 20_000],
            processes: 20_000,
            rounds: 1,
            hops: 200_000,
            peer_hops: 20_000,
            seeds: 20,
            judging: false,
            ..Settings::full(anysystem, madsim)
        }
    }

    /// How many elections a ring of this size holds.
    fn elections(&self, size: usize) -> u64 {
        (self.processes / size).max(1) as u64
    }
}

/// In place of a peer's program: it is not to be measured.
const NO_PEER: &str = "-";

/// The ring of the token.
const TOKEN_RING: usize = 1_000;

/// Measures everything and prints the table.
pub(crate) fn report(settings: &Settings) -> ExitCode {
    let rounds = match settings.rounds {
        1 => "one round".to_owned(),
        rounds => format!("medians of {rounds} rounds"),
    };
    let mut table = Table::new(&format!("The simulator: {rounds}"), settings.judging);
    if let Err(why) = measure(settings, &mut table) {
        table.fail("the benchmark itself", &why);
    }
    tokens(settings, &mut table);
    ExitCode::from(u8::from(!table.end()))
}

fn measure(settings: &Settings, table: &mut Table) -> Result<(), String> {
    for latency in [Latency::Uniform, Latency::Constant] {
        let (name, words, bound) = match latency {
            Latency::Uniform => ("uniform", "a uniform latency of 1 to 10 ms", 0.8),
            // With a constant latency the queue has nothing to sort, and the loop nothing to do.
            Latency::Constant => ("constant", "a constant latency of 5 ms", 0.7),
        };
        for &size in settings.sizes {
            table.section(&format!("Chang–Roberts, {} processes, all start, {words}", grouped(size)));
            election(settings, table, size, name, bound)?;
        }
    }
    growth(settings, table)?;
    for &size in settings.sizes {
        watching(settings, table, size)?;
    }
    sweeps(settings, table)
}

/// An election, against two loops written by hand.
fn election(
    settings: &Settings,
    table: &mut Table,
    size: usize,
    latency: &str,
    bound: f64,
) -> Result<(), String> {
    let own = |what: &str| own(&format!("{what}-{latency}"), size, settings.elections(size));
    let [simulator, queue, heap] = rounds(settings, &[own("simulator"), own("loop"), own("heap")])?;
    let messages = simulator[0].messages;
    if [&queue, &heap].iter().any(|runs| runs[0].messages != messages) {
        return Err("the loops do not deliver as many messages as the simulator".to_owned());
    }
    table.inform("messages delivered", &figure(messages as f64));
    for (what, runs) in
        [("simulator", &simulator), ("loop over its queue", &queue), ("loop over a heap", &heap)]
    {
        let rate = median(runs.iter().map(Measurement::rate));
        table.inform(&format!("{what}, messages per second"), &figure(rate));
    }
    table.judge("simulator : loop over its queue", Required::AtLeast(bound), ratio(&simulator, &queue));
    table.judge("simulator : loop over a binary heap", Required::AtLeast(1.0), ratio(&simulator, &heap));
    if settings.sizes.last() == Some(&size) {
        // Beside a small ring, what any program takes from the system would count.
        let variables = size_of::<ChangRoberts>() as f64;
        let bytes = median(simulator.iter().map(|run| run.bytes as f64 / size as f64)) - variables;
        table.judge("bytes per process, its variables excepted", Required::AtMost(200.0), bytes);
    }
    Ok(())
}

/// The cost of an event, as the ring grows.
fn growth(settings: &Settings, table: &mut Table) -> Result<(), String> {
    table.section("Cost of an event as the ring grows, in ns");
    let own = |size: &usize| own("simulator-uniform", *size, settings.elections(*size));
    let competitors: Vec<_> = settings.sizes.iter().map(own).collect();
    let measured = rounds_of(settings, &competitors)?;
    for (size, runs) in settings.sizes.iter().zip(&measured) {
        let cost = median(runs.iter().map(Measurement::cost));
        table.inform(&format!("{} processes", grouped(*size)), &figure(cost));
    }
    let growth = measured.iter().map(|runs| ratio(&measured[0], runs)).fold(0.0, f64::max);
    table.judge("dearest : smallest ring", Required::AtMost(3.0), growth);
    Ok(())
}

/// What it costs to be watched.
fn watching(settings: &Settings, table: &mut Table, size: usize) -> Result<(), String> {
    table.section(&format!("The election on a uniform latency with {} processes, watched", grouped(size)));
    let own = |what| own(what, size, settings.elections(size));
    let [alone, watched, traced] =
        rounds(settings, &[own("simulator-uniform"), own("watched"), own("traced")])?;
    let costs = [
        ("nobody watches : statistics and properties", 1.8, &watched),
        ("nobody watches : these and a trace", 6.0, &traced),
    ];
    for (what, bound, runs) in costs {
        table.judge(what, Required::AtMost(bound), ratio(&alone, runs));
    }
    Ok(())
}

/// A sweep on one thread and on two.
fn sweeps(settings: &Settings, table: &mut Table) -> Result<(), String> {
    table.section(&format!("A sweep of {} seeds, by the time of day", grouped(settings.seeds as usize)));
    let what = "two threads : one thread";
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        table.fail(what, "this machine has but one core");
        return Ok(());
    }
    let [one, two] = rounds(settings, &[own("sweep", 1, settings.seeds), own("sweep", 2, settings.seeds)])?;
    table.judge(what, Required::AtLeast(1.5), ratio(&two, &one));
    Ok(())
}

/// The token, against the peers. A peer that cannot be measured does not keep the other from it.
fn tokens(settings: &Settings, table: &mut Table) {
    table.section(&format!("A token passed round a ring of {} processes", grouped(TOKEN_RING)));
    let peers = [("anysystem", &settings.anysystem, 10.0), ("madsim", &settings.madsim, 5.0)];
    for (name, program, bound) in peers {
        let peer = || {
            let mut command = Command::new(program);
            command.args([TOKEN_RING.to_string(), settings.peer_hops.to_string()]);
            command
        };
        let what = format!("simulator : {name}");
        if program == NO_PEER {
            table.inform(&what, "not asked");
            continue;
        }
        match rounds(settings, &[own("token", TOKEN_RING, settings.hops), Box::new(peer)]) {
            Ok([simulator, peer]) => {
                let rate = |runs: &[Measurement]| figure(median(runs.iter().map(Measurement::rate)));
                table.inform("simulator, messages per second", &rate(&simulator));
                table.inform(&format!("{name}, messages per second"), &rate(&peer));
                table.judge(&what, Required::AtLeast(bound), ratio(&simulator, &peer));
            }
            Err(why) => table.fail(&what, &why),
        }
    }
}

/// Something that can be measured again and again: it makes the command of a child process.
type Competitor<'a> = Box<dyn Fn() -> Command + 'a>;

/// A measurement of this program itself.
fn own(what: &str, processes: usize, count: u64) -> Competitor<'static> {
    let arguments = ["measure".to_owned(), what.to_owned(), processes.to_string(), count.to_string()];
    Box::new(move || {
        let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "habemus-bench".into()));
        command.args(&arguments);
        command
    })
}

/// Measures competitors in turns: the first, the second, …, the first again. A disturbance of the machine
/// then falls on all of them.
fn rounds<const N: usize>(
    settings: &Settings,
    competitors: &[Competitor<'_>; N],
) -> Result<[Vec<Measurement>; N], String> {
    let measured = rounds_of(settings, competitors)?;
    Ok(measured.try_into().expect("there are as many results as competitors"))
}

fn rounds_of(settings: &Settings, competitors: &[Competitor<'_>]) -> Result<Vec<Vec<Measurement>>, String> {
    let mut measured = vec![Vec::new(); competitors.len()];
    for _ in 0..settings.rounds {
        for (competitor, runs) in competitors.iter().zip(&mut measured) {
            runs.push(Measurement::by(&mut competitor())?);
        }
    }
    Ok(measured)
}

/// How many times faster the first is than the second: the median over the rounds.
fn ratio(one: &[Measurement], other: &[Measurement]) -> f64 {
    median(one.iter().zip(other).map(|(one, other)| one.rate() / other.rate()))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A number with its thousands apart.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8_lossy(&groups.join(&b',')).into_owned()
}
