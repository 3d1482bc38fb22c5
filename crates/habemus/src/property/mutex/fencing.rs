//! Fencing: what mutual exclusion protects stays whole, even if mutual exclusion fails.

use std::collections::BTreeMap;
use std::time::Duration;

use super::sharing::Sharing;
use crate::Address;
use crate::mutex::{Command, Mutex, Output, Token};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at};

/// Fencing: an older holder's write is never accepted after a newer holder has written, and the newest token
/// is given once.
///
/// A lock that is reclaimed after a timeout can have two holders, because a slow holder cannot be told from a
/// dead one (S4). What matters in the end is the resource behind the lock. Each holder is taken to write when
/// it enters and once more when it leaves; if the slow one's last write comes after the next one's first, an
/// update is lost. A resource that looks at tokens refuses that write, so the property holds where EM1 fails.
/// A grant may itself be late and let its holder in with an old token: then all its writes are refused, and
/// nothing is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fencing {
    resource: Resource,
    /// Those that have still to write: one process, unless EM1 is broken.
    holders: BTreeMap<Address, Holder>,
    /// Those that only look.
    sharing: Sharing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Holder {
    token: Option<Token>,
    /// Who entered later and has written already.
    newer: Option<Address>,
}

impl Fencing {
    /// How many writes the resource has refused.
    pub fn refused(&self) -> u64 {
        self.resource.refused()
    }

    fn enter(
        &mut self,
        process: Address,
        token: Option<Token>,
        time: Duration,
        who: &Population,
    ) -> Result<(), Violation> {
        let highest = self.resource.highest;
        if self.resource.write(token) {
            for older in self.holders.values_mut() {
                older.newer = Some(process);
            }
        }
        self.holders.insert(process, Holder { token, newer: None });
        match (highest, token) {
            (Some(Token(highest)), Some(Token(token))) if token == highest => Err(Violation(format!(
                "{} entered {} with token {token}, which had been given before",
                who.id(process),
                at(time),
            ))),
            _ => Ok(()),
        }
    }

    fn leave(&mut self, process: Address, time: Duration, who: &Population) -> Result<(), Violation> {
        let Some(holder) = self.holders.remove(&process) else {
            return Ok(());
        };
        match (self.resource.write(holder.token), holder.newer) {
            (true, Some(newer)) => Err(Violation(format!(
                "{} wrote {} over what {} had written, which entered after it",
                who.id(process),
                at(time),
                who.id(newer),
            ))),
            _ => Ok(()),
        }
    }
}

impl Monitor<Mutex> for Fencing {
    fn name(&self) -> &'static str {
        "fencing"
    }

    fn demand(&self) -> &'static str {
        "No write of an older holder is accepted after a newer one has written, and the newest token is \
            given once."
    }

    fn refused_writes(&self) -> u64 {
        self.refused()
    }

    fn observe(&mut self, seen: &Observation<'_, Mutex>, who: &Population) -> Result<(), Violation> {
        self.sharing.observe(seen, self.holders.contains_key(&seen.process));
        // Who parks a car does not write, and who shares does not either.
        if who.permits > 1 || self.sharing.contains(seen.process) {
            return Ok(());
        }
        match seen.what {
            ObservedEvent::Output(Output::Entered { token }) => {
                self.enter(seen.process, *token, seen.at, who)
            }
            ObservedEvent::Command(Command::Release) | ObservedEvent::Output(Output::Left) => {
                self.leave(seen.process, seen.at, who)
            }
            ObservedEvent::Crashed | ObservedEvent::Started => {
                self.holders.remove(&seen.process);
                Ok(())
            }
            ObservedEvent::Command(Command::Acquire | Command::Share) => Ok(()),
        }
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // Somebody was given a token. Without one nothing is fenced, and it is luck if nothing is lost.
        self.resource.highest.is_some()
    }

    fn at_end(&self, _: End, _: &Population) -> Verdict {
        if self.resource.highest.is_none() {
            return Verdict::DoesNotApply("nobody was given a token".to_owned());
        }
        Verdict::Holds
    }
}

/// A resource that its holders write to, and that remembers the highest token it was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resource {
    highest: Option<Token>,
    refused: u64,
}

impl Resource {
    /// A holder writes; whether that is accepted. A token lower than the highest is refused. Without a token
    /// the resource cannot tell an old holder from a new one, and must accept.
    pub fn write(&mut self, token: Option<Token>) -> bool {
        let accepted = token.is_none() || token >= self.highest;
        if accepted {
            self.highest = self.highest.max(token);
        } else {
            self.refused += 1;
        }
        accepted
    }

    /// How many writes it has refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::rehearsal::Rehearsal;

    fn run() -> Rehearsal<Mutex, Fencing> {
        Rehearsal::started([1, 2, 3], |_| Fencing::default())
    }

    fn entered(token: impl Into<Option<u64>>) -> Output {
        Output::Entered { token: token.into().map(Token) }
    }

    #[test]
    fn a_resource_refuses_old_tokens_and_accepts_what_it_cannot_judge() {
        let mut resource = Resource::default();
        assert!(resource.write(Some(Token(2))));
        assert!(resource.write(Some(Token(2))), "the same holder may write again");
        assert!(resource.write(Some(Token(5))));
        assert!(!resource.write(Some(Token(2))));
        assert!(resource.write(None));
        assert!(!resource.write(Some(Token(4))), "a write without a token does not lower the bar");
        assert_eq!(resource.refused(), 2);
    }

    #[test]
    fn holders_that_come_one_after_the_other_lose_nothing() {
        let mut run = run();
        for token in [1, 2, 3] {
            run.output(2, entered(token));
            run.command(2, Command::Release);
            run.output(2, Output::Left);
        }
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn without_tokens_nothing_is_fenced() {
        let mut run = run();
        run.output(1, entered(None));
        run.command(1, Command::Release);
        assert!(!run.monitor.is_at_stake(&run.who));
        assert_eq!(run.at_end(End::Quiet), Verdict::DoesNotApply("nobody was given a token".to_owned()));
    }

    #[test]
    fn without_tokens_a_slow_holder_destroys_the_work_of_the_next() {
        let mut run = run();
        run.output(2, entered(None));
        run.output(3, entered(None));
        run.command(2, Command::Release);
        assert_eq!(run.violation(), Some("2 wrote at 6ms over what 3 had written, which entered after it"));
    }

    #[test]
    fn a_holder_whose_lease_is_over_writes_when_it_learns_of_it() {
        let mut run = run();
        run.output(2, entered(None));
        run.output(3, entered(None));
        run.command(3, Command::Release);
        run.output(2, Output::Left);
        assert_eq!(run.violation(), Some("2 wrote at 7ms over what 3 had written, which entered after it"));
    }

    #[test]
    fn with_tokens_the_late_write_is_refused() {
        let mut run = run();
        run.output(2, entered(1));
        run.output(3, entered(2));
        run.command(2, Command::Release);
        run.output(2, Output::Left);
        run.command(3, Command::Release);
        assert_eq!(run.violation(), None);
        assert_eq!(run.monitor.refused_writes(), 1);
    }

    #[test]
    fn a_holder_that_crashed_writes_no_more() {
        let mut run = run();
        run.output(2, entered(None));
        run.crash(2);
        run.output(3, entered(None));
        run.start(2);
        run.command(2, Command::Release);
        assert_eq!(run.violation(), None);
    }

    #[test]
    fn a_late_grant_lets_in_one_whose_writes_are_all_refused() {
        let mut run = run();
        run.output(3, entered(2));
        run.output(2, entered(1));
        run.command(2, Command::Release);
        run.command(3, Command::Release);
        assert_eq!(run.violation(), None);
        assert_eq!(run.monitor.refused_writes(), 2);
    }

    #[test]
    fn the_newest_token_is_given_once() {
        let mut run = run();
        run.output(1, entered(4));
        run.output(1, Output::Left);
        run.output(2, entered(4));
        assert_eq!(run.violation(), Some("2 entered at 6ms with token 4, which had been given before"));
    }
}
