//! The colours of the page: what is written can be read, and what processes are can be told apart, also by
//! the colour-blind.

use std::collections::BTreeMap;

type Palette = BTreeMap<String, [f64; 3]>;

fn colour(text: &str) -> Option<[f64; 3]> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let part = |place: usize| {
        u8::from_str_radix(&digits[place..place + 2], 16).ok().map(|part| linear(f64::from(part) / 255.0))
    };
    Some([part(0)?, part(2)?, part(4)?])
}

/// How much light there is, of what is written in a colour.
fn linear(part: f64) -> f64 {
    if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
}

/// The colours that a block of the style sheet gives names.
fn palette(block: &str) -> Palette {
    let body = block.split('}').next().unwrap_or_default();
    let named = body.split("--").filter_map(|part| part.split_once(':'));
    named
        .filter_map(|(name, value)| Some((name.to_owned(), colour(value.trim().split(';').next()?)?)))
        .collect()
}

/// The light one, the dark one that the system asks for, and the dark one that is asked for by hand.
fn palettes() -> [Palette; 3] {
    let sheet = std::fs::read_to_string(crate::root().join("lab/src/style.css")).expect("it is there");
    [":root {", ":root:not([data-theme=\"light\"]) {", ":root[data-theme=\"dark\"] {"]
        .map(|begin| palette(sheet.split_once(begin).expect("it has a palette").1))
}

fn luminance([red, green, blue]: [f64; 3]) -> f64 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    if one > other { one / other } else { other / one }
}

/// How people see who lack one kind of cone: after Machado, Oliveira and Fernandes (2009).
const EYES: [(&str, [[f64; 3]; 3]); 4] = [
    ("all", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "without red",
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    ),
    (
        "without green",
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ),
    (
        "without blue",
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ),
];

/// Where a colour lies for such eyes in CIE's L*a*b*, where distances are about as large as they look.
fn seen(colour: [f64; 3], eyes: &[[f64; 3]; 3]) -> [f64; 3] {
    let times =
        |row: &[f64; 3], colour: [f64; 3]| row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2];
    let light = eyes.map(|row| times(&row, colour).clamp(0.0, 1.0));
    let root = |value: f64| if value > 0.008_856 { value.cbrt() } else { 7.787 * value + 16.0 / 116.0 };
    let x = root(times(&[0.4124, 0.3576, 0.1805], light) / 0.95047);
    let y = root(luminance(light));
    let z = root(times(&[0.0193, 0.1192, 0.9505], light) / 1.08883);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

#[test]
fn what_is_written_stands_out_from_its_ground_in_either_light() {
    let [light, dark, by_hand] = palettes();
    assert_eq!(dark, by_hand, "one dark palette, written twice");
    let sheets = ["ground", "sheet"].map(|ground| {
        ["ink", "faint", "accent", "bad", "good", "hand", "strong-leading", "strong-waiting", "strong-inside"]
            .map(|ink| (ink, ground))
    });
    let on_colours =
        ["idle", "following", "waiting", "inside", "down", "past", "future"].map(|ground| ("ink", ground));
    let others = [
        ("accent-ink", "accent"),
        ("message-ink", "message"),
        ("ground", "faint"),
        ("ground", "ink"),
        ("faint", "past"),
        ("faint", "future"),
    ];
    let signs = ["strong-leading", "bad", "strong-waiting", "accent"].map(|ground| ("sheet", ground));
    for (name, palette) in [("light", &light), ("dark", &dark)] {
        for (ink, ground) in sheets.iter().flatten().chain(&on_colours).chain(&others).chain(&signs) {
            let found = contrast(palette[*ink], palette[*ground]);
            assert!(found >= 4.5, "{name}: {ink} on {ground}: {found:.2}");
        }
        // The identifier of a leader is dark in either light.
        let found = contrast(light["ink"], palette["leading"]);
        assert!(found >= 4.5, "{name}: a leader's identifier: {found:.2}");
    }
}

#[test]
fn what_a_process_is_can_be_told_by_its_colour_whatever_cones_one_has() {
    // Whoever is down is hatched and has a dashed edge.
    let fills = ["idle", "following", "waiting", "inside", "leading"];
    let [light, dark, _] = palettes();
    for (theme, palette) in [("light", light), ("dark", dark)] {
        for (eyes, cones) in &EYES {
            for (place, one) in fills.iter().enumerate() {
                for other in &fills[..place] {
                    let [one_seen, other_seen] = [one, other].map(|fill| seen(palette[*fill], cones));
                    let squares = one_seen.iter().zip(other_seen).map(|(one, other)| (one - other).powi(2));
                    let apart = squares.sum::<f64>().sqrt();
                    assert!(apart >= 12.0, "{theme}, {eyes}: {one} and {other} are {apart:.1} apart");
                }
            }
        }
    }
}
