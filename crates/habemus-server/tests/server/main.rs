//! The real program, with real clients, real sockets and a real disk.

mod admin;
mod auth;
mod client;
mod cluster;
mod commands;
mod deadline;
mod etcdctl;
mod flood;
mod gateway;
mod hold;
mod hostile;
mod http;
mod kills;
mod limits;
mod proxy;
mod queues;
mod support;
mod terminal;
mod tls;
mod v1;
