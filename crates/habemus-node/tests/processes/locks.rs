//! Locks with the settings that real nodes have unless others are asked for.

use std::collections::BTreeMap;

use habemus::Status;
use habemus_node::{SupervisorCommand, add_safe_defaults};

use crate::bench::{Scratch, cluster, until};
use crate::random_faults::verdict;

#[tokio::test]
async fn by_default_a_cut_never_lets_two_in_and_the_holder_is_told_that_it_lost_the_lock() {
    let scratch = Scratch::new();
    let mut options = BTreeMap::new();
    add_safe_defaults("elected-coordinator", &mut options);
    let mut flags = vec!["--detector".to_owned(), "heartbeat".to_owned()];
    for (name, value) in &options {
        flags.extend(["--option".to_owned(), format!("{name}={value}")]);
    }
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let mut cluster = cluster(&scratch, "elected-coordinator", 4, &flags).await;
    let acquire = || SupervisorCommand::Command { word: "acquire".to_owned(), name: String::new() };
    cluster.tell(1, acquire());
    until(&mut cluster, "1 is inside", |it| it.status(1) == Some(Status::Inside)).await;
    let apart: Vec<(u64, u64)> = [2, 3, 4].into_iter().flat_map(|id| [(1, id), (id, 1)]).collect();
    cluster.cut(&apart);
    cluster.tell(2, acquire());
    until(&mut cluster, "2 is inside", |it| it.status(2) == Some(Status::Inside)).await;
    let report = verdict(&cluster, "elected-coordinator", Some("heartbeat"), &options);
    assert_eq!(report.failures, Vec::<String>::new());
    until(&mut cluster, "1 knows that it is not", |it| it.status(1) != Some(Status::Inside)).await;
    cluster.end().await;
    let log = std::fs::read_to_string(scratch.path().join("node-1").join("log.txt")).unwrap();
    assert!(log.contains("has lost the lock"), "{log}");
}
