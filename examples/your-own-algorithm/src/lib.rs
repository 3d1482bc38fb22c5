//! Le Lann's election on a one-way ring, as one would write it for oneself.
//!
//! G. Le Lann, *Distributed systems: towards a formal approach*, 1977. Everybody's identifier goes once round
//! the ring. Who hears of the election joins in before it passes anything on; so, where links keep the order,
//! my own identifier comes home behind all others. By then I have seen everybody, and the highest leads:
//! nobody has to announce it. It costs exactly n² messages, whoever starts.

use habemus::catalogue::{Entry, Model, Promise, Setup, Timing};
use habemus::election::{Command, Election, Output};
use habemus::topology::Ring;
use habemus::{Address, Context, Id, ProblemKind, Process, System, SystemError};
use serde::{Deserialize, Serialize};

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Le Lann's.
    LeLann,
    /// Deliberately wrong: passes on first and joins in afterwards. Two lines changed places.
    MutantJoinsLate,
}

/// What travels round the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Message {
    /// "This process takes part." It goes round once, and comes home behind everybody else's.
    Candidate(Id),
}
habemus::kinds!(Message: Candidate);

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeLann {
    /// Whether my identifier is on its way.
    pub takes_part: bool,
    /// The highest identifier that I have seen.
    pub highest: Id,
}

impl Process for LeLann {
    type Problem = Election;
    type Topology = Ring;
    type Config = Variant;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        LeLann { takes_part: false, highest: cx.id() }
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        self.join_in(cx);
    }

    fn on_message(&mut self, _: Address, Message::Candidate(id): Message, cx: &mut Context<'_, Self>) {
        if id == cx.id() {
            return self.decide(cx);
        }
        match cx.config() {
            Variant::LeLann => {
                self.join_in(cx);
                self.pass_on(id, cx);
            }
            Variant::MutantJoinsLate => {
                self.pass_on(id, cx);
                self.join_in(cx);
            }
        }
    }
}

impl LeLann {
    fn join_in(&mut self, cx: &mut Context<'_, Self>) {
        if !self.takes_part {
            self.takes_part = true;
            cx.send(cx.successor(), Message::Candidate(cx.id()));
        }
    }

    fn pass_on(&mut self, id: Id, cx: &mut Context<'_, Self>) {
        self.highest = self.highest.max(id);
        cx.send(cx.successor(), Message::Candidate(id));
    }

    /// My identifier has come home: there is nobody whom I have not seen.
    fn decide(&mut self, cx: &mut Context<'_, Self>) {
        let leads = self.highest == cx.id();
        cx.output(if leads { Output::leads() } else { Output::follows(self.highest) });
    }
}

/// What it is called, and what it promises: the simulator and the checker hold it to that.
static ENTRY: Entry = Entry {
    model: Model::new(Timing::Asynchronous, &[]),
    promises: &[
        Promise::of("E2"),
        Promise::of("termination"),
        Promise::of("uniqueness"),
        Promise::of("agreement"),
    ],
    ..Entry::own("le-lann", ProblemKind::Election)
};

/// The ring of these processes.
///
/// # Errors
/// If there are none, or two with the same identifier.
pub fn setup(ids: Vec<Id>) -> Result<Setup<LeLann>, SystemError> {
    setup_variant(ids, Variant::LeLann)
}

/// The same with rules of your choice.
///
/// # Errors
/// As [`setup`].
pub fn setup_variant(ids: Vec<Id>, variant: Variant) -> Result<Setup<LeLann>, SystemError> {
    Ok(Setup::own(&ENTRY, System::new(Ring::new(ids.len()), ids, variant)?))
}
