//! Models of any scale by every solver: the certificate against the exact twin of the tests.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../tests/twin/mod.rs"]
mod twin;

use twin::description::{Description, Dice};

fuzz_target!(|bytes: &[u8]| {
    lfield_fuzz::alone();
    // After the last byte every choice is the first one.
    let mut bytes = bytes.iter();
    let description = Description::draw(&mut Dice(&mut || bytes.next().copied().unwrap_or(0)));
    let verdict = twin::judge::judge(&description);
    let words: Vec<String> = verdict.falsehoods.iter().map(ToString::to_string).collect();
    assert!(words.is_empty(), "{}\n{description:#?}", words.join("\n"));
});
