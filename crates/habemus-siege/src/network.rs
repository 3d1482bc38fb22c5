//! Network namespaces, one for each member, joined by a bridge: whatever passes between two of them can be
//! cut or slowed down. Made by iproute2, as root; all of it goes when this goes.

use std::collections::BTreeSet;
use std::process::Command;

use crate::Outcome;

/// Network namespaces of members.
pub(crate) struct Namespaces {
    count: usize,
    /// What tells these from another siege's: two may go on at once.
    number: u32,
    /// What is cut, from one to another.
    cuts: BTreeSet<(usize, usize)>,
    /// Whose sending is spoilt.
    spoilt: BTreeSet<usize>,
    /// Whether the kernel can delay and lose what is sent: not every one was built so.
    pub(crate) has_netem: bool,
    /// Whether it can make a link thin, so that what is sent queues up.
    pub(crate) has_shaper: bool,
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
            drop(run(&["ip", "netns", "del", &self.name(index)]));
        }
        drop(run(&["ip", "link", "del", &self.bridge()]));
    }
}

impl Namespaces {
    fn bridge(&self) -> String {
        format!("hb{}", self.number)
    }

    /// The namespace of a member.
    pub(crate) fn name(&self, index: usize) -> String {
        format!("hb{}m{index}", self.number)
    }

    fn host(&self, last: usize) -> String {
        format!("10.{}.{}.{last}", 128 + self.number / 256 % 128, self.number % 256)
    }

    /// The address of a member.
    pub(crate) fn address(&self, index: usize) -> String {
        self.host(index + 1)
    }

    pub(crate) fn make(count: usize) -> Outcome<Namespaces> {
        let number = std::process::id();
        let (cuts, spoilt) = (BTreeSet::new(), BTreeSet::new());
        let mut made = Namespaces { count, number, cuts, spoilt, has_netem: false, has_shaper: false };
        let bridge = made.bridge();
        run(&["ip", "link", "add", &bridge, "type", "bridge"])
            .map_err(|error| format!("network namespaces need root and iproute2: {error}"))?;
        run(&["ip", "addr", "add", &format!("{}/24", made.host(254)), "dev", &bridge])?;
        run(&["ip", "link", "set", &bridge, "up"])?;
        for index in 0..count {
            let (name, outer) = (made.name(index), format!("hb{number}v{index}"));
            let address = format!("{}/24", made.address(index));
            run(&["ip", "netns", "add", &name])?;
            run(&["ip", "link", "add", &outer, "type", "veth", "peer", "name", "eth0", "netns", &name])?;
            run(&["ip", "link", "set", &outer, "master", &bridge, "up"])?;
            run(&["ip", "-n", &name, "addr", "add", &address, "dev", "eth0"])?;
            run(&["ip", "-n", &name, "link", "set", "eth0", "up"])?;
            run(&["ip", "-n", &name, "link", "set", "lo", "up"])?;
        }
        made.has_netem = made.spoil(0, "netem delay 1ms").is_ok();
        made.has_shaper = made.spoil(0, Namespaces::THIN).is_ok();
        made.heal()?;
        if !made.has_netem {
            eprintln!("without netem in the kernel, no single packet is delayed, lost or doubled");
        }
        Ok(made)
    }

    /// A thin link: what is sent queues up for as long as half a second, and is dropped beyond that.
    pub(crate) const THIN: &str = "tbf rate 400kbit burst 4kb latency 500ms";

    /// Nothing passes from the one to the other any more.
    pub(crate) fn cut(&mut self, from: usize, to: usize) -> Outcome<()> {
        let address = format!("{}/32", self.address(to));
        run(&["ip", "-n", &self.name(from), "route", "replace", "blackhole", &address])?;
        self.cuts.insert((from, to));
        Ok(())
    }

    /// What a member sends is treated as tc is told.
    pub(crate) fn spoil(&mut self, index: usize, how: &str) -> Outcome<()> {
        let name = self.name(index);
        let mut arguments =
            vec!["ip", "netns", "exec", &name, "tc", "qdisc", "replace", "dev", "eth0", "root"];
        arguments.extend(how.split(' '));
        run(&arguments)?;
        self.spoilt.insert(index);
        Ok(())
    }

    /// Everything passes again, as it should.
    pub(crate) fn heal(&mut self) -> Outcome<()> {
        for (from, to) in std::mem::take(&mut self.cuts) {
            let address = format!("{}/32", self.address(to));
            run(&["ip", "-n", &self.name(from), "route", "del", "blackhole", &address])?;
        }
        for index in std::mem::take(&mut self.spoilt) {
            let name = self.name(index);
            run(&["ip", "netns", "exec", &name, "tc", "qdisc", "del", "dev", "eth0", "root"])?;
        }
        Ok(())
    }
}
