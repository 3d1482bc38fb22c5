//! The central server (S0, S1, S4): a coordinator lets the participants in, one after the other.
//!
//! Three messages per entry (request, grant, release), four with the acknowledgement of S4's diagrams. S4's
//! faults are here, too: with a timeout the coordinator takes the permission back from a holder that seems
//! dead, and if the holder was only slow, two are inside. Beside it the cure: a lease ends the holder's own
//! belief in time, and a fencing token lets the protected resource refuse a holder of the past.
//!
//! S4's rule 3 frees the resource on *any* release, also on the late one of a holder whose permission has
//! been taken back: then a third enters beside the second (the variant `AsPrinted`). Here a release names the
//! grant that it ends.
//!
//! With more permits it is S1's car park, a counting semaphore; and those who only look may share.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::{Command, Mutex, Output, Token};
use crate::topology::Complete;
use crate::{Address, Context, Process, System};

/// Who coordinates, and what becomes of those who do not return a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Who coordinates; it may also be a participant.
    pub coordinator: Address,
    /// Whether the release is acknowledged, as in S4's diagrams.
    pub acknowledge: bool,
    /// After how long the coordinator takes a permission back; `None`: never.
    pub timeout: Option<Duration>,
    /// After how long a holder leaves by itself; `None`: never. It should be well below the timeout.
    pub lease: Option<Duration>,
    /// Whether holders get a fencing token to show to the resource.
    pub fencing: bool,
    /// How many may be inside at once.
    pub permits: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            variant: Variant::Complete,
            coordinator: Address(0),
            acknowledge: false,
            timeout: None,
            lease: None,
            fencing: false,
            permits: 1,
        }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// A release frees what it was granted.
    #[default]
    Complete,
    /// S4's rule 3: whatever release comes, the resource is free.
    AsPrinted,
    /// A mutant: a holder stays though its lease is over, kept to show that the checker catches it.
    MutantIgnoresLease,
}

/// What coordinator and participants send each other. The token tells one grant from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Let me in." The coordinator answers [`Grant`](Message::Grant) when it is my turn.
    Request,
    /// "Let me in together with others that share." Answered like [`Request`](Message::Request).
    Share,
    /// "Go in." The participant answers [`Release`](Message::Release) when it has left.
    Grant(Token),
    /// "I have left." The coordinator may answer [`Released`](Message::Released).
    Release(Token),
    /// "I know that you have left."
    Released,
}
crate::kinds!(Message: Request, Share, Grant, Release, Released);

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When the coordinator takes this grant back.
    Reclaim(Token),
    /// When the holder's lease of this grant is over.
    LeaseOver(Token),
}

/// Where a participant stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// Outside.
    #[default]
    Outside,
    /// It has asked.
    Waiting,
    /// Inside, by this grant.
    Inside(Token),
}

/// Whether one who is inside, or wants to be, shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Mode {
    /// It takes one of the permits.
    Alone,
    /// It is there with all others that share.
    Shared,
}

/// What the coordinator must not forget: else it could grant twice, or give a token twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grants {
    /// The last token given.
    pub last: u64,
    /// The tokens that have not been released, and who holds them: one, if there is one permit and nobody
    /// shares.
    pub held: BTreeMap<Token, (Address, Mode)>,
}

impl Grants {
    /// Whether one more may enter: with those inside in the same mode, if there is a permit left.
    fn has_room_for(&self, mode: Mode, permits: usize) -> bool {
        self.held.values().all(|(_, other)| *other == mode)
            && (mode == Mode::Shared || self.held.len() < permits)
    }
}

/// The variables of one process: those of a participant, and those of the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coordinator {
    /// Where I am, as a participant.
    pub place: Place,
    /// What I have granted, as the coordinator.
    pub grants: Grants,
    /// Who waits, as the coordinator.
    pub queue: VecDeque<(Address, Mode)>,
}

impl Process for Coordinator {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = Grants;

    fn on_start(recovered: Option<Grants>, cx: &mut Context<'_, Self>) -> Self {
        let grants = recovered.unwrap_or_default();
        let process = Coordinator { place: Place::Outside, grants, queue: VecDeque::new() };
        for token in process.grants.held.keys() {
            watch_holder(*token, cx);
        }
        process
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match (command, self.place) {
            (Command::Acquire, Place::Outside) => self.ask(Message::Request, cx),
            (Command::Share, Place::Outside) => self.ask(Message::Share, cx),
            (Command::Release, Place::Inside(token)) => self.leave(token, cx),
            // Asking twice, or leaving while outside, changes nothing.
            _ => {}
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Request => self.on_request(from, Mode::Alone, cx),
            Message::Share => self.on_request(from, Mode::Shared, cx),
            Message::Grant(token) => self.on_grant(token, cx),
            Message::Release(token) => self.on_release(from, token, cx),
            Message::Released => {}
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_, Self>) {
        match timer {
            // S4: "assuma que o mesmo parou de funcionar … e gere uma nova permissão".
            Timer::Reclaim(token) => self.free(token, cx),
            Timer::LeaseOver(_) if cx.config().variant == Variant::MutantIgnoresLease => {}
            Timer::LeaseOver(token) if self.place == Place::Inside(token) => self.leave(token, cx),
            Timer::LeaseOver(_) => {}
        }
    }

    fn lease(&self, system: &System<Self>) -> Option<Timer> {
        match self.place {
            Place::Inside(token) if system.config.lease.is_some() => Some(Timer::LeaseOver(token)),
            _ => None,
        }
    }

    fn longest_lease(system: &System<Self>) -> Option<Duration> {
        system.config.timeout.max(system.config.lease)
    }
}

/// The participant's rules.
impl Coordinator {
    fn ask(&mut self, request: Message, cx: &mut Context<'_, Self>) {
        self.place = Place::Waiting;
        self.tell_coordinator(request, cx);
    }

    fn on_grant(&mut self, token: Token, cx: &mut Context<'_, Self>) {
        if self.place != Place::Waiting {
            // I crashed since I asked: the turn is for somebody else.
            self.tell_coordinator(Message::Release(token), cx);
            return;
        }
        self.place = Place::Inside(token);
        cx.output(Output::Entered { token: cx.config().fencing.then_some(token) });
        if let Some(lease) = cx.config().lease {
            cx.set_timer(Timer::LeaseOver(token), lease);
        }
    }

    fn leave(&mut self, token: Token, cx: &mut Context<'_, Self>) {
        self.place = Place::Outside;
        if cx.config().lease.is_some() {
            cx.cancel_timer(Timer::LeaseOver(token));
        }
        cx.output(Output::Left);
        self.tell_coordinator(Message::Release(token), cx);
    }

    /// The coordinator may take part itself; then it need not send.
    fn tell_coordinator(&mut self, message: Message, cx: &mut Context<'_, Self>) {
        let coordinator = cx.config().coordinator;
        if coordinator == cx.me() {
            self.on_message(coordinator, message, cx);
        } else {
            cx.send(coordinator, message);
        }
    }
}

/// The coordinator's rules.
impl Coordinator {
    /// S4: "Ao receber uma requisição, a enfileira".
    fn on_request(&mut self, from: Address, mode: Mode, cx: &mut Context<'_, Self>) {
        self.queue.push_back((from, mode));
        self.grant_next(cx);
    }

    /// S4: "Ao receber uma liberação, marca o recurso como livre", if it comes from a present holder.
    fn on_release(&mut self, from: Address, token: Token, cx: &mut Context<'_, Self>) {
        if cx.config().variant == Variant::AsPrinted {
            if let Some(held) = self.grants.held.keys().next().copied() {
                self.end_grant(from, held, cx);
            }
            return;
        }
        if self.grants.held.get(&token).is_none_or(|(holder, _)| *holder != from) {
            return;
        }
        self.end_grant(from, token, cx);
    }

    fn end_grant(&mut self, from: Address, token: Token, cx: &mut Context<'_, Self>) {
        if cx.config().acknowledge {
            self.tell(from, Message::Released, cx);
        }
        if cx.config().timeout.is_some() {
            cx.cancel_timer(Timer::Reclaim(token));
        }
        self.free(token, cx);
    }

    fn free(&mut self, token: Token, cx: &mut Context<'_, Self>) {
        if self.grants.held.remove(&token).is_some() {
            cx.persist(self.grants.clone());
            self.grant_next(cx);
        }
    }

    /// S4: "Sempre que recurso estiver marcado como livre E a fila não estiver vazia". The first of the queue
    /// is never overtaken, not even by those who could share with the ones inside: else it might starve.
    fn grant_next(&mut self, cx: &mut Context<'_, Self>) {
        while let Some((next, mode)) = self.queue.front().copied()
            && self.grants.has_room_for(mode, cx.config().permits)
        {
            self.queue.pop_front();
            self.grants.last += 1;
            let token = Token(self.grants.last);
            self.grants.held.insert(token, (next, mode));
            cx.persist(self.grants.clone());
            watch_holder(token, cx);
            self.tell(next, Message::Grant(token), cx);
        }
    }

    fn tell(&mut self, participant: Address, message: Message, cx: &mut Context<'_, Self>) {
        if participant == cx.me() {
            self.on_message(participant, message, cx);
        } else {
            cx.send(participant, message);
        }
    }
}

/// Takes the permission back in time.
fn watch_holder(token: Token, cx: &mut Context<'_, Coordinator>) {
    if let Some(timeout) = cx.config().timeout {
        cx.set_timer(Timer::Reclaim(token), timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::testing::Harness;

    const COORDINATOR: Address = Address(0);
    const FIRST: Address = Address(1);
    const SECOND: Address = Address(2);

    fn process(me: Address, config: Config) -> Harness<Coordinator> {
        Harness::new(Complete::new(3), 1..=3, config, me)
    }

    fn send(to: Address, message: Message) -> Effect<Coordinator> {
        Effect::Send { to, message }
    }

    /// The last token given is held by this process, alone.
    fn grants(last: u64, holder: Address) -> Grants {
        Grants { last, held: [(Token(last), (holder, Mode::Alone))].into() }
    }

    fn with_timeout() -> Config {
        Config { timeout: Some(Duration::from_millis(50)), ..Config::default() }
    }

    /// S4: "Envia requisição de acesso ao coordenador; espera por resposta; acessa o recurso; envia
    /// liberação".
    #[test]
    fn a_participant_asks_enters_and_releases() {
        let mut p = process(FIRST, Config::default());
        assert_eq!(p.command(Command::Acquire).effects, [send(COORDINATOR, Message::Request)]);
        let entered = p.message(COORDINATOR, Message::Grant(Token(1)));
        assert_eq!(entered.effects, [Effect::Output(Output::Entered { token: None })]);
        let left = p.command(Command::Release);
        assert_eq!(
            left.effects,
            [Effect::Output(Output::Left), send(COORDINATOR, Message::Release(Token(1)))]
        );
    }

    /// S4: "Sempre que recurso estiver marcado como livre E a fila não estiver vazia: remove primeiro
    /// processo da fila; envia liberação para processo removido; marca o recurso como ocupado".
    #[test]
    fn the_coordinator_grants_in_the_order_of_the_requests_one_at_a_time() {
        let mut c = process(COORDINATOR, Config::default());
        assert_eq!(c.message(FIRST, Message::Request).effects, [send(FIRST, Message::Grant(Token(1)))]);
        assert!(c.message(SECOND, Message::Request).is_empty());
        let step = c.message(FIRST, Message::Release(Token(1)));
        assert_eq!(step.effects, [send(SECOND, Message::Grant(Token(2)))]);
        assert_eq!(step.persist, Some(grants(2, SECOND)));
    }

    /// S4: "Ao receber uma liberação, marca o recurso como livre". Of whom it comes the rule does not ask.
    #[test]
    fn as_printed_the_late_release_of_one_frees_what_another_holds() {
        for (variant, third) in [(Variant::Complete, vec![]), (Variant::AsPrinted, vec![FIRST])] {
            let mut c = process(COORDINATOR, Config { variant, ..with_timeout() });
            c.message(FIRST, Message::Request);
            c.message(SECOND, Message::Request);
            c.timer(Timer::Reclaim(Token(1)));
            c.message(FIRST, Message::Request);
            let granted = c.message(FIRST, Message::Release(Token(1))).sent();
            assert_eq!(granted.into_iter().map(|(to, _)| to).collect::<Vec<_>>(), third, "{variant:?}");
        }
    }

    /// S4's diagrams answer RequestFree with ResponseFree before the next ResponseOK.
    #[test]
    fn the_release_can_be_acknowledged() {
        let mut c = process(COORDINATOR, Config { acknowledge: true, ..Config::default() });
        c.message(FIRST, Message::Request);
        c.message(SECOND, Message::Request);
        let step = c.message(FIRST, Message::Release(Token(1)));
        assert_eq!(step.effects, [send(FIRST, Message::Released), send(SECOND, Message::Grant(Token(2)))]);
    }

    /// S4: "se o processo não devolver a permissão … assuma que o mesmo parou de funcionar … e gere uma nova
    /// permissão a ser passada a outros requisitantes".
    #[test]
    fn a_timeout_takes_the_permission_back() {
        let mut c = process(COORDINATOR, with_timeout());
        c.message(FIRST, Message::Request);
        c.message(SECOND, Message::Request);
        let step = c.timer(Timer::Reclaim(Token(1)));
        assert_eq!(step.sent(), [(SECOND, Message::Grant(Token(2)))]);
        // The slow holder's release comes too late to free what is now another's.
        assert!(c.message(FIRST, Message::Release(Token(1))).is_empty());
    }

    #[test]
    fn a_release_in_time_stops_the_timeout() {
        let mut c = process(COORDINATOR, with_timeout());
        c.message(FIRST, Message::Request);
        let step = c.message(FIRST, Message::Release(Token(1)));
        assert_eq!(step.effects, [Effect::CancelTimer(Timer::Reclaim(Token(1)))]);
    }

    #[test]
    fn with_fencing_every_entry_has_a_greater_token() {
        let mut p = process(FIRST, Config { fencing: true, ..Config::default() });
        p.command(Command::Acquire);
        let step = p.message(COORDINATOR, Message::Grant(Token(7)));
        assert_eq!(step.outputs(), [Output::Entered { token: Some(Token(7)) }]);
    }

    #[test]
    fn with_a_lease_the_holder_leaves_by_itself() {
        let lease = Duration::from_millis(30);
        let mut p = process(FIRST, Config { lease: Some(lease), ..Config::default() });
        p.command(Command::Acquire);
        let entered = p.message(COORDINATOR, Message::Grant(Token(1)));
        let timer = Effect::SetTimer { timer: Timer::LeaseOver(Token(1)), after: lease.into() };
        assert!(entered.effects.contains(&timer));
        assert_eq!(p.timer(Timer::LeaseOver(Token(1))).outputs(), [Output::Left]);
        // A lease that is over is not released again.
        assert!(p.command(Command::Release).is_empty());
    }

    /// S4: "É possível que um mesmo processo atue nos dois papéis sem nenhum prejuízo".
    #[test]
    fn the_coordinator_can_take_part_without_messages() {
        let mut c = process(COORDINATOR, Config::default());
        let step = c.command(Command::Acquire);
        assert_eq!(step.effects, [Effect::Output(Output::Entered { token: None })]);
        assert_eq!(c.command(Command::Release).effects, [Effect::Output(Output::Left)]);
    }

    #[test]
    fn a_coordinator_that_comes_back_remembers_the_holder_and_the_last_token() {
        let stored = grants(4, FIRST);
        let mut c = Harness::<Coordinator>::recovered(
            Complete::new(3),
            1..=3,
            with_timeout(),
            COORDINATOR,
            Some(stored),
        );
        assert!(c.message(SECOND, Message::Request).is_empty());
        assert_eq!(c.timer(Timer::Reclaim(Token(4))).sent(), [(SECOND, Message::Grant(Token(5)))]);
    }

    #[test]
    fn a_participant_that_crashed_while_it_waited_passes_its_turn() {
        let mut p = process(FIRST, Config::default());
        let step = p.message(COORDINATOR, Message::Grant(Token(3)));
        assert_eq!(step.effects, [send(COORDINATOR, Message::Release(Token(3)))]);
    }

    /// S1: the car park with N places.
    #[test]
    fn where_there_are_two_permits_two_are_let_in() {
        let mut c = process(COORDINATOR, Config { permits: 2, ..Config::default() });
        assert_eq!(c.message(FIRST, Message::Request).sent(), [(FIRST, Message::Grant(Token(1)))]);
        assert_eq!(c.message(SECOND, Message::Request).sent(), [(SECOND, Message::Grant(Token(2)))]);
        assert!(c.command(Command::Acquire).is_empty());
        assert_eq!(c.message(FIRST, Message::Release(Token(1))).outputs().len(), 1, "now I am let in myself");
    }

    #[test]
    fn those_who_share_go_in_together_but_nobody_overtakes_one_who_waits() {
        let mut c = process(COORDINATOR, Config::default());
        assert_eq!(c.message(FIRST, Message::Share).sent(), [(FIRST, Message::Grant(Token(1)))]);
        assert_eq!(c.message(SECOND, Message::Share).sent(), [(SECOND, Message::Grant(Token(2)))]);
        c.message(FIRST, Message::Release(Token(1)));
        assert!(c.message(FIRST, Message::Request).is_empty(), "one shares still");
        assert!(c.command(Command::Share).is_empty(), "one waits to be alone");
        let alone = c.message(SECOND, Message::Release(Token(2)));
        assert_eq!(alone.sent(), [(FIRST, Message::Grant(Token(3)))]);
        assert_eq!(c.message(FIRST, Message::Release(Token(3))).outputs().len(), 1);
    }

    #[test]
    fn a_participant_that_wants_to_share_says_so() {
        let mut p = process(FIRST, Config::default());
        assert_eq!(p.command(Command::Share).effects, [send(COORDINATOR, Message::Share)]);
    }
}
