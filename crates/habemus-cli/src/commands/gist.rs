//! Each algorithm in so few words that it fits into a line of `habemus list`.

const GISTS: &[(&str, &str)] = &[
    ("all-to-all", "everybody tells everybody, and all pick the best"),
    ("bully", "the best live process takes over"),
    ("stable", "a live leader stays, even if a better one comes"),
    ("collecting-ring", "a list goes round a ring; the best on it leads"),
    ("chang-roberts", "identifiers go round a ring; the best comes home"),
    ("franklin", "neighbours on a two-way ring compare, in rounds"),
    ("hirschberg-sinclair", "probe 1, 2, 4 … neighbours on each side of a ring"),
    ("dolev-klawe-rodeh", "values move on a one-way ring; the weaker ones go"),
    ("anonymous-ring", "without identifiers: two that start both win"),
    ("itai-rodeh", "without identifiers: draw lots until one is best"),
    ("yo-yo", "any graph: identifiers fall, and votes rise"),
    ("capture-sync", "capture 1, 2, 4 … neighbours a pulse"),
    ("capture-async", "capture neighbours one by one"),
    ("omega", "trust whoever has crashed least often"),
    ("majority", "more than half of the votes: one leader per term"),
    ("large-group", "a hash picks candidates, gossip spreads the best"),
    ("coordinator", "one lets the others in, in the order of requests"),
    ("elected-coordinator", "whoever is elected lets the others in"),
    ("token-ring", "a token goes round; whoever has it may enter"),
    ("lamport", "everybody keeps the queue, ordered by timestamps"),
    ("ricart-agrawala", "ask everybody; whoever asked earlier replies later"),
    ("maekawa", "ask about √n that overlap with every other such set"),
    ("quorum", "enter with leave of a majority of coordinators"),
    ("suzuki-kasami", "ask everybody for a token that carries the queue"),
    ("raymond", "requests climb a tree towards the token"),
    ("service", "sessions and a queue in a log that members share"),
    ("flood-set", "tell all that you know for f+1 rounds"),
    ("byzantine-generals", "traitors among generals: m+1 rounds of hearsay"),
    ("signed-generals", "traitors among generals who sign what they pass on"),
    ("interactive-consistency", "all agree on the vector of everybody's values"),
    ("paxos", "a majority promises, then accepts: one decision"),
];

/// An algorithm in few words; where nobody has found them yet, as much of its summary as there is room for.
pub(super) fn gist(name: &str, summary: &str, width: usize) -> String {
    match GISTS.iter().find(|(known, _)| *known == name) {
        Some((_, gist)) => (*gist).to_owned(),
        None => cut(summary, width),
    }
}

/// As much of a sentence as there is room for.
fn cut(sentence: &str, width: usize) -> String {
    if sentence.chars().count() <= width {
        return sentence.to_owned();
    }
    let room: String = sentence.chars().take(width - 1).collect();
    let words = room.rsplit_once(' ').map_or(room.as_str(), |(words, _)| words);
    format!("{}…", words.trim_end_matches([',', ';', ':', ' ', '…']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_a_gist() {
        for entry in habemus::catalogue::ENTRIES {
            assert!(GISTS.iter().any(|(name, _)| *name == entry.name), "{} has none", entry.name);
        }
    }

    #[test]
    fn a_gist_is_of_an_algorithm_that_is_there() {
        for (name, _) in GISTS {
            assert!(habemus::catalogue::entry(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut_between_words() {
        assert_eq!(cut("one two, three", 14), "one two, three");
        assert_eq!(cut("one two, three", 13), "one two…");
    }
}
