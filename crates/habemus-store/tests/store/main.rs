//! What the store promises, one sentence a test.

mod auth;
mod queues;
mod random;
mod sessions;
mod support;
mod transactions;
