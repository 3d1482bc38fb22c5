//! Any bytes against the decoders: they may refuse them, and whatever they take comes out again as it went
//! in.

#![no_main]

use bytes::BytesMut;
use habemus_node::transport::frame::{Answer, FRAME_LIMIT, Frame, Hello, codec};
use libfuzzer_sys::fuzz_target;
use tokio_util::codec::Decoder;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(hello) = Hello::decode(bytes) {
        assert_eq!(Hello::decode(&hello.encode()), Ok(hello));
    }
    if let Ok(answer) = Answer::decode(bytes) {
        assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
    }
    if let Ok(frame) = Frame::decode(bytes) {
        assert_eq!(Frame::decode(&frame.encode_with_length()[4..]), Ok(frame));
    }
    let (mut codec, mut stream) = (codec(FRAME_LIMIT), BytesMut::from(bytes));
    while let Ok(Some(piece)) = codec.decode(&mut stream) {
        assert!(piece.len() <= FRAME_LIMIT);
        let _ = Frame::decode(&piece);
    }
});
