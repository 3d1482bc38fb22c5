//! A probabilistic election for large groups, with a few messages per process whatever the size of the group.
//!
//! I. Gupta, R. van Renesse and K. Birman, *A probabilistically correct leader election protocol for large
//! groups*, DISC 2000, which the notes cite. A hash of identifier and round filters the group, so that about
//! `candidates` processes stand. News travel as gossip: whoever hears something new relays it to `fanout`
//! others. After a while of patience each process elects the best candidate that it has heard of. With fanout
//! f a relay by chance alone misses a share e^(−f) of the group, about; one of the receivers being the next
//! process by address, nobody is missed as long as nothing is lost. Nobody stands with probability
//! e^(−candidates); then another round follows, with twice as many. What differs from the paper is listed on
//! the page of this algorithm.

use std::time::Duration;

use super::{Command, Election, Output, Wins};
use crate::topology::{Complete, Topology};
use crate::{Address, Context, Id, Process};

/// How many stand, how news spread, and how long to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Which end of the order wins among the candidates.
    pub wins: Wins,
    /// How many candidates are expected in the first round: the K of the paper, at least 1.
    pub candidates: u32,
    /// To how many processes news are relayed.
    pub fanout: u32,
    /// How these are picked.
    pub relay: Relay,
    /// How long to listen before electing the best candidate heard of.
    pub patience: Duration,
    /// Tells one election from the next: other candidates pass the filter.
    pub election: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            variant: Variant::Plain,
            wins: Wins::Highest,
            candidates: 4,
            fanout: 4,
            relay: Relay::Hybrid,
            patience: Duration::from_millis(500),
            election: 1,
        }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// As described.
    Plain,
    /// A mutant: the first candidate heard of is kept, not the best, so that processes disagree; kept to show
    /// that the checker catches it.
    MutantFirstHeard,
}

/// How receivers of news are picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relay {
    /// One is the next process by address, the others are drawn: chance makes it fast, the ring complete.
    Hybrid,
    /// All are drawn: plain gossip.
    Random,
}

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "An election is on; this is its round." Whoever passes the filter stands; the others relay it. One
    /// that has long heard of a candidate answers with [`Candidate`](Message::Candidate).
    Call {
        /// The round.
        round: u32,
    },
    /// "This is the best candidate I have heard of." Whoever has heard of none better relays it.
    Candidate {
        /// The round of the sender.
        round: u32,
        /// The candidate.
        id: Id,
    },
}
crate::kinds!(Message: Call, Candidate);

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to elect the best candidate heard of, or to call another round if there is none.
    Decide,
}

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LargeGroup {
    /// The latest round heard of; `None`: no election is on.
    pub round: Option<u32>,
    /// The best candidate heard of.
    pub best: Option<Id>,
    /// Whether the application has been told. A better candidate that comes late is still believed.
    pub decided: bool,
}

impl Process for LargeGroup {
    type Problem = Election;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        LargeGroup::default()
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        if self.round.is_none() {
            self.take_part(0, cx);
        }
    }

    #[inline]
    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Call { round } => self.on_call(from, round, cx),
            Message::Candidate { round, id } => self.on_candidate(round, id, cx),
        }
    }

    fn on_timer(&mut self, Timer::Decide: Timer, cx: &mut Context<'_, Self>) {
        match (self.best, self.round) {
            (Some(_), _) => self.decide(cx),
            (None, round) => self.take_part(round.map_or(0, |round| round.saturating_add(1)), cx),
        }
    }
}

impl LargeGroup {
    fn on_call(&mut self, from: Address, round: u32, cx: &mut Context<'_, Self>) {
        if self.round >= Some(round) {
            return; // It was relayed when it was news.
        }
        match self.best {
            // The caller has missed the candidate that I have heard of.
            Some(id) => cx.send(from, Message::Candidate { round, id }),
            None => self.take_part(round, cx),
        }
    }

    #[inline]
    fn on_candidate(&mut self, round: u32, id: Id, cx: &mut Context<'_, Self>) {
        let mut candidate = id;
        if self.round < Some(round) && self.best.is_none() {
            self.enter(round, cx);
            if stands(round, cx) && cx.config().wins.better(&cx.id(), &id) {
                candidate = cx.id();
            }
        }
        self.prefer(candidate, cx);
    }

    /// Takes part in a round that this process calls or is called to.
    fn take_part(&mut self, round: u32, cx: &mut Context<'_, Self>) {
        self.enter(round, cx);
        if stands(round, cx) {
            self.prefer(cx.id(), cx);
        } else {
            relay(&Message::Call { round }, cx);
        }
    }

    fn enter(&mut self, round: u32, cx: &mut Context<'_, Self>) {
        self.round = Some(round);
        cx.set_timer(Timer::Decide, cx.config().patience);
    }

    /// Believes in this candidate and tells others, unless a better one is known.
    #[inline]
    fn prefer(&mut self, candidate: Id, cx: &mut Context<'_, Self>) {
        let Config { variant, wins, .. } = *cx.config();
        let news = self
            .best
            .is_none_or(|best| variant != Variant::MutantFirstHeard && wins.better(&candidate, &best));
        if !news {
            return;
        }
        self.best = Some(candidate);
        relay(&Message::Candidate { round: self.round.unwrap_or(0), id: candidate }, cx);
        if self.decided {
            self.decide(cx);
        }
    }

    fn decide(&mut self, cx: &mut Context<'_, Self>) {
        self.decided = true;
        if let Some(leader) = self.best {
            cx.output(if leader == cx.id() { Output::leads() } else { Output::follows(leader) });
        }
    }
}

/// The filter: whether this process stands in a round. Each round expects twice as many candidates as the one
/// before, and from the one on in which all stand an election cannot fail for lack of them.
fn stands(round: u32, cx: &Context<'_, LargeGroup>) -> bool {
    let group = cx.process_count() as u64;
    let expected = (u64::from(cx.config().candidates) << round.min(31)).min(group);
    let hash = mix(cx.id().0 ^ mix(cx.config().election ^ mix(u64::from(round))));
    // hash / 2⁶⁴ is evenly spread over [0, 1): this asks whether it lies below expected / group.
    u128::from(hash) * u128::from(group) < u128::from(expected) << 64
}

/// Spreads the bits of a number evenly over all numbers (the finaliser of SplitMix64).
fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Sends news to `fanout` others; to all, without any draw, if the group is as small as that.
fn relay(news: &Message, cx: &mut Context<'_, LargeGroup>) {
    let (me, network, fanout) = (cx.me(), cx.topology(), cx.config().fanout);
    let count = network.len() as u32;
    if fanout >= count - 1 {
        cx.broadcast(news);
        return;
    }
    let after = |steps: u32| Address(((u64::from(me.0) + u64::from(steps)) % u64::from(count)) as u32);
    let by_ring = u32::from(cx.config().relay == Relay::Hybrid);
    let next = (1..count).map(after).find(|&next| network.linked(me, next));
    for number in 0..fanout {
        let to = if number < by_ring { next } else { Some(after(1 + cx.choose(count - 1))) };
        if let Some(to) = to.filter(|&to| network.linked(me, to)) {
            cx.send(to, *news);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;
    use crate::{Effect, Step};

    /// Identifiers 1 … 100 of which few stand in the first round; see `who_stands`.
    fn process(id: u32, config: Config) -> Harness<LargeGroup> {
        Harness::new(Complete::new(100), 1..=100, config, Address(id - 1))
    }

    /// Who of 1 … 100 stands in this round.
    fn who_stands(round: u32, config: &Config) -> Vec<u32> {
        let stands = |id: &u32| {
            let step = process(*id, config.clone()).message(Address(id % 100), Message::Call { round });
            matches!(step.sent()[0].1, Message::Candidate { .. })
        };
        (1..=100).filter(stands).collect()
    }

    fn relayed(step: &Step<LargeGroup>) -> Vec<Message> {
        step.sent().into_iter().map(|(_, message)| message).collect()
    }

    fn candidate(round: u32, id: u32) -> Message {
        Message::Candidate { round, id: Id(u64::from(id)) }
    }

    /// One that stands in the first round and one that does not.
    fn some() -> (u32, u32) {
        let standing = who_stands(0, &Config::default());
        let other = (1..=100).find(|id| !standing.contains(id)).expect("not all stand");
        (standing[0], other)
    }

    #[test]
    fn the_filter_lets_about_as_many_stand_as_expected_and_others_in_the_next_election() {
        for (candidates, round, expected) in [(4, 0, 4), (20, 0, 20), (20, 1, 40)] {
            let config = |election| Config { candidates, election, ..Config::default() };
            let stood: usize = (0..100).map(|election| who_stands(round, &config(election)).len()).sum();
            assert!((95 * expected..=105 * expected).contains(&stood), "{stood} in 100 elections");
        }
        let election = |election| who_stands(0, &Config { election, ..Config::default() });
        assert_ne!(election(1), election(2));
    }

    #[test]
    fn in_a_late_round_all_stand() {
        assert_eq!(who_stands(5, &Config::default()).len(), 100);
        assert_eq!(who_stands(u32::MAX, &Config::default()).len(), 100);
    }

    #[test]
    fn who_is_told_to_elect_calls_the_others_and_sets_a_limit() {
        let (_, other) = some();
        let mut p = process(other, Config::default());
        let step = p.command(Command::Elect);
        assert_eq!(relayed(&step), [Message::Call { round: 0 }; 4]);
        let after = Config::default().patience.into();
        assert_eq!(step.effects[0], Effect::SetTimer { timer: Timer::Decide, after });
        assert!(p.command(Command::Elect).is_empty(), "the election is on already");
    }

    #[test]
    fn news_go_to_the_next_process_and_to_others_by_chance() {
        let (_, other) = some();
        let mut p = process(other, Config::default());
        p.will_choose([9, 49, 98]);
        let to: Vec<u32> = p.command(Command::Elect).sent().iter().map(|(to, _)| to.0).collect();
        let after = |step: u32| (other - 1 + step) % 100;
        assert_eq!(to, [after(1), after(10), after(50), after(99)]);
        let mut p = process(other, Config { relay: Relay::Random, ..Config::default() });
        p.will_choose([9, 49, 98, 3]);
        let to: Vec<u32> = p.command(Command::Elect).sent().iter().map(|(to, _)| to.0).collect();
        assert_eq!(to, [after(10), after(50), after(99), after(4)]);
    }

    #[test]
    fn a_small_group_is_told_as_a_whole() {
        let mut p = Harness::<LargeGroup>::new(Complete::new(4), 1..=4, Config::default(), Address(1));
        let to: Vec<u32> = p.command(Command::Elect).sent().iter().map(|(to, _)| to.0).collect();
        assert_eq!(to, [0, 2, 3]);
    }

    #[test]
    fn who_passes_the_filter_stands_and_leads_if_nobody_better_is_heard_of() {
        let (standing, _) = some();
        let mut p = process(standing, Config::default());
        let step = p.message(Address(99), Message::Call { round: 0 });
        assert_eq!(relayed(&step), [candidate(0, standing); 4]);
        assert!(p.message(Address(99), Message::Call { round: 0 }).is_empty(), "it is no news any more");
        assert_eq!(p.timer(Timer::Decide).effects, [Effect::Output(Output::leads())]);
    }

    #[test]
    fn the_best_candidate_is_relayed_and_followed_and_worse_ones_are_not() {
        let (_, other) = some();
        let mut p = process(other, Config::default());
        assert_eq!(relayed(&p.message(Address(99), candidate(0, 50))), [candidate(0, 50); 4]);
        assert!(p.message(Address(99), candidate(0, 49)).is_empty());
        assert_eq!(relayed(&p.message(Address(99), candidate(0, 51))), [candidate(0, 51); 4]);
        assert_eq!(p.timer(Timer::Decide).outputs(), [Output::follows(Id(51))]);
        // A better one that comes late is believed.
        let late = p.message(Address(99), candidate(0, 60));
        assert_eq!((relayed(&late).len(), late.outputs()), (4, vec![Output::follows(Id(60))]));
    }

    #[test]
    fn who_first_hears_of_a_worse_candidate_stands_itself() {
        let (standing, _) = some();
        let wins = Config { wins: Wins::Lowest, ..Config::default() };
        let (worse, better) = (standing + 1, standing - 1);
        let news =
            |heard| relayed(&process(standing, wins.clone()).message(Address(99), candidate(0, heard)));
        assert_eq!(news(worse), [candidate(0, standing); 4]);
        assert_eq!(news(better), [candidate(0, better); 4]);
    }

    #[test]
    fn without_a_candidate_another_round_is_called() {
        let (_, other) = some();
        let mut p = process(other, Config::default());
        p.command(Command::Elect);
        let step = p.timer(Timer::Decide);
        assert_eq!(p.process.round, Some(1));
        assert!(step.outputs().is_empty());
        let news = relayed(&step)[0];
        assert!(news == Message::Call { round: 1 } || news == candidate(1, other));
    }

    #[test]
    fn who_calls_again_because_it_missed_the_candidate_is_told() {
        let (_, other) = some();
        let mut p = process(other, Config::default());
        p.message(Address(99), candidate(0, 50));
        let step = p.message(Address(7), Message::Call { round: 1 });
        assert_eq!(step.sent(), [(Address(7), candidate(1, 50))]);
    }

    #[test]
    fn the_mutant_keeps_the_first_candidate_that_it_hears_of() {
        let (_, other) = some();
        let mutant = Config { variant: Variant::MutantFirstHeard, ..Config::default() };
        let mut p = process(other, mutant);
        p.message(Address(99), candidate(0, 50));
        assert!(p.message(Address(99), candidate(0, 51)).is_empty());
    }
}
