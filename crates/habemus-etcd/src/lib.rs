//! The interface of etcd, version 3, as far as habemus's service has it: its messages, and both ends of each
//! call.
//!
//! Everything here is made from the descriptions in the folder `proto`, whose names and numbers are etcd's;
//! what they mean, [etcd's documentation](https://etcd.io/docs/v3.4/learning/api/) says.
#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all, clippy::pedantic)]

/// Keys, values and what happens to them.
pub mod mvccpb {
    tonic::include_proto!("mvccpb");
    include!(concat!(env!("OUT_DIR"), "/mvccpb.serde.rs"));
}

/// Keys, watches, leases, members and maintenance.
pub mod etcdserverpb {
    tonic::include_proto!("etcdserverpb");
    include!(concat!(env!("OUT_DIR"), "/etcdserverpb.serde.rs"));
}

/// Locks.
pub mod v3lockpb {
    tonic::include_proto!("v3lockpb");
    include!(concat!(env!("OUT_DIR"), "/v3lockpb.serde.rs"));
}

/// Elections.
pub mod v3electionpb {
    tonic::include_proto!("v3electionpb");
    include!(concat!(env!("OUT_DIR"), "/v3electionpb.serde.rs"));
}

/// Users and roles.
pub mod authpb {
    tonic::include_proto!("authpb");
    include!(concat!(env!("OUT_DIR"), "/authpb.serde.rs"));
}
