//! Any bytes against the decoders: they may refuse them, and whatever they take comes out again as it went
//! in.

use bytes::BytesMut;
use habemus_node::transport::frame::{Answer, Body, Disk, FRAME_LIMIT, Frame, Hello, codec};
use tokio_util::codec::Decoder;

/// Any bytes to the decoders of nodes.
pub fn attack(bytes: &[u8]) {
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
}

/// What honest nodes say.
pub fn examples() -> Vec<Vec<u8>> {
    let disk = Disk::default();
    let hello = Hello {
        cluster: "habemus".into(),
        system: "bully of 3".into(),
        from: 1,
        to: 2,
        life: 7,
        nonce: 9,
        disk,
    };
    let bodies = [
        Body::Open { name: "orders".into() },
        Body::Goodbye,
        Body::Message { name: "orders".into(), number: 1, clock: Vec::new(), due: 0, bytes: vec![1, 2, 3] },
    ];
    let frames = bodies.map(|body| Frame { number: 1, body }.encode_with_length());
    let answers = [
        Answer::Welcome { life: 3, disk, received: 4 },
        Answer::Refused { reason: "another cluster".into() },
    ];
    let mut all = vec![hello.encode().to_vec()];
    all.extend(answers.iter().map(|answer| answer.encode().to_vec()));
    all.extend(frames.iter().flat_map(|frame| [frame.to_vec(), frame[4..].to_vec()]));
    all
}
