//! Byzantine generals with oral messages, OM(m) (S1 poses the problem; L. Lamport, R. Shostak and M. Pease,
//! *The Byzantine Generals Problem*, 1982).
//!
//! A commander sends an order to his n−1 lieutenants. Nobody knows whom to trust, not even the commander, so
//! everyone passes on what it has heard to all others, for m+1 rounds, and obeys the majority. With at most m
//! traitors among n ≥ 3m+1 generals all loyal ones obey the same order (IC1), which is that of the commander
//! if he is loyal (IC2). With n = 3m no algorithm can do it: a lieutenant cannot tell whether the commander
//! or the other lieutenant lies. (n−1) + (n−1)(n−2) + … + (n−1)⋯(n−m−1) messages, exactly.

use super::hearsay::{Hearsay, Message, others};
use super::treason::Treason;
use super::{Agreement, Command, Output, Value};
use crate::rounds::{Next, Pulse, Round, Synchronous};
use crate::topology::Complete;
use crate::{Address, Context};

/// Who commands, how much treason to withstand, and how much there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// How many traitors to withstand.
    pub m: usize,
    /// Who commands.
    pub commander: Address,
    /// Who betrays.
    pub treason: Treason,
}

impl Default for Config {
    fn default() -> Self {
        Config { variant: Variant::Majority, m: 1, commander: Address(0), treason: Treason::default() }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Lamport's.
    Majority,
    /// A mutant: a lieutenant obeys what the commander told it, whatever the others say, kept to show that
    /// the checker catches it.
    MutantTrustsCommander,
}

/// The variables of one general.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByzantineGenerals {
    /// What the application wants to order. It counts for the commander alone, and before the first pulse.
    pub told: Option<Command>,
    /// What this general has heard.
    pub hearsay: Hearsay,
}

impl Round for ByzantineGenerals {
    type Problem = Agreement;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;

    fn start(cx: &mut Context<'_, Synchronous<Self>>) -> Self {
        if cx.config().treason.is_traitor(cx.me()) {
            cx.output(Output::Betrays);
        }
        ByzantineGenerals::default()
    }

    fn on_command(&mut self, command: Command) {
        self.told.get_or_insert(command);
    }

    fn on_pulse(
        &mut self,
        pulse: u32,
        arrived: Vec<(Address, Message)>,
        cx: &mut Pulse<'_, '_, Self>,
    ) -> Next {
        let config = cx.context().config();
        let pulse = pulse as usize;
        let commands = cx.context().me() == config.commander;
        if commands && pulse == 0 {
            self.order(cx);
        } else if !commands && pulse > 0 {
            let me = cx.context().id();
            let arrived = arrived.into_iter().map(|(from, message)| (cx.context().id_of(from), message));
            self.hearsay.hear(pulse, arrived, me);
            if pulse <= config.m {
                self.pass_on(pulse, cx);
            }
        }
        if pulse <= config.m {
            return Next::Continue;
        }
        self.obey(cx);
        Next::Halt
    }
}

impl ByzantineGenerals {
    fn order(&mut self, cx: &mut Pulse<'_, '_, Self>) {
        let Some(order) = self.ordered() else { return };
        cx.output(Output::Proposed(order));
        let treason = &cx.context().config().treason;
        for (to, message) in Hearsay::order(order, treason, cx.context()) {
            cx.send(to, message);
        }
    }

    fn pass_on(&mut self, length: usize, cx: &mut Pulse<'_, '_, Self>) {
        let config = cx.context().config();
        let commander = cx.context().id_of(config.commander);
        for (to, message) in self.hearsay.passed_on(&[commander], length, &config.treason, cx.context()) {
            cx.send(to, message);
        }
    }

    /// The commander obeys himself. What a traitor does is nobody's business.
    fn obey(&self, cx: &mut Pulse<'_, '_, Self>) {
        let config = cx.context().config();
        let (me, commander) = (cx.context().me(), cx.context().id_of(config.commander));
        let order = match config.variant {
            _ if me == config.commander => self.ordered().unwrap_or(Value::Retreat),
            Variant::Majority => self.hearsay.judge(commander, config.m, &others(cx.context())),
            Variant::MutantTrustsCommander => self.hearsay.direct(&[commander]),
        };
        if !config.treason.is_traitor(me) {
            cx.output(Output::Decided(order));
        }
    }

    /// A general who is told to propose, and not what, orders to attack.
    fn ordered(&self) -> Option<Value> {
        self.told.map(|Command::Propose(value)| value.unwrap_or(Value::Attack))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Process;
    use crate::agreement::lockstep::lockstep;
    use crate::agreement::treason::{Lie, Lies};
    use crate::rounds::Beat;
    use crate::testing::Harness;

    type P = Synchronous<ByzantineGenerals>;

    /// The general with this identifier of 1 … 4; 1 commands.
    fn general(id: u32, config: Config) -> Harness<P> {
        Harness::new(Complete::new(4), 1..=4, config, Address(id - 1))
    }

    fn attack() -> Command {
        Command::Propose(Some(Value::Attack))
    }

    fn shown(sent: &[(Address, <P as Process>::Message)]) -> Vec<(u32, String)> {
        sent.iter().map(|(to, message)| (to.0 + 1, format!("{message:?}"))).collect()
    }

    /// What the general `from` sends `to` in each pulse, if it is told these things.
    fn letter(from: u32, to: u32, config: Config) -> <P as Process>::Message {
        let mut p = general(from, config);
        p.command(attack());
        let sent = p.timer(Beat).sent();
        let found = sent.into_iter().find(|(address, _)| address.0 + 1 == to);
        found.expect("the commander writes to everyone").1
    }

    /// Lamport: "(1) The commander sends his value to every lieutenant."
    #[test]
    fn the_commander_orders_and_obeys_himself() {
        let mut p = general(1, Config::default());
        p.command(attack());
        let step = p.timer(Beat);
        let order = |to| (to, "attack:1".to_owned());
        assert_eq!(shown(&step.sent()), [order(2), order(3), order(4)]);
        assert_eq!(step.outputs(), [Output::Proposed(Value::Attack)]);
        assert!(p.timer(Beat).sent().is_empty());
        assert_eq!(p.timer(Beat).outputs(), [Output::Decided(Value::Attack)]);
    }

    /// Lamport: "Lieutenant i acts as the commander in Algorithm OM(m−1) to send the value v_i to each of the
    /// n−2 other lieutenants."
    #[test]
    fn a_lieutenant_passes_on_what_the_commander_told_it() {
        let mut p = general(2, Config::default());
        assert!(p.timer(Beat).effects.len() == 1, "nothing but the next pulse");
        p.message(Address(0), letter(1, 2, Config::default()));
        let says = |to| (to, "attack:1:2".to_owned());
        assert_eq!(shown(&p.timer(Beat).sent()), [says(3), says(4)]);
    }

    /// Lamport: "(2) … or else be RETREAT if he receives no value."
    #[test]
    fn silence_is_an_order_to_retreat() {
        let mut p = general(2, Config::default());
        p.timer(Beat);
        let says = |to| (to, "retreat:1:2".to_owned());
        assert_eq!(shown(&p.timer(Beat).sent()), [says(3), says(4)]);
        assert_eq!(p.timer(Beat).outputs(), [Output::Decided(Value::Retreat)]);
    }

    #[test]
    fn a_traitor_says_what_it_likes_and_decides_nothing() {
        let traitors = BTreeSet::from([Address(0)]);
        let lies = Lies::Scripted(vec![Lie::Truth, Lie::Truth, Lie::Silence, Lie::Say(Value::Number(3))]);
        let config = Config { treason: Treason { traitors, lies }, ..Config::default() };
        let mut p = general(1, config.clone());
        assert_eq!(p.started().outputs(), [Output::Betrays]);
        p.command(attack());
        assert_eq!(shown(&p.timer(Beat).sent()), [(2, "attack:1".to_owned()), (4, "3:1".to_owned())]);
        p.timer(Beat);
        assert_eq!(p.timer(Beat).outputs(), []);
        // And if nobody says what, it is free to choose, for each anew.
        let treason = Treason { lies: Lies::Drawn, ..config.treason };
        let mut p = general(1, Config { treason, ..Config::default() });
        p.command(attack());
        p.will_choose([1, 0, 1]);
        let told = shown(&p.timer(Beat).sent());
        assert_eq!(
            told,
            [(2, "attack:1".to_owned()), (3, "retreat:1".to_owned()), (4, "attack:1".to_owned())]
        );
    }

    #[test]
    fn the_mutant_listens_to_the_commander_alone() {
        let mut p = general(2, Config { variant: Variant::MutantTrustsCommander, ..Config::default() });
        p.timer(Beat);
        p.message(Address(0), letter(1, 2, Config::default()));
        p.timer(Beat);
        assert_eq!(p.timer(Beat).outputs(), [Output::Decided(Value::Attack)]);
    }

    /// Every way in which a traitor can lie, as choices; it sends at most `letters` letters.
    fn all_lies(letters: u32) -> impl Iterator<Item = Vec<u32>> {
        (0..1 << letters).map(move |lies: u32| (0..letters).map(|letter| lies >> letter & 1).collect())
    }

    /// The orders that the loyal among `n` generals obey with this traitor and these lies.
    fn obeyed(n: usize, traitor: u32, lies: Vec<u32>, variant: Variant) -> Vec<Output> {
        let treason = Treason { traitors: BTreeSet::from([Address(traitor)]), lies: Lies::Drawn };
        let config = Config { variant, treason, ..Config::default() };
        let outputs = lockstep::<ByzantineGenerals>(n, &config, &[(0, attack())], &[(traitor, lies)]);
        let loyal = outputs.into_iter().enumerate().filter(|(process, _)| *process != traitor as usize);
        loyal
            .filter_map(|(_, outputs)| outputs.into_iter().find(|output| output.decision().is_some()))
            .collect()
    }

    /// Whether all loyal ones obeyed, alike, and a loyal commander.
    fn is_won(n: usize, traitor: u32, obeyed: &[Output]) -> bool {
        let alike = obeyed.len() == n - 1 && obeyed.iter().all(|output| *output == obeyed[0]);
        alike && (traitor == 0 || obeyed[0] == Output::Decided(Value::Attack))
    }

    /// Lamport: "Algorithm OM(m) satisfies conditions IC1 and IC2 if there are more than 3m generals and at
    /// most m traitors."
    #[test]
    fn no_lie_of_one_traitor_divides_four_generals() {
        for traitor in 0..4 {
            for lies in all_lies(3) {
                let obeyed = obeyed(4, traitor, lies.clone(), Variant::Majority);
                assert!(is_won(4, traitor, &obeyed), "{traitor} lies {lies:?}: {obeyed:?}");
            }
        }
    }

    /// Lamport: "no solution with fewer than 3m + 1 generals can cope with m traitors."
    #[test]
    fn one_traitor_divides_three_generals() {
        let lost = all_lies(1).filter(|lies| !is_won(3, 2, &obeyed(3, 2, lies.clone(), Variant::Majority)));
        assert_eq!(lost.collect::<Vec<_>>(), [[0]]);
    }

    #[test]
    fn the_mutant_is_divided_by_its_commander() {
        let lost = all_lies(3)
            .filter(|lies| !is_won(4, 0, &obeyed(4, 0, lies.clone(), Variant::MutantTrustsCommander)));
        assert_eq!(lost.count(), 6, "whenever he does not say the same to all");
    }
}
