//! Synchronous capture in a complete graph (S2, S_Elect_Leader_C).
//!
//! A candidate does not ask everybody at once: it tries to capture 1 neighbour, then 2 more, then 4, and
//! gives up at the first refusal. A process gives itself to the best that asks, if that is better than its
//! owner, so the best candidate captures all and leads. Theorem 5.1: at most ⌊n/2^(k−1)⌋ candidates are left
//! at pulse 2k. Corollary 5.2: at most 2n⌈log₂ n⌉ − n CAPTUREs and n⌈log₂ n⌉ ACKs. The notes end with the
//! capture; here the winner announces itself with n−1 messages more.

use super::tried::{Tried, VisitOrder};
use super::{Command, Election, Output, Wins};
use crate::rounds::{Next, Pulse, Round, Synchronous};
use crate::topology::Complete;
use crate::{Address, Context, Id};

/// Which identifier wins, and whom to capture first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Which end of the order wins.
    pub wins: Wins,
    /// In which order neighbours are tried.
    pub order: VisitOrder,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Those of the notes, and an announcement.
    #[default]
    Announced,
    /// A mutant: a process gives itself to the best that asks, however good its owner is, kept to show that
    /// the checker catches it: two candidates capture each other, and nobody leads.
    MutantIgnoresOwner,
}

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Be mine; this is my identifier." [`Ack`](Message::Ack) comes from one that gives itself, silence from
    /// one that does not. Sent in even pulses.
    Capture(Id),
    /// "I am yours." Sent in odd pulses.
    Ack,
    /// "I have captured everybody, so I lead."
    Elected(Id),
}
crate::kinds!(Message: Capture, Ack, Elected);

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CaptureSync {
    /// Whether its application wants an election. What counts is whether it did before pulse 0: later, others
    /// may have captured half of the graph, and pulses no longer tell how large a set to ask.
    pub told: bool,
    /// Whether it still tries to capture the others.
    pub candidate: bool,
    /// Who has captured it; a candidate owns itself.
    pub owner: Option<Id>,
    /// Whom it has tried to capture.
    pub tried: Tried,
    /// How many it asked last, each of which must ACK.
    pub asked: u32,
    /// The leader, once known.
    pub elected: Option<Id>,
}

impl Round for CaptureSync {
    type Problem = Election;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;

    fn start(_: &mut Context<'_, Synchronous<Self>>) -> Self {
        CaptureSync::default()
    }

    fn on_command(&mut self, Command::Elect: Command) {
        self.told = true;
    }

    fn on_pulse(
        &mut self,
        pulse: u32,
        arrived: Vec<(Address, Message)>,
        cx: &mut Pulse<'_, '_, Self>,
    ) -> Next {
        if let Some(leader) = arrived.iter().find_map(|(_, message)| message.leader()) {
            self.become_follower(leader, cx);
        } else if pulse.is_multiple_of(2) {
            self.on_even_pulse(pulse, &arrived, cx);
        } else {
            self.on_odd_pulse(&arrived, cx);
        }
        let over = self.elected.is_some() || pulse > last_even_pulse(cx.context().process_count());
        if over { Next::Halt } else { Next::Continue }
    }
}

impl CaptureSync {
    /// A candidate whose last captures all succeeded tries the next set.
    fn on_even_pulse(&mut self, pulse: u32, arrived: &[(Address, Message)], cx: &mut Pulse<'_, '_, Self>) {
        if pulse == 0 && self.told {
            self.become_candidate(cx);
        }
        let acks = arrived.iter().filter(|(_, message)| *message == Message::Ack).count();
        self.candidate &= acks == self.asked as usize;
        if !self.candidate {
            return;
        }
        let set = 1_u64 << (pulse / 2).min(32);
        self.capture(set, cx);
        if self.asked == 0 {
            self.become_leader(cx);
        }
    }

    /// Whoever is asked by a better process than its owner gives itself to the best.
    fn on_odd_pulse(&mut self, arrived: &[(Address, Message)], cx: &mut Pulse<'_, '_, Self>) {
        let Config { variant, wins, .. } = *cx.context().config();
        let asks = arrived.iter().filter_map(|(from, message)| match message {
            Message::Capture(id) => Some((*from, *id)),
            _ => None,
        });
        let best = asks.reduce(|best, other| if wins.better(&other.1, &best.1) { other } else { best });
        let Some((captor, id)) = best else { return };
        let free =
            variant == Variant::MutantIgnoresOwner || self.owner.is_none_or(|owner| wins.better(&id, &owner));
        if free {
            self.owner = Some(id);
            self.candidate = false;
            cx.send(captor, Message::Ack);
        }
    }

    /// Asks as many fresh neighbours, or as many as are left.
    fn capture(&mut self, set: u64, cx: &mut Pulse<'_, '_, Self>) {
        self.asked = 0;
        let (me, id) = (cx.context().me(), cx.context().id());
        let (order, network) = (cx.context().config().order, cx.context().topology());
        while u64::from(self.asked) < set
            && let Some(neighbour) = self.tried.next_neighbour(order, me, network)
        {
            cx.send(neighbour, Message::Capture(id));
            self.asked += 1;
        }
    }

    fn become_candidate(&mut self, cx: &mut Pulse<'_, '_, Self>) {
        self.candidate = true;
        self.owner = Some(cx.context().id());
    }

    fn become_leader(&mut self, cx: &mut Pulse<'_, '_, Self>) {
        let id = cx.context().id();
        self.elected = Some(id);
        cx.output(Output::leads());
        cx.broadcast(&Message::Elected(id));
    }

    fn become_follower(&mut self, leader: Id, cx: &mut Pulse<'_, '_, Self>) {
        self.candidate = false;
        self.elected = Some(leader);
        cx.output(Output::follows(leader));
    }
}

impl Message {
    fn leader(&self) -> Option<Id> {
        match self {
            Message::Elected(leader) => Some(*leader),
            _ => None,
        }
    }
}

/// The pulse in which the winner has all ACKs: ⌈log₂ n⌉ sets of 1, 2, 4, … hold all n−1 neighbours, and each
/// takes two pulses. The announcement arrives one pulse later; who hears none by then knows that nobody
/// stood.
fn last_even_pulse(processes: usize) -> u32 {
    2 * processes.next_power_of_two().ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::rounds::Beat;
    use crate::testing::Harness;

    type P = Harness<Synchronous<CaptureSync>>;

    /// The process with this identifier of 1 … 8, and its address, which is one less.
    fn process(id: u32, told: bool) -> (Address, P) {
        configured(id, told, Config::default())
    }

    fn configured(id: u32, told: bool, config: Config) -> (Address, P) {
        let mut p = P::new(Complete::new(8), 1..=8, config, Address(id - 1));
        if told {
            p.command(Command::Elect);
        }
        (Address(id - 1), p)
    }

    /// Begins the next pulse of these and carries what they send to those of them that it is for; gives all
    /// that was sent, by identifiers.
    fn pulse(processes: &mut [(Address, P)]) -> Vec<(u32, u32, String)> {
        let steps: Vec<_> = processes.iter_mut().map(|(from, p)| (*from, p.timer(Beat).sent())).collect();
        let mut sent = Vec::new();
        for (from, messages) in steps {
            for (to, message) in messages {
                sent.push((from.0 + 1, to.0 + 1, format!("{message:?}")));
                if let Some((_, p)) = processes.iter_mut().find(|(address, _)| *address == to) {
                    p.message(from, message);
                }
            }
        }
        sent
    }

    fn captures(from: u32, to: impl IntoIterator<Item = u32>) -> Vec<(u32, u32, String)> {
        to.into_iter().map(|to| (from, to, format!("Capture({from})"))).collect()
    }

    fn ack(from: u32, to: u32) -> Vec<(u32, u32, String)> {
        vec![(from, to, "Ack".to_owned())]
    }

    /// S2: "primeiro se comunica com 1 dos vizinhos, depois com 2 de seus vizinhos, 4 e assim por diante".
    #[test]
    fn a_candidate_asks_one_then_two_then_four_and_leads() {
        let mut all: Vec<_> = (1..=8).map(|id| process(id, id == 2)).collect();
        assert_eq!(pulse(&mut all), captures(2, [3]));
        assert_eq!(pulse(&mut all), ack(3, 2));
        assert_eq!(pulse(&mut all), captures(2, [4, 5]));
        assert_eq!(pulse(&mut all), [ack(4, 2), ack(5, 2)].concat());
        assert_eq!(pulse(&mut all), captures(2, [6, 7, 8, 1]));
        assert_eq!(pulse(&mut all), [ack(1, 2), ack(6, 2), ack(7, 2), ack(8, 2)].concat());
        let announced = pulse(&mut all);
        assert_eq!(announced.len(), 7);
        assert!(announced.iter().all(|(from, _, message)| *from == 2 && message == "Elected(2)"));
        let (_, one) = &mut all[0];
        assert_eq!(one.timer(Beat).outputs(), [Output::follows(Id(2))]);
    }

    /// S2: "maior do que a dos outros candidatos que estão tentando capturar o mesmo nó no mesmo pulso".
    #[test]
    fn of_several_that_ask_the_best_gets_the_process() {
        let mut some = [process(2, true), process(3, true), process(4, false)];
        let [(_, two), (_, three), (_, four)] = &mut some;
        // What each sends to its first neighbour goes to 4, as it might in another order of neighbours.
        for (from, asking) in [(Address(1), two), (Address(2), three)] {
            let (_, message) = asking.timer(Beat).sent().remove(0);
            four.message(from, message);
        }
        four.timer(Beat);
        assert_eq!(pulse(&mut some[2..]), ack(4, 3));
        assert_eq!(some[2].1.process.round.owner, Some(Id(3)));
    }

    /// S2: "maior do que a identificação do atual 'dono' do nó".
    #[test]
    fn a_better_process_takes_what_a_worse_one_owns() {
        let mut some = [process(8, true), process(1, true), process(2, false)];
        assert_eq!(pulse(&mut some), [captures(8, [1]), captures(1, [2])].concat());
        assert_eq!(pulse(&mut some), [ack(1, 8), ack(2, 1)].concat());
        // 1 was captured, so it stands no longer, though it has its ACK.
        assert_eq!(pulse(&mut some), captures(8, [2, 3]));
        assert_eq!(pulse(&mut some), ack(2, 8));
    }

    /// S2: "maior do que a identificação do atual 'dono' do nó"; a candidate owns itself.
    #[test]
    fn a_candidate_refuses_a_worse_one() {
        let mut some = [process(7, true), process(8, true)];
        pulse(&mut some);
        assert_eq!(pulse(&mut some), []);
        assert!(some[1].1.process.round.candidate);
    }

    /// S2: "um nó só prossegue se ele obtiver sucesso na atual captura. Caso contrário, ele desiste".
    #[test]
    fn who_misses_an_ack_gives_up() {
        let mut alone = [process(5, true)];
        assert_eq!(pulse(&mut alone), captures(5, [6]));
        assert_eq!(pulse(&mut alone), []);
        assert_eq!(pulse(&mut alone), []);
        assert!(!alone[0].1.process.round.candidate);
    }

    #[test]
    fn who_hears_of_no_leader_in_time_knows_that_nobody_stood() {
        let (_, mut p) = process(5, false);
        let goes_on = std::iter::repeat_with(|| p.timer(Beat)).take_while(|step| !step.is_empty());
        assert_eq!(goes_on.count(), 7, "pulses 0 to 6 go on, pulse 7 is the last");
    }

    #[test]
    fn one_process_leads_at_once() {
        let mut p = P::new(Complete::new(1), [9], Config::default(), Address(0));
        p.command(Command::Elect);
        assert_eq!(p.timer(Beat).effects, [Effect::Output(Output::leads())]);
    }

    #[test]
    fn a_command_that_comes_too_late_makes_no_candidate() {
        let (_, mut p) = process(5, false);
        p.timer(Beat);
        p.command(Command::Elect);
        assert!((0..6).all(|_| p.timer(Beat).sent().is_empty()));
    }

    #[test]
    fn the_order_can_be_turned_round() {
        let lowest = Config { wins: Wins::Lowest, ..Config::default() };
        let mut some = [configured(7, true, lowest.clone()), configured(8, true, lowest)];
        pulse(&mut some);
        assert_eq!(pulse(&mut some), ack(8, 7));
    }

    #[test]
    fn the_mutant_gives_itself_to_a_worse_process() {
        let mutant = Config { variant: Variant::MutantIgnoresOwner, ..Config::default() };
        let mut some = [process(7, true), configured(8, true, mutant)];
        pulse(&mut some);
        assert_eq!(pulse(&mut some), ack(8, 7));
    }
}
