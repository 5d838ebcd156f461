//! NumPy arrays to grid types and back. What comes in is read where it lies, whatever its strides, and copied once.

use lfield::{Picture, Seed, Seeds, Shape};
use ndarray::{Array2, ArrayView3};
use numpy::{Element, IntoPyArray, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2, PyUntypedArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::{Error, refuse};

/// A photo of shape (H, W, 3): bytes, or floating-point numbers from 0 to 1.
pub(crate) fn picture(image: &Bound<'_, PyUntypedArray>) -> PyResult<Picture> {
    if let Ok(bytes) = image.cast::<PyArray3<u8>>() {
        return rgb(bytes.readonly().as_array(), Some);
    }
    let byte = |value: f64| (0.0..=1.0).contains(&value).then(|| (255.0 * value).round() as u8);
    if let Ok(values) = image.cast::<PyArray3<f32>>() {
        return rgb(values.readonly().as_array(), |value| byte(f64::from(value)));
    }
    match image.cast::<PyArray3<f64>>() {
        Ok(values) => rgb(values.readonly().as_array(), byte),
        Err(_) => Err(PyTypeError::new_err("the image must be an array (H, W, 3) of uint8, float32 or float64")),
    }
}

fn rgb<T: Element + Copy + std::fmt::Display>(
    values: ArrayView3<'_, T>,
    byte: impl Fn(T) -> Option<u8>,
) -> PyResult<Picture> {
    let (height, width, channels) = values.dim();
    if channels != 3 {
        return Err(PyTypeError::new_err("the image must have three channels"));
    }
    let mut colours = Vec::with_capacity(width * height);
    for (row, line) in values.outer_iter().enumerate() {
        for (column, pixel) in line.outer_iter().enumerate() {
            let mut colour = [0; 3];
            for (channel, &value) in colour.iter_mut().zip(pixel) {
                *channel = byte(value).ok_or_else(|| {
                    Error::new_err(format!(
                        "the image's value in row {row}, column {column} is {value}: floating-point images must lie between 0 and 1; \
                         divide by the largest value, or convert to uint8"
                    ))
                })?;
            }
            colours.push(colour);
        }
    }
    Picture::from_rgb(Shape::new(width, height), colours).map_err(refuse)
}

/// Strokes: 0 unknown, 1 background, 2 object.
pub(crate) fn seeds(labels: &PyReadonlyArray2<'_, u8>) -> Seeds {
    let labels = labels.as_array();
    let seed = |&label: &u8| match label {
        1 => Seed::Background,
        2 => Seed::Foreground,
        _ => Seed::Unlabelled,
    };
    Seeds::new(shape(labels.dim()), labels.iter().map(seed).collect())
}

/// A shape from NumPy's (height, width).
pub(crate) fn shape((height, width): (usize, usize)) -> Shape {
    Shape::new(width, height)
}

/// The values of a grid, row by row.
pub(crate) fn values<T: Element + Copy>(grid: &PyReadonlyArray2<'_, T>) -> (Shape, Vec<T>) {
    let grid = grid.as_array();
    (shape(grid.dim()), grid.iter().copied().collect())
}

/// Values row by row as an array (H, W).
pub(crate) fn grid<T: Element>(py: Python<'_>, shape: Shape, values: Vec<T>) -> Bound<'_, PyArray2<T>> {
    Array2::from_shape_vec(shape.dim(), values).expect("one value per pixel").into_pyarray(py)
}

/// Samples pixel by pixel as an array (H, W, channels).
pub(crate) fn samples(py: Python<'_>, shape: Shape, channels: usize, bytes: Vec<u8>) -> Bound<'_, PyArray3<u8>> {
    let dim = (shape.height, shape.width, channels);
    ndarray::Array3::from_shape_vec(dim, bytes).expect("one sample per channel and pixel").into_pyarray(py)
}
