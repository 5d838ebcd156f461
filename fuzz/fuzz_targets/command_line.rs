//! Any words as a command line, one per line of the input; and the input as a manifest.
#![no_main]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use lfield::dataset::manifest;
use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../src/cli/mod.rs"]
mod cli;

fuzz_target!(|bytes: &[u8]| {
    let words = bytes.split(|&byte| byte == b'\n').map(|word| OsString::from_vec(word.to_vec()));
    let arguments: Vec<OsString> = std::iter::once("lfield".into()).chain(words.take(40)).collect();
    if let Err(error) = cli::parse(&arguments) {
        assert!(!error.render().to_string().trim().is_empty());
    }
    let path = lfield_fuzz::file("list.csv", bytes);
    match manifest::read(&path) {
        Ok(rows) => assert!(rows.iter().all(|row| !row.image.is_empty())),
        Err(error) => assert!(error.to_string().contains("list.csv"), "{error}"),
    }
});
