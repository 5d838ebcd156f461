//! Who may use whom: the right-hand column of the table in docs/architecture.md.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every folder, and the folders it may name as `crate::…` (the error type is everybody's).
const MAY_USE: [(&str, &[&str]); 17] = [
    ("grid", &[]),
    ("read", &["grid"]),
    ("superpixel", &["grid", "kernel"]),
    ("unary", &["grid", "kernel"]),
    ("kernel", &[]),
    ("factor", &["kernel"]),
    ("model", &["kernel", "factor"]),
    ("solver", &["kernel", "factor", "model"]),
    ("rival", &["kernel", "factor", "model", "solver"]),
    ("assemble", &["grid", "kernel", "factor", "model"]),
    ("session", &["grid", "read", "superpixel", "unary", "kernel", "model", "solver", "rival", "assemble"]),
    ("metric", &["grid"]),
    ("encode", &["grid", "read", "superpixel", "unary", "solver", "session"]),
    ("store", &["read", "session", "encode"]),
    ("dataset", &["grid", "read", "metric", "assemble", "solver", "rival", "session", "encode", "store"]),
    ("paint", &["grid", "read", "solver", "session", "encode", "store"]),
    ("cli", &[]),
];

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// The names behind `crate::`, without comments, strings of tests, and what is below `#[cfg(test)]`.
fn used(text: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let inside = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default(),
        };
        names.extend(inside.split(',').map(|name| name.trim().split("::").next().unwrap_or_default().to_string()));
    }
    names
}

#[test]
fn a_folder_uses_only_what_it_may() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders: BTreeSet<&str> = MAY_USE.iter().map(|(folder, _)| *folder).collect();
    let mut wrong = Vec::new();
    let mut files = Vec::new();
    sources(&src, &mut files);
    for file in &files {
        let below = file.strip_prefix(&src).unwrap();
        let folder = below.components().next().unwrap().as_os_str().to_str().unwrap();
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == folder) else {
            assert!(["lib.rs", "main.rs", "error.rs"].contains(&folder), "{folder} is not in the table");
            continue;
        };
        if below.file_stem().is_some_and(|stem| stem == "tests") || below.components().any(|c| c.as_os_str() == "tests")
        {
            continue;
        }
        for name in used(&std::fs::read_to_string(file).unwrap()) {
            // The program's half knows the library by its name alone.
            let is_listed = folders.contains(&*name) || folder == "cli";
            if is_listed && name != folder && !allowed.contains(&&*name) {
                wrong.push(format!("{} uses crate::{name}", below.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_use_of_any_form_is_seen() {
    let text = "use crate::{Error, store};\nuse crate::grid::Mask;\nlet x = crate::encode::mask(&m);\n// crate::cli\n";
    let names: Vec<String> = used(text).into_iter().collect();
    assert_eq!(names, ["Error", "encode", "grid", "store"]);
}
