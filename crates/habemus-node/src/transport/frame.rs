//! What goes over a connection: a challenge, a greeting and its answer, then frames in one direction and
//! acknowledgements in the other.
//!
//! Every piece is a length of four bytes and so many bytes, but for acknowledgements. Whoever listens speaks
//! first: a number that no greeting before has carried, so that one that was overheard is worth nothing
//! later. Whoever dials greets and then sends; whoever listens answers the greeting and then only says, now
//! and then, how many frames it has. A node that wants to talk to another both ways has two connections with
//! it.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use tokio_util::codec::LengthDelimitedCodec;

pub use crate::record::Disk;

/// The version of what goes over a connection.
pub const PROTOCOL: u8 = 2;

/// No frame is longer.
pub const FRAME_LIMIT: usize = 1 << 20;

/// No greeting is longer: a stranger may not make the node allocate much.
pub const HELLO_LIMIT: usize = 1 << 13;

/// A greeting begins with this, and then the version.
const MAGIC: &[u8; 7] = b"habemus";

/// Pieces with a length in front, of at most `limit` bytes.
pub fn codec(limit: usize) -> LengthDelimitedCodec {
    LengthDelimitedCodec::builder().length_field_length(4).max_frame_length(limit).new_codec()
}

/// The greeting: who dials whom, and what it takes the cluster to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The cluster's name.
    pub cluster: String,
    /// Algorithm, processes, topology, detector and options in words: all nodes must agree on all of it.
    pub system: String,
    /// Who dials.
    pub from: u64,
    /// Who is meant to listen.
    pub to: u64,
    /// A number that tells this life of the dialling node from its former ones.
    pub life: u64,
    /// What the listener's [`Challenge`] said.
    pub nonce: u64,
    /// What it keeps its promises on.
    pub disk: Disk,
}

/// What the listener says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The greeting must repeat it.
    pub nonce: u64,
}

/// How many frames of this life of the dialler the listener has: eight bytes without a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement(pub u64);

/// What the listener says to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Come in.
    Welcome {
        /// Tells this life of the listening node from its former ones.
        life: u64,
        /// What it keeps its promises on.
        disk: Disk,
        /// The number of the last frame that it has from this life of the dialler.
        received: u64,
    },
    /// Stay out.
    Refused {
        /// Why, for the people who run the dialling node.
        reason: String,
    },
}

/// A numbered piece of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Grows by one from frame to frame, beginning with 1 between two lives.
    pub number: u64,
    /// What it says.
    pub body: Body,
}

/// What a frame says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// There is a process of this name at my node; start yours if you have not.
    Open {
        /// The name of the process.
        name: String,
    },
    /// I stop in good order: do not wait until you miss me.
    Goodbye,
    /// A message from a process to its namesake.
    Message {
        /// The name of the process; empty for the one without a name.
        name: String,
        /// The number by which traces find it again.
        number: u64,
        /// The sender's vector clock: addresses and counts. Empty if nobody records.
        clock: Vec<(u32, u32)>,
        /// When the receiver is to take it, in nanoseconds since the run began; 0: at once. It makes a
        /// pretended latency as long as it should be, however long the real way was.
        due: u64,
        /// The message itself.
        bytes: Vec<u8>,
    },
    /// What I say from now on may rest on what I have stored: so often by now.
    Stored {
        /// How often.
        writes: u64,
    },
}

/// Why a piece is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// It is no greeting at all.
    #[error("this is not a habemus node")]
    Stranger,
    /// It is a greeting of another version.
    #[error("it speaks version {0} of the protocol, and this node speaks version {PROTOCOL}")]
    Version(u8),
    /// It is something, but not what it claims.
    #[error("a garbled {0}")]
    Garbled(&'static str),
    /// A frame that was not due.
    #[error("frame {found} came where frame {expected} was due")]
    OutOfOrder {
        /// The number of the frame that came.
        found: u64,
        /// The number of the frame that was due.
        expected: u64,
    },
}

impl Challenge {
    /// The bytes of the challenge.
    pub fn encode(self) -> Bytes {
        Bytes::copy_from_slice(&self.nonce.to_be_bytes())
    }

    /// Reads a challenge.
    ///
    /// # Errors
    /// If it is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let nonce = bytes.try_into().map_err(|_| FrameError::Garbled("challenge"))?;
        Ok(Challenge { nonce: u64::from_be_bytes(nonce) })
    }
}

impl Acknowledgement {
    /// Its bytes.
    pub fn encode(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    /// Takes the first one off what has come so far, if it is there as a whole.
    pub fn take(bytes: &mut BytesMut) -> Option<Self> {
        (bytes.len() >= 8).then(|| Acknowledgement(bytes.get_u64()))
    }
}

impl Hello {
    /// The bytes of the greeting.
    pub fn encode(&self) -> Bytes {
        let mut bytes = MAGIC.to_vec();
        bytes.push(PROTOCOL);
        postcard::to_extend(self, bytes).expect("a plain value can always be serialised").into()
    }

    /// Reads a greeting.
    ///
    /// # Errors
    /// If it is none, or one of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(FrameError::Stranger)?;
        let (version, rest) = rest.split_first().ok_or(FrameError::Stranger)?;
        if *version != PROTOCOL {
            return Err(FrameError::Version(*version));
        }
        whole(rest).ok_or(FrameError::Garbled("greeting"))
    }
}

impl Answer {
    /// The bytes of the answer.
    pub fn encode(&self) -> Bytes {
        encoded(self)
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// If it is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        whole(bytes).ok_or(FrameError::Garbled("answer"))
    }
}

impl Frame {
    /// The bytes of the frame, with the length in front.
    pub fn encode_with_length(&self) -> Bytes {
        let mut framed = BytesMut::new();
        Frame::write(self.number, &self.body.encode(), &mut framed);
        framed.freeze()
    }

    /// Appends the frame that has this number and this encoded body, with the length in front.
    pub(super) fn write(number: u64, body: &[u8], framed: &mut BytesMut) {
        let number = encoded(&number);
        framed.put_u32((number.len() + body.len()) as u32);
        framed.extend_from_slice(&number);
        framed.extend_from_slice(body);
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// If it is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        whole(bytes).ok_or(FrameError::Garbled("frame"))
    }
}

impl Body {
    /// About how many bytes of memory it takes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Body::Open { name } => name.len(),
            Body::Goodbye | Body::Stored { .. } => 0,
            Body::Message { name, clock, bytes, .. } => name.len() + 8 * clock.len() + bytes.len(),
        }
    }

    /// The bytes of the body: what follows the number in a frame.
    pub(super) fn encode(&self) -> Bytes {
        encoded(self)
    }
}

fn encoded(value: &impl Serialize) -> Bytes {
    postcard::to_allocvec(value).expect("a plain value can always be serialised").into()
}

/// All of the bytes must belong to the value.
fn whole<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::take_from_bytes(bytes).ok().and_then(|(value, rest)| rest.is_empty().then_some(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio_util::codec::Decoder;

    use super::*;

    fn hello() -> Hello {
        let (cluster, system) = ("c".to_owned(), "bully".to_owned());
        Hello { cluster, system, from: 1, to: 2, life: 7, nonce: 5, disk: Disk::default() }
    }

    fn body() -> impl Strategy<Value = Body> {
        let message = ("[a-z]{0,8}", any::<u64>(), any::<Vec<(u32, u32)>>(), any::<u64>(), any::<Vec<u8>>());
        prop_oneof![
            "[a-z]{0,8}".prop_map(|name| Body::Open { name }),
            Just(Body::Goodbye),
            any::<u64>().prop_map(|writes| Body::Stored { writes }),
            message.prop_map(|(name, number, clock, due, bytes)| Body::Message {
                name,
                number,
                clock,
                due,
                bytes
            }),
        ]
    }

    #[test]
    fn another_version_and_a_stranger_are_told_apart() {
        let mut bytes = hello().encode().to_vec();
        assert_eq!(Hello::decode(&bytes), Ok(hello()));
        bytes[7] = 9;
        assert_eq!(Hello::decode(&bytes), Err(FrameError::Version(9)));
        assert_eq!(Hello::decode(b"GET / HTTP/1.1\r\n"), Err(FrameError::Stranger));
        assert_eq!(Hello::decode(b""), Err(FrameError::Stranger));
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in(number: u64, body in body()) {
            let frame = Frame { number, body };
            let mut bytes = BytesMut::from(frame.encode_with_length().as_ref());
            let piece = codec(FRAME_LIMIT).decode(&mut bytes).unwrap().unwrap();
            prop_assert_eq!(Frame::decode(&piece), Ok(frame));
            prop_assert!(bytes.is_empty());
        }

        #[test]
        fn no_bytes_make_a_decoder_panic(bytes: Vec<u8>) {
            let _ = Frame::decode(&bytes);
            let _ = Hello::decode(&bytes);
            let _ = Answer::decode(&bytes);
            let mut greeting = b"habemus\x02".to_vec();
            greeting.extend_from_slice(&bytes);
            let _ = Hello::decode(&greeting);
        }

        #[test]
        fn a_truncated_or_padded_frame_is_no_frame(number: u64, body in body(), cut in 1_usize..8) {
            let whole = Frame { number, body }.encode_with_length().slice(4..);
            prop_assert!(Frame::decode(&whole[..whole.len().saturating_sub(cut)]).is_err());
            let padded = [whole.as_ref(), &[0]].concat();
            prop_assert!(Frame::decode(&padded).is_err());
        }

        #[test]
        fn a_stream_of_anything_is_cut_into_pieces_within_the_limit(bytes: Vec<u8>) {
            let (mut codec, mut stream) = (codec(64), BytesMut::from(bytes.as_slice()));
            while let Ok(Some(piece)) = codec.decode(&mut stream) {
                prop_assert!(piece.len() <= 64);
            }
        }
    }
}
