//! The central server (S0, S1, S4): a coordinator lets the participants in, one after the other.
//!
//! Three messages per entry (request, grant, release), four with the acknowledgement of S4's diagrams. S4's
//! faults are here, too: with a timeout the coordinator takes the permission back from a holder that seems
//! dead, and if the holder was only slow, two are inside. Beside it the cure: a lease ends the holder's own
//! belief in time, and a fencing token lets the protected resource refuse a holder of the past.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Command, Mutex, Output, Token};
use crate::topology::Complete;
use crate::{Address, Context, Process};

/// The constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
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
}

impl Default for Config {
    fn default() -> Self {
        Config { coordinator: Address(0), acknowledge: false, timeout: None, lease: None, fencing: false }
    }
}

/// What coordinator and participants send each other. The token tells one grant from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Let me in." The coordinator answers [`Grant`](Message::Grant) when it is my turn.
    Request,
    /// "Go in." The participant answers [`Release`](Message::Release) when it has left.
    Grant(Token),
    /// "I have left." The coordinator may answer [`Released`](Message::Released).
    Release(Token),
    /// "I know that you have left."
    Released,
}
crate::kinds!(Message: Request, Grant, Release, Released);

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

/// What the coordinator must not forget: else it could grant twice, or give a token twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grants {
    /// The last token given.
    pub last: u64,
    /// Who holds it, if it has not been released.
    pub holder: Option<Address>,
}

/// The variables of one process: those of a participant, and those of the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coordinator {
    /// Where I am, as a participant.
    pub place: Place,
    /// What I have granted, as the coordinator.
    pub grants: Grants,
    /// Who waits, as the coordinator.
    pub queue: VecDeque<Address>,
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
        if grants.holder.is_some() {
            process.watch_holder(cx);
        }
        process
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match (command, self.place) {
            (Command::Acquire, Place::Outside) => {
                self.place = Place::Waiting;
                self.tell_coordinator(Message::Request, cx);
            }
            (Command::Release, Place::Inside(token)) => self.leave(token, cx),
            // Asking twice, or leaving while outside, changes nothing.
            _ => {}
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Request => self.on_request(from, cx),
            Message::Grant(token) => self.on_grant(token, cx),
            Message::Release(token) => self.on_release(from, token, cx),
            Message::Released => {}
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_, Self>) {
        match timer {
            // S4: "assuma que o mesmo parou de funcionar … e gere uma nova permissão".
            Timer::Reclaim(token) if token.0 == self.grants.last => self.free(cx),
            Timer::LeaseOver(token) if self.place == Place::Inside(token) => self.leave(token, cx),
            _ => {}
        }
    }
}

/// The participant's rules.
impl Coordinator {
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
    fn on_request(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        self.queue.push_back(from);
        self.grant_next(cx);
    }

    /// S4: "Ao receber uma liberação, marca o recurso como livre", if it comes from the present holder.
    fn on_release(&mut self, from: Address, token: Token, cx: &mut Context<'_, Self>) {
        if self.grants.holder != Some(from) || self.grants.last != token.0 {
            return;
        }
        if cx.config().acknowledge {
            self.tell(from, Message::Released, cx);
        }
        if cx.config().timeout.is_some() {
            cx.cancel_timer(Timer::Reclaim(token));
        }
        self.free(cx);
    }

    fn free(&mut self, cx: &mut Context<'_, Self>) {
        self.grants.holder = None;
        cx.persist(self.grants);
        self.grant_next(cx);
    }

    /// S4: "Sempre que recurso estiver marcado como livre E a fila não estiver vazia".
    fn grant_next(&mut self, cx: &mut Context<'_, Self>) {
        if self.grants.holder.is_some() {
            return;
        }
        let Some(next) = self.queue.pop_front() else { return };
        self.grants = Grants { last: self.grants.last + 1, holder: Some(next) };
        cx.persist(self.grants);
        self.watch_holder(cx);
        self.tell(next, Message::Grant(Token(self.grants.last)), cx);
    }

    fn watch_holder(&self, cx: &mut Context<'_, Self>) {
        if let Some(timeout) = cx.config().timeout {
            cx.set_timer(Timer::Reclaim(Token(self.grants.last)), timeout);
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

    fn with_timeout() -> Config {
        Config { timeout: Some(Duration::from_millis(50)), ..Config::default() }
    }

    /// S4: "Envia requisição de acesso ao coordenador; espera por resposta; acessa o recurso; envia liberação".
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

    /// S4: "Sempre que recurso estiver marcado como livre E a fila não estiver vazia: remove primeiro processo
    /// da fila; envia liberação para processo removido; marca o recurso como ocupado".
    #[test]
    fn the_coordinator_grants_in_the_order_of_the_requests_one_at_a_time() {
        let mut c = process(COORDINATOR, Config::default());
        assert_eq!(c.message(FIRST, Message::Request).effects, [send(FIRST, Message::Grant(Token(1)))]);
        assert!(c.message(SECOND, Message::Request).is_empty());
        let step = c.message(FIRST, Message::Release(Token(1)));
        assert_eq!(step.effects, [send(SECOND, Message::Grant(Token(2)))]);
        assert_eq!(step.persist, Some(Grants { last: 2, holder: Some(SECOND) }));
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
        let stored = Grants { last: 4, holder: Some(FIRST) };
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
}
