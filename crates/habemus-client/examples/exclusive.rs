//! A lock: waiting for it, knowing when it is lost, fencing what it protects, and letting the next one in.
//!
//! `cargo run -p habemus-client --example exclusive` needs a member at 127.0.0.1:2379: `./habemus serve`.

use std::num::NonZeroU32;
use std::time::Duration;

use habemus_client::{Client, ClientError, Mode, Wait};

pub(crate) async fn run(members: &[&str]) -> Result<(), ClientError> {
    let client = Client::connect(members)?;
    let session = client.session(Duration::from_secs(10)).await?;
    let guard = session.lock("orders", Wait::For(Duration::from_secs(30))).await?;
    println!("inside, with the token {}", guard.token());
    tokio::select! {
        // Before anybody else can be inside, without any message.
        () = guard.lost() => println!("it may be lost: stop at once"),
        written = guard.put("orders-done", "yesterday") => written?,
    }
    let other = client.session(Duration::from_secs(10)).await?;
    match other.lock("orders", Wait::Never).await {
        Err(ClientError::Busy) => println!("somebody else does not wait, and is told so"),
        other => drop(other?),
    }
    guard.release().await?;

    // A car park of two, and a book that many may read.
    let two = Mode::Permits(NonZeroU32::MIN.saturating_add(1));
    let _car = session.lock_as("car park", two, Wait::Always).await?;
    let _another = other.lock_as("car park", two, Wait::Always).await?;
    let _reader = session.lock_as("book", Mode::Shared, Wait::Always).await?;
    let _too = other.lock_as("book", Mode::Shared, Wait::Always).await?;
    println!("{} park", client.queue("car park").await?.len());
    session.close().await?;
    other.close().await
}

#[tokio::main]
#[allow(dead_code)]
async fn main() -> Result<(), ClientError> {
    run(&["127.0.0.1:2379"]).await
}
