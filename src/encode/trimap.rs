//! `STEM.trimap.png`: 255 surely foreground, 0 surely background, 128 undecided; what matting tools take as input.
//!
//! A pixel is decided when both hold: the certificate proves its side of one half (|s_v| is larger than the solver can be
//! wrong), and its probability leaves the band [band, 1 − band]. The first is about the computation, the second about the photo.

use png::ColorType;

use super::samples::encode8;
use crate::grid::Marginals;

/// The trimap as an 8-bit grey PNG. `certified` marks the pixels whose side of one half is proved.
pub fn trimap(marginals: &Marginals, certified: &[bool], band: f64) -> Vec<u8> {
    assert_eq!(certified.len(), marginals.as_slice().len(), "one verdict per pixel");
    let decide = |(&p, &certified): (&f64, &bool)| match certified {
        true if p > 1.0 - band => 255,
        true if p < band => 0,
        _ => 128,
    };
    let samples: Vec<u8> = marginals.as_slice().iter().zip(certified).map(decide).collect();
    encode8(marginals.shape(), ColorType::Grayscale, &samples)
}
