//! What is written is found again, and what is damaged is refused.

use std::time::Duration;

use habemus_journal::{Disk, Files, Journal, JournalError};
use habemus_replica::{MemberId, Recovered, Replica, Settings, StoredState, Write};

use crate::support::*;
use habemus_dst::CruelDisk;

#[test]
fn what_was_written_is_found_again() {
    let disk = CruelDisk::new(0);
    let mut journal = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works");
    let mut known = first();
    for index in 0..100 {
        let write = write(2 + 3 * index, 3, 2);
        journal.write(std::slice::from_ref(&write)).expect("the disk works");
        apply(&mut known, &write);
    }
    assert!(journal.segments() > 5, "several segments were needed");
    let (_, found) = Journal::open(disk, SMALL).expect("nothing is damaged");
    assert_eq!(found, known);
}

#[test]
fn several_writes_are_one_and_later_entries_replace_earlier_ones() {
    let disk = CruelDisk::new(0);
    let mut journal = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works");
    let writes = [write(2, 5, 2), write(4, 2, 3)];
    journal.write(&writes).expect("the disk works");
    let mut known = first();
    writes.iter().for_each(|write| apply(&mut known, write));
    assert_eq!(known.entries.len(), 4);
    let (_, found) = Journal::open(disk, SMALL).expect("nothing is damaged");
    assert_eq!(found, known);
}

#[test]
fn what_is_longer_than_a_segment_is_written_in_parts_of_which_any_makes_sense() {
    let writes = [write(2, 10, 2), Write { state: write(5, 1, 3).state, ..write(5, 200, 3) }];
    let mut known = first();
    writes.iter().for_each(|write| apply(&mut known, write));
    for operations in 0.. {
        let disk = CruelDisk::new(operations as u64);
        let mut journal = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works");
        disk.fail_after(operations);
        let written = journal.write(&writes).is_ok();
        disk.restart();
        let (_, found) = Journal::open(disk, SMALL).expect("nothing is damaged");
        let settings = Settings::new(MemberId(1), 0);
        if written {
            assert!(operations > 10, "several parts were needed");
            assert_eq!(found, known);
            return;
        }
        Replica::start(settings, &found, Duration::ZERO).expect("what is there makes sense");
    }
}

#[test]
fn a_snapshot_that_was_received_begins_the_log_anew() {
    let disk = CruelDisk::new(0);
    let mut journal = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works");
    journal.write(&[write(2, 20, 2)]).expect("the disk works");
    let received = Write { snapshot: Some(snapshot(10, 3)), ..write(11, 2, 3) };
    let mut known = first();
    apply(&mut known, &received);
    journal.write(&[received]).expect("the disk works");
    let (journal, found) = Journal::open(disk, SMALL).expect("nothing is damaged");
    assert_eq!(found, known, "entries 13 to 21 are gone");
    assert_eq!(journal.segments(), 1);
}

#[test]
fn a_snapshot_of_ones_own_makes_room_and_keeps_what_came_after() {
    let disk = CruelDisk::new(0);
    let mut journal = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works");
    let mut known = first();
    for index in 0..60 {
        let write = write(2 + 3 * index, 3, 2);
        journal.write(std::slice::from_ref(&write)).expect("the disk works");
        apply(&mut known, &write);
    }
    let before = journal.segments();
    let own = snapshot(170, 2);
    journal.compact(&own).expect("the disk works");
    compact(&mut known, &own);
    assert!(journal.segments() < before);
    let (_, found) = Journal::open(disk, SMALL).expect("nothing is damaged");
    assert_eq!(found, known);
    assert_eq!(found.entries.first().map(|entry| entry.index), Some(171));
}

#[test]
fn of_two_snapshots_the_later_one_counts_whichever_comes_last() {
    let disk = CruelDisk::new(0);
    let mut journal = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works");
    let mut known = first();
    for index in 0..20 {
        let write = write(2 + 3 * index, 3, 2);
        journal.write(std::slice::from_ref(&write)).expect("the disk works");
        apply(&mut known, &write);
    }
    let later = snapshot(40, 2);
    for own in [&later, &snapshot(20, 2)] {
        journal.compact(own).expect("the disk works");
    }
    compact(&mut known, &later);
    let (_, found) = Journal::open(disk, SMALL).expect("nothing is damaged");
    assert_eq!(found, known);
}

#[test]
fn what_need_not_be_durable_comes_with_the_next_that_must() {
    let disk = CruelDisk::new(0);
    let mut journal = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works");
    let commit = StoredState { term: 1, vote: 0, commit: 9 };
    journal.write(&[Write { state: Some(commit), ..Write::default() }]).expect("the disk works");
    let (_, found) = Journal::open(disk.clone(), SMALL).expect("nothing is damaged");
    assert_eq!(found.state, first().state);
    journal.write(&[Write { state: None, ..write(2, 1, 1) }]).expect("the disk works");
    let (_, found) = Journal::open(disk, SMALL).expect("nothing is damaged");
    assert_eq!(found.state, commit);
}

/// A journal of a few batches in one segment, and where each of them begins.
fn short() -> CruelDisk {
    let disk = CruelDisk::new(0);
    let mut journal = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works");
    for index in 0..5 {
        journal.write(&[write(2 + index, 1, 2)]).expect("the disk works");
    }
    disk
}

const SEGMENT: &str = "0000000000000001.log";

#[test]
fn damage_before_the_last_batch_is_refused_wherever_it_is() {
    let whole = short().read(SEGMENT).expect("there is a segment");
    let last = whole.windows(4).rposition(|window| window == b"hbms").expect("there are batches");
    for offset in 0..last {
        // Between two batches nothing is said that could be damaged.
        let disk = short();
        disk.damage(SEGMENT, offset);
        match Journal::open(disk, SMALL) {
            Err(JournalError::Damaged { file, .. }) => assert_eq!(file, SEGMENT),
            Err(other) => panic!("byte {offset}: {other}"),
            Ok((_, found)) => assert_eq!(found.entries.len(), 5, "byte {offset} was lost in silence"),
        }
    }
}

#[test]
fn what_mends_a_torn_end_does_not_pass_for_what_was_lost() {
    let disk = CruelDisk::new(0);
    let confirmed = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works").extent();
    disk.damage(SEGMENT, 0);
    let (journal, _) = Journal::open(disk, SMALL).expect("it looks as if a crash had torn it");
    assert!(journal.extent() >= confirmed, "{:?} is written, {confirmed:?} was", journal.extent());
    assert!(journal.found() < confirmed, "{:?} was found of {confirmed:?}", journal.found());
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let length = short().read("snapshot").expect("there is one").len();
    for offset in 0..length {
        let disk = short();
        disk.damage("snapshot", offset);
        let refused = Journal::open(disk, SMALL).err();
        assert!(matches!(refused, Some(JournalError::Damaged { .. })), "byte {offset}: {refused:?}");
    }
}

#[test]
fn a_missing_segment_is_missed() {
    let disk = CruelDisk::new(0);
    let mut journal = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works");
    for index in 0..60 {
        journal.write(&[write(2 + 3 * index, 3, 2)]).expect("the disk works");
    }
    for missing in [SEGMENT, "0000000000000002.log"] {
        let content = disk.read(missing).expect("there is one");
        disk.forget(missing);
        let refused = Journal::open(disk.clone(), SMALL).err();
        assert!(matches!(&refused, Some(JournalError::Missing { file }) if file == missing), "{refused:?}");
        let mut disk = disk.clone();
        disk.create(missing, content.len() as u64).expect("the disk works");
        disk.write(missing, 0, &content).expect("the disk works");
        disk.sync(missing).expect("the disk works");
    }
}

#[test]
fn after_a_failure_nothing_is_confirmed_any_more() {
    let disk = short();
    let (mut journal, _) = Journal::open(disk.clone(), SMALL).expect("nothing is damaged");
    disk.fail_after(0);
    journal.write(&[write(7, 1, 2)]).expect_err("the disk fails");
    disk.fail_after(100);
    assert!(matches!(journal.write(&[write(7, 1, 2)]), Err(JournalError::Failed)));
}

#[test]
fn a_real_directory_keeps_what_was_written() {
    let directory = std::env::temp_dir().join(format!("habemus-journal-{}", std::process::id()));
    let files = || Files::new(&directory).expect("a directory can be made");
    assert!(!Journal::exists(&files()).expect("the disk works"));
    let mut journal = Journal::create(files(), SMALL, &first()).expect("the disk works");
    let mut known = first();
    for index in 0..40 {
        let write = write(2 + 3 * index, 3, 2);
        journal.write(std::slice::from_ref(&write)).expect("the disk works");
        apply(&mut known, &write);
    }
    let own = snapshot(100, 2);
    journal.compact(&own).expect("the disk works");
    compact(&mut known, &own);
    drop(journal);
    assert!(Journal::exists(&files()).expect("the disk works"));
    let (_, found): (_, Recovered) = Journal::open(files(), SMALL).expect("nothing is damaged");
    std::fs::remove_dir_all(&directory).expect("it is ours");
    assert_eq!(found, known);
}
