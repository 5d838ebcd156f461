//! Any bytes as a label map, as a picture of probabilities and as a truth: PNG by index, 16 bits, TIFF of every number type.
#![no_main]

use lfield::grid::{Shape, Truth};
use lfield::read::{Limits, evidence};
use lfield_fuzz::{HEIGHT, WIDTH};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { max_pixels: 1 << 16 };

fuzz_target!(|bytes: &[u8]| {
    let shape = Shape::new(WIDTH, HEIGHT);
    let path = lfield_fuzz::file("a.tif", bytes);
    match evidence::superpixels(&path, shape, &LIMITS) {
        Ok(partition) => assert_eq!(partition.value.sizes().iter().sum::<usize>(), shape.n_pixels()),
        Err(error) => assert!(error.to_string().contains("a.tif"), "{error}"),
    }
    match evidence::prior(&path, shape, &LIMITS) {
        Ok(prior) => assert!(prior.value.as_slice().iter().all(|m| m.is_finite())),
        Err(error) => assert!(error.to_string().contains("a.tif"), "{error}"),
    }
    match Truth::read(&path, shape, &LIMITS) {
        Ok(truth) => assert_eq!(truth.labels().len(), shape.n_pixels()),
        Err(error) => assert!(error.to_string().contains("a.tif"), "{error}"),
    }
});
