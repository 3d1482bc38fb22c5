//! Disks that are full, and disks that are slow.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::attack::pause;
use crate::cluster::Cluster;

fn run(program: &str, arguments: &[&Path]) -> Outcome<()> {
    let done = Command::new(program).args(arguments).output()?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() { Ok(()) } else { Err(format!("{program}: {said}").into()) }
}

/// A small disk in memory, in the place of a directory; it goes with this, also if the siege is broken off.
struct SmallDisk<'a>(&'a Path);

impl SmallDisk<'_> {
    /// Whether it could be had.
    fn mount(place: &Path) -> Option<SmallDisk<'_>> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=512m", "siege"]).arg(place);
        mount.status().is_ok_and(|status| status.success()).then_some(SmallDisk(place))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        // Whoever still has it open keeps it until then.
        drop(run("umount", &["--lazy".as_ref(), self.0]));
    }
}

/// A member moves to a small disk in memory, which is then filled; it must stop or refuse, and come back when
/// there is room.
pub(crate) async fn fill(cluster: &mut Cluster, index: usize) -> Outcome<()> {
    let data = cluster.data(index).to_owned();
    let copy = data.with_extension("elsewhere");
    cluster.end(index).await?;
    std::fs::rename(&data, &copy)?;
    std::fs::create_dir(&data)?;
    let Some(disk) = SmallDisk::mount(&data) else {
        std::fs::remove_dir(&data)?;
        std::fs::rename(&copy, &data)?;
        return Ok(());
    };
    run("cp", &["-a".as_ref(), &copy.join("."), &data])?;
    cluster.launch(index)?;
    pause(1000).await;
    let filler = data.join("filler");
    // It ends when nothing fits any more.
    let mut dd = Command::new("dd");
    dd.args(["if=/dev/zero", "bs=64k"]).arg(format!("of={}", filler.display()));
    drop(dd.output());
    pause(2500).await;
    drop(std::fs::remove_file(&filler));
    cluster.end(index).await?;
    std::fs::remove_dir_all(&copy)?;
    std::fs::create_dir(&copy)?;
    run("cp", &["-a".as_ref(), &data.join("."), &copy])?;
    drop(disk);
    std::fs::remove_dir(&data)?;
    std::fs::rename(&copy, &data)?;
    cluster.launch(index)
}

/// Whether there is something that can hold up a process's syncs.
pub(crate) fn can_be_slow() -> bool {
    let strace = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    rustix::process::geteuid().is_root() && strace.is_ok_and(|status| status.success())
}

/// Every sync of a member takes a tenth of a second more, for a while. Whatever else it asks of the kernel is
/// slowed down a little, too: that is what it costs to be watched.
pub(crate) async fn slow_down(cluster: &mut Cluster, index: usize) -> Outcome<()> {
    let Some(process) = cluster.process(index) else { return Ok(()) };
    let mut strace = tokio::process::Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"]);
    strace.args(["-e", "inject=fsync,fdatasync:delay_enter=100000"]);
    strace.args(["-p", &process.as_raw_nonzero().to_string()]);
    let mut strace = strace.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn()?;
    pause(4000).await;
    let id = strace.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
    if let Some(id) = id {
        // Asked like this, it lets go of the process.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
    strace.wait().await?;
    Ok(())
}
