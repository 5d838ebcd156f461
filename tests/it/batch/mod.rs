//! `lfield batch` and `lfield merge`: whole folders, interrupted, divided and joined again.

/// Which photos there are, what belongs to them, and what is refused before the first is opened.
mod planning;

/// Photos done, failed, skipped and done before; what is said and written about them.
mod running;

/// Killed or interrupted, and run again.
#[cfg(unix)]
mod stopping;

/// Shards, schedulers and merging.
mod sharding;

/// Several batches at once in one folder, and in scripts.
#[cfg(unix)]
mod company;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::desk::{Desk, bytes, without_column, without_seconds};

/// Photos in sub-folders of `in/`, with strokes beside them; each a little different from the others.
fn data_set(names: &[&str]) -> Desk {
    let desk = Desk::with_strokes();
    for (i, name) in (0..).zip(names) {
        add_photo(&desk, name, i);
    }
    desk
}

fn add_photo(desk: &Desk, name: &str, shade: u8) {
    let (photo, strokes) = (desk.path("disc.png"), desk.path("disc.scribbles.png"));
    let target = desk.path("in").join(name);
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    let mut picture = image::open(photo).unwrap().into_rgb8();
    picture.pixels_mut().for_each(|pixel| pixel.0[2] = pixel.0[2].saturating_add(shade));
    picture.save(&target).unwrap();
    std::fs::copy(strokes, target.with_extension("scribbles.png")).unwrap();
}

/// Every file below a folder, by its path; seconds are taken out of those that have any.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(place) = open.pop() {
        for entry in std::fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_string();
            let raw = bytes(&path);
            let plain = match name.as_str() {
                name if name.ends_with(".report.json") => without_seconds(serde_json::from_slice(&raw).unwrap()),
                name if name.ends_with(".ndjson") => {
                    let plain = |line: &str| match serde_json::from_str::<Value>(line).unwrap() {
                        line if line["status"] == "done" => without_seconds(line),
                        line => line.to_string().into_bytes(),
                    };
                    String::from_utf8(raw).unwrap().lines().flat_map(plain).collect()
                }
                name if name.starts_with("summary.") => {
                    let mut summary: Value = serde_json::from_slice(&raw).unwrap();
                    summary.as_object_mut().unwrap().retain(|key, _| key != "seconds" && key != "run");
                    serde_json::to_vec(&summary).unwrap()
                }
                "index.html" => {
                    let page = String::from_utf8(raw).unwrap();
                    let cells = page.split("<td").filter(|cell| !cell.starts_with(" class=\"seconds\""));
                    cells.collect::<Vec<_>>().join("<td").into_bytes()
                }
                name if name.starts_with(".lfield/") && name.ends_with(".json") => {
                    // A trace holds seconds, so its size is not the same in every run.
                    let mut notes: Value = serde_json::from_slice(&raw).unwrap();
                    assert!(notes.as_object_mut().unwrap().remove("sizes").is_some());
                    serde_json::to_vec(&notes).unwrap()
                }
                name if name.ends_with(".trace.csv") => without_column(&raw, 1),
                _ => raw,
            };
            files.insert(name, plain);
        }
    }
    files
}

fn records(desk: &Desk, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(desk.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn summary(desk: &Desk, name: &str) -> Value {
    serde_json::from_slice(&bytes(&desk.path(name))).unwrap()
}
