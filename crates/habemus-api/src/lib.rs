//! habemus.v1: the interface of habemus's service that goes beyond etcd's. Its messages, both ends of each
//! call by gRPC, and the same calls by plain HTTP and JSON.
//!
//! The description in the folder `proto` is the only source: messages and calls are made from it, JSON has
//! its names, and [`openapi`] tells it to those who read OpenAPI. [`ROUTES`] says where each call is found by
//! HTTP.

mod error;
mod openapi;
mod routes;

pub use error::ErrorCode;
pub use openapi::openapi;
pub use routes::{Method, ROUTES, Reply, Route};

/// Messages and calls.
#[allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all)]
pub mod v1 {
    tonic::include_proto!("habemus.v1");
}
