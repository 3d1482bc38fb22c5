//! A client of the lock that works in a loop: it asks, stays inside for a while, leaves, and asks again.

use habemus::Status;
use habemus_machine::Random;

use crate::clock::BootInstant as Instant;
use crate::control::Clients;

/// What the client has been told to do, and what it does next.
#[derive(Debug, Default)]
pub(super) struct Client {
    clients: Option<Clients>,
    next: Option<(Instant, String)>,
    /// When the last wish came up, if they come at a rate.
    last_wish: Option<Instant>,
}

impl Client {
    pub(super) fn employ(&mut self, clients: Clients) {
        self.clients = Some(clients);
    }

    pub(super) fn is_employed(&self) -> bool {
        self.clients.is_some()
    }

    /// The process has come to this status, in which a client gives the command `word`: decides when.
    pub(super) fn on_status(&mut self, status: Status, word: String, now: Instant, random: &mut Random) {
        let Some(clients) = &mut self.clients else { return };
        let due = if status == Status::Inside {
            now + random.between(clients.hold.0, clients.hold.1)
        } else if clients.entries > 0 {
            clients.entries -= 1;
            match clients.wish_every {
                // It came up when it did; if the process was busy then, it has waited at the client.
                Some(mean) => {
                    let wish = self.last_wish.unwrap_or(now) + random.exponential(mean);
                    self.last_wish = Some(wish);
                    now.max(wish)
                }
                None => now + random.between(clients.think.0, clients.think.1),
            }
        } else {
            return;
        };
        self.next = Some((due, word));
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.next.as_ref().map(|(due, _)| *due)
    }

    /// The command that is due at `due`, if there is one.
    pub(super) fn pop(&mut self, due: Instant) -> Option<String> {
        self.next.take_if(|(its, _)| *its == due).map(|(_, word)| word)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn spans(milliseconds: u64) -> (Duration, Duration) {
        (Duration::from_millis(milliseconds), Duration::from_millis(milliseconds))
    }

    fn told(entries: u32) -> Clients {
        Clients { entries, hold: spans(5), think: spans(20), wish_every: None }
    }

    #[test]
    fn it_thinks_before_it_asks_and_holds_before_it_leaves_as_often_as_it_was_told() {
        let (mut client, mut random, now) = (Client::default(), Random::new(), Instant::now());
        client.employ(told(1));
        client.on_status(Status::Idle, "acquire".to_owned(), now, &mut random);
        let asks = now + Duration::from_millis(20);
        assert_eq!((client.next_due(), client.pop(now)), (Some(asks), None));
        assert_eq!(client.pop(asks).as_deref(), Some("acquire"));
        client.on_status(Status::Inside, "release".to_owned(), asks, &mut random);
        assert_eq!(client.pop(asks + Duration::from_millis(5)).as_deref(), Some("release"));
        client.on_status(Status::Idle, "acquire".to_owned(), asks, &mut random);
        assert_eq!(client.next_due(), None);
    }

    #[test]
    fn nobody_asks_who_is_not_employed() {
        let mut client = Client::default();
        client.on_status(Status::Idle, "acquire".to_owned(), Instant::now(), &mut Random::new());
        assert_eq!(client.next_due(), None);
    }

    #[test]
    fn a_wish_that_came_up_while_the_process_was_busy_is_granted_no_earlier_than_now() {
        let (mut client, mut random, now) = (Client::default(), Random::new(), Instant::now());
        client.employ(Clients { wish_every: Some(Duration::from_nanos(1)), ..told(2) });
        client.on_status(Status::Idle, "acquire".to_owned(), now, &mut random);
        let later = now + Duration::from_secs(9);
        client.on_status(Status::Idle, "acquire".to_owned(), later, &mut random);
        assert_eq!(client.next_due(), Some(later));
    }
}
