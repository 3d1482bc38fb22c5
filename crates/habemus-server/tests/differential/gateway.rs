//! The same JSON to both gateways, by curl, and the same answers.

use std::process::Command;

use serde_json::Value;

use crate::{oracle, support};

/// What is sent, one after the other. `YQ==` is `a`, `Yg==` is `b`, `eA==` is `x`.
const REQUESTS: &[(&str, &str)] = &[
    ("kv/put", r#"{"key":"YQ==","value":"eA=="}"#),
    ("kv/put", r#"{"key":"YQ==","value":"Yg==","prev_kv":true}"#),
    ("kv/put", r#"{"key":"YQ==","value":"Yg==","prevKv":true}"#),
    ("kv/range", r#"{"key":"YQ=="}"#),
    (
        "kv/range",
        r#"{"key":"YQ==","range_end":"eg==","sort_order":"DESCEND","sort_target":"CREATE","limit":"1"}"#,
    ),
    ("kv/range", r#"{"key":"YQ==","range_end":"eg==","sort_order":2,"limit":1,"count_only":true}"#),
    ("kv/range", r#"{"key":"bm9uZQ=="}"#),
    ("kv/range", r#"{}"#),
    ("kv/range", ""),
    ("kv/range", r#"{"key":"YQ==","revision":"100"}"#),
    ("kv/range", r#"{"key":"YQ==","revision":100}"#),
    ("kv/put", r#"{"key":"YQ==","lease":"12345"}"#),
    ("lease/grant", r#"{"TTL":"60","ID":"77"}"#),
    ("lease/grant", r#"{"TTL":"60","ID":"77"}"#),
    ("kv/put", r#"{"key":"Yg==","value":"eA==","lease":77}"#),
    ("lease/keepalive", r#"{"ID":"77"}"#),
    ("lease/keepalive", r#"{"ID":"78"}"#),
    ("lease/leases", r#"{}"#),
    ("kv/lease/leases", r#"{}"#),
    (
        "kv/txn",
        concat!(
            r#"{"compare":[{"target":"VALUE","key":"YQ==","value":"Yg=="},"#,
            r#"{"target":"CREATE","result":"GREATER","key":"Yg==","create_revision":"1"}],"#,
            r#""success":[{"request_range":{"key":"YQ=="}},{"requestPut":{"key":"Yw==","value":"eA=="}},"#,
            r#"{"request_delete_range":{"key":"Yg==","prev_kv":true}}],"failure":[]}"#
        ),
    ),
    (
        "kv/txn",
        r#"{"compare":[{"target":"VERSION","key":"YQ==","version":"9"}],"success":[],"failure":[{"request_range":{"key":"YQ=="}}]}"#,
    ),
    ("kv/deleterange", r#"{"key":"YQ==","range_end":"eg==","prev_kv":true}"#),
    ("kv/deleterange", r#"{"key":"YQ=="}"#),
    ("lease/timetolive", r#"{"ID":"78"}"#),
    ("lease/revoke", r#"{"ID":"77"}"#),
    ("kv/lease/revoke", r#"{"ID":"77"}"#),
    ("kv/compaction", r#"{"revision":"4"}"#),
    ("kv/compaction", r#"{"revision":"3"}"#),
    ("kv/compaction", r#"{"revision":"400"}"#),
    ("lease/grant", r#"{"TTL":"60","ID":"99"}"#),
    ("lock/lock", r#"{"name":"ZG9vcg==","lease":"99"}"#),
    ("lock/unlock", r#"{"key":"ZG9vci82Mw=="}"#),
    ("lock/lock", r#"{"name":"ZG9vcg==","lease":"98"}"#),
    ("election/leader", r#"{"name":"c2VhdA=="}"#),
    ("election/resign", r#"{}"#),
    ("auth/authenticate", r#"{"name":"root","password":"x"}"#),
    ("auth/user/add", r#"{"name":"root","password":"x"}"#),
    ("auth/user/add", r#"{"name":"root","password":"x"}"#),
    ("auth/user/get", r#"{"name":"nobody"}"#),
    ("auth/role/add", r#"{"name":"writer"}"#),
    (
        "auth/role/grant",
        r#"{"name":"writer","perm":{"permType":"READWRITE","key":"YQ==","range_end":"eg=="}}"#,
    ),
    ("auth/role/get", r#"{"role":"writer"}"#),
    ("auth/role/list", r#"{}"#),
    ("auth/user/list", r#"{}"#),
    ("auth/enable", r#"{}"#),
    ("cluster/member/remove", r#"{"ID":"1"}"#),
    ("maintenance/alarm", r#"{}"#),
    // Users and roles; from where they are enabled nobody says who it is.
    ("auth/user/revoke", r#"{"name":"root","role":"writer"}"#),
    ("auth/user/grant", r#"{"user":"root","role":"absent"}"#),
    ("auth/user/grant", r#"{"user":"root","role":"writer"}"#),
    ("auth/user/grant", r#"{"user":"root","role":"root"}"#),
    ("auth/user/grant", r#"{"user":"root","role":"root"}"#),
    ("auth/user/get", r#"{"name":"root"}"#),
    ("auth/role/revoke", r#"{"role":"writer","key":"eA=="}"#),
    ("auth/role/grant", r#"{"name":"writer","perm":{"key":"YQ==","range_end":"eg=="}}"#),
    ("auth/role/grant", r#"{"name":"writer","perm":{"permType":"WRITE","key":"MQ=="}}"#),
    ("auth/role/get", r#"{"role":"writer"}"#),
    ("auth/role/revoke", r#"{"role":"writer","key":"YQ==","range_end":"eg=="}"#),
    ("auth/role/get", r#"{"role":"writer"}"#),
    ("auth/role/delete", r#"{"role":"absent"}"#),
    ("auth/role/delete", r#"{"role":"writer"}"#),
    ("auth/user/get", r#"{"name":"root"}"#),
    ("auth/user/add", r#"{"name":"","password":"x"}"#),
    ("auth/role/add", r#"{"name":""}"#),
    ("auth/user/changepw", r#"{"name":"absent","password":"x"}"#),
    ("auth/user/delete", r#"{"name":"absent"}"#),
    ("auth/enable", r#"{}"#),
    ("auth/authenticate", r#"{"name":"root","password":"wrong"}"#),
    ("auth/authenticate", r#"{"name":"absent","password":"wrong"}"#),
    ("kv/range", r#"{"key":"YQ=="}"#),
    ("kv/put", r#"{"key":"YQ==","value":"eA=="}"#),
    ("kv/deleterange", r#"{"key":"YQ=="}"#),
    ("kv/txn", r#"{"success":[{"request_range":{"key":"YQ=="}}]}"#),
    ("auth/user/list", r#"{}"#),
    ("auth/disable", r#"{}"#),
    ("auth/user/delete", r#"{"name":"root"}"#),
];

/// What makes no sense: the codes are the same, the words are the decoders' own.
const NONSENSE: &[(&str, &str)] = &[
    ("kv/range", "nonsense"),
    ("kv/range", r#"{"key":17}"#),
    ("kv/range", r#"{"key":"not base64!"}"#),
    ("kv/range", r#"{"no_such_field":1}"#),
    ("kv/put", r#"{"key":"YQ==","lease":"many"}"#),
    ("no/such/call", "{}"),
];

fn ask(address: &str, path: &str, body: &str) -> (String, String) {
    let url = format!("http://{address}/v3/{path}");
    let output = Command::new("curl")
        .args(["--silent", "--max-time", "20", "--write-out", "\n%{http_code}", "--data", body, &url])
        .output()
        .expect("curl was there a moment ago");
    let text = String::from_utf8(output.stdout).expect("it is a text");
    let (body, code) = text.rsplit_once('\n').expect("the code is on a line of its own");
    (code.to_owned(), body.trim_end().to_owned())
}

/// Without what cannot be the same.
fn plain(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for name in ["cluster_id", "member_id", "raft_term"] {
                    fields.remove(name);
                }
                fields.values_mut().for_each(walk);
            }
            Value::Array(values) => values.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

#[test]
fn both_gateways_answer_alike() {
    if !support::installed("etcd", "etcd-server") || !support::installed("curl", "curl") {
        return;
    }
    let directory = support::Directory::new();
    let etcd = oracle::Etcd::start(&directory.join("etcd"));
    let habemus = support::Running::start(&directory.join("habemus"), &[]);
    for (path, body) in REQUESTS {
        let (their_code, theirs) = ask(&etcd.address, path, body);
        let (our_code, ours) = ask(habemus.address(), path, body);
        assert_eq!(our_code, their_code, "{path} {body}\nhabemus: {ours}\netcd: {theirs}");
        let parse = |text: &str| plain(serde_json::from_str(text).expect("it is JSON"));
        assert_eq!(parse(&ours), parse(&theirs), "{path} {body}: left is habemus, right is etcd");
    }
    for (path, body) in NONSENSE {
        let (their_code, theirs) = ask(&etcd.address, path, body);
        let (our_code, ours) = ask(habemus.address(), path, body);
        assert_eq!(our_code, their_code, "{path} {body}\nhabemus: {ours}\netcd: {theirs}");
    }
}
