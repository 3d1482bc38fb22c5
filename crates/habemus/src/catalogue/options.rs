//! Parameters as people write them: names and texts, checked against what an algorithm takes.

use std::fmt;
use std::time::Duration;

use super::{Entry, Request, SetupError};
use crate::detector::{eventually_perfect, heartbeat, phi_accrual};
use crate::{Address, Id, units};

/// A parameter of an algorithm or detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    /// Its name; one that ends in `*` stands for all that begin like it.
    pub name: &'static str,
    /// What it can be.
    pub values: Values,
    /// What it is if not given.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
}

impl OptionSpec {
    /// Whether this is the parameter that `name` means.
    pub fn is_called(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.name,
        }
    }
}

/// What an option can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// What values look like: "higher | all", "duration".
    Text(&'static str),
    /// The variants of an algorithm.
    Variants(&'static [VariantSpec]),
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::Text(text) => f.write_str(text),
            Values::Variants(variants) => {
                let words: Vec<&str> = variants.iter().map(|variant| variant.name).collect();
                f.write_str(&words.join(" | "))
            }
        }
    }
}

/// A variant of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariantSpec {
    /// The value of the option `variant` that chooses it.
    pub name: &'static str,
    /// Why there is such a variant.
    pub kind: VariantKind,
}

/// Why there is a variant of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariantKind {
    /// The rules, or another way to follow them.
    Rules,
    /// What the notes print, by the letter, where more is needed.
    AsPrinted,
    /// A rule is left out or turned round on purpose: the checks must catch it.
    Mutant,
}

/// A variant that follows the rules.
pub(super) const fn rules(name: &'static str) -> VariantSpec {
    VariantSpec { name, kind: VariantKind::Rules }
}

/// A variant by the letter of the notes.
pub(super) const fn as_printed(name: &'static str) -> VariantSpec {
    VariantSpec { name, kind: VariantKind::AsPrinted }
}

/// A variant that is wrong on purpose.
pub(super) const fn mutant(name: &'static str) -> VariantSpec {
    VariantSpec { name, kind: VariantKind::Mutant }
}

/// The options of a detector.
pub(super) fn of_detector(name: &str) -> &'static [OptionSpec] {
    match name {
        "oracle" => ORACLE,
        "heartbeat" => HEARTBEAT,
        "eventually-perfect" => EVENTUALLY_PERFECT,
        "phi-accrual" => PHI_ACCRUAL,
        _ => &[],
    }
}

const ORACLE: &[OptionSpec] = &[OptionSpec {
    name: "detection-delay",
    values: Values::Text("duration"),
    default: "20ms",
    help: "how long after a crash or recovery the oracle speaks",
}];

/// All detectors that beat share it.
const HEARTBEAT_INTERVAL: OptionSpec = OptionSpec {
    name: "heartbeat-interval",
    values: Values::Text("duration"),
    default: "100ms",
    help: "how often a process says that it is alive",
};

const HEARTBEAT: &[OptionSpec] = &[
    HEARTBEAT_INTERVAL,
    OptionSpec {
        name: "heartbeat-timeout",
        values: Values::Text("duration"),
        default: "350ms",
        help: "how long to wait for a heartbeat before suspecting",
    },
];

const EVENTUALLY_PERFECT: &[OptionSpec] = &[
    HEARTBEAT_INTERVAL,
    OptionSpec {
        name: "initial-timeout",
        values: Values::Text("duration"),
        default: "150ms",
        help: "how long the eventually perfect detector waits for a heartbeat at first",
    },
    OptionSpec {
        name: "timeout-increment",
        values: Values::Text("duration"),
        default: "50ms",
        help: "how much longer it waits after each false suspicion",
    },
];

const PHI_ACCRUAL: &[OptionSpec] = &[
    HEARTBEAT_INTERVAL,
    OptionSpec {
        name: "phi-threshold",
        values: Values::Text("number from 1 to 100"),
        default: "8",
        help: "the φ at which to suspect: 8 is one chance in 10⁸ of a mistake",
    },
    OptionSpec {
        name: "phi-window",
        values: Values::Text("number from 2 to 10000"),
        default: "100",
        help: "how many intervals between heartbeats are remembered of each neighbour",
    },
    OptionSpec {
        name: "phi-min-deviation",
        values: Values::Text("duration"),
        default: "5ms",
        help: "the standard deviation to assume at least",
    },
];

/// The options given, known to exist.
pub struct Options<'a> {
    request: &'a Request<'a>,
}

impl<'a> Options<'a> {
    /// Checks that the algorithm, or a detector it can stand on, has every option that is given.
    ///
    /// # Errors
    /// The first option that does not exist.
    pub fn new(entry: &Entry, request: &'a Request<'a>) -> Result<Self, SetupError> {
        Self::checked(request, &entry.all_options().collect::<Vec<_>>())
    }

    /// Checks that some detector has every option that is given.
    ///
    /// # Errors
    /// The first option that does not exist.
    pub(super) fn of_detectors(detectors: &[&str], request: &'a Request<'a>) -> Result<Self, SetupError> {
        let known: Vec<_> = detectors.iter().flat_map(|detector| of_detector(detector)).collect();
        Self::checked(request, &known)
    }

    fn checked(request: &'a Request<'a>, known: &[&OptionSpec]) -> Result<Self, SetupError> {
        let is_known = |name: &String| known.iter().any(|option| option.is_called(name));
        match request.options.keys().find(|name| !is_known(name)) {
            Some(name) => {
                Err(SetupError::Unknown { what: "option", name: name.clone(), known: names(known) })
            }
            None => Ok(Options { request }),
        }
    }

    fn text(&self, option: &'static str) -> Option<&'a str> {
        self.request.options.get(option).map(String::as_str)
    }

    /// Whether an option is given as this word.
    pub(super) fn is(&self, option: &'static str, word: &str) -> bool {
        self.text(option).is_some_and(|text| text.trim() == word)
    }

    fn parsed<T>(
        &self,
        option: &'static str,
        expected: impl Fn() -> String,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, SetupError> {
        self.tried(option, |value| parse(value).ok_or_else(|| format!("expected {}", expected())))
    }

    fn tried<T>(
        &self,
        option: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, SetupError> {
        let Some(value) = self.text(option) else { return Ok(None) };
        let refused = |reason| SetupError::Value { option, value: value.to_owned(), reason };
        parse(value.trim()).map(Some).map_err(refused)
    }

    /// One of some words.
    pub(super) fn choice<T: Copy>(
        &self,
        option: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, SetupError> {
        let words = || choices.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" or ");
        self.parsed(option, words, |value| {
            choices.iter().find(|(word, _)| *word == value).map(|(_, choice)| *choice)
        })
    }

    /// Yes or no.
    pub(super) fn flag(&self, option: &'static str) -> Result<Option<bool>, SetupError> {
        self.choice(option, &[("true", true), ("false", false)])
    }

    /// A duration.
    pub(super) fn duration(&self, option: &'static str) -> Result<Option<Duration>, SetupError> {
        self.tried(option, duration)
    }

    /// A duration that may also be absent: "none".
    pub(super) fn duration_or_none(
        &self,
        option: &'static str,
    ) -> Result<Option<Option<Duration>>, SetupError> {
        self.tried(option, |value| match value {
            "none" => Ok(None),
            value => duration(value).map(Some).map_err(|why| format!("{why}; or none")),
        })
    }

    /// The identifier of one of the processes.
    pub(super) fn process(&self, option: &'static str) -> Result<Option<(Id, Address)>, SetupError> {
        let ids = &self.request.ids;
        let expected = || "the identifier of one of the processes".to_owned();
        self.parsed(option, expected, |value| {
            let id = Id(value.parse().ok()?);
            let index = ids.iter().position(|other| *other == id)?;
            Some((id, Address(index as u32)))
        })
    }

    /// A whole number within bounds.
    pub(super) fn number(
        &self,
        option: &'static str,
        bounds: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, SetupError> {
        let expected = || format!("a number from {} to {}", bounds.start(), bounds.end());
        self.parsed(option, expected, |value| value.parse().ok().filter(|number| bounds.contains(number)))
    }

    /// One number for each process, in the order of the identifiers.
    pub(super) fn number_each(&self, option: &'static str) -> Result<Option<Vec<u64>>, SetupError> {
        self.each(option, "numbers", |word| word.parse().ok())
    }

    /// One thing for each process, in the order of the identifiers; `things` says what they are.
    pub(super) fn each<T>(
        &self,
        option: &'static str,
        things: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<Vec<T>>, SetupError> {
        let count = self.request.ids.len();
        let expected = || format!("{count} {things} separated by commas, one for each process");
        self.parsed(option, expected, |value| {
            let each: Option<Vec<T>> = value.split(',').map(|word| parse(word.trim())).collect();
            each.filter(|each| each.len() == count)
        })
    }

    /// Some of the processes, by their identifiers; or what `otherwise` makes of another text.
    pub(super) fn processes_or(
        &self,
        option: &'static str,
        words: &str,
        otherwise: impl Fn(&str) -> Option<Vec<Address>>,
    ) -> Result<Option<Vec<Address>>, SetupError> {
        let expected = || format!("identifiers of processes separated by commas, or {words}");
        self.parsed(option, expected, |value| {
            otherwise(value).or_else(|| {
                let address = |word: &str| {
                    let id = Id(word.trim().parse().ok()?);
                    let address = self.request.ids.iter().position(|other| *other == id)?;
                    Some(Address(address as u32))
                };
                value.split(',').map(address).collect()
            })
        })
    }

    /// The delay of the oracle detector.
    pub(super) fn detection_delay(&self) -> Result<Duration, SetupError> {
        Ok(self.duration("detection-delay")?.unwrap_or(Duration::from_millis(20)))
    }

    /// A duration above zero.
    pub(super) fn positive(&self, option: &'static str) -> Result<Option<Duration>, SetupError> {
        self.tried(option, |value| match duration(value)? {
            Duration::ZERO => Err("expected a duration above zero, such as `50ms`".to_owned()),
            duration => Ok(duration),
        })
    }

    /// The constants of the heartbeat detector.
    pub(super) fn heartbeat(&self) -> Result<heartbeat::Config, SetupError> {
        let default = heartbeat::Config::default();
        Ok(heartbeat::Config {
            interval: self.positive("heartbeat-interval")?.unwrap_or(default.interval),
            timeout: self.positive("heartbeat-timeout")?.unwrap_or(default.timeout),
        })
    }

    /// The constants of the eventually perfect detector.
    pub(super) fn eventually_perfect(&self) -> Result<eventually_perfect::Config, SetupError> {
        let default = eventually_perfect::Config::default();
        Ok(eventually_perfect::Config {
            interval: self.positive("heartbeat-interval")?.unwrap_or(default.interval),
            initial_timeout: self.positive("initial-timeout")?.unwrap_or(default.initial_timeout),
            increment: self.duration("timeout-increment")?.unwrap_or(default.increment),
        })
    }

    /// The constants of the φ-accrual detector.
    pub(super) fn phi_accrual(&self) -> Result<phi_accrual::Config, SetupError> {
        let interval = self.positive("heartbeat-interval")?.unwrap_or(Duration::from_millis(100));
        let threshold = self.number("phi-threshold", 1..=100)?.unwrap_or(8) as u32;
        let window = self.number("phi-window", 2..=10_000)?.unwrap_or(100) as usize;
        let min_deviation = self.duration("phi-min-deviation")?.unwrap_or(Duration::from_millis(5));
        Ok(phi_accrual::Config::new(interval, threshold, window, min_deviation))
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    units::parse_duration(text).map_err(|error| error.to_string())
}

/// The names of options, each once: detectors share some.
fn names(options: &[&OptionSpec]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for option in options {
        if !names.iter().any(|name| name == option.name) {
            names.push(option.name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::catalogue::{ENTRIES, build};
    use crate::signatures::{self, Scheme};

    fn read(text: &str) -> [Result<Option<Duration>, SetupError>; 3] {
        let given = BTreeMap::from([("delay".to_owned(), text.to_owned())]);
        let request = Request {
            algorithm: "bully",
            ids: Vec::new(),
            shape: None,
            detector: None,
            options: &given,
            pulse: crate::DEFAULT_PULSE,
            seed: 0,
            signatures: None,
        };
        let options = Options { request: &request };
        let or_none = options.duration_or_none("delay").map(Option::flatten);
        [options.duration("delay"), options.positive("delay"), or_none]
    }

    /// The catalogue says of each variant what it is, and the usual one first; its builders know the same
    /// ones.
    #[test]
    fn every_variant_that_is_listed_can_be_built() {
        for entry in ENTRIES {
            let option = entry.options.iter().find(|option| option.name == "variant");
            assert_eq!(entry.variants().first().map(|usual| usual.name), option.map(|option| option.default));
            for variant in entry.variants() {
                let is_mutant = variant.kind == VariantKind::Mutant;
                assert_eq!(variant.name.starts_with("mutant-"), is_mutant, "{} {}", entry.name, variant.name);
                let given = BTreeMap::from([("variant".to_owned(), variant.name.to_owned())]);
                let request = Request {
                    algorithm: entry.name,
                    ids: (1..=4).map(Id).collect(),
                    shape: None,
                    detector: None,
                    options: &given,
                    pulse: crate::DEFAULT_PULSE,
                    seed: 0,
                    signatures: Some(Scheme::Made(signatures::unsigned)),
                };
                if let Err(why) = build(&request) {
                    panic!("{} {}: {why}", entry.name, variant.name);
                }
            }
        }
    }

    #[test]
    fn durations_are_those_of_scenarios_and_flags() {
        for text in ["1.5s", "20ms", "3 us", "3µs", "2min", "1h", "1_000ms"] {
            let duration = units::parse_duration(text).expect("a duration");
            assert!(read(text).iter().all(|read| *read == Ok(Some(duration))), "{text}");
        }
        for bad in ["", "20", "ms", "1.2.3s", "-1s", "9999999999999999999s", "1 fortnight"] {
            let why = units::parse_duration(bad).expect_err("no duration").to_string();
            for refused in read(bad) {
                let reason = refused.expect_err(bad).to_string();
                assert!(reason.contains(&why), "{bad}: {reason}");
            }
        }
        let [zero, positive, _] = read("0ms");
        assert_eq!(zero, Ok(Some(Duration::ZERO)));
        assert!(positive.is_err());
    }
}
