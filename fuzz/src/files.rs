//! Any text as a file that people share: a scenario, a link to one, a trace. It is refused with a reason, or
//! can be written again and is the same.

use habemus_scenario::{link, parse, to_toml};
use habemus_trace::Trace;

/// The beginning of a trace.
const TRACE: &str = r#"{"format":1,"algorithm":"chang-roberts","problem":"election","title":"a ring","processes":[3,17],"topology":"ring","seed":1,"origin":{"seed":1}}
{"at":0,"process":3,"clock":{"3":1},"event":"start","recovered":false}
{"at":0,"process":17,"clock":{"17":1},"event":"start","recovered":false}
{"at":5,"process":3,"clock":{"3":2},"event":"send","message":1,"to":17,"kind":"Elected","label":"Elected(3)"}
{"at":9,"process":17,"clock":{"3":2,"17":2},"event":"deliver","message":1,"from":3,"kind":"Elected","label":"Elected(3)"}
"#;

/// The first byte says what kind of file it is.
pub fn attack(bytes: &[u8]) {
    let Some((&kind, rest)) = bytes.split_first() else { return };
    match kind % 3 {
        0 => scenario(&String::from_utf8_lossy(rest)),
        1 => {
            if let Ok(scenario) = link::unpack(&String::from_utf8_lossy(rest)) {
                assert_eq!(link::unpack(&link::pack(&scenario)).ok(), Some(scenario));
            }
        }
        _ => {
            if let Ok(trace) = Trace::read(rest) {
                let mut again = Vec::new();
                trace.write(&mut again).expect("memory takes it");
                assert_eq!(Trace::read(&again[..]).ok(), Some(trace));
            }
        }
    }
}

fn scenario(text: &str) {
    match parse("scenario.toml", text) {
        Ok(parsed) => {
            let written = to_toml(&parsed.scenario);
            let again = parse("again.toml", &written);
            assert_eq!(again.ok().map(|it| it.scenario), Some(parsed.scenario), "{written}");
        }
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
}

/// Some of the notes' scenarios, as files and as links, and a trace.
pub fn examples() -> Vec<Vec<u8>> {
    let scenarios = [
        include_str!("../../exhibits/s1-chang-roberts.toml"),
        include_str!("../../exhibits/s4-token-regenerated.toml"),
        include_str!("../../exhibits/s0-bully-delayed.toml"),
    ];
    let links = scenarios.map(|text| parse("exhibit", text).map(|it| link::pack(&it.scenario)));
    let of_kind = |kind: u8, text: &str| [&[kind], text.as_bytes()].concat();
    let mut all = scenarios.map(|text| of_kind(0, text)).to_vec();
    all.extend(links.into_iter().flatten().map(|link| of_kind(1, &link)));
    all.push(of_kind(2, TRACE));
    all
}
