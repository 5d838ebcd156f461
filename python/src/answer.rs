//! An answer as arrays, bytes and files.

use std::ffi::OsString;
use std::path::PathBuf;

use lfield::encode::overlay_samples;
use lfield::{Matte, Output, store};
use numpy::{PyArray2, PyArray3};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::run::{Watch, run};
use crate::session::label_map;
use crate::{array, refuse};

/// What a solve has found.
#[pyclass(frozen)]
pub(crate) struct Answer {
    answer: lfield::Answer,
}

impl Answer {
    pub(crate) fn new(answer: lfield::Answer) -> Self {
        Self { answer }
    }
}

#[pymethods]
impl Answer {
    /// The mask, bool (H, W).
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<bool>> {
        let mask = self.answer.mask();
        array::grid(py, mask.shape(), mask.as_slice().to_vec())
    }

    /// The probability of the object, float64 (H, W).
    fn marginals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let marginals = self.answer.marginals();
        array::grid(py, marginals.shape(), marginals.as_slice().to_vec())
    }

    /// The log-odds x, float64 (H, W).
    fn log_odds<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        array::grid(py, self.answer.picture().shape(), self.answer.log_odds())
    }

    /// The feasible point that proves, float64 (H, W); none for a rival.
    fn base<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.answer.base().map(|base| array::grid(py, self.answer.picture().shape(), base.to_vec()))
    }

    /// For every pixel how far its log-odds can be from the exact ones, float64 (H, W); none for a rival.
    fn bound<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.answer.bounds().map(|bounds| array::grid(py, self.answer.picture().shape(), bounds.to_vec()))
    }

    /// The layers of superpixels, int32 (H, W) each.
    fn superpixels<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray2<i32>>> {
        self.answer.partitions().iter().map(|partition| label_map(py, partition)).collect()
    }

    /// The report as JSON.
    fn report(&self) -> String {
        String::from_utf8_lossy(&self.answer.report().to_json()).into_owned()
    }

    /// The photo with the mask's outline, uint8 (H, W, 3).
    fn overlay<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let (picture, mask) = (self.answer.picture(), self.answer.mask());
        let samples = run(py, None, None, |_| Ok(overlay_samples(picture, mask)))?;
        Ok(array::samples(py, picture.shape(), 3, samples))
    }

    /// The object alone, uint8 (H, W, 4).
    fn cutout<'py>(&self, py: Python<'py>, soft: bool) -> Bound<'py, PyArray3<u8>> {
        let (picture, matte) = (self.answer.picture(), if soft { Matte::Soft } else { Matte::Hard });
        let samples = self.answer.cutout_samples(matte);
        array::samples(py, picture.shape(), 4, samples)
    }

    /// One output as the bytes of its file, by its name on the command line.
    fn encode<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let outputs = Output::named(name).map_err(refuse)?;
        let bytes = run(py, None, None, |_| self.answer.encode(outputs[0]))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the outputs that the options ask for, all or none of them, and returns their paths.
    fn save(&self, py: Python<'_>, folder: PathBuf, stem: OsString) -> PyResult<Vec<PathBuf>> {
        let write = |watch: &Watch<'_>| {
            let prepared = store::prepare_as(&self.answer, &folder, &stem)?;
            watch.checkpoint()?;
            prepared.commit()
        };
        Ok(run(py, None, None, write)?.files)
    }
}
