//! The lab's page: how it is built, and how it is served on this machine.

mod page;
mod server;

pub use page::{Page, build};
pub use server::{USUAL_PORT, listen, listen_where_expected, open_browser, serve};
