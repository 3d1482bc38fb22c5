//! The token ring (S0, S1, S4): whoever has the token may enter, and passes it on.
//!
//! In the notes the token moves even when nobody wants it: between 1 and n messages per entry, and no end.
//! That is [`Idle::Move`]. With [`Idle::Stop`] the token rests after a whole round in which nobody has used
//! it, and whoever wants it then sends a message after it: 2n messages for a lonely entry, and a run comes to
//! an end.
//!
//! S4: "se um participante falha enquanto com o token, levando-o para além". Where a failure detector speaks,
//! the ring closes over the dead and a new token is issued: see `recall.rs`.

mod message;
mod recall;

use std::collections::BTreeSet;
use std::time::Duration;

pub use message::{Generation, Message, Permission};

use super::{Command, Mutex, Output, State, Token};
use crate::symmetry::{Part, Rotation, RotationSymmetric};
use crate::topology::Ring;
use crate::{Address, Context, Id, Process, Suspicion};

/// Where the token lies at the beginning, and what it does while nobody wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Who has the token at the beginning.
    pub holder: Address,
    /// What becomes of a token that nobody wants.
    pub idle: Idle,
    /// How long a process that does not want the token keeps it nevertheless, while it moves.
    pub rest: Duration,
    /// Whether holders get a fencing token: how often this token has been used.
    pub fencing: bool,
    /// Whose rules.
    pub variant: Variant,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            holder: Address(0),
            idle: Idle::Stop,
            rest: Duration::ZERO,
            fencing: false,
            variant: Variant::Complete,
        }
    }
}

/// What becomes of a token that nobody wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Idle {
    /// After a round in vain it rests where it was used last, until it is asked for.
    #[default]
    Stop,
    /// It moves on for ever, as in the notes.
    Move,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The notes'.
    #[default]
    Complete,
    /// A mutant: the token is passed on when a process enters, not when it leaves, kept to show that the
    /// checker catches it.
    MutantHasty,
}

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to pass on a token that I do not want.
    PassOn,
}

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TokenRing {
    /// Where I stand.
    pub state: State,
    /// The token, if it is here.
    pub token: Option<Permission>,
    /// The latest token that I know of: older ones are void.
    pub generation: Generation,
    /// Whether I have called the tokens back and wait for the recall to come home.
    pub recalling: bool,
    /// Whether a recall waits until I have left.
    pub held_back: bool,
    /// Who seems dead, and is passed over.
    pub suspected: BTreeSet<Address>,
}

impl Process for TokenRing {
    type Problem = Mutex;
    type Topology = Ring;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    /// The latest token that I know of, so that none of the past is issued again.
    type Stable = Generation;

    /// S4: "Um dos processos é iniciado com um token". One that comes back after a crash has none.
    fn on_start(recovered: Option<Generation>, cx: &mut Context<'_, Self>) -> Self {
        let mut process = TokenRing { generation: recovered.unwrap_or_default(), ..TokenRing::default() };
        if recovered.is_some() {
            process.on_missing(cx.id(), cx);
        } else if cx.me() == cx.config().holder {
            let idle_hops = cx.process_count() as u32;
            process.take(Permission { generation: Generation::default(), entries: 0, idle_hops }, cx);
        }
        process
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match (command, self.state) {
            (Command::Acquire | Command::Share, State::Released) => self.ask(cx),
            (Command::Release, State::Held) => self.leave(cx),
            // Asking twice, or leaving while outside, changes nothing.
            _ => {}
        }
    }

    fn on_message(&mut self, _: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Token(permission) => self.on_token(permission, cx),
            Message::Wake(origin) => self.on_wake(origin, cx),
            Message::Recall(generation) => self.on_recall(generation, cx),
            Message::Missing(origin) if origin != cx.id() => self.on_missing(origin, cx),
            // Nobody took it for the first: everybody knows of somebody that I have not heard of yet.
            Message::Missing(_) => {}
            Message::Superseded(generation) => self.on_superseded(generation, cx),
        }
    }

    fn on_timer(&mut self, Timer::PassOn: Timer, cx: &mut Context<'_, Self>) {
        if self.state == State::Released {
            self.pass_on(cx);
        }
    }

    fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        self.on_change_of_the_ring(suspicion, cx);
    }
}

impl RotationSymmetric for TokenRing {
    fn rotate(part: Part<'_, Self>, rotation: &Rotation<'_>) {
        let rename =
            |generation: &mut Generation| generation.by = generation.by.map(|by| rotation.address(by));
        match part {
            Part::Process(process) => {
                rename(&mut process.generation);
                process.token.iter_mut().for_each(|permission| rename(&mut permission.generation));
                process.suspected = process.suspected.iter().map(|&other| rotation.address(other)).collect();
            }
            Part::Message(Message::Token(permission)) => rename(&mut permission.generation),
            Part::Message(Message::Wake(id) | Message::Missing(id)) => *id = rotation.id(*id),
            Part::Message(Message::Recall(generation) | Message::Superseded(generation)) => {
                rename(generation);
            }
        }
    }
}

impl TokenRing {
    fn ask(&mut self, cx: &mut Context<'_, Self>) {
        self.state = State::Wanted;
        if self.token.is_some() {
            self.enter(cx);
        } else if cx.config().idle == Idle::Stop {
            cx.send(self.successor(cx), Message::Wake(cx.id()));
        }
    }

    fn on_token(&mut self, permission: Permission, cx: &mut Context<'_, Self>) {
        if permission.generation.number > self.generation.number {
            self.learn(permission.generation, cx);
        }
        // Otherwise it has been recalled; or it came twice.
        if permission.generation == self.generation && self.token.is_none() {
            self.take(permission, cx);
        }
    }

    /// S4: "Ao receber o token de acesso, se quiser acessar o recurso, acessa. Envia o token para o próximo
    /// nó".
    fn take(&mut self, permission: Permission, cx: &mut Context<'_, Self>) {
        let Config { idle, rest, .. } = *cx.config();
        self.token = Some(permission);
        if self.state == State::Wanted {
            self.enter(cx);
        } else if idle == Idle::Move && !rest.is_zero() {
            cx.set_timer(Timer::PassOn, rest);
        } else if idle == Idle::Move || permission.idle_hops < cx.process_count() as u32 {
            self.pass_on(cx);
        }
        // Otherwise it has gone all the way round in vain, and rests.
    }

    fn on_wake(&mut self, origin: Id, cx: &mut Context<'_, Self>) {
        // Mine: the token has been here since, for a wake cannot overtake it. Or I wait myself, and my own
        // wake goes ahead of this one. In both cases the token will pass by whoever sent it.
        if origin == cx.id() || self.state == State::Wanted {
            return;
        }
        match (&mut self.token, self.state) {
            (Some(permission), State::Released) => {
                permission.idle_hops = 0;
                self.pass_on(cx);
            }
            (None, State::Released) => cx.send(self.successor(cx), Message::Wake(origin)),
            // It goes on anyway when I leave.
            _ => {}
        }
    }

    fn enter(&mut self, cx: &mut Context<'_, Self>) {
        let Some(permission) = &mut self.token else { return };
        self.state = State::Held;
        permission.entries += 1;
        permission.idle_hops = 0;
        let fence = (u64::from(permission.generation.number) << 32) + u64::from(permission.entries);
        cx.output(Output::Entered { token: cx.config().fencing.then_some(Token(fence)) });
        if cx.config().variant == Variant::MutantHasty {
            self.pass_on(cx);
        }
    }

    fn leave(&mut self, cx: &mut Context<'_, Self>) {
        self.state = State::Released;
        cx.output(Output::Left);
        if self.held_back {
            self.pass_recall_on(cx);
        } else {
            self.pass_on(cx);
        }
    }

    fn pass_on(&mut self, cx: &mut Context<'_, Self>) {
        let successor = self.successor(cx);
        if successor == cx.me() {
            return; // I am alone, and keep it.
        }
        if let Some(mut permission) = self.token.take() {
            permission.idle_hops += u32::from(cx.config().idle == Idle::Stop);
            cx.send(successor, Message::Token(permission));
        }
    }

    /// S4's next on the ring; the next that is not suspected.
    fn successor(&self, cx: &Context<'_, Self>) -> Address {
        let mut next = cx.successor();
        while next != cx.me() && self.suspected.contains(&next) {
            next = cx.successor_of(next);
        }
        next
    }
}

#[cfg(test)]
mod tests;
