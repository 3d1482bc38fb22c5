//! Nothing but kill -9, thousands of times.

use std::time::{Duration, Instant};

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use crate::Outcome;
use crate::cluster::Cluster;
use crate::interrupt::Interrupt;
use crate::record::{Fault, Record};

/// So often it says how far it is.
const NEWS: Duration = Duration::from_secs(30);

/// Kills members at random, and starts them again at once.
pub(crate) async fn kill(
    cluster: &mut Cluster,
    record: &Record,
    kills: u64,
    random: &mut Pcg32,
    interrupt: &Interrupt,
) -> Outcome<()> {
    let begin = Instant::now();
    let (mut shown, mut longest) = (begin, Duration::ZERO);
    for number in 1..=kills {
        if interrupt.is_heard() {
            break;
        }
        let index = random.next_u32() as usize % cluster.members.len();
        let from = record.now();
        cluster.kill(index).await?;
        cluster.launch(index)?;
        // Many are killed while they start, also the majority of them at once; some while they work.
        let wait = u64::from(random.next_u32() % 100);
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let fault = Fault { what: format!("kill -9 of m{index}"), kind: "kill -9", from, until: from };
        record.note(|parts| parts.faults.push(fault));
        // Now and then all are back before the next one goes: else nothing would be written that could be
        // lost.
        if number.is_multiple_of(4) {
            let asked = Instant::now();
            cluster.recover().await?;
            longest = longest.max(asked.elapsed());
        }
        if shown.elapsed() > NEWS || number == kills {
            let rate = number as f64 / begin.elapsed().as_secs_f64() * 60.0;
            let calls = record.note(|parts| parts.calls.len());
            let longest = std::mem::take(&mut longest).as_millis();
            eprintln!(
                "{number} of {kills} kills, {rate:.0} a minute, {calls} calls about keys; \
                 all members worked again within {longest} ms"
            );
            shown = Instant::now();
        }
    }
    Ok(())
}
