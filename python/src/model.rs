//! Models without a picture: costs, chains and groups from arrays; and the prox of weighted total variation, the same with a grid.

use std::ops::ControlFlow;

use lfield::factor::{Cardinality, Chain, Factor};
use lfield::model::{Layer, Model as Assembled};
use lfield::solver::{self, MapChoice, SolverKind, Status};
use lfield::{Marginals, Mask, Shape};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use serde_json::json;

use crate::run::{Watch, run};
use crate::{Error, array, refuse};

/// Factors with the variables that each is about.
type Scoped = Vec<(Vec<u32>, Box<dyn Factor>)>;

/// F(A) = m(A) + chains + groups, on n variables.
#[pyclass]
pub(crate) struct Model {
    unary: Vec<f64>,
    chains: Vec<(Vec<u32>, Vec<f64>)>,
    groups: Vec<(Vec<u32>, Vec<f64>)>,
}

#[pymethods]
impl Model {
    /// A model of one cost per variable, float64; negative favours the set.
    #[new]
    fn new(unary: PyReadonlyArray1<'_, f64>) -> Self {
        Self { unary: unary.as_array().to_vec(), chains: Vec::new(), groups: Vec::new() }
    }

    /// Neighbours along a line, uint32, each pair joined by a weight, float64.
    fn add_chain(&mut self, indices: PyReadonlyArray1<'_, u32>, weights: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let (scope, weights) = (indices.as_array().to_vec(), weights.as_array().to_vec());
        Chain::new(weights.clone()).map_err(refuse)?;
        self.chains.push((scope, weights));
        Ok(())
    }

    /// A concave function of how many of the variables are in the set, by its gains, float64.
    fn add_group(&mut self, indices: PyReadonlyArray1<'_, u32>, gains: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let (scope, gains) = (indices.as_array().to_vec(), gains.as_array().to_vec());
        Cardinality::from_gains(gains.clone()).map_err(refuse)?;
        self.groups.push((scope, gains));
        Ok(())
    }

    /// Solves; names are those of the command line.
    #[allow(clippy::too_many_arguments)] // Python passes them by position.
    fn solve(
        &self,
        py: Python<'_>,
        solver: &str,
        tolerance: f64,
        max_iterations: usize,
        time_limit: Option<f64>,
        largest: bool,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Solution> {
        let kind: SolverKind = serde_json::from_value(json!(solver))
            .map_err(|error| Error::new_err(format!("the option solver={solver:?}: {error}")))?;
        let time_limit = time_limit.map(std::time::Duration::try_from_secs_f64).transpose();
        let time_limit = time_limit.map_err(|error| Error::new_err(format!("the option time_limit: {error}")))?;
        let map = if largest { MapChoice::Maximal } else { MapChoice::Minimal };
        let options =
            solver::Options { solver: kind, tolerance, max_iterations, time_limit, map, ..Default::default() };
        run(py, threads, progress, |watch| {
            let model = Assembled::new(self.unary.clone(), self.layers()?)?;
            let solution = solve(&model, &options, watch, |_| ControlFlow::Continue(()))?;
            let mask = Mask::new(Shape::new(solution.set.len(), 1), solution.set.clone());
            let marginals = Marginals::beside(&mask, &solution.s)?;
            Ok(Solution { solution, marginals, solver: solver.to_string() })
        })
    }
}

impl Model {
    /// Layers of disjoint factors: each goes to the first layer where all its variables are still free.
    fn layers(&self) -> lfield::Result<Vec<Layer>> {
        let n = self.unary.len();
        let mut layers: Vec<(Vec<bool>, Scoped)> = Vec::new();
        let mut place = |scope: &[u32], factor: Box<dyn Factor>| {
            let is_free = |taken: &[bool]| scope.iter().all(|&variable| !taken[variable as usize]);
            let at = layers.iter().position(|(taken, _)| is_free(taken)).unwrap_or_else(|| {
                layers.push((vec![false; n], Vec::new()));
                layers.len() - 1
            });
            scope.iter().for_each(|&variable| layers[at].0[variable as usize] = true);
            layers[at].1.push((scope.to_vec(), factor));
        };
        for (scope, weights) in &self.chains {
            place(scope, Box::new(Chain::new(weights.clone())?));
        }
        for (scope, gains) in &self.groups {
            place(scope, Box::new(Cardinality::from_gains(gains.clone())?));
        }
        Ok(layers.into_iter().map(|(_, factors)| Layer::new(n, factors)).collect())
    }
}

/// Solves until `decide` breaks as well.
fn solve(
    model: &Assembled,
    options: &solver::Options,
    watch: &Watch<'_>,
    mut decide: impl FnMut(&solver::Progress) -> ControlFlow<()> + Send,
) -> lfield::Result<solver::Solution> {
    let mut observe = |progress: &solver::Progress, _: Option<&[f64]>| {
        watch.step(progress.iteration, progress.gap_per_pixel);
        decide(progress)
    };
    solver::solve_until(model, options, None, &mut observe, &|| watch.checkpoint())
}

/// What a model's solve has found.
#[pyclass(frozen)]
pub(crate) struct Solution {
    solution: solver::Solution,
    marginals: Marginals,
    solver: String,
}

#[pymethods]
impl Solution {
    /// The most probable set, bool.
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.solution.set.clone().into_pyarray(py)
    }

    /// The probability of being in the set, float64.
    fn marginals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.marginals.as_slice().to_vec().into_pyarray(py)
    }

    /// The log-odds x, float64.
    fn log_odds<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        negated(&self.solution.s).into_pyarray(py)
    }

    /// The feasible point that proves, float64.
    fn base<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.solution.base.clone().into_pyarray(py)
    }

    /// What is proved, as JSON, with the names of the report.
    fn report(&self) -> String {
        let (solution, certificate) = (&self.solution, &self.solution.certificate);
        json!({
            "solve": {
                "solver": self.solver, "iterations": solution.iterations, "converged": solution.status == Status::Converged,
                "status": solution.status, "seconds": solution.seconds,
                "gap": certificate.gap, "gap_per_pixel": certificate.gap_per_pixel,
            },
            "bounds": {
                "log_z_upper": certificate.log_z_upper, "log_z_lower": certificate.log_z_lower,
                "renyi_infinity_upper": certificate.renyi_infinity_upper,
            },
            "map": {
                "energy": certificate.map_energy, "lower_bound": certificate.map_lower_bound, "gap": certificate.map_gap,
                "proved_optimal": certificate.map_proved_optimal, "repaired_pixels": certificate.repaired_pixels,
                "area": solution.set.iter().filter(|&&inside| inside).count(),
            },
            "marginals": { "error_bound": certificate.error_bound },
        })
        .to_string()
    }
}

fn negated(s: &[f64]) -> Vec<f64> {
    s.iter().map(|s| -s).collect()
}

/// argmin over y of ½‖y − x‖² + Σ rows·|y − right neighbour| + Σ columns·|y − lower neighbour|, all float64: y and its duality gap.
///
/// With the modular cost −x this is the minimum-norm problem of a grid's cut, y = −s*.
#[pyfunction]
pub(crate) fn tv_prox<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    rows: PyReadonlyArray2<'py, f64>,
    columns: PyReadonlyArray2<'py, f64>,
    tolerance: f64,
    max_iterations: usize,
    threads: Option<usize>,
) -> PyResult<(Bound<'py, PyArray2<f64>>, f64, usize)> {
    let (shape, values) = array::values(&x);
    let ((_, rows), (_, columns)) = (array::values(&rows), array::values(&columns));
    let options = solver::Options { tolerance, max_iterations, ..solver::Options::default() };
    let solution = run(py, threads, None, |watch| {
        let (width, height) = (shape.width, shape.height);
        let line =
            |pixels: Vec<u32>, weights: Vec<f64>| Ok((pixels, Box::new(Chain::new(weights)?) as Box<dyn Factor>));
        let along = (0..height).map(|row| {
            let pixels = (row * width..(row + 1) * width).map(|pixel| pixel as u32).collect();
            line(pixels, rows[row * (width - 1)..(row + 1) * (width - 1)].to_vec())
        });
        let down = (0..width).map(|column| {
            let pixels = (0..height).map(|row| (row * width + column) as u32).collect();
            line(pixels, (0..height - 1).map(|row| columns[row * width + column]).collect())
        });
        let layers = [along.collect::<lfield::Result<_>>()?, down.collect::<lfield::Result<_>>()?];
        let layers = layers.into_iter().map(|factors| Layer::new(values.len(), factors)).collect();
        // Rounding keeps the gap above a tight tolerance: it is over when twice as many sweeps bring no smaller one.
        let (mut least, mut reached) = (f64::INFINITY, 0);
        let decide = |progress: &solver::Progress| {
            if progress.gap < least {
                (least, reached) = (progress.gap, progress.iteration);
            }
            if progress.iteration > 2 * reached + 50 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        solve(&Assembled::new(negated(&values), layers)?, &options, watch, decide)
    })?;
    Ok((array::grid(py, shape, negated(&solution.s)), solution.certificate.gap, solution.iterations))
}
