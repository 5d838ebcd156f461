//! `STEM.superpixels-1.png`: the region of every pixel, as 16-bit grey.
//!
//! 16 bits hold 65,535 regions. A finer partition is written as a 32-bit `.npy` array instead of being folded over; both can be
//! given back with `--superpixels`.

use ndarray::ArrayView2;

use super::array::npy;
use super::samples::encode16;
use crate::grid::Partition;

/// The most regions a 16-bit label map is used for.
const MOST_REGIONS: usize = 65_535;

/// The label map and the extension of the file it belongs in: `png`, or `npy` when there are too many regions for 16 bits.
pub fn labels(partition: &Partition) -> (Vec<u8>, &'static str) {
    if partition.count() <= MOST_REGIONS {
        (encode16(partition.shape(), partition.labels().iter().map(|&label| label as u16)), "png")
    } else {
        let labels = ArrayView2::from_shape(partition.shape().dim(), partition.labels()).expect("one label per pixel");
        (npy(labels), "npy")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Shape;

    #[test]
    fn label_maps_outgrow_sixteen_bits_without_folding() {
        let fine = |n: u32| Partition::from_labels(Shape::new(n as usize, 1), &(0..n).collect::<Vec<u32>>());
        assert_eq!(labels(&fine(65_535)).1, "png");
        let (bytes, extension) = labels(&fine(65_536));
        assert_eq!(extension, "npy");
        assert!(bytes.ends_with(&65_535_u32.to_le_bytes()));
    }
}
