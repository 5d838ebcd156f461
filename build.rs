//! Names the build: a hash of the sources and of the locked dependencies, so that results of another build are not taken for this one's.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let mut files = BTreeMap::new();
    collect(Path::new("src"), &mut files);
    for name in ["Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={name}");
        // A dependency's own lock file does not count and is not there.
        files.insert(name.to_string(), fs::read(name).unwrap_or_default());
    }
    println!("cargo::rerun-if-changed=src");
    let mut hash = 0xcbf2_9ce4_8422_2325_9ae1_6a3b_2f90_404f_u128;
    for (name, bytes) in &files {
        for &byte in name.as_bytes().iter().chain(&[0]).chain(bytes) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_013b);
        }
    }
    println!("cargo::rustc-env=LFIELD_BUILD={hash:032x}");
}

/// Every file below a folder, by its path with `/`.
fn collect(folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files);
        } else if let Ok(bytes) = fs::read(&path) {
            files.insert(path.to_string_lossy().replace('\\', "/"), bytes);
        }
    }
}
