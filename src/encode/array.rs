//! `STEM.marginals.npy`, `STEM.s.npy`, `STEM.base.npy`, `STEM.bound.npy`: float64 arrays of shape (H, W) for NumPy.

use ndarray::{Array3, ArrayView, ArrayView2, Dimension};
use ndarray_npy::WriteNpyExt;

use crate::grid::{Partition, Shape};

/// One number per pixel as a `.npy` file.
pub fn array(shape: Shape, values: &[f64]) -> Vec<u8> {
    npy(ArrayView2::from_shape(shape.dim(), values).expect("one value per pixel"))
}

/// Label maps as one array of shape (layers, H, W).
pub(super) fn stack(shape: Shape, partitions: &[Partition]) -> Vec<u8> {
    let labels: Vec<u32> = partitions.iter().flat_map(|partition| partition.labels()).copied().collect();
    let (height, width) = shape.dim();
    npy(Array3::from_shape_vec((partitions.len(), height, width), labels).expect("one label per pixel").view())
}

/// Any array as a `.npy` file.
pub(super) fn npy<T: ndarray_npy::WritableElement, D: Dimension>(values: ArrayView<'_, T, D>) -> Vec<u8> {
    let mut file = Vec::new();
    values.write_npy(&mut file).expect("written to memory");
    file
}
