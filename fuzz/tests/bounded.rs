//! What honest ones say, changed by chance: whoever hears it survives. HABEMUS_FUZZ says how many changed
//! inputs each target gets, 2,000 if it says nothing.

use habemus_fuzz::{clients, decoder, disks, files, frames, members, settings};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Numbers at which counting goes wrong.
const EDGES: [&[u8]; 6] = [
    &[0xff; 10],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    &[0; 9],
    b"18446744073709551616",
];

struct Chance(Pcg64Mcg);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0.next_u64() as usize % end.max(1)
    }

    /// A range within so many.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let first = self.below(length + 1);
        first..first + self.below((length - first).min(32) + 1)
    }

    fn change(&mut self, input: &mut Vec<u8>, examples: &[Vec<u8>]) {
        let within = self.range(input.len());
        match self.below(7) {
            0 | 1 => {
                let place = self.below(input.len());
                if let Some(byte) = input.get_mut(place) {
                    *byte ^= 1 << (self.0.next_u32() % 8);
                }
            }
            2 => drop(input.drain(within)),
            3 => input.truncate(within.start),
            4 => {
                let edge = EDGES[self.below(EDGES.len())];
                input.splice(within, edge.iter().copied());
            }
            5 => {
                let again = input[within.clone()].to_vec();
                input.splice(within.start..within.start, again);
            }
            _ => {
                let other = &examples[self.below(examples.len())];
                let piece = other[self.range(other.len())].to_vec();
                input.splice(within, piece);
            }
        }
    }
}

fn attack(attack: fn(&[u8]), examples: &[Vec<u8>]) {
    let count = std::env::var("HABEMUS_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    for example in examples {
        attack(example);
    }
    let mut chance = Chance(Pcg64Mcg::seed_from_u64(1));
    for _ in 0..count {
        let mut input = examples[chance.below(examples.len())].clone();
        for _ in 0..=chance.below(6) {
            chance.change(&mut input, examples);
        }
        attack(&input);
    }
}

#[test]
fn a_node_survives_whatever_its_peers_say() {
    attack(decoder::attack, &decoder::examples());
}

#[test]
fn the_service_survives_whatever_its_clients_say() {
    attack(clients::attack, &clients::examples());
}

#[test]
fn a_member_survives_whatever_another_says() {
    attack(members::attack, &members::examples());
}

#[test]
fn the_door_of_the_members_survives_whatever_comes_in_frames() {
    attack(frames::attack, &frames::examples());
}

#[test]
fn whatever_a_member_is_told_at_its_start_is_taken_or_refused() {
    attack(settings::attack, &settings::examples());
}

#[test]
fn a_member_survives_whatever_it_finds_on_its_disk() {
    attack(disks::attack, &disks::examples());
}

#[test]
fn whatever_a_file_says_is_taken_or_refused() {
    attack(files::attack, &files::examples());
}
