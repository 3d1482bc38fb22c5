//! Who belongs to the cluster.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// A member, for ever: whoever comes back without its disk is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MemberId(pub u64);

impl Display for MemberId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// What the others know of a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// What people call it.
    pub name: String,
    /// Where the other members reach it.
    pub peer_addresses: Vec<String>,
    /// Where clients reach it; it tells the others when it has started.
    pub client_addresses: Vec<String>,
    /// Whether it only learns what the others decide, and has no vote yet.
    pub learner: bool,
}

/// One change of the membership.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// Somebody new, who learns before it votes.
    Add(MemberId, Member),
    /// A learner gets a vote.
    Promote(MemberId),
    /// A member goes, for ever.
    Remove(MemberId),
    /// A member says where it is reached.
    Update(MemberId, Member),
}

impl Change {
    /// Whom it is about.
    pub fn member(&self) -> MemberId {
        match self {
            Change::Add(id, _) | Change::Promote(id) | Change::Remove(id) | Change::Update(id, _) => *id,
        }
    }
}

/// Who belongs to the cluster.
pub(crate) type Members = BTreeMap<MemberId, Member>;

/// Carries out a change; what does not fit (it was proposed twice, say) changes nothing.
pub(crate) fn change(members: &mut Members, change: &Change) {
    match change {
        Change::Add(id, member) => {
            members.entry(*id).or_insert_with(|| member.clone());
        }
        Change::Promote(id) => {
            if let Some(member) = members.get_mut(id) {
                member.learner = false;
            }
        }
        Change::Remove(id) => {
            members.remove(id);
        }
        Change::Update(id, member) => {
            if let Some(known) = members.get_mut(id) {
                *known = Member { learner: known.learner, ..member.clone() };
            }
        }
    }
}
