//! A session on arrays, and its options by the names users know.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use lfield::read::evidence;
use lfield::session::{Options, Overlay};
use lfield::superpixel::{self, Layer};
use lfield::{Marginals, Partition, Unary};
use numpy::{PyArray2, PyReadonlyArray2, PyUntypedArray};
use pyo3::prelude::*;

use crate::answer::Answer;
use crate::run::run;
use crate::{Error, array, refuse};

/// Options as Python has them: the name of each with its value as JSON.
type Named = Vec<(String, String)>;

/// A photo, what is known about it, and everything computed so far.
#[pyclass(frozen)]
pub(crate) struct Session {
    session: Mutex<lfield::Session>,
}

#[pymethods]
impl Session {
    /// A session on an image (H, W, 3). `has_costs` says that costs take the place of colour mixtures.
    #[new]
    fn new(image: &Bound<'_, PyUntypedArray>, options: Named, has_costs: bool) -> PyResult<Self> {
        let session = lfield::Session::new(array::picture(image)?, in_force(options, has_costs)?).map_err(refuse)?;
        Ok(Self { session: Mutex::new(session) })
    }

    /// Other options, all of them.
    fn set_options(&self, options: Named, has_costs: bool) -> PyResult<()> {
        self.lock()?.set_options(in_force(options, has_costs)?).map_err(refuse)
    }

    /// Strokes: uint8 (H, W), 0 unknown, 1 background, 2 object.
    fn set_labels(&self, labels: PyReadonlyArray2<'_, u8>) -> PyResult<()> {
        self.lock()?.set_seeds(array::seeds(&labels)).map_err(refuse)
    }

    /// Costs in nats: float64 (H, W), negative favours the object.
    fn set_unary(&self, costs: PyReadonlyArray2<'_, f64>) -> PyResult<()> {
        let (shape, values) = array::values(&costs);
        self.lock()?.set_unary(Unary::new(shape, values).map_err(refuse)?).map_err(refuse)
    }

    /// Probabilities of the object: float64 (H, W), and the distance from 1 to the next smaller number of the type they came in.
    /// Returns how many were too near to 0 or 1 to be taken as they are.
    fn set_prior(&self, probabilities: PyReadonlyArray2<'_, f64>, step: f64) -> PyResult<usize> {
        let (shape, values) = array::values(&probabilities);
        let prior = Marginals::new(shape, values).map_err(refuse)?;
        let (costs, n_bounded) = evidence::costs(&prior, step).map_err(refuse)?;
        self.lock()?.set_prior(costs).map_err(refuse)?;
        Ok(n_bounded)
    }

    /// Label maps in place of mean shift: int64 (H, W) each; none bring mean shift back.
    fn set_superpixels(&self, maps: Vec<PyReadonlyArray2<'_, i64>>) -> PyResult<()> {
        let partition = |map: &PyReadonlyArray2<'_, i64>| {
            let (shape, labels) = array::values(map);
            Partition::from_labels(shape, &labels)
        };
        self.lock()?.set_partitions(maps.iter().map(partition).collect()).map_err(refuse)
    }

    /// Solves. The first time, and always with `cold`, as the program does: the same bytes.
    #[pyo3(signature = (threads, progress, cold))]
    fn solve(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
        cold: bool,
    ) -> PyResult<Answer> {
        let mut guard = self.lock()?;
        let session: &mut lfield::Session = &mut guard;
        let answer = run(py, threads, progress, |watch| {
            if cold {
                session.start_cold();
            }
            session.solve(&mut |event| watch.hear(event))
        })?;
        Ok(Answer::new(answer))
    }
}

impl Session {
    fn lock(&self) -> PyResult<MutexGuard<'_, lfield::Session>> {
        match self.session.try_lock() {
            Ok(session) => Ok(session),
            // A panic in a solve leaves whole stages or none behind.
            Err(TryLockError::Poisoned(poisoned)) => Ok(PoisonError::into_inner(poisoned)),
            Err(TryLockError::WouldBlock) => Err(Error::new_err(
                "this session is solving in another thread: wait for it, or give every thread its own session",
            )),
        }
    }
}

/// The options in force; errors name the option.
fn in_force(options: Named, has_costs: bool) -> PyResult<Options> {
    let mut said = Overlay { has_costs, ..Overlay::default() };
    for (name, json) in options {
        let read = serde_json::from_str(&json).and_then(|value: serde_json::Value| {
            let row = serde_json::Map::from_iter([(name.replace('_', "-"), value)]);
            serde_json::from_value::<Overlay>(row.into())
        });
        said = said.with(read.map_err(|error| Error::new_err(format!("the option {name}={json}: {error}")))?);
    }
    said.options().map_err(refuse)
}

/// Cuts an image (H, W, 3) into superpixels, one int32 label map (H, W) for every layer (hs, hr, smallest region).
#[pyfunction]
pub(crate) fn superpixels<'py>(
    py: Python<'py>,
    image: &Bound<'py, PyUntypedArray>,
    layers: Vec<(f64, f64, usize)>,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyArray2<i32>>>> {
    let picture = array::picture(image)?;
    let layers: Vec<Layer> = layers
        .into_iter()
        .map(|(hs, hr, smallest)| Layer::new(hs, hr, smallest))
        .collect::<Result<_, _>>()
        .map_err(refuse)?;
    let cut: Vec<Partition> =
        run(py, threads, None, |watch| superpixel::layers(&picture, &layers, &|| watch.checkpoint()))?;
    Ok(cut.iter().map(|partition| label_map(py, partition)).collect())
}

/// A partition as int32 (H, W).
pub(crate) fn label_map<'py>(py: Python<'py>, partition: &Partition) -> Bound<'py, PyArray2<i32>> {
    array::grid(py, partition.shape(), partition.labels().iter().map(|&label| label as i32).collect())
}
