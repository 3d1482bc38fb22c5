//! The story, step by step, and what is said of it in the end.

use std::collections::BTreeSet;
use std::time::Duration;

use habemus::property::Verdict;
use rustix::process::Signal;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::Failed;
use crate::hub::{Care, Event, Hub, State};
use crate::judge::{Judge, Ruling};
use crate::lab::{self, Browser};
use crate::members::{Members, PATIENCE};
use crate::scratch::Scratch;
use crate::simulator::{self, Broken};
use crate::stop::Stop;
use crate::teller::Teller;
use crate::worker::TTL;
use crate::workers::{CLIENTS, Workers};

/// How often the clients are inside before anything goes wrong, and between two faults.
const ENTRIES: usize = 9;

/// Everybody in the story.
struct Stage {
    teller: Teller,
    hub: Hub,
    events: UnboundedReceiver<Event>,
    members: Members,
    workers: Workers,
    /// Who leads the election, and who was ever seen to.
    leader: usize,
    terms: BTreeSet<u64>,
    member_terms: BTreeSet<u64>,
}

/// Tells the whole story, and lets it go on if that is wanted.
pub(crate) async fn tell(care: Care, keep: Option<Browser>) -> Result<(), Failed> {
    let mut stop = Stop::new()?;
    let scratch = Scratch::new()?;
    let (mut stage, holds) = tokio::select! {
        told = play(&scratch, care) => told?,
        () = stop.asked() => return Err(Failed::interrupted()),
    };
    match keep {
        // Here Ctrl-C is the end that was announced, and changes no verdict.
        Some(browser) => tokio::select! {
            () = stage.keep(browser) => {}
            () = stop.asked() => stage.teller.line("\nEverything was ended."),
        },
        None => stage.what_next(),
    }
    if holds { Ok(()) } else { Err(Failed::story("something was not as it must be: see the verdicts")) }
}

/// From the first step to the verdicts; whether all is as it must be.
async fn play(scratch: &Scratch, care: Care) -> Result<(Stage, bool), Failed> {
    let mut stage = open(scratch, care).await?;
    stage.compete().await?;
    stage.kill_the_leader().await?;
    stage.stop_the_holder().await?;
    let broken = stage.without_tokens(scratch).await?;
    let holds = stage.judge(&broken);
    Ok((stage, holds))
}

/// Why a property does not hold, or why that cannot be said.
fn explained(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds => "holds".to_owned(),
        Verdict::Violated(violation) => violation.to_string(),
        Verdict::Open(why) | Verdict::DoesNotApply(why) => why.clone(),
    }
}

/// Starts everybody.
async fn open(scratch: &Scratch, care: Care) -> Result<Stage, Failed> {
    let teller = Teller::new();
    teller.line("One leader, one holder of a lock: what if somebody dies, or only sleeps?\n");
    let members = Members::start(scratch)?;
    let ports: Vec<String> = members.0.iter().map(|member| member.address.port().to_string()).collect();
    teller.step("members", &format!("a, b and c serve on 127.0.0.1, ports {}", ports.join(", ")));
    let leading = members.agree().await?;
    let name = members.0[leading.member].name;
    teller.step("election", &format!("{name} leads the members in term {}", leading.term));

    let mut judge = Judge::new(CLIENTS, members.0.len());
    judge.member_leads(leading.member, leading.term);
    let hub = Hub::new(State::new(judge, care, CLIENTS));
    let (resource, events) = hub.serve().await?;
    let workers = Workers::start(resource, &members.addresses())?;
    teller.step("clients", "1, 2 and 3 want the lock `orders`, and to lead `scheduler`");
    let member_terms = BTreeSet::from([leading.term]);
    Ok(Stage { teller, hub, events, members, workers, leader: 0, terms: BTreeSet::new(), member_terms })
}

impl Stage {
    /// What a client does next.
    async fn next(&mut self) -> Result<Event, Failed> {
        let event = tokio::time::timeout(PATIENCE, self.events.recv()).await;
        let event =
            event.ok().flatten().ok_or_else(|| Failed::story("no client did anything for too long"))?;
        self.note(event);
        Ok(event)
    }

    fn note(&mut self, event: Event) {
        if let Event::Leads { client, term } = event {
            self.leader = client;
            self.terms.insert(term);
        }
    }

    /// Waits until something happens that is looked for.
    async fn until<T>(&mut self, mut wanted: impl FnMut(Event) -> Option<T>) -> Result<T, Failed> {
        loop {
            let event = self.next().await?;
            if let Some(found) = wanted(event) {
                return Ok(found);
            }
        }
    }

    /// Waits until clients have been inside so often.
    async fn entries(&mut self, count: usize) -> Result<(), Failed> {
        for _ in 0..count {
            self.until(|event| matches!(event, Event::Left { .. }).then_some(())).await?;
        }
        Ok(())
    }

    async fn compete(&mut self) -> Result<(), Failed> {
        let (client, term) = self
            .until(|event| match event {
                Event::Leads { client, term } => Some((client, term)),
                _ => None,
            })
            .await?;
        self.teller.step("leadership", &format!("client {} leads `scheduler` with token {term}", client + 1));
        self.entries(ENTRIES).await?;
        self.teller.step("the lock", &self.counted());
        Ok(())
    }

    /// How often clients were inside, and what they wrote.
    fn counted(&self) -> String {
        let state = self.hub.state();
        let shares: Vec<String> = state.entries.iter().map(u64::to_string).collect();
        let entries: u64 = state.entries.iter().sum();
        format!("{entries} times held ({} by each), {} writes", shares.join(", "), state.accepted)
    }

    async fn kill_the_leader(&mut self) -> Result<(), Failed> {
        let before = self.members.agree().await?;
        let name = self.members.0[before.member].name;
        self.teller.step("kill -9", &format!("member {name}, which leads; what it answered is on two disks"));
        let took = self.members.fail_over(before.member).await?;
        let now = self.members.agree().await?;
        self.hub.state().judge.member_leads(now.member, now.term);
        self.member_terms.insert(now.term);
        let other = self.members.0[now.member].name;
        self.teller.step(
            "fail-over",
            &format!(
                "{other} leads in term {}; the next write was answered after {} ms",
                now.term,
                took.as_millis()
            ),
        );
        self.members.0[before.member].start()?;
        let now = self.members.agree().await?;
        self.hub.state().judge.member_leads(now.member, now.term);
        self.member_terms.insert(now.term);
        self.teller.step(
            "back again",
            &format!("{name} has its disk, catches up and follows {}", self.members.0[now.member].name),
        );
        self.entries(ENTRIES).await?;
        self.teller.step("the lock", &format!("{}: clients went on", self.counted()));
        Ok(())
    }

    async fn stop_the_holder(&mut self) -> Result<(), Failed> {
        let (client, token) = self.stop_one_that_leads_and_holds().await?;
        let name = client + 1;
        self.teller.step(
            "kill -STOP",
            &format!("client {name}, which leads and holds token {token}, about to write"),
        );
        // A new holder has written, and a new leader leads.
        let (mut holder, mut leader, mut written) = (None, None, false);
        while holder.is_none() || leader.is_none() || !written {
            match self.next().await? {
                Event::Inside { client, token } => holder = Some((client, token)),
                Event::Wrote { client: other } => written |= other != client,
                Event::Leads { client, term } => leader = Some((client, term)),
                _ => {}
            }
        }
        let ((holder, newer), (leader, term)) = (holder.unwrap_or_default(), leader.unwrap_or_default());
        let seconds = TTL.as_secs();
        self.teller.step(
            "moves on",
            &format!(
                "its {seconds} s are over: {} is inside with token {newer}, {} leads with {term}",
                holder + 1,
                leader + 1
            ),
        );
        self.entries(2).await?;
        self.workers.signal(client, Signal::CONT)?;
        self.teller
            .step("kill -CONT", &format!("client {name} has noticed nothing, and writes with token {token}"));
        let refused = self
            .until(|event| match event {
                Event::Refused { client: late, token: old, highest } if (late, old) == (client, token) => {
                    Some(Some(highest))
                }
                Event::Wrote { client: late } if late == client => Some(None),
                _ => None,
            })
            .await?;
        match refused {
            Some(highest) => self.teller.step(
                "refused",
                &format!("token {token} is older than {highest}: the late write does no harm"),
            ),
            None => self.teller.step("accepted", "the late write: what others have written since is lost"),
        }
        self.until(|event| {
            matches!(event, Event::Inside { client: again, .. } if again == client).then_some(())
        })
        .await?;
        self.teller.step("again", &format!("client {name} has a new session, and its turn in the queue"));
        Ok(())
    }

    /// Stops the client that leads while it is inside, after it has read and before it writes.
    async fn stop_one_that_leads_and_holds(&mut self) -> Result<(usize, u64), Failed> {
        let mut entered = [None; CLIENTS];
        loop {
            let (client, token) = match self.next().await? {
                Event::Inside { client, token } => {
                    entered[client] = Some(token);
                    continue;
                }
                Event::Read { client } if client == self.leader => match entered[client].take() {
                    Some(token) => (client, token),
                    None => continue,
                },
                _ => continue,
            };
            self.workers.signal(client, Signal::STOP)?;
            // What it did before the signal came is here soon; then it is silent.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let mut is_late = false;
            while let Ok(event) = self.events.try_recv() {
                self.note(event);
                is_late |= event == Event::Wrote { client };
            }
            if !is_late {
                return Ok((client, token));
            }
            self.workers.signal(client, Signal::CONT)?;
        }
    }

    async fn without_tokens(&mut self, scratch: &Scratch) -> Result<Broken, Failed> {
        let broken = simulator::play(scratch).await?;
        self.teller.step("simulator", "the same story once more, with a lock that gives no tokens");
        Ok(broken)
    }

    /// Says what held and what did not; whether all is as it must be.
    fn judge(&self, broken: &Broken) -> bool {
        let teller = &self.teller;
        let state = self.hub.state();
        let mut holds = true;
        let mut must_hold = |ruling: &Ruling, sentence: &str| match &ruling.verdict {
            Verdict::Holds => teller.verdict(true, ruling.name, sentence),
            other => {
                holds = false;
                teller.verdict(false, ruling.name, &explained(other));
            }
        };
        teller.line("\nOn real processes");
        let members = format!("{} terms of the members, each with one leader", self.member_terms.len());
        must_hold(&state.judge.one_member_leads(), &members);
        let clients = format!("{} terms of `scheduler`, each with one leader", self.terms.len());
        must_hold(&state.judge.one_leader(), &clients);
        let late = format!("late writes refused: {}; no token was given twice", state.refused());
        must_hold(&state.judge.fencing(), &late);
        let is_whole = state.lost == 0 && state.counter() == state.accepted && state.refused() > 0;
        holds &= is_whole;
        let sentence =
            format!("{} writes accepted, and the counter says {}", state.accepted, state.counter());
        teller.verdict(is_whole, "nothing is lost", &sentence);
        if let Verdict::Violated(violation) = state.judge.one_inside().verdict {
            teller.verdict(false, "EM1 (one inside)", &violation.to_string());
            teller.line("                       as both believed: who sleeps cannot know; hence tokens");
        }
        teller.line("\nIn the simulator, without tokens: wrong, as it must be");
        teller.verdict(false, "EM1 (one inside)", &broken.one_inside);
        teller.verdict(false, "fencing", &broken.fencing);
        holds
    }

    fn what_next(&self) {
        let habemus = called_as();
        self.teller.line(&format!(
            "
Try next
  {habemus} lab                          see it, and break it by hand
  {habemus} serve                        a member of your own, for your programs
  {habemus} check bully --partitions 1   every run, and the shortest bad one"
        ));
    }

    /// Lets everybody go on until this program is told to end.
    async fn keep(&mut self, browser: Browser) {
        let habemus = called_as();
        let lab = match lab::open(browser) {
            Ok(address) => {
                format!("{address}\n  the run without tokens: step through it, and mend it by hand")
            }
            Err(why) => format!("not here: {why}. `./habemus demo --keep` builds it"),
        };
        let endpoints = self.members.addresses().join(",");
        self.teller.line(&format!(
            "
The lab: {lab}

Members and clients go on until Ctrl-C. Look at them from another terminal:
  export HABEMUS_ENDPOINTS={endpoints}
  {habemus} status; {habemus} locks; {habemus} leader scheduler --follow"
        ));
        while self.events.recv().await.is_some() {}
    }
}

/// How this program's siblings are called here.
fn called_as() -> String {
    std::env::var("HABEMUS_CALLED_AS").unwrap_or_else(|_| "habemus".to_owned())
}
