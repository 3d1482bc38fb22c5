//! Faults drawn at random, as a script: what was drawn can be read, repeated and shrunk.

use std::time::Duration;

use habemus_scenario::{Action, Cue, Occasion, RandomFaults, Scenario};

use crate::error::RunError;
use crate::random::{Stream, Use};

/// Random faults of one kind that are drawn for a run, at most.
pub(crate) const MAX_FAULTS: f64 = 100_000.0;

/// The scenario with the faults of its seed written into the script; `None` if none are drawn.
///
/// # Errors
/// If the rates are beyond reason.
pub fn with_drawn_faults(scenario: &Scenario) -> Result<Option<Scenario>, RunError> {
    let Some(random) = &scenario.random else { return Ok(None) };
    let rates =
        [random.crashes, random.pauses, random.cuts, random.partitions, random.drifts, random.suspicions];
    let about = rates.into_iter().fold(0.0, f64::max) * random.until.as_secs_f64();
    if about > MAX_FAULTS {
        return Err(RunError::TooManyFaults { about });
    }
    let mut drawn = scenario.clone();
    drawn.random = None;
    drawn.script.extend(draw_faults(random, &scenario.ids, scenario.seed));
    Ok(Some(drawn))
}

/// Draws the faults of `seed` for the processes `ids`. At the end everything is well again: links are healed,
/// paused processes resume, and who was to recover has recovered.
pub fn draw_faults(random: &RandomFaults, ids: &[u64], seed: u64) -> Vec<Cue> {
    let mut stream = Stream::new(seed, Use::Faults);
    let end = nanos(random.until);
    let mut cues = Vec::new();
    let away = crashes(random, ids, end, &mut stream, &mut cues);
    pauses(random, ids, end, &mut stream, &mut cues);
    cuts(random, ids, end, &mut stream, &mut cues);
    partitions(random, ids, end, &mut stream, &mut cues);
    drifts(random, ids, end, &mut stream, &mut cues);
    suspicions(random, ids, end, &away, &mut stream, &mut cues);
    cues.sort_by_key(|(time, _)| *time);
    if random.cuts > 0.0 || random.partitions > 0.0 {
        cues.push((end, Action::Heal(Vec::new())));
    }
    if random.drifts > 0.0 {
        cues.push((end, Action::Drift { processes: ids.to_vec(), rate: 1.0 }));
    }
    let cue = |(time, action)| Cue { occasion: Occasion::At(Duration::from_nanos(time)), action };
    cues.into_iter().map(cue).collect()
}

/// Instants at which something happens `rate` times a second, until `end`.
fn instants(rate: f64, end: u64, stream: &mut Stream) -> Vec<u64> {
    let mut instants = Vec::new();
    if rate > 0.0 {
        let mut at = stream.exponential(1e9 / rate);
        while at < end as f64 {
            instants.push(at as u64);
            at += stream.exponential(1e9 / rate);
        }
    }
    instants
}

/// In nanoseconds; a scenario knows no longer duration than these can count.
fn nanos(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

/// When a process is down: which, from when, until when.
struct Away {
    index: usize,
    from: u64,
    until: u64,
}

/// Draws crashes; gives who is down when.
fn crashes(
    random: &RandomFaults,
    ids: &[u64],
    end: u64,
    stream: &mut Stream,
    cues: &mut Vec<(u64, Action)>,
) -> Vec<Away> {
    let mut away = Vec::new();
    // When each process is up again; `u64::MAX` if never.
    let mut down: Vec<(usize, u64)> = Vec::new();
    for at in instants(random.crashes, end, stream) {
        down.retain(|(_, until)| *until > at);
        let index = stream.below(ids.len() as u64) as usize;
        let pause = random.recover_after.map(|(min, max)| stream.between(nanos(min), nanos(max)));
        if down.len() >= random.max_down || down.iter().any(|(other, _)| *other == index) {
            continue;
        }
        cues.push((at, Action::Crash(vec![ids[index]])));
        let until = pause.map_or(u64::MAX, |pause| at.saturating_add(pause).min(end));
        if pause.is_some() {
            cues.push((until, Action::Recover { processes: vec![ids[index]], amnesia: random.amnesia }));
        }
        down.push((index, until));
        away.push(Away { index, from: at, until });
    }
    away
}

fn pauses(random: &RandomFaults, ids: &[u64], end: u64, stream: &mut Stream, cues: &mut Vec<(u64, Action)>) {
    for at in instants(random.pauses, end, stream) {
        let id = ids[stream.below(ids.len() as u64) as usize];
        let pause = stream.between(nanos(random.pause_for.0), nanos(random.pause_for.1));
        cues.push((at, Action::Pause(vec![id])));
        cues.push((at.saturating_add(pause).min(end), Action::Resume(vec![id])));
    }
}

fn cuts(random: &RandomFaults, ids: &[u64], end: u64, stream: &mut Stream, cues: &mut Vec<(u64, Action)>) {
    if ids.len() < 2 {
        return;
    }
    for at in instants(random.cuts, end, stream) {
        let a = stream.below(ids.len() as u64) as usize;
        let b = (a + 1 + stream.below(ids.len() as u64 - 1) as usize) % ids.len();
        let (a, b) = (ids[a], ids[b]);
        let links = match stream.below(3) {
            0 => vec![(a, b)],
            1 => vec![(a, b), (b, a)],
            _ => {
                let side: Vec<bool> = ids.iter().map(|_| stream.below(2) == 0).collect();
                let apart = |from: usize| {
                    let side = &side;
                    let others = (0..ids.len()).filter(move |&to| side[from] != side[to]);
                    others.map(move |to| (ids[from], ids[to]))
                };
                (0..ids.len()).flat_map(apart).collect()
            }
        };
        let pause = stream.between(nanos(random.cut_for.0), nanos(random.cut_for.1));
        if !links.is_empty() {
            cues.push((at, Action::Cut(links.clone())));
            cues.push((at.saturating_add(pause).min(end), Action::Heal(links)));
        }
    }
}

/// Two groups that hear nothing of each other, and then one again, before the next two.
fn partitions(
    random: &RandomFaults,
    ids: &[u64],
    end: u64,
    stream: &mut Stream,
    cues: &mut Vec<(u64, Action)>,
) {
    let mut whole_again = 0;
    for at in instants(random.partitions, end, stream) {
        let pause = stream.between(nanos(random.partition_for.0), nanos(random.partition_for.1));
        let side: Vec<u64> = ids.iter().copied().filter(|_| stream.below(2) == 0).collect();
        if at < whole_again || side.is_empty() || side.len() == ids.len() {
            continue;
        }
        whole_again = at.saturating_add(pause).min(end);
        cues.push((at, Action::Partition(vec![side])));
        cues.push((whole_again, Action::Heal(Vec::new())));
    }
}

fn drifts(random: &RandomFaults, ids: &[u64], end: u64, stream: &mut Stream, cues: &mut Vec<(u64, Action)>) {
    for at in instants(random.drifts, end, stream) {
        let id = ids[stream.below(ids.len() as u64) as usize];
        let rate = 1.0 + random.drift_by * (2.0 * stream.unit() - 1.0);
        // No rate that a scenario file could not say.
        let rate = (rate * 1e4).round() / 1e4;
        cues.push((at, Action::Drift { processes: vec![id], rate }));
    }
}

/// False suspicions of those that are up all the while, at those that are, too: of others the oracle is
/// right.
fn suspicions(
    random: &RandomFaults,
    ids: &[u64],
    end: u64,
    away: &[Away],
    stream: &mut Stream,
    cues: &mut Vec<(u64, Action)>,
) {
    if ids.len() < 2 {
        return;
    }
    for at in instants(random.suspicions, end, stream) {
        let by = stream.below(ids.len() as u64) as usize;
        let suspect = (by + 1 + stream.below(ids.len() as u64 - 1) as usize) % ids.len();
        let pause = stream.between(nanos(random.suspect_for.0), nanos(random.suspect_for.1));
        let until = at.saturating_add(pause).min(end);
        // The oracle speaks of a crash or a recovery a little later, and must not be contradicted.
        let apart =
            |one: &Away| until.saturating_add(REPORTED) < one.from || one.until.saturating_add(REPORTED) < at;
        if away.iter().filter(|one| [by, suspect].contains(&one.index)).all(apart) {
            cues.push((at, Action::Suspect { by: ids[by], suspect: ids[suspect] }));
            cues.push((until, Action::Restore { by: ids[by], restored: ids[suspect] }));
        }
    }
}

/// So long after a crash or recovery the oracle has spoken, in nanoseconds.
const REPORTED: u64 = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn random() -> RandomFaults {
        let ms = Duration::from_millis;
        RandomFaults {
            crashes: 20.0,
            recover_after: Some((ms(50), ms(200))),
            amnesia: false,
            max_down: 2,
            pauses: 5.0,
            pause_for: (ms(10), ms(100)),
            cuts: 10.0,
            cut_for: (ms(10), ms(100)),
            partitions: 5.0,
            partition_for: (ms(10), ms(300)),
            drifts: 5.0,
            drift_by: 0.1,
            suspicions: 20.0,
            suspect_for: (ms(10), ms(100)),
            until: Duration::from_secs(2),
        }
    }

    #[test]
    fn never_more_are_down_than_allowed_and_all_is_well_at_the_end() {
        for seed in 0..50 {
            let cues = draw_faults(&random(), &[1, 2, 3, 4, 5], seed);
            let (mut down, mut worst) = (std::collections::BTreeSet::new(), 0);
            for cue in &cues {
                let Occasion::At(at) = cue.occasion else { panic!("drawn faults have a time") };
                assert!(at <= random().until);
                match &cue.action {
                    Action::Crash(who) => assert!(down.insert(who[0]), "crashed twice"),
                    Action::Recover { processes, .. } => assert!(down.remove(&processes[0])),
                    _ => {}
                }
                worst = worst.max(down.len());
            }
            assert!(worst <= 2 && down.is_empty());
            let last: Vec<&Action> = cues.iter().rev().take(2).map(|cue| &cue.action).collect();
            let right = Action::Drift { processes: vec![1, 2, 3, 4, 5], rate: 1.0 };
            assert_eq!(last, [&right, &Action::Heal(Vec::new())]);
        }
    }

    #[test]
    fn a_partition_is_over_before_the_next_and_clocks_drift_within_bounds() {
        for seed in 0..50 {
            let only = RandomFaults { cuts: 0.0, crashes: 0.0, ..random() };
            let (mut apart, mut partitions, mut suspected) = (false, 0, std::collections::BTreeSet::new());
            for cue in draw_faults(&only, &[1, 2, 3, 4, 5], seed) {
                match cue.action {
                    Action::Partition(_) => {
                        assert!(!std::mem::replace(&mut apart, true), "two at once");
                        partitions += 1;
                    }
                    Action::Heal(_) => apart = false,
                    Action::Drift { rate, .. } => assert!((0.9..=1.1).contains(&rate), "{rate}"),
                    Action::Suspect { by, suspect } => {
                        assert_ne!(by, suspect);
                        suspected.insert((by, suspect));
                    }
                    Action::Restore { by, restored } => {
                        suspected.remove(&(by, restored));
                    }
                    _ => {}
                }
            }
            assert!(!apart && partitions > 0 && suspected.is_empty());
        }
    }

    #[test]
    fn nobody_is_falsely_suspected_while_the_oracle_speaks_of_it() {
        for seed in 0..50 {
            let cues = draw_faults(&random(), &[1, 2, 3, 4, 5], seed);
            let mut down = std::collections::BTreeSet::new();
            for cue in cues {
                match cue.action {
                    Action::Crash(who) => {
                        down.insert(who[0]);
                    }
                    Action::Recover { processes, .. } => {
                        down.remove(&processes[0]);
                    }
                    Action::Suspect { by, suspect } => {
                        assert!(!down.contains(&by) && !down.contains(&suspect));
                    }
                    Action::Restore { by, restored } => {
                        assert!(!down.contains(&by) && !down.contains(&restored));
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn the_seed_decides() {
        let ids = [1, 2, 3];
        assert_eq!(draw_faults(&random(), &ids, 4), draw_faults(&random(), &ids, 4));
        assert_ne!(draw_faults(&random(), &ids, 4), draw_faults(&random(), &ids, 5));
    }
}
