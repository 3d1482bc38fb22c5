//! What a member makes of bytes that somebody else has chosen, before it does anything about them: what the
//! attacks of `habemus-fuzz` call.

use bytes::{Bytes, BytesMut};
use clap::Parser;
use habemus_journal::Extent;
use habemus_replica::{MemberId, PeerMessage};
use tokio_util::codec::{Decoder, Encoder};

use crate::config::{Arguments, Config};
use crate::form::{self, Form};
use crate::identity::Hexadecimal;
use crate::others::Life;
use crate::parts::{MAX_FRAME, Receiving, Sending};
use crate::peers::{self, Opening, Saying};
use crate::settled;

/// What somebody says first at the members' door. Gives whether it makes sense.
pub fn opening(bytes: &[u8]) -> bool {
    let mut codec = peers::codec();
    // Frames that are announced too long end the connection.
    let Ok(Some(frame)) = codec.decode(&mut BytesMut::from(bytes)) else { return false };
    let Some(opening) = form::opening(&frame) else { return false };
    assert_eq!(form::opening(&peers::encode(&opening)), Some(opening), "it can be said again");
    true
}

/// Each of the things with which honest members begin.
pub fn openings() -> Vec<Vec<u8>> {
    let life = Life { disk: Hexadecimal(4), starts: 1, life: Hexadecimal(5), found: Extent::default() };
    let (from, to) = (MemberId(1), MemberId(2));
    let all = [
        Opening::Hello { form: Form::Present.number(), cluster: 3, from, to, life },
        Opening::WhoAmI { address: "127.0.0.1:2380".into() },
        Opening::HowAreYou { cluster: 3, to },
    ];
    all.iter().map(|opening| connected([peers::encode(opening)])).collect()
}

/// Frames, one after the other, as they go over a connection.
fn connected(frames: impl IntoIterator<Item = Bytes>) -> Vec<u8> {
    let (mut codec, mut said) = (peers::codec(), BytesMut::new());
    codec.set_max_frame_length(MAX_FRAME);
    for frame in frames {
        codec.encode(frame, &mut said).expect("frames are short");
    }
    said.to_vec()
}

/// What a member says that was let in, as it comes over the connection. Gives the messages for its replica
/// up to the first thing that makes no sense.
pub fn messages(bytes: &[u8]) -> Vec<PeerMessage> {
    let mut codec = peers::codec();
    codec.set_max_frame_length(MAX_FRAME);
    let (mut bytes, mut receiving, mut messages) = (BytesMut::from(bytes), Receiving::default(), Vec::new());
    while let Ok(Some(frame)) = codec.decode(&mut bytes) {
        let Ok(taken) = receiving.take(frame.freeze()) else { break };
        let Some(message) = taken else { continue };
        match Form::Present.hear(&message) {
            Some(Saying::Message(message)) => messages.push(message),
            Some(Saying::Disks(_)) => {}
            None => break,
        }
    }
    messages
}

/// The same messages as they go over a connection, snapshots in parts between the others.
pub fn frames(messages: &[PeerMessage]) -> Vec<u8> {
    let mut sending = Sending::default();
    let mut said: Vec<Bytes> = Vec::new();
    for message in messages {
        let bytes = peers::encode(&Saying::Message(message.clone()));
        if message.is_snapshot() {
            sending.wait(bytes);
        } else {
            said.extend(Sending::frames(bytes));
        }
    }
    said.extend(std::iter::from_fn(|| sending.next_part()));
    connected(said)
}

/// The configuration that options and the text of a file make together, as the file that says the same, or
/// why it is refused.
///
/// # Errors
/// Everything that makes no sense, a line for each.
pub fn configuration(options: &[&str], file: &str) -> Result<String, String> {
    let options = ["habemusd"].iter().chain(options);
    let given = Arguments::try_parse_from(options).map_err(|error| error.to_string())?;
    let file = habemus_settings::understand("habemusd.toml", file)?;
    Config::of(given, file).map(|config| settled::file(&config))
}
