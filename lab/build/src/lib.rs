//! The lab's page: how it is built. How it is served, the crate `habemus-page` knows.

mod fields;
mod page;

pub use habemus_page::{Page, USUAL_PORT, end_when_told, listen, listen_where_expected, open_browser, serve};
pub use page::build;
