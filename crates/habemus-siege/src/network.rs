//! Network namespaces, one for each member, joined by a bridge: whatever passes between two of them can be cut or slowed down.
//! Made by iproute2, as root; all of it goes when this goes.

use std::process::Command;

use crate::Outcome;

const BRIDGE: &str = "hbsiege";

/// Network namespaces of members.
pub(crate) struct Namespaces {
    count: usize,
    /// Whether the kernel can delay and lose what is sent: not every one was built so.
    pub(crate) has_netem: bool,
}

fn run(arguments: &[&str]) -> Outcome<()> {
    let (program, rest) = arguments.split_first().ok_or("nothing to run")?;
    let done = Command::new(program).args(rest).output().map_err(|error| format!("{program}: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("{}: {}", arguments.join(" "), String::from_utf8_lossy(&done.stderr).trim()).into())
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for index in 0..self.count {
            // What is gone already need not go.
            drop(run(&["ip", "netns", "del", &Namespaces::name(index)]));
        }
        drop(run(&["ip", "link", "del", BRIDGE]));
    }
}

impl Namespaces {
    /// The namespace of a member.
    pub(crate) fn name(index: usize) -> String {
        format!("{BRIDGE}{index}")
    }

    /// The address of a member.
    pub(crate) fn address(index: usize) -> String {
        format!("10.213.77.{}", index + 1)
    }

    pub(crate) fn make(count: usize) -> Outcome<Namespaces> {
        let mut namespaces = Namespaces { count, has_netem: false };
        run(&["ip", "link", "add", BRIDGE, "type", "bridge"])
            .map_err(|error| format!("network namespaces need root and iproute2: {error}"))?;
        run(&["ip", "addr", "add", "10.213.77.254/24", "dev", BRIDGE])?;
        run(&["ip", "link", "set", BRIDGE, "up"])?;
        for index in 0..count {
            let (name, outer) = (Namespaces::name(index), format!("hbs{index}"));
            let address = format!("{}/24", Namespaces::address(index));
            run(&["ip", "netns", "add", &name])?;
            run(&["ip", "link", "add", &outer, "type", "veth", "peer", "name", "eth0", "netns", &name])?;
            run(&["ip", "link", "set", &outer, "master", BRIDGE, "up"])?;
            run(&["ip", "-n", &name, "addr", "add", &address, "dev", "eth0"])?;
            run(&["ip", "-n", &name, "link", "set", "eth0", "up"])?;
            run(&["ip", "-n", &name, "link", "set", "lo", "up"])?;
        }
        namespaces.has_netem = namespaces.spoil(0, "delay 1ms").is_ok();
        if !namespaces.has_netem {
            eprintln!("without netem in the kernel, nothing is delayed or lost");
        }
        namespaces.heal()?;
        Ok(namespaces)
    }

    /// Nothing passes from the one to the other any more.
    pub(crate) fn cut(&self, from: usize, to: usize) -> Outcome<()> {
        let to = format!("{}/32", Namespaces::address(to));
        run(&["ip", "-n", &Namespaces::name(from), "route", "replace", "blackhole", &to])
    }

    /// What a member sends is delayed, lost, doubled and reordered.
    pub(crate) fn spoil(&self, index: usize, how: &str) -> Outcome<()> {
        let name = Namespaces::name(index);
        let mut arguments =
            vec!["ip", "netns", "exec", &name, "tc", "qdisc", "replace", "dev", "eth0", "root"];
        arguments.push("netem");
        arguments.extend(how.split(' '));
        run(&arguments)
    }

    /// Everything passes again, as it should.
    pub(crate) fn heal(&self) -> Outcome<()> {
        for index in 0..self.count {
            let name = Namespaces::name(index);
            for other in 0..self.count {
                let to = format!("{}/32", Namespaces::address(other));
                // Most were not cut.
                drop(run(&["ip", "-n", &name, "route", "del", "blackhole", &to]));
            }
            drop(run(&["ip", "netns", "exec", &name, "tc", "qdisc", "del", "dev", "eth0", "root"]));
        }
        Ok(())
    }
}
