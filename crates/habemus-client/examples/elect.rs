//! An election: campaigning, being observed, resigning; and hearing that nobody leads.
//!
//! `cargo run -p habemus-client --example elect` needs a member at 127.0.0.1:2379: `./habemus serve`.

use std::time::Duration;

use habemus_client::{Client, ClientError, Wait};

pub(crate) async fn run(members: &[&str]) -> Result<(), ClientError> {
    let client = Client::connect(members)?;
    let mut observation = client.observe("scheduler");
    tell(&mut observation).await?;
    let session = client.session(Duration::from_secs(10)).await?;
    let leads = session.campaign("scheduler", "host-a", Wait::Always).await?;
    tell(&mut observation).await?;
    leads.proclaim("host-a, port 80").await?;
    tell(&mut observation).await?;
    leads.resign().await?;
    tell(&mut observation).await?;
    session.close().await
}

async fn tell(observation: &mut habemus_client::Observation) -> Result<(), ClientError> {
    match observation.next().await? {
        Some(leader) => println!("{} leads in term {}", String::from_utf8_lossy(&leader.value), leader.token),
        None => println!("nobody leads"),
    }
    Ok(())
}

#[tokio::main]
#[allow(dead_code)]
async fn main() -> Result<(), ClientError> {
    run(&["127.0.0.1:2379"]).await
}
