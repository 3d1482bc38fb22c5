//! Requests drawn from a seed: few keys, many collisions, and much that makes no sense.

use bytes::Bytes;
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::compare::{CompareResult, CompareTarget, TargetUnion};
use habemus_etcd::{v3electionpb, v3lockpb};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use crate::answers::Answered;

/// What is sent to both.
#[derive(Clone, Debug)]
pub(crate) enum Drawn {
    Range(rpc::RangeRequest),
    Put(rpc::PutRequest),
    Delete(rpc::DeleteRangeRequest),
    Txn(rpc::TxnRequest),
    Compact(rpc::CompactionRequest),
    Grant(rpc::LeaseGrantRequest),
    Revoke(rpc::LeaseRevokeRequest),
    KeepAlive(rpc::LeaseKeepAliveRequest),
    TimeToLive(rpc::LeaseTimeToLiveRequest),
    Leases,
    Lock(v3lockpb::LockRequest),
    Unlock(v3lockpb::UnlockRequest),
    Leader(v3electionpb::LeaderRequest),
    Campaign(v3electionpb::CampaignRequest),
    Proclaim(v3electionpb::ProclaimRequest),
    Resign(v3electionpb::ResignRequest),
}

/// Draws requests, one after the other.
pub(crate) struct Generator {
    random: Pcg32,
    revision: i64,
    /// Whoever stands in an election, as the last answer said.
    stands: Option<v3electionpb::LeaderKey>,
}

impl Generator {
    pub(crate) fn new(random: Pcg32) -> Generator {
        Generator { random, revision: 1, stands: None }
    }

    /// The latest revision that was answered.
    pub(crate) fn revision(&self) -> i64 {
        self.revision
    }

    /// Learns from an answer what is worth asking for.
    pub(crate) fn note(&mut self, answered: &Answered) {
        self.revision = self.revision.max(answered.revision());
        if let Answered::Campaigned(answer) = answered {
            self.stands = answer.leader.clone();
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.random.next_u32() % bound
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.below(one_in) == 0
    }

    pub(crate) fn next(&mut self) -> Drawn {
        match self.below(40) {
            0..9 => Drawn::Range(self.range()),
            9..19 => Drawn::Put(self.put()),
            19..23 => Drawn::Delete(self.delete()),
            23..30 => Drawn::Txn(self.txn(2)),
            30 => Drawn::Compact(self.compact()),
            31 => Drawn::Grant(rpc::LeaseGrantRequest { ttl: self.ttl(), id: self.lease() }),
            32 => Drawn::Revoke(rpc::LeaseRevokeRequest { id: self.lease() }),
            33 => Drawn::KeepAlive(rpc::LeaseKeepAliveRequest { id: self.lease() }),
            34 => {
                let (id, keys) = (self.lease(), self.chance(2));
                Drawn::TimeToLive(rpc::LeaseTimeToLiveRequest { id, keys })
            }
            35 => Drawn::Leases,
            36 => self.lock(),
            _ => self.election(),
        }
    }

    /// Names with which nobody ever waits: each session has its own.
    fn lock(&mut self) -> Drawn {
        let lease = i64::from(self.below(5)) + 1;
        let name = format!("lock{lease}");
        if self.chance(2) {
            return Drawn::Lock(v3lockpb::LockRequest { name: name.into(), lease });
        }
        Drawn::Unlock(v3lockpb::UnlockRequest { key: format!("{name}/{lease:x}").into() })
    }

    fn election(&mut self) -> Drawn {
        let lease = i64::from(self.below(5)) + 1;
        let name: Bytes = format!("seat{lease}").into();
        match (self.below(4), self.stands.clone()) {
            (0, _) => Drawn::Leader(v3electionpb::LeaderRequest { name }),
            (1, Some(leader)) => {
                let (leader, value) = (Some(leader), self.value());
                Drawn::Proclaim(v3electionpb::ProclaimRequest { leader, value })
            }
            (2, Some(leader)) => Drawn::Resign(v3electionpb::ResignRequest { leader: Some(leader) }),
            _ => {
                let value = self.value();
                Drawn::Campaign(v3electionpb::CampaignRequest { name, lease, value })
            }
        }
    }

    fn ttl(&mut self) -> i64 {
        if self.chance(8) { 9_000_000_001 } else { 1000 + i64::from(self.below(100)) }
    }

    fn lease(&mut self) -> i64 {
        i64::from(self.below(6)) + 1
    }

    fn compact(&mut self) -> rpc::CompactionRequest {
        let back = if self.chance(3) { -1 } else { i64::from(self.below(40)) };
        rpc::CompactionRequest { revision: (self.revision - back).max(1), physical: self.chance(2) }
    }

    fn key(&mut self) -> Bytes {
        if self.chance(40) {
            return Bytes::new();
        }
        const KEYS: [&str; 8] = ["a", "b", "c", "d", "a/1", "a/2", "b/\u{ff}", "lock/1"];
        KEYS[self.below(8) as usize].into()
    }

    fn end(&mut self) -> Bytes {
        match self.below(6) {
            0..3 => Bytes::new(),
            3 => Bytes::from_static(&[0]),
            4 => "b".into(),
            _ => self.key(),
        }
    }

    fn value(&mut self) -> Bytes {
        if self.chance(10) { Bytes::new() } else { format!("{}", self.below(5)).into() }
    }

    /// A revision that may be past, present, compacted or in the future.
    fn some_revision(&mut self) -> i64 {
        (self.revision + 2 - i64::from(self.below(30))).max(0)
    }

    fn range(&mut self) -> rpc::RangeRequest {
        let mut range = rpc::RangeRequest { key: self.key(), range_end: self.end(), ..Default::default() };
        range.limit = if self.chance(3) { i64::from(self.below(4)) } else { 0 };
        range.revision = if self.chance(3) { self.some_revision() } else { 0 };
        range.sort_order = i32::try_from(self.below(3)).expect("it is small");
        range.sort_target = i32::try_from(self.below(5)).expect("it is small");
        // What to sort by without an order: etcd takes the first keys, as many as are wanted and one, and
        // sorts these.
        if range.sort_order == 0 && range.limit > 0 {
            range.sort_target = 0;
        }
        range.serializable = self.chance(2);
        range.keys_only = self.chance(5);
        range.count_only = self.chance(8);
        for bound in [
            &mut range.min_mod_revision,
            &mut range.max_mod_revision,
            &mut range.min_create_revision,
            &mut range.max_create_revision,
        ] {
            if self.chance(8) {
                *bound = self.some_revision();
            }
        }
        range
    }

    fn put(&mut self) -> rpc::PutRequest {
        let mut put = rpc::PutRequest { key: self.key(), value: self.value(), ..Default::default() };
        put.lease = if self.chance(4) { self.lease() } else { 0 };
        put.prev_kv = self.chance(2);
        put.ignore_value = self.chance(12);
        put.ignore_lease = self.chance(12);
        if put.ignore_value && !self.chance(4) {
            put.value.clear();
        }
        if put.ignore_lease && !self.chance(4) {
            put.lease = 0;
        }
        put
    }

    fn delete(&mut self) -> rpc::DeleteRangeRequest {
        rpc::DeleteRangeRequest { key: self.key(), range_end: self.end(), prev_kv: self.chance(2) }
    }

    fn txn(&mut self, depth: u32) -> rpc::TxnRequest {
        let compare = (0..self.below(3)).map(|_| self.compare()).collect();
        let success = (0..self.below(4)).map(|_| self.operation(depth)).collect();
        let failure = (0..self.below(3)).map(|_| self.operation(depth)).collect();
        rpc::TxnRequest { compare, success, failure }
    }

    fn compare(&mut self) -> rpc::Compare {
        let number = i64::from(self.below(3));
        let (target, union) = match self.below(5) {
            0 => (CompareTarget::Version, TargetUnion::Version(number)),
            1 => (CompareTarget::Create, TargetUnion::CreateRevision(number * self.revision)),
            2 => (CompareTarget::Mod, TargetUnion::ModRevision(number * self.revision)),
            3 => (CompareTarget::Value, TargetUnion::Value(self.value())),
            _ => (CompareTarget::Lease, TargetUnion::Lease(number)),
        };
        let results =
            [CompareResult::Equal, CompareResult::Greater, CompareResult::Less, CompareResult::NotEqual];
        rpc::Compare {
            result: results[self.below(4) as usize].into(),
            target: target.into(),
            key: self.key(),
            range_end: if self.chance(3) { self.end() } else { Bytes::new() },
            target_union: if self.chance(12) { None } else { Some(union) },
        }
    }

    fn operation(&mut self, depth: u32) -> rpc::RequestOp {
        use rpc::request_op::Request;
        let request = match self.below(10) {
            0..4 => Request::RequestPut(self.put()),
            4..7 => Request::RequestRange(self.range()),
            7..9 => {
                let mut delete = self.delete();
                // After that, to keep what a key has while there is none any more would end etcd by a panic.
                if delete.range_end.as_ref() == [0] {
                    delete.range_end = "b".into();
                }
                Request::RequestDeleteRange(delete)
            }
            _ if depth > 0 => Request::RequestTxn(self.txn(depth - 1)),
            _ => Request::RequestPut(self.put()),
        };
        rpc::RequestOp { request: Some(request) }
    }
}
