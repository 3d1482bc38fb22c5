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
    let about = random.crashes.max(random.pauses).max(random.cuts) * random.until.as_secs_f64();
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
    crashes(random, ids, end, &mut stream, &mut cues);
    pauses(random, ids, end, &mut stream, &mut cues);
    cuts(random, ids, end, &mut stream, &mut cues);
    cues.sort_by_key(|(time, _)| *time);
    if random.cuts > 0.0 {
        cues.push((end, Action::Heal(Vec::new())));
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

fn crashes(random: &RandomFaults, ids: &[u64], end: u64, stream: &mut Stream, cues: &mut Vec<(u64, Action)>) {
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
        match pause {
            Some(pause) => {
                let until = at.saturating_add(pause).min(end);
                cues.push((until, Action::Recover { processes: vec![ids[index]], amnesia: random.amnesia }));
                down.push((index, until));
            }
            None => down.push((index, u64::MAX)),
        }
    }
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
            assert_eq!(cues.last().map(|cue| &cue.action), Some(&Action::Heal(Vec::new())));
        }
    }

    #[test]
    fn the_seed_decides() {
        let ids = [1, 2, 3];
        assert_eq!(draw_faults(&random(), &ids, 4), draw_faults(&random(), &ids, 4));
        assert_ne!(draw_faults(&random(), &ids, 4), draw_faults(&random(), &ids, 5));
    }
}
