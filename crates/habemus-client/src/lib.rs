//! Sessions, locks and elections for programs in Rust, on habemus's service or on etcd.
//!
//! A [`Session`] is renewed in the background. Whoever holds a lock has a [`Guard`]: it knows the fencing
//! token, until when the lock is surely held by the local clock, and it can wait until it is lost. It says so
//! before the service can grant the lock to anybody else, without any message: a session counts from when its
//! renewal was *sent*, on a clock that also runs while the machine sleeps, and a little is taken off for
//! clocks that differ. What a machine that was stopped cannot know, the token catches at the resource.
//!
//! ```no_run
//! # async fn example() -> Result<(), habemus_client::ClientError> {
//! use habemus_client::{Client, Wait};
//! use std::time::Duration;
//!
//! let client = Client::connect(["127.0.0.1:2379"])?;
//! let session = client.session(Duration::from_secs(10)).await?;
//! let guard = session.lock("orders", Wait::For(Duration::from_secs(30))).await?;
//! tokio::select! {
//!     () = guard.lost() => println!("somebody else may be inside: stop at once"),
//!     () = do_it(guard.token()) => guard.release().await?,
//! }
//! # Ok(())
//! # }
//! # async fn do_it(token: i64) {}
//! ```

mod client;
mod clock;
mod credentials;
mod error;
mod guard;
mod queue;
mod session;
mod standing;
mod watch;

pub use client::{Client, Connection, Leader, Observation, Place};
pub use clock::now;
pub use credentials::{Badge, Credentials};
pub use error::ClientError;
pub use guard::Guard;
pub use queue::{Mode, Wait};
pub use session::Session;
pub use watch::{KeyEvent, Watch};
