//! The coordinator that is elected (S4's conclusion): a lock that survives the death of its coordinator.
//!
//! Below is any election. Whoever it makes the leader begins a *reign*, with a number above all that it
//! knows, and asks everybody where they stand; everybody stores the number before it answers, so a later
//! reign has a greater one. The coordinator grants only when it knows that nobody is inside whom it does not
//! know of. Those who wait say so in their answers, so no request is lost. A fencing token has the reign
//! first, so it grows from coordinator to coordinator.
//!
//! Without leases this relies on the detector: one that is suspected counts as dead, and if it was only slow,
//! two may be inside. With leases it relies on clocks alone: a lease runs from when the participant asked, so
//! it is over before the coordinator, whose timer began later and runs longer, gives the permission to
//! another; and a new coordinator waits for as long unless everybody has answered. This needs an election
//! that does not let two lead at once: the majority election.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Command, Mutex};
use crate::election::{self, Election};
use crate::term::{Sort, Term, TermInvariant, TermPart};
use crate::topology::Complete;
use crate::{Address, Context, Process, Said, Step, Suspicion, System};

mod borrowing;
mod message;
mod office;
mod participant;
#[cfg(test)]
mod tests;

pub use borrowing::{Standing, memory};
pub use message::{GrantId, LockMessage, Message, Place, Ticket, Timer};
pub use office::Office;

/// The rules, or deliberately broken ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The rules.
    #[default]
    Complete,
    /// A mutant: a new coordinator grants before it knows who is inside, kept to show that the checker
    /// catches it.
    MutantForgetful,
    /// A mutant: a holder stays though its lease is over, kept to show that the checker catches it.
    MutantIgnoresLease,
    /// A mutant: a coordinator waits no longer for a lease to be over than its holder does, kept to show that
    /// the checker catches it.
    MutantNoMargin,
}

/// Whence the numbers of reigns come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reigns {
    /// Each is above all that its coordinator knows.
    #[default]
    Counted,
    /// They are the terms of the election, in which nobody else leads and which everybody has stored.
    Terms,
}

impl Reigns {
    /// How many grants there are in a reign. A token is the reign and the grant side by side, in decimal
    /// where people look at it.
    pub fn grants(self) -> u64 {
        match self {
            Reigns::Counted => 1_000_000,
            Reigns::Terms => 1 << 32,
        }
    }
}

/// What elects the coordinator, and what a coordinator must know before it grants.
#[derive(Clone, Debug)]
pub struct Config<E: Process> {
    /// The election.
    pub election: System<E>,
    /// After how long a holder leaves by itself; `None`: never, and the detector is believed.
    pub lease: Option<Duration>,
    /// After how long at least to say again what has not been answered.
    pub retry: Duration,
    /// If a coordinator needs answers that carry more than half of the weight, as the votes of its election
    /// do: the weight of each process, by address; empty: all weigh the same.
    pub majority: Option<Vec<u64>>,
    /// Whether holders get a fencing token to show to the resource.
    pub fencing: bool,
    /// Whether a holder renews its lease as long as it is inside.
    pub keep_alive: bool,
    /// Whence the numbers of reigns come.
    pub reigns: Reigns,
    /// The rules, or deliberately broken ones.
    pub variant: Variant,
}

impl<E: Process> Config<E> {
    /// How long a coordinator waits for a lease to be over: a quarter longer than the lease, so that clocks
    /// may differ by a tenth each way.
    pub fn reclaim_after(&self) -> Option<Duration> {
        match self.variant {
            Variant::MutantNoMargin => self.lease,
            _ => self.lease.map(|lease| lease + lease / 4),
        }
    }

    /// How often a holder renews its lease, if it does: two attempts may be lost.
    fn renew_after(&self) -> Option<Duration> {
        self.lease.filter(|_| self.keep_alive).map(|lease| lease / 4)
    }
}

/// A time in which one process coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reign {
    /// Its number; 0 before the first.
    pub number: Term,
    /// Who coordinates.
    pub coordinator: Address,
}

impl Default for Reign {
    fn default() -> Self {
        Reign { number: Term::ZERO, coordinator: Address(0) }
    }
}

/// What survives a crash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Memory<S> {
    /// What the election keeps.
    pub election: S,
    /// How often the process has started: its old tickets are void.
    pub incarnation: u64,
    /// The latest reign it has obeyed.
    pub reign: Reign,
}

/// The variables of one process: those of the election, of a participant, and of the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Elected<E: Process> {
    /// The election below.
    pub election: E,
    /// What the election last stored.
    stored: E::Stable,
    /// Whether the election has told me of a leader.
    pub leader_known: bool,
    /// Whether it says that I lead.
    pub leads: bool,
    /// Whom the detector suspects.
    pub suspected: BTreeSet<Address>,
    /// My latest ticket.
    pub ticket: Ticket,
    /// The first number whose lease is not over.
    pub valid_from: u64,
    /// Where I am.
    pub place: Place,
    /// The ticket whose release nobody has acknowledged.
    pub unreleased: Option<Ticket>,
    /// The latest reign.
    pub reign: Reign,
    /// What I know as the coordinator, while I am.
    pub office: Option<Office>,
}

impl<E: Process<Problem = Election>> Process for Elected<E> {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Config<E>;
    type Message = Message<E::Message>;
    type Timer = Timer<E::Timer>;
    type Stable = Memory<E::Stable>;

    const READS_CLOCK: bool = E::READS_CLOCK;

    fn is_background(timer: &Self::Timer) -> bool {
        matches!(timer, Timer::Election(timer) if E::is_background(timer))
    }

    fn on_start(recovered: Option<Self::Stable>, cx: &mut Context<'_, Self>) -> Self {
        let config = cx.config();
        let again = recovered.is_some();
        let memory = recovered.unwrap_or_default();
        let below = again.then(|| memory.election.clone());
        let (election, step) = cx.inner(&config.election, |cx| E::on_start(below, cx));
        let incarnation = memory.incarnation + u64::from(again);
        let mut process = Elected {
            election,
            stored: memory.election,
            leader_known: false,
            leads: false,
            suspected: BTreeSet::new(),
            ticket: Ticket { incarnation, number: 0 },
            valid_from: 1,
            place: Place::Outside,
            unreleased: None,
            reign: memory.reign,
            office: None,
        };
        process.remember(cx);
        if process.reign.number > Term::ZERO && process.reign.coordinator != cx.me() {
            // I am outside, whatever I was before; perhaps nobody has noticed that I was away.
            process.release(cx);
        }
        process.pass_on(step, cx);
        process
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        self.on_wish(command, cx);
    }

    fn on_message(&mut self, from: Address, message: Self::Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Election(message) => {
                self.elect(cx, |election, cx| election.on_message(from, message, cx));
            }
            Message::Lock(message) => self.on_lock_message(from, message, cx),
        }
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Context<'_, Self>) {
        match timer {
            Timer::Election(timer) => self.elect(cx, |election, cx| election.on_timer(timer, cx)),
            Timer::Retry => self.on_retry(cx),
            Timer::Renew => self.on_renewal_due(cx),
            Timer::LeaseOver(ticket) => self.on_lease_over(ticket, cx),
            Timer::Reclaim(grant) => self.on_reclaim(grant, cx),
            Timer::Grace { reign } => self.on_grace_over(reign, cx),
        }
    }

    fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        // The lock first: a leader that this makes me must know who is dead.
        self.on_change_of_the_living(suspicion, cx);
        self.elect(cx, |election, cx| election.on_suspicion(suspicion, cx));
    }

    fn on_stop(&mut self, cx: &mut Context<'_, Self>) {
        self.elect(cx, E::on_stop);
    }

    fn lease(&self, system: &System<Self>) -> Option<Self::Timer> {
        match self.place {
            Place::Inside { ticket, .. } if system.config.lease.is_some() => Some(Timer::LeaseOver(ticket)),
            _ => None,
        }
    }

    fn leadership(&self, system: &System<Self>) -> Option<election::Output> {
        self.election.leadership(&system.config.election)
    }

    /// The reign is over, whoever coordinated in it; its number stays used.
    fn renumbered(Memory { election, incarnation, reign }: Self::Stable) -> Option<Self::Stable> {
        let reign = Reign { number: reign.number, ..Reign::default() };
        E::renumbered(election).map(|election| Memory { election, incarnation, reign })
    }

    fn longest_lease(system: &System<Self>) -> Option<Duration> {
        system.config.reclaim_after().max(E::longest_lease(&system.config.election))
    }
}

impl<E: Process<Problem = Election>> Elected<E> {
    fn on_lock_message(&mut self, from: Address, message: LockMessage, cx: &mut Context<'_, Self>) {
        let present = self.reign.number;
        match message {
            LockMessage::Ask { reign } => self.on_ask(from, reign, cx),
            LockMessage::Here { reign, ticket, place } if reign == present => {
                self.on_here(from, ticket, place, cx);
            }
            LockMessage::Request { reign, ticket } if reign == present => self.on_request(from, ticket, cx),
            LockMessage::Release { reign, ticket } if reign == present => self.on_release(from, ticket, cx),
            LockMessage::Renew { reign, ticket, grant } if reign == present => {
                self.on_renew(from, ticket, grant, cx);
            }
            LockMessage::Renewed { reign, ticket } if reign == present => self.on_renewed(ticket, cx),
            // It has missed that I coordinate now.
            LockMessage::Request { .. } | LockMessage::Release { .. } | LockMessage::Renew { .. }
                if self.office.is_some() =>
            {
                self.tell(from, LockMessage::Ask { reign: present }, cx);
            }
            LockMessage::Outdated { reign }
                if self.leads && reign >= present && cx.config().reigns == Reigns::Counted =>
            {
                self.begin_reign_after(reign, cx);
            }
            LockMessage::Grant { reign, ticket, grant } => self.on_grant(from, reign, ticket, grant, cx),
            LockMessage::Released { ticket } if self.unreleased == Some(ticket) => {
                self.unreleased = None;
                self.rest_if_answered(cx);
            }
            // Of another reign.
            _ => {}
        }
    }

    /// The election has a result here.
    fn on_result(&mut self, result: election::Output, cx: &mut Context<'_, Self>) {
        match result {
            election::Output::Leads { term } => {
                self.leader_known = true;
                self.leads = true;
                if self.office.is_none() {
                    match cx.config().reigns {
                        Reigns::Counted => self.begin_reign_after(self.reign.number, cx),
                        Reigns::Terms if Term::of(term) > self.reign.number => {
                            self.begin_reign(Term::of(term), cx);
                        }
                        // There has been a later one: I have not heard yet that I lead no longer.
                        Reigns::Terms => {}
                    }
                }
            }
            election::Output::Follows { .. } | election::Output::Leaderless => {
                self.leader_known = result != election::Output::Leaderless;
                self.leads = false;
                self.office = None;
            }
        }
    }

    /// A coordinator that lost its office without losing its leadership takes it again, in a new reign.
    fn reign_again(&mut self, cx: &mut Context<'_, Self>) {
        if self.leads && self.office.is_none() && cx.config().reigns == Reigns::Counted {
            self.begin_reign_after(self.reign.number, cx);
        }
    }

    fn elect(&mut self, cx: &mut Context<'_, Self>, handler: impl FnOnce(&mut E, &mut Context<'_, E>)) {
        let config = cx.config();
        let ((), step) = cx.inner(&config.election, |inner| handler(&mut self.election, inner));
        self.pass_on(step, cx);
    }

    /// What the election asked for is asked of the driver; its result is for the lock.
    fn pass_on(&mut self, step: Step<E>, cx: &mut Context<'_, Self>) {
        if let Some(stable) = step.persist {
            self.stored = stable;
            self.remember(cx);
        }
        for effect in step.effects {
            match cx.carry_out(effect, Message::Election, Timer::Election) {
                Some(Said::Output(result)) => self.on_result(result, cx),
                Some(Said::Suspicion(suspicion)) => cx.report(suspicion),
                None => {}
            }
        }
    }

    fn remember(&self, cx: &mut Context<'_, Self>) {
        let (election, incarnation) = (self.stored.clone(), self.ticket.incarnation);
        cx.persist(Memory { election, incarnation, reign: self.reign });
    }

    /// The coordinator takes part, too; to itself it need not send.
    fn tell(&mut self, to: Address, message: LockMessage, cx: &mut Context<'_, Self>) {
        if to == cx.me() {
            self.on_lock_message(to, message, cx);
        } else {
            cx.send(to, Message::Lock(message));
        }
    }
}

/// What is counted here: reigns. The election has sorts of its own.
const REIGN: Sort = Sort(7);

/// Of the numbers of reigns only matters which is later, as long as no token is made of them.
impl<E: TermInvariant<Problem = Election>> TermInvariant for Elected<E> {
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
        match part {
            TermPart::Process(process) => {
                E::visit_terms(TermPart::Process(&mut process.election), visit);
                E::visit_terms(TermPart::Stable(&mut process.stored), visit);
                let mut visit = |reign: &mut Term| visit(REIGN, reign);
                visit(&mut process.reign.number);
                process.place.visit_reigns(&mut visit);
                let holders = process.office.iter_mut().flat_map(|office| office.holders.values_mut());
                holders.for_each(|(_, grant)| visit(&mut grant.reign));
            }
            TermPart::Message(Message::Election(message)) => {
                E::visit_terms(TermPart::Message(message), visit);
            }
            TermPart::Message(Message::Lock(message)) => {
                message.visit_reigns(&mut |reign| visit(REIGN, reign));
            }
            TermPart::Timer(Timer::Election(timer)) => E::visit_terms(TermPart::Timer(timer), visit),
            TermPart::Timer(Timer::Reclaim(GrantId { reign, .. }) | Timer::Grace { reign }) => {
                visit(REIGN, reign);
            }
            TermPart::Timer(Timer::Retry | Timer::Renew | Timer::LeaseOver(_)) => {}
            TermPart::Stable(memory) => {
                E::visit_terms(TermPart::Stable(&mut memory.election), visit);
                visit(REIGN, &mut memory.reign.number);
            }
        }
    }
}
