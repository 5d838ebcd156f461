//! Small models with numbers of every size, by every solver: the certificate against all 512 sets.
#![no_main]

use std::ops::ControlFlow;

use arbitrary::{Result, Unstructured};
use lfield::factor::{Cardinality, Chain, Factor};
use lfield::model::{Layer, Model};
use lfield::solver::{Factors, MapChoice, Options, SolverKind, Status, solve};
use libfuzzer_sys::fuzz_target;

const SIDE: usize = 3;
const N: usize = SIDE * SIDE;

fuzz_target!(|bytes: &[u8]| {
    lfield_fuzz::alone();
    let u = &mut Unstructured::new(bytes);
    if let (Ok((model, size)), Ok(options)) = (model(u), options(u)) {
        judge(&model, size, &options);
    }
});

/// A grid with cut edges and superpixels, and the sum of the sizes of its numbers.
fn model(u: &mut Unstructured<'_>) -> Result<(Model, f64)> {
    let unary = (0..N).map(|_| lfield_fuzz::cost(u)).collect::<Result<Vec<_>>>()?;
    let mut size: f64 = unary.iter().map(|m| m.abs()).sum();
    let mut line = |u: &mut Unstructured<'_>, scope: Vec<u32>| {
        let weights = (1..SIDE).map(|_| lfield_fuzz::weight(u)).collect::<Result<Vec<_>>>()?;
        size += weights.iter().sum::<f64>();
        Ok((scope, Box::new(Chain::new(weights).expect("weights are finite")) as Box<dyn Factor>))
    };
    let rows = (0..N).step_by(SIDE).map(|r| line(u, (r..r + SIDE).map(|v| v as u32).collect()));
    let rows = rows.collect::<Result<Vec<_>>>()?;
    let columns = (0..SIDE).map(|c| line(u, (c..N).step_by(SIDE).map(|v| v as u32).collect()));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let labels = u.arbitrary::<[u8; N]>()?;
    let mut superpixels = Vec::new();
    for label in 0..4 {
        let scope: Vec<u32> = (0..N as u32).filter(|&v| labels[v as usize] % 4 == label).collect();
        let (n, weight) = (scope.len(), lfield_fuzz::weight(u)?);
        size += weight;
        let factor = if u.arbitrary()? {
            Cardinality::quadratic(n, 0, n.max(1), weight)
        } else {
            Cardinality::from_gains((0..n).map(|i| if 2 * i < n { weight } else { -weight }).collect())
        };
        superpixels.push((scope, Box::new(factor.expect("a concave table")) as Box<dyn Factor>));
    }
    let layers = [rows, columns, superpixels].map(|factors| Layer::new(N, factors));
    Ok((Model::new(unary, layers.into()).expect("costs are finite"), size))
}

fn options(u: &mut Unstructured<'_>) -> Result<Options> {
    let solver = *u.choose(&[
        SolverKind::Accelerated,
        SolverKind::Messages,
        SolverKind::DouglasRachford,
        SolverKind::Ep,
        SolverKind::FrankWolfe,
        SolverKind::MinNorm,
        SolverKind::DivideConquer,
    ])?;
    Ok(Options {
        solver,
        factors: *u.choose(&[Factors::Layers, Factors::Edges])?,
        map: *u.choose(&[MapChoice::Minimal, MapChoice::Maximal])?,
        max_iterations: u.int_in_range(0..=60)?,
        ..Options::default()
    })
}

fn judge(model: &Model, size: f64, options: &Options) {
    let solution = solve(model, options, &mut |_| ControlFlow::Continue(())).expect("a graph of nine variables");
    let proof = &solution.certificate;
    assert!(matches!(solution.status, Status::Converged | Status::IterationLimit));
    assert!(solution.s.iter().all(|s| s.is_finite() && (0.0..=1.0).contains(&(1.0 / (1.0 + s.exp())))));
    assert!(proof.gap >= 0.0 && proof.gap_per_pixel >= 0.0 && proof.error_bound >= 0.0 && proof.map_gap >= 0.0);
    assert!(proof.log_z_upper.is_finite() && proof.log_z_lower.is_finite() && proof.map_energy.is_finite());
    // Sums of numbers of this size are known to so many digits.
    let rounding = 1e-9 * (1.0 + size);
    let sets = (0..1_usize << N).map(|bits| (0..N).map(|v| bits >> v & 1 == 1).collect::<Vec<_>>());
    let energies: Vec<f64> = sets.map(|set| model.energy(&set)).collect();
    let least = energies.iter().copied().fold(f64::INFINITY, f64::min);
    let log_z = energies.iter().map(|energy| (least - energy).exp()).sum::<f64>().ln() - least;
    assert!(proof.map_lower_bound <= least + rounding && least <= proof.map_energy + rounding, "{proof:?}, {least}");
    assert!(proof.log_z_lower <= log_z + rounding && log_z <= proof.log_z_upper + rounding, "{proof:?}, {log_z}");
    assert!(!proof.map_proved_optimal || proof.map_energy <= least + rounding, "{proof:?}, {least}");
    assert!((model.energy(&solution.set) - proof.map_energy).abs() <= rounding);
    for (s, &inside) in solution.s.iter().zip(&solution.set) {
        assert!(options.map.contains(*s) == inside, "{s} and {inside}");
    }
}
