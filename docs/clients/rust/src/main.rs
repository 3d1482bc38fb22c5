//! A key, a lock, an election and a watch with the crate `etcd-client`: `cargo run -- HOST:PORT`.

use std::error::Error;
use std::time::Duration;

use etcd_client::{Client, Compare, CompareOp, GetOptions, LockOptions, Txn, TxnOp, WatchOptions};
use tokio::time::timeout;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let at = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:2379".to_owned());
    let mut client = Client::connect([at], None).await?;

    // A watch: what is written from now on.
    let mut events = client.watch("rust/", Some(WatchOptions::new().with_prefix())).await?;

    // A key.
    client.put("rust/greeting", "hello", None).await?;
    let found = client.get("rust/greeting", None).await?;
    assert_eq!(found.kvs()[0].value(), b"hello");
    let seen = loop {
        let message = events.message().await?.ok_or("the watch goes on")?;
        if let Some(event) = message.events().first() {
            break event.kv().ok_or("an event has a key")?.clone();
        }
    };
    assert_eq!((seen.key(), seen.value()), (&b"rust/greeting"[..], &b"hello"[..]));

    // A transaction: only if nobody has written since.
    let unchanged = Compare::mod_revision("rust/greeting", CompareOp::Equal, seen.mod_revision());
    let write = TxnOp::put("rust/greeting", "goodbye", None);
    let transaction = Txn::new().when([unchanged]).and_then([write]);
    assert!(client.txn(transaction.clone()).await?.succeeded());
    assert!(!client.txn(transaction).await?.succeeded(), "it has been written since");

    // A lock, for as long as the lease lasts. The token is the revision at which its key was created.
    let lease = client.lease_grant(10, None).await?.id();
    let lock = client.lock("rust-door", Some(LockOptions::new().with_lease(lease))).await?;
    let held = client.get(lock.key(), None).await?;
    println!("inside, with the token {}", held.kvs()[0].create_revision());
    let other = client.lease_grant(10, None).await?.id();
    let wait = client.lock("rust-door", Some(LockOptions::new().with_lease(other)));
    assert!(timeout(Duration::from_millis(200), wait).await.is_err(), "somebody is inside");
    client.unlock(lock.key()).await?;
    let again = client.lock("rust-door", Some(LockOptions::new().with_lease(other)));
    timeout(Duration::from_secs(5), again).await??;

    // An election: whoever holds the key leads, until it resigns or its lease ends.
    let won = client.campaign("rust-scheduler", "host-a", lease).await?;
    let leader = client.leader("rust-scheduler").await?;
    assert_eq!(leader.kv().map(|kv| kv.value()), Some(&b"host-a"[..]));
    client.lease_revoke(lease).await?;
    let gone = client.get("rust-scheduler", Some(GetOptions::new().with_prefix().with_count_only())).await?;
    assert_eq!(gone.count(), 0, "{:?} went with its lease", won.leader());
    println!("rust: key, transaction, lock, election, watch");
    Ok(())
}
