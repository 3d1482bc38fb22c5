//! A leader whose disk stalls: a file system of its own, which the kernel freezes.
//!
//! This needs root, loop devices and e2fsprogs. Ordinary users have the disk that a test makes up, in `node`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use habemus::Status;
use tokio::time::Instant;

use crate::bench::{LONG, Scratch, cluster, until};
use crate::pauses::Connection;

/// A file system in a file. It thaws and goes when the test is over.
struct Disk(PathBuf);

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output().map_err(|why| format!("{program}: {why}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{program} {arguments:?}: {said}")) }
}

impl Disk {
    fn mount(image: &Path, directory: &Path) -> Result<Disk, String> {
        let place = directory.to_str().ok_or("a path that is no text")?.to_owned();
        let file = std::fs::File::create(image).and_then(|file| file.set_len(8 << 20));
        file.and_then(|()| std::fs::create_dir_all(directory)).map_err(|why| why.to_string())?;
        let image = image.to_str().ok_or("a path that is no text")?;
        run("mkfs.ext4", &["-q", image])?;
        run("mount", &["-o", "loop", image, &place])?;
        Ok(Disk(directory.to_owned()))
    }

    /// Whatever is written from now on waits.
    fn stall(&self, stalls: bool) -> Result<(), String> {
        run("fsfreeze", &[if stalls { "--freeze" } else { "--unfreeze" }, &self.0.to_string_lossy()])
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // It may have been thawed before.
        let _ = self.stall(false);
        let _ = run("umount", &["--lazy", &self.0.to_string_lossy()]);
    }
}

fn disks(scratch: &Scratch) -> Option<Vec<Disk>> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("a disk that stalls needs root: run the tests as root to include it");
        return None;
    }
    let mount = |id| {
        let (image, node) = (format!("disk-{id}"), format!("node-{id}"));
        Disk::mount(&scratch.path().join(image), &scratch.path().join(node))
    };
    (1..=3)
        .map(mount)
        .collect::<Result<_, _>>()
        .inspect_err(|why| eprintln!("no disk that stalls: {why}"))
        .ok()
}

#[tokio::test]
async fn a_leader_whose_disk_stalls_is_replaced_and_says_of_itself_that_it_leads_no_longer() {
    let scratch = Scratch::new();
    let Some(disks) = disks(&scratch) else { return };
    let mut cluster = cluster(&scratch, "majority", 3, &["--http", "127.0.0.1:0"]).await;
    until(&mut cluster, "all agree", |it| it.agreed_leader().is_some()).await;
    let leader = cluster.agreed_leader().expect("all agree");
    let mut connection = Connection::open(&cluster, leader);
    let disk = &disks[(leader - 1) as usize];
    disk.stall(true).expect("it can be frozen");
    // It stores nothing while it leads in peace; now it must: its record, or its vote for another.
    let other = cluster.ids().iter().copied().find(|id| *id != leader).expect("there are three");
    cluster.command(other, "elect");
    until(&mut cluster, "another leads", |it| {
        it.alive().any(|id| id != leader && it.status(id) == Some(Status::Leading))
    })
    .await;
    // From now on it leads no more, whoever asks it, and as often as anybody asks.
    for _ in 0..20 {
        connection.ask();
        let (leads, term) = connection.answer();
        assert!(!leads, "it says that it leads term {term}");
        let soon = Instant::now() + Duration::from_millis(5);
        while cluster.attend(soon).await.expect("nobody ends").is_some() {}
    }
    disk.stall(false).expect("it can be thawed");
    let agree =
        tokio::time::timeout(LONG, until(&mut cluster, "all agree", |it| it.agreed_leader().is_some()));
    agree.await.expect("the disk goes on, and so does the node");
    cluster.end().await;
}
