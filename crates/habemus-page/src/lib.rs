//! The page of the lab: where it lies, and how it is served to whoever sits at this machine.
//!
//! ```no_run
//! let page = habemus_page::Page::find(None)?.ok_or("there is no page")?;
//! let (listener, port) = habemus_page::listen_where_expected()?;
//! println!("http://127.0.0.1:{port}/");
//! habemus_page::end_when_told();
//! habemus_page::serve(page, &listener, port);
//! # Ok::<(), String>(())
//! ```

mod page;
mod server;

pub use page::Page;
pub use server::{POLICY, USUAL_PORT, end_when_told, listen, listen_where_expected, open_browser, serve};
