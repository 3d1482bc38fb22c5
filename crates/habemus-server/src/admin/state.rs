//! What the page shows: this member's copy of locks and sessions, and what all members say of themselves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use habemus_api::v1 as rpc;
use habemus_replica::{Member, MemberId};
use habemus_store::{AuthError, Author, KeyRange, StoreError, queue as queues};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::chronicle::Record;
use super::incident::{Incident, Name, incidents};
use crate::engine::View;
use crate::handle::{Freshness, Handle};
use crate::peers::{self, Keeper};
use crate::v1::{self, Refusal};

/// However many look at the page, the other members are asked no more often than this.
const FRESH: Duration = Duration::from_millis(400);

/// Whoever does not answer by then is shown as away.
const PATIENCE: Duration = Duration::from_millis(700);

/// So many locks and sessions are shown, and so many who wait for one; whoever looks for others says which.
const SHOWN: usize = 100;

/// What a member says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) term: u64,
    pub(crate) leader: Option<MemberId>,
    /// How far it has applied the log.
    pub(crate) applied: u64,
    /// What time it is in the cluster, in milliseconds, if this member counts it: the leader does.
    pub(crate) now: Option<u64>,
    pub(crate) records: Vec<Record>,
}

impl Account {
    pub(crate) fn of(view: &View<'_>) -> Account {
        let role = view.replica.role();
        Account {
            term: role.term,
            leader: role.leader,
            applied: view.replica.applied(),
            now: role.leads.then(|| v1::time(view.now)),
            records: view.chronicle.records(),
        }
    }
}

/// What the page needs.
#[derive(Clone)]
pub(crate) struct Admin {
    pub(crate) handle: Handle,
    pub(crate) cluster: u64,
    pub(crate) keeper: Keeper,
    /// Whether clients use TLS, by which a name is a name.
    pub(crate) has_tls: bool,
    asked: Arc<Mutex<Asked>>,
}

/// What the members said when they were last asked.
#[derive(Debug, Default)]
struct Asked {
    when: Option<Instant>,
    /// Whoever is away has its last account, and is not among the present.
    accounts: BTreeMap<MemberId, Account>,
    present: Vec<MemberId>,
}

/// Everything that is shown.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct State {
    me: Name,
    cluster: String,
    term: u64,
    leader: Option<Name>,
    revision: u64,
    now_ms: u64,
    members: Vec<Seen>,
    queues: Vec<Line>,
    /// How many there are, shown or not.
    queue_count: usize,
    sessions: Vec<rpc::Session>,
    session_count: usize,
    incidents: Vec<Incident>,
}

/// One lock or election: its holders and those who wait, the first of them.
#[derive(Clone, Debug, Serialize)]
struct Line {
    #[serde(flatten)]
    queue: rpc::Queue,
    /// How many wait, shown or not.
    waiting: usize,
}

/// One member.
#[derive(Clone, Debug, Serialize)]
struct Seen {
    id: Name,
    name: String,
    clients: Vec<String>,
    learner: bool,
    /// Whether it answers this member.
    present: bool,
    leads: bool,
    term: Option<u64>,
    applied: Option<u64>,
}

/// What this member knows by itself.
struct Copy {
    state: State,
    members: Vec<(MemberId, Member)>,
    own: Account,
}

impl Admin {
    pub(crate) fn new(handle: Handle, cluster: u64, keeper: Keeper, has_tls: bool) -> Admin {
        Admin { handle, cluster, keeper, has_tls, asked: Arc::default() }
    }

    /// What whoever asks may see.
    pub(super) async fn state(&self, author: Option<Author>, find: String) -> Result<State, Refusal> {
        let (me, cluster) = (self.handle.member(), self.cluster);
        let look = move |view: &View<'_>| copy(view, me, cluster, author.as_ref(), &find);
        let looked = self.handle.look(Freshness::Local, look).await?;
        let Copy { mut state, mut members, own } = looked.map_err(StoreError::from)?;
        let mut asked = self.asked.lock().await;
        if asked.when.is_none_or(|when| when.elapsed() >= FRESH) {
            self.ask(&members, &mut asked).await;
        }
        asked.accounts.insert(me, own);
        // This member's own time stands still as long as nothing happens.
        let counted = asked.present.iter().chain([&me]).filter_map(|id| asked.accounts.get(id)?.now).max();
        let passed = asked.when.map_or(0, |when| v1::milliseconds(when.elapsed()));
        state.now_ms = counted.map_or(state.now_ms, |now| state.now_ms.max(now + passed));
        let told = asked.accounts.iter().map(|(id, account)| (*id, account.records.clone())).collect();
        state.incidents = incidents(&told);
        members.sort_by(|(one, a), (other, b)| (&a.name, one).cmp(&(&b.name, other)));
        state.members = members
            .into_iter()
            .map(|(id, member)| {
                let account = asked.accounts.get(&id);
                let present = id == me || asked.present.contains(&id);
                Seen {
                    id: Name(id),
                    name: member.name,
                    clients: member.client_addresses,
                    learner: member.learner,
                    present,
                    leads: present && account.is_some_and(|account| account.leader == Some(id)),
                    term: account.map(|account| account.term),
                    applied: account.map(|account| account.applied),
                }
            })
            .collect();
        Ok(state)
    }

    /// Asks all other members at once.
    async fn ask(&self, members: &[(MemberId, Member)], asked: &mut Asked) {
        let me = self.handle.member();
        let questions = members.iter().filter(|(id, _)| *id != me).map(async |(id, member)| {
            let address = member.peer_addresses.first()?;
            let answer = timeout(PATIENCE, peers::account(address, &self.keeper, self.cluster, *id)).await;
            Some((*id, answer.ok()??))
        });
        let answers: Vec<(MemberId, Account)> = join_all(questions).await.into_iter().flatten().collect();
        asked.present = answers.iter().map(|(id, _)| *id).collect();
        asked.accounts.retain(|id, _| members.iter().any(|(member, _)| member == id));
        asked.accounts.extend(answers);
        asked.when = Some(Instant::now());
    }
}

/// This member's copy of everything, as far as whoever asks may see it.
fn copy(
    view: &View<'_>,
    me: MemberId,
    cluster: u64,
    author: Option<&Author>,
    find: &str,
) -> Result<Copy, AuthError> {
    let auth = view.store.auth();
    auth.check_known(author)?;
    let may = |name: &[u8]| auth.check_read(author, &KeyRange::prefix(queues::prefix(name))).is_ok();
    let is_wanted = |name: &[u8]| find.is_empty() || String::from_utf8_lossy(name).contains(find);
    let names: Vec<bytes::Bytes> = view.store.queues().filter(|name| is_wanted(name) && may(name)).collect();
    let shown = names.iter().take(SHOWN).map(|name| {
        let mut queue = v1::queue(view, name);
        let waiting = queue.waiters.len();
        queue.holders.truncate(SHOWN);
        queue.waiters.truncate(SHOWN);
        Line { queue, waiting }
    });
    let sessions: Vec<habemus_store::SessionId> =
        view.store.sessions().filter(|id| find.is_empty() || id.to_string().contains(find)).collect();
    let role = view.replica.role();
    let state = State {
        me: Name(me),
        cluster: format!("{cluster:016x}"),
        term: role.term,
        leader: role.leader.map(Name),
        revision: view.store.revision().0,
        now_ms: v1::time(view.now),
        members: Vec::new(),
        queues: shown.collect(),
        queue_count: names.len(),
        sessions: sessions.iter().take(SHOWN).filter_map(|id| v1::seen(view, *id)).collect(),
        session_count: sessions.len(),
        incidents: Vec::new(),
    };
    Ok(Copy { state, members: view.members(), own: Account::of(view) })
}
