//! Every seed of the fuzzers through every reader. What a fuzzer has found is among them, under the name of what was wrong.

use std::path::PathBuf;

use lfield::dataset::manifest;
use lfield::grid::{Picture, Shape, Truth};
use lfield::read::{Format, Limits, Strokes, evidence};

fn seeds(target: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/seeds").join(target);
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_seed_is_read_or_refused_by_name() {
    let limits = Limits { max_pixels: 1 << 16 };
    let mut n_read = 0;
    for path in ["strokes", "npy", "label_map", "command_line"].iter().flat_map(|target| seeds(target)) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut record = |refusal: Option<lfield::Error>| match refusal {
            Some(error) => assert!(error.to_string().contains(name), "{error}"),
            None => n_read += 1,
        };
        for shape in [Shape::new(8, 6), Shape::new(3, 2)] {
            let photo = Picture::new(shape, vec![[9, 90, 200]; shape.n_pixels()]);
            for format in Format::ALL {
                record(Strokes::read(&path, &photo, format, &limits).err());
            }
            record(evidence::unary(&path, shape, &limits).err());
            record(evidence::prior(&path, shape, &limits).err());
            record(evidence::superpixels(&path, shape, &limits).err());
            record(Truth::read(&path, shape, &limits).err());
        }
        record(Picture::read(&path, &limits).err());
        record(manifest::read(&path).err());
    }
    assert!(n_read > 50, "only {n_read} readings succeeded");
}
