//! Any bytes as what clients of the service say: etcd's messages and those of habemus.v1, by gRPC and as
//! JSON. Whatever is taken can be said again and is the same.

use std::fmt::Debug;

use habemus_api::v1;
use habemus_etcd::{etcdserverpb as etcd, v3electionpb as election, v3lockpb as lock};
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads it as one kind of message, in both forms.
fn read<M: Message + Debug + Default + PartialEq + Serialize + DeserializeOwned>(bytes: &[u8]) {
    if let Ok(message) = M::decode(bytes) {
        assert_eq!(M::decode(&message.encode_to_vec()[..]).as_ref(), Ok(&message));
        // Numbers that stand for no choice have no name in JSON.
        if let Ok(text) = serde_json::to_vec(&message) {
            same_in_json(&message, &text);
        }
    }
    if let Ok(message) = serde_json::from_slice::<M>(bytes) {
        assert_eq!(M::decode(&message.encode_to_vec()[..]).as_ref(), Ok(&message));
        let text = serde_json::to_vec(&message).expect("what came as JSON can be said as JSON");
        same_in_json(&message, &text);
    }
}

fn same_in_json<M: Message + Debug + PartialEq + DeserializeOwned>(message: &M, text: &[u8]) {
    let again = serde_json::from_slice::<M>(text);
    assert_eq!(again.ok().as_ref(), Some(message), "{}", String::from_utf8_lossy(text));
}

macro_rules! kinds {
    ($($kind:ty),* $(,)?) => {
        const KINDS: &[fn(&[u8])] = &[$(read::<$kind>),*];
    };
}

kinds!(
    etcd::RangeRequest,
    etcd::PutRequest,
    etcd::DeleteRangeRequest,
    etcd::TxnRequest,
    etcd::CompactionRequest,
    etcd::WatchRequest,
    etcd::LeaseGrantRequest,
    etcd::LeaseRevokeRequest,
    etcd::LeaseKeepAliveRequest,
    etcd::LeaseTimeToLiveRequest,
    etcd::LeaseLeasesRequest,
    etcd::MemberAddRequest,
    etcd::MemberRemoveRequest,
    etcd::MemberUpdateRequest,
    etcd::MemberPromoteRequest,
    etcd::MemberListRequest,
    etcd::AlarmRequest,
    etcd::StatusRequest,
    etcd::DefragmentRequest,
    etcd::MoveLeaderRequest,
    etcd::HashRequest,
    etcd::HashKvRequest,
    etcd::SnapshotRequest,
    etcd::AuthEnableRequest,
    etcd::AuthenticateRequest,
    etcd::AuthUserAddRequest,
    etcd::AuthUserGetRequest,
    etcd::AuthUserDeleteRequest,
    etcd::AuthUserChangePasswordRequest,
    etcd::AuthUserGrantRoleRequest,
    etcd::AuthUserRevokeRoleRequest,
    etcd::AuthRoleAddRequest,
    etcd::AuthRoleGetRequest,
    etcd::AuthRoleDeleteRequest,
    etcd::AuthRoleGrantPermissionRequest,
    etcd::AuthRoleRevokePermissionRequest,
    election::CampaignRequest,
    election::ProclaimRequest,
    election::LeaderRequest,
    election::ResignRequest,
    lock::LockRequest,
    lock::UnlockRequest,
    v1::OpenSession,
    v1::NamedSession,
    v1::Acquire,
    v1::Release,
    v1::GuardedPut,
    v1::NamedLock,
    v1::Campaign,
    v1::Proclaim,
    v1::Office,
);

/// The first byte says what kind of message it is.
pub fn attack(bytes: &[u8]) {
    let Some((&kind, rest)) = bytes.split_first() else { return };
    KINDS[usize::from(kind) % KINDS.len()](rest);
}

/// Requests as people write them, each to every kind that may take it: most refuse them.
pub fn examples() -> Vec<Vec<u8>> {
    let texts = [
        r#"{"key":"Zm9v","range_end":"Zm9w","limit":"3","sort_order":"DESCEND","keys_only":true}"#,
        r#"{"key":"Zm9v","value":"YmFy","lease":"7587","prev_kv":true}"#,
        r#"{"compare":[{"key":"Zm9v","target":"CREATE","create_revision":"0"}],
            "success":[{"requestPut":{"key":"Zm9v","value":"YmFy"}}],"failure":[{"requestRange":{"key":"Zm9v"}}]}"#,
        r#"{"create_request":{"key":"Zm9v","start_revision":"2","filters":["NOPUT"],"fragment":true}}"#,
        r#"{"TTL":"60","ID":"12"}"#,
        r#"{"ID":"12","keys":true}"#,
        r#"{"peerURLs":["http://127.0.0.1:2380"],"isLearner":true}"#,
        r#"{"name":"root","password":"secret","options":{"no_password":false}}"#,
        r#"{"name":"r","perm":{"permType":"READWRITE","key":"Zm9v","range_end":"AA=="}}"#,
        r#"{"name":"bG9jaw==","lease":"7587"}"#,
        r#"{"leader":{"name":"bw==","key":"by8x","rev":"5","lease":"7"},"value":"bWU="}"#,
        r#"{"name":"deploy","session":"7587","wait_ms":500,"shared":true,"permits":3}"#,
        r#"{"ttl_ms":2000}"#,
        r#"{"name":"deploy","session":"7587","value":"me"}"#,
        "{}",
    ];
    let kinds = 0..KINDS.len() as u8;
    kinds.flat_map(|kind| texts.map(|text| [&[kind], text.as_bytes()].concat())).collect()
}
