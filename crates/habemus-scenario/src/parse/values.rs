//! Reads single values.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use habemus::units::shortened;
use toml::de::{DeInteger, DeValue};

use super::reader::{Reader, Value};
use crate::processes::Processes;
use crate::scenario::{Count, Latency, Until};
use crate::script;
use crate::units::{self, UnitError};

impl Reader<'_> {
    /// Any text.
    pub(super) fn string(&mut self, value: &Value<'_>) -> Option<String> {
        self.text(value, "a string", |reader, value| {
            let text = shortened(reader.text_at(value.span()));
            Some(format!("\"{text}\""))
        })
        .map(str::to_owned)
    }

    /// The name of something: text that is not empty.
    pub(super) fn name(&mut self, value: &Value<'_>) -> Option<String> {
        let name = self.string(value)?;
        if name.trim().is_empty() {
            self.expected("a name", value);
            return None;
        }
        Some(name)
    }

    /// `true` or `false`.
    pub(super) fn boolean(&mut self, value: &Value<'_>) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(boolean) => Some(*boolean),
            DeValue::String(text) if matches!(text.as_ref(), "true" | "false") => {
                self.expected_instead("`true` or `false`", value, text);
                None
            }
            _ => {
                self.expected("`true` or `false`", value);
                None
            }
        }
    }

    /// A number from 0 on.
    pub(super) fn whole_number(&mut self, value: &Value<'_>) -> Option<u64> {
        self.number_within(value, 0..=u64::MAX, "an integer from 0 to 2^64 - 1, such as 7")
    }

    /// A number from 1 on.
    pub(super) fn positive_number(&mut self, value: &Value<'_>) -> Option<u64> {
        self.number_within(value, 1..=u64::MAX, "an integer of at least 1")
    }

    /// A number within bounds; `what` names it.
    pub(super) fn number_within(
        &mut self,
        value: &Value<'_>,
        bounds: RangeInclusive<u64>,
        what: &str,
    ) -> Option<u64> {
        match value.get_ref() {
            DeValue::Integer(integer) => {
                let number = unsigned(integer).filter(|number| bounds.contains(number));
                if number.is_none() {
                    self.expected(what, value);
                }
                return number;
            }
            DeValue::String(text) if text.parse().is_ok_and(|number| bounds.contains(&number)) => {
                self.expected_instead(what, value, text);
            }
            _ => self.expected(what, value),
        }
        None
    }

    /// A duration that is not zero.
    pub(super) fn positive_duration(&mut self, value: &Value<'_>) -> Option<Duration> {
        let duration = self.duration(value)?;
        if duration.is_zero() {
            self.expected("a duration of more than zero", value);
            return None;
        }
        Some(duration)
    }

    /// A duration, zero included.
    pub(super) fn duration(&mut self, value: &Value<'_>) -> Option<Duration> {
        self.quantity(value, "a duration such as \"20ms\"", "ms", units::parse_duration)
    }

    /// One duration or a range of them.
    pub(super) fn range(&mut self, value: &Value<'_>) -> Option<(Duration, Duration)> {
        self.quantity(value, "a duration such as \"20ms\" or \"1ms..10ms\"", "ms", units::parse_range)
    }

    /// A range of durations that does not consist of zero alone.
    pub(super) fn positive_range(&mut self, value: &Value<'_>) -> Option<(Duration, Duration)> {
        let range = self.range(value)?;
        if range.1.is_zero() {
            self.expected("a duration of more than zero", value);
            return None;
        }
        Some(range)
    }

    /// How long messages take.
    pub(super) fn latency(&mut self, value: &Value<'_>) -> Option<Latency> {
        self.quantity(value, "a latency such as \"5ms\" or \"1ms..10ms\"", "ms", Latency::from_str)
    }

    /// How often something happens.
    pub(super) fn rate(&mut self, value: &Value<'_>) -> Option<f64> {
        self.quantity(value, "a rate such as \"2/s\"", "/s", units::parse_rate)
    }

    /// A probability, as text or as a number.
    pub(super) fn probability(&mut self, value: &Value<'_>) -> Option<f64> {
        let what = "a probability such as \"1%\" or 0.01";
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(integer) => integer.to_string(),
            DeValue::Float(float) => match float.as_str().parse::<f64>() {
                Ok(number) if (0.0..=1.0).contains(&number) => return Some(number),
                _ => float.to_string(),
            },
            _ => {
                self.expected(what, value);
                return None;
            }
        };
        match units::parse_probability(&text) {
            Ok(probability) => Some(probability),
            Err(error) if value.get_ref().is_str() => self.unit_error(value, &error),
            Err(_) => {
                let percent = format!("{text}%");
                match units::parse_probability(&percent) {
                    Ok(_) => self.expected_instead(what, value, &format!("\"{percent}\"")),
                    Err(_) => self.expected(&format!("{what}, between 0 and 1"), value),
                }
                None
            }
        }
    }

    /// When a run is over.
    pub(super) fn until(&mut self, value: &Value<'_>) -> Option<Until> {
        let what = "\"quiet\", \"agree\", a time such as \"500ms\" or a number such as \"10000 events\"";
        self.quantity(value, what, "ms", Until::from_str)
    }

    /// A number or bounds for one.
    pub(super) fn count(&mut self, value: &Value<'_>) -> Option<Count> {
        let what = "a number or bounds for one, such as 3, \"1..3\", \"<= 3\" or \">= 1\"";
        match value.get_ref() {
            DeValue::String(text) => text.parse().map_or_else(|error| self.unit_error(value, &error), Some),
            _ => self.number_within(value, 0..=u64::MAX, what).map(Count::exactly),
        }
    }

    /// A process that exists.
    pub(super) fn process(&mut self, value: &Value<'_>, processes: &Processes<'_>) -> Option<u64> {
        let id = self.number_within(value, 0..=u64::MAX, "a process such as 3")?;
        if !processes.contains(id) {
            self.error(value.span(), processes.no_such(id));
            return None;
        }
        Some(id)
    }

    /// Processes: an array of identifiers, or text as in scripts.
    pub(super) fn process_list(&mut self, value: &Value<'_>, processes: &Processes<'_>) -> Option<Vec<u64>> {
        match value.get_ref() {
            DeValue::Array(items) => {
                let list: Vec<Option<u64>> = items.iter().map(|item| self.process(item, processes)).collect();
                list.into_iter().collect()
            }
            DeValue::String(text) => match script::parse_processes(text, processes) {
                Ok(list) => Some(list),
                Err(error) => {
                    self.script_error(value, error);
                    None
                }
            },
            DeValue::Integer(_) => {
                let instead = format!("[{}]", self.text_at(value.span()));
                self.expected_instead("processes such as [1, 2] or \"1..4\"", value, &instead);
                None
            }
            _ => {
                self.expected("processes such as [1, 2] or \"1..4\"", value);
                None
            }
        }
    }

    /// Complains if a process is named twice in an array; in text, the script's reader has done it.
    pub(super) fn no_repetition(&mut self, value: &Value<'_>, list: &[u64]) {
        let DeValue::Array(items) = value.get_ref() else {
            return;
        };
        let mut seen = BTreeMap::new();
        for (item, id) in items.iter().zip(list) {
            if let Some(first) = seen.insert(*id, item.span()) {
                self.conflict(item.span(), format!("process {id} is named twice"), first, "the first time");
            }
        }
    }

    /// A quantity with a unit, as text; numbers without one are told which unit is usual.
    fn quantity<T>(
        &mut self,
        value: &Value<'_>,
        what: &str,
        unit: &str,
        parse: impl Fn(&str) -> Result<T, UnitError>,
    ) -> Option<T> {
        let text = self.text(value, what, |_, value| match value.get_ref() {
            DeValue::Integer(integer) => unsigned(integer).map(|number| format!("\"{number}{unit}\"")),
            DeValue::Float(float) => {
                parse(&format!("{float}{unit}")).ok().map(|_| format!("\"{float}{unit}\""))
            }
            _ => None,
        })?;
        parse(text).map_or_else(|error| self.unit_error(value, &error), Some)
    }

    /// The contents of a string; for other values an error, with what to write instead.
    fn text<'v>(
        &mut self,
        value: &'v Value<'_>,
        what: &str,
        instead: impl FnOnce(&Self, &Value<'_>) -> Option<String>,
    ) -> Option<&'v str> {
        if let DeValue::String(text) = value.get_ref() {
            return Some(text);
        }
        let is_scalar = !value.get_ref().is_array() && !value.get_ref().is_table();
        match instead(self, value).filter(|_| is_scalar) {
            Some(instead) => self.expected_instead(what, value, &instead),
            None => self.expected(what, value),
        }
        None
    }

    fn unit_error<T>(&mut self, value: &Value<'_>, error: &UnitError) -> Option<T> {
        self.error(value.span(), error.to_string());
        None
    }
}

/// An integer of a file, if it is not negative and the machine has it.
pub(super) fn unsigned(integer: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}
