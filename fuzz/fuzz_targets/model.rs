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
    if let (Ok((model, plain)), Ok(options)) = (model(u), options(u)) {
        judge(&model, &plain, &options);
    }
});

/// The same function from its definition, for sets given by their bits.
#[derive(Default)]
struct Plain {
    unary: Vec<f64>,
    edges: Vec<(u32, u32, f64)>,
    /// The pixels of each superpixel, and its height by the number of them in the set.
    superpixels: Vec<(usize, Vec<f64>)>,
}

impl Plain {
    fn energy(&self, set: usize) -> f64 {
        let inside = |v: u32| set >> v & 1 == 1;
        let unary: f64 = (0..).zip(&self.unary).filter(|&(v, _)| inside(v)).map(|(_, m)| m).sum();
        let cut: f64 = self.edges.iter().filter(|&&(p, q, _)| inside(p) != inside(q)).map(|(.., w)| w).sum();
        let height = |(pixels, heights): &(usize, Vec<f64>)| heights[(set & pixels).count_ones() as usize];
        unary + cut + self.superpixels.iter().map(height).sum::<f64>()
    }

    /// The sum of the sizes of its numbers.
    fn size(&self) -> f64 {
        let highest = |heights: &[f64]| heights.iter().fold(0.0, |highest: f64, h| highest.max(h.abs()));
        let superpixels: f64 = self.superpixels.iter().map(|(_, heights)| highest(heights)).sum();
        self.unary.iter().map(|m| m.abs()).sum::<f64>() + self.edges.iter().map(|(.., w)| w).sum::<f64>() + superpixels
    }
}

/// A grid with cut edges and superpixels.
fn model(u: &mut Unstructured<'_>) -> Result<(Model, Plain)> {
    let unary = (0..N).map(|_| lfield_fuzz::cost(u)).collect::<Result<Vec<_>>>()?;
    let mut plain = Plain { unary: unary.clone(), ..Plain::default() };
    let mut line = |u: &mut Unstructured<'_>, scope: Vec<u32>| {
        let weights = (1..SIDE).map(|_| lfield_fuzz::weight(u)).collect::<Result<Vec<_>>>()?;
        plain.edges.extend(scope.windows(2).zip(&weights).map(|(pair, &w)| (pair[0], pair[1], w)));
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
        let (factor, height): (_, Box<dyn Fn(usize) -> f64>) = if u.arbitrary()? {
            let share = move |k: usize| k as f64 / n.max(1) as f64;
            (Cardinality::quadratic(n, 0, n.max(1), weight), Box::new(move |k| weight * share(k) * (1.0 - share(k))))
        } else {
            let gain = move |i: usize| if 2 * i < n { weight } else { -weight };
            (Cardinality::from_gains((0..n).map(gain).collect()), Box::new(move |k| (0..k).map(gain).sum()))
        };
        plain.superpixels.push((scope.iter().map(|v| 1 << v).sum(), (0..=n).map(height).collect()));
        superpixels.push((scope, Box::new(factor.expect("a concave table")) as Box<dyn Factor>));
    }
    let layers = [rows, columns, superpixels].map(|factors| Layer::new(N, factors));
    Ok((Model::new(unary, layers.into()).expect("costs are finite"), plain))
}

fn options(u: &mut Unstructured<'_>) -> Result<Options> {
    let solver = *u.choose(&SolverKind::ALL)?;
    Ok(Options {
        solver,
        factors: *u.choose(&[Factors::Layers, Factors::Edges])?,
        map: *u.choose(&[MapChoice::Minimal, MapChoice::Maximal])?,
        max_iterations: u.int_in_range(0..=60)?,
        ..Options::default()
    })
}

fn judge(model: &Model, plain: &Plain, options: &Options) {
    let solution = solve(model, options, &mut |_| ControlFlow::Continue(())).expect("a graph of nine variables");
    let proof = &solution.certificate;
    assert!(matches!(solution.status, Status::Converged | Status::Rounding | Status::IterationLimit));
    assert!(solution.s.iter().all(|s| s.is_finite() && (0.0..=1.0).contains(&(1.0 / (1.0 + s.exp())))));
    assert!(proof.gap >= 0.0 && proof.gap_per_pixel >= 0.0 && proof.error_bound >= 0.0 && proof.map_gap >= 0.0);
    assert!(proof.log_z_upper.is_finite() && proof.log_z_lower.is_finite() && proof.map_energy.is_finite());
    // Sums of numbers of this size are known to so many digits.
    let rounding = 1e-9 * (1.0 + plain.size());
    let energies: Vec<f64> = (0..1_usize << N).map(|set| plain.energy(set)).collect();
    let least = energies.iter().copied().fold(f64::INFINITY, f64::min);
    let log_z = energies.iter().map(|energy| (least - energy).exp()).sum::<f64>().ln() - least;
    assert!(proof.map_lower_bound <= least + rounding && least <= proof.map_energy + rounding, "{proof:?}, {least}");
    assert!(proof.log_z_lower <= log_z + rounding && log_z <= proof.log_z_upper + rounding, "{proof:?}, {log_z}");
    assert!(!proof.map_proved_optimal || proof.map_energy <= least + rounding, "{proof:?}, {least}");
    let found: usize = (0..N).filter(|&v| solution.set[v]).map(|v| 1 << v).sum();
    assert!((model.energy(&solution.set) - proof.map_energy).abs() <= rounding);
    assert!((energies[found] - proof.map_energy).abs() <= rounding, "{proof:?}, {}", energies[found]);
    for (s, &inside) in solution.s.iter().zip(&solution.set) {
        assert!(options.map.contains(*s) == inside, "{s} and {inside}");
    }
}
