//! A watch that goes on where it was when connections break and members come and go.
//!
//! `cargo run -p habemus-client --example watch` needs a member at 127.0.0.1:2379: `./habemus serve`.

use habemus_client::{Client, ClientError};

pub(crate) async fn run(members: &[&str]) -> Result<(), ClientError> {
    let client = Client::connect(members)?;
    let mut watch = client.watch_prefix("config/");
    // From here on nothing is missed.
    watch.begin().await?;
    client.put("config/colour", "green").await?;
    client.put("config/size", "large").await?;
    for _ in 0..2 {
        let event = watch.next().await?;
        let value = event.value.as_deref().map_or("nothing".into(), String::from_utf8_lossy);
        println!("{} is {value} since {}", String::from_utf8_lossy(&event.key), event.revision);
    }
    // Whoever is started again goes on from there.
    let mut later = client.watch_prefix("config/").from(watch.position());
    client.put("config/colour", "blue").await?;
    assert_eq!(later.next().await?, watch.next().await?);
    Ok(())
}

#[tokio::main]
#[allow(dead_code)]
async fn main() -> Result<(), ClientError> {
    run(&["127.0.0.1:2379"]).await
}
