//! Whether a value speaks of processes that there are, in numbers that one can count with.
//!
//! What comes over a network is written by nobody knows whom. Handlers may rely on this: every [`Address`] in
//! a message is a place in the system, every [`Id`] is somebody's, and no number is so large that counting on
//! from it leaves its range. The check reads any message through `serde`, so that no algorithm has to do
//! anything for it, and none can forget it.
//!
//! [`Address`]: habemus::Address
//! [`Id`]: habemus::Id

use std::fmt;

use habemus::Id;
use serde::ser::{self, Serialize, Serializer};

/// No count, term or time in a message is larger: one can count on from it for ever.
pub const LARGEST_LONG: u64 = 1 << 62;

/// No short count in a message is larger.
pub const LARGEST_SHORT: u32 = 1 << 30;

/// The value speaks of somebody who is not there, or of a number out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange;

/// Whether every address, identifier and number in `value` is in the range of a system with these
/// identifiers.
pub(crate) fn is_in_range<T: Serialize>(value: &T, ids: &[Id]) -> bool {
    value.serialize(Census { ids, of: Kind::Number }).is_ok()
}

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Address,
    Id,
}

/// Reads a value, and writes nothing.
#[derive(Clone, Copy)]
struct Census<'a> {
    ids: &'a [Id],
    of: Kind,
}

impl Census<'_> {
    fn check(self, number: u64, largest: u64) -> Result<(), OutOfRange> {
        let fine = match self.of {
            Kind::Number => number <= largest,
            Kind::Address => number < self.ids.len() as u64,
            Kind::Id => self.ids.contains(&Id(number)),
        };
        if fine { Ok(()) } else { Err(OutOfRange) }
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an address, an identifier or a number out of range")
    }
}

impl std::error::Error for OutOfRange {}

impl ser::Error for OutOfRange {
    fn custom<T: fmt::Display>(_: T) -> Self {
        OutOfRange
    }
}

/// Methods that take a value in which there is nothing to check.
macro_rules! harmless {
    ($($method:ident($type:ty),)+) => {
        $(fn $method(self, _: $type) -> Result<(), OutOfRange> {
            Ok(())
        })+
    };
}

impl Serializer for Census<'_> {
    type Ok = ();
    type Error = OutOfRange;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    harmless! {
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_u8(u8),
        serialize_f32(f32),
        serialize_f64(f64),
        serialize_char(char),
        serialize_str(&str),
        serialize_bytes(&[u8]),
    }

    fn serialize_i16(self, number: i16) -> Result<(), OutOfRange> {
        self.check(u64::from(number.unsigned_abs()), LARGEST_SHORT.into())
    }

    fn serialize_i32(self, number: i32) -> Result<(), OutOfRange> {
        self.check(u64::from(number.unsigned_abs()), LARGEST_SHORT.into())
    }

    fn serialize_i64(self, number: i64) -> Result<(), OutOfRange> {
        self.check(number.unsigned_abs(), LARGEST_LONG)
    }

    fn serialize_u16(self, number: u16) -> Result<(), OutOfRange> {
        self.check(number.into(), LARGEST_SHORT.into())
    }

    fn serialize_u32(self, number: u32) -> Result<(), OutOfRange> {
        self.check(number.into(), LARGEST_SHORT.into())
    }

    fn serialize_u64(self, number: u64) -> Result<(), OutOfRange> {
        self.check(number, LARGEST_LONG)
    }

    fn serialize_none(self) -> Result<(), OutOfRange> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), OutOfRange> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), OutOfRange> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), OutOfRange> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), OutOfRange> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), OutOfRange> {
        let of = match name {
            "Address" => Kind::Address,
            "Id" => Kind::Id,
            _ => self.of,
        };
        value.serialize(Census { of, ..self })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), OutOfRange> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, OutOfRange> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, OutOfRange> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, OutOfRange> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, OutOfRange> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, OutOfRange> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, OutOfRange> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, OutOfRange> {
        Ok(self)
    }
}

/// The parts of a value are read one after the other.
macro_rules! parts {
    ($($trait:ident::$method:ident($($name:ty)?),)+) => {
        $(impl ser::$trait for Census<'_> {
            type Ok = ();
            type Error = OutOfRange;

            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Result<(), OutOfRange> {
                value.serialize(*self)
            }

            fn end(self) -> Result<(), OutOfRange> {
                Ok(())
            }
        })+
    };
}

parts! {
    SerializeSeq::serialize_element(),
    SerializeTuple::serialize_element(),
    SerializeTupleStruct::serialize_field(),
    SerializeTupleVariant::serialize_field(),
    SerializeStruct::serialize_field(&'static str),
    SerializeStructVariant::serialize_field(&'static str),
}

impl ser::SerializeMap for Census<'_> {
    type Ok = ();
    type Error = OutOfRange;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), OutOfRange> {
        key.serialize(*self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), OutOfRange> {
        value.serialize(*self)
    }

    fn end(self) -> Result<(), OutOfRange> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use habemus::Address;

    use super::*;

    #[derive(serde::Serialize)]
    enum Message {
        Small,
        One(Address),
        Other(Id),
        Both { set: BTreeSet<Address>, table: BTreeMap<Id, Option<u64>> },
        Pair(u32, (Id, u64)),
    }

    fn both(address: u32, id: u64, count: u64) -> Message {
        let (set, table) = (BTreeSet::from([Address(address)]), BTreeMap::from([(Id(id), Some(count))]));
        Message::Both { set, table }
    }

    #[test]
    fn whoever_is_named_must_be_there_and_numbers_must_leave_room_to_count() {
        let ids = [Id(10), Id(u64::MAX), Id(30)];
        let fine = [
            Message::Small,
            Message::One(Address(2)),
            Message::Other(Id(u64::MAX)),
            both(0, 10, LARGEST_LONG),
            Message::Pair(LARGEST_SHORT, (Id(30), 7)),
        ];
        assert!(fine.iter().all(|message| is_in_range(message, &ids)));
        let wrong = [
            Message::One(Address(3)),
            Message::Other(Id(11)),
            both(3, 10, 0),
            both(0, 0, 0),
            both(0, 10, LARGEST_LONG + 1),
            Message::Pair(LARGEST_SHORT + 1, (Id(30), 7)),
            Message::Pair(0, (Id(31), 7)),
            Message::Pair(0, (Id(30), u64::MAX)),
        ];
        assert!(!wrong.iter().any(|message| is_in_range(message, &ids)));
    }
}
