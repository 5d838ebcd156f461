//! Bytes → grid types: photos, strokes, truth, costs, probabilities and label maps, and the content hash of each.
//!
//! Files come from strangers: sizes are checked against [`Limits`] before memory is taken, content decides the format.

mod digest;
pub mod evidence;
mod input;
pub(crate) mod picture;
pub(crate) mod raster;
mod source;
pub mod standard;
mod strokes;
mod truth;

pub use digest::Digest;
pub use input::{EvidenceFile, Input, Recorded, Scene};
pub(crate) use source::{HEADER_BYTES, Source};
pub use source::{Limits, Loaded};
pub use strokes::{Format, Strokes, discover};
pub(crate) use strokes::{MARKS, hints};

/// A PNG that claims 10¹² pixels and holds none.
#[cfg(test)]
fn huge_png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut header = png::Encoder::new(&mut bytes, 1_000_000, 1_000_000).write_header().unwrap();
    header.write_chunk(png::chunk::IDAT, &[0x78]).unwrap();
    drop(header);
    bytes
}
