//! `STEM.marginals.npy`, `STEM.s.npy`: float64 arrays of shape (H, W) for NumPy.

use ndarray::ArrayView2;
use ndarray_npy::WriteNpyExt;

use crate::grid::Shape;

/// One number per pixel as a `.npy` file.
pub fn array(shape: Shape, values: &[f64]) -> Vec<u8> {
    npy(ArrayView2::from_shape(shape.dim(), values).expect("one value per pixel"))
}

/// Any (H, W) array as a `.npy` file.
pub(super) fn npy<T: ndarray_npy::WritableElement>(values: ArrayView2<'_, T>) -> Vec<u8> {
    let mut file = Vec::new();
    values.write_npy(&mut file).expect("written to memory");
    file
}
