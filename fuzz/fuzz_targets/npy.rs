//! Any bytes as an array of costs, of probabilities and of labels.
#![no_main]

use lfield::grid::Shape;
use lfield::read::{Limits, evidence};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { max_pixels: 1 << 16 };

fuzz_target!(|bytes: &[u8]| {
    let shape = Shape::new(3, 2);
    let path = lfield_fuzz::file("a.npy", bytes);
    match evidence::unary(&path, shape, &LIMITS) {
        Ok(unary) => assert!(unary.value.as_slice().iter().all(|m| m.is_finite())),
        Err(error) => assert!(error.to_string().contains("a.npy"), "{error}"),
    }
    // Behind the magic bytes the array reader alone decides; images are for the target label_map.
    if !bytes.starts_with(b"\x93NUMPY") {
        return;
    }
    match evidence::prior(&path, shape, &LIMITS) {
        Ok(prior) => assert!(prior.value.as_slice().iter().all(|m| m.is_finite())),
        Err(error) => assert!(error.to_string().contains("a.npy"), "{error}"),
    }
    match evidence::superpixels(&path, shape, &LIMITS) {
        Ok(partition) => assert_eq!(partition.value.sizes().iter().sum::<usize>(), shape.n_pixels()),
        Err(error) => assert!(error.to_string().contains("a.npy"), "{error}"),
    }
});
