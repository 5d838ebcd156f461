//! The exact mask: a minimum cut of the pixels that s leaves undecided.
//!
//! Any feasible s with L = Σ min(s, 0) ≤ min F decides most pixels by itself. Let A be the pixels with s < 0 and δ ≥ F(A) − L. A set that
//! differs from A at v costs at least s(A′) ≥ L + |s_v|, so it is no better than A unless |s_v| ≤ δ. (The duality gap g says so too, beyond
//! √(2g), but δ is nearly always far smaller.) What is left is F on the undecided pixels with the others fixed, small and a graph
//! again ([`Network`]); its minimum cut finishes the mask.
//!
//! The cut is exact for the network, which counts in whole units and so differs from F by up to η for any set. The mask is thus within
//! 2η of the optimum. A pixel is inside every optimal mask if it is inside the smallest minimum cut when each pixel costs more
//! by some bias above 2η: were it missing from an optimal mask, adding it would by submodularity save the bias and lose at most 2η.
//! Likewise outside, with the sign turned.
//!
//! Cut edges always are a graph. Superpixels are one as long as their undecided parts are small or robust; otherwise there is no
//! exact answer here, and the certificate says how far off the best level set can be.

use super::MapChoice;
use super::network::Network;
use super::proof::Proof;
use crate::kernel::max_flow::Side;
use crate::kernel::rounding::{EPSILON, at_least};
use crate::model::Model;
use crate::{Checkpoint, Result};

/// Edges that superpixels may need before the exact mask costs more than the solve.
const MAX_EDGES: usize = 1_000_000;

/// The optimal mask.
pub(super) struct Exact {
    pub(super) set: Vec<bool>,
    /// How far above min F the mask can be.
    pub(super) gap: f64,
    /// Pixels that are on one side in every optimal mask.
    pub(super) settled: Vec<bool>,
}

/// The smallest or largest minimiser of F, for a point with this duality gap; `None` when the undecided part is no graph of
/// reasonable size.
pub(super) fn exact(
    model: &Model,
    proof: &Proof<'_>,
    gap: f64,
    choice: MapChoice,
    checkpoint: Checkpoint<'_>,
) -> Result<Option<Exact>> {
    let s = proof.s;
    let inside: Vec<bool> = s.iter().map(|&s| s < 0.0).collect();
    let radius = ((2.0 * gap).sqrt() * (1.0 + 2.0 * EPSILON)).min(proof.map_gap(&inside));
    let fixed = |v: usize| (s[v].abs() > radius + proof.error[v]).then_some(inside[v]);
    let Ok(mut network) = Network::new(model, fixed, &[], MAX_EDGES, checkpoint)? else { return Ok(None) };
    network.graph.solve_until(0..network.graph.n_nodes(), checkpoint)?;
    let mut set: Vec<bool> = (0..s.len()).map(|v| fixed(v) == Some(true)).collect();
    let mut settled = vec![true; s.len()];
    for (&v, i) in network.variables.iter().zip(0..) {
        let side = network.graph.side(i);
        set[v as usize] = match choice {
            MapChoice::Minimal => side == Side::Source,
            MapChoice::Maximal => side != Side::Sink,
        };
        settled[v as usize] = false;
    }
    let gap = 2.0 * (network.error + at_least(model.rounding().unary.iter().map(|(_, off)| off).sum(), s.len()));
    if let Some(bias) = network.unit.more_than(gap) {
        // The second turn takes back what the first has added.
        for (change, side) in [(-bias, Side::Source), (2 * bias, Side::Sink)] {
            for i in 0..network.variables.len() {
                network.graph.set_excess(i, network.graph.excess(i) + change);
            }
            network.graph.solve_until(0..network.graph.n_nodes(), checkpoint)?;
            for (&v, i) in network.variables.iter().zip(0..) {
                settled[v as usize] |= network.graph.side(i) == side;
            }
        }
    }
    Ok(Some(Exact { set, gap, settled }))
}

#[cfg(test)]
mod tests {
    use ac_library::MfGraph;
    use proptest::prelude::*;

    use super::super::tests::{grid_model, run, sets};
    use super::super::{Options, SolverKind};
    use super::*;
    use crate::factor::{Chain, Factor};
    use crate::model::Layer;

    fn loose(map: MapChoice, sweeps: usize) -> Options {
        Options { map, max_iterations: sweeps, tolerance: 1e-12, ..Options::default() }
    }

    proptest! {
        #![proptest_config(crate::cases(60))]

        #[test]
        fn the_mask_is_the_smallest_or_largest_of_the_best_sets(
            m in prop::collection::vec(-3..=3_i32, 12), w in prop::collection::vec(0..=2_i32, 24),
            labels in prop::collection::vec(0..3_u8, 12), c in 0..3_i32, sweeps in prop_oneof![0..4_usize, Just(300)],
        ) {
            let real = |v: &[i32]| -> Vec<f64> { v.iter().map(|&v| f64::from(v)).collect() };
            let model = grid_model(4, 3, &real(&m), &real(&w), &labels, 8.0 * f64::from(c));
            let energies: Vec<f64> = sets(12).map(|set| model.energy(&set)).collect();
            let least = energies.iter().copied().fold(f64::INFINITY, f64::min);
            let best: Vec<Vec<bool>> = sets(12).zip(&energies).filter(|(_, f)| **f < least + 1e-9).map(|(set, _)| set).collect();
            for map in [MapChoice::Minimal, MapChoice::Maximal] {
                let solution = run(&model, &loose(map, sweeps));
                let proof = &solution.certificate;
                prop_assert!(proof.map_proved_optimal);
                prop_assert!((proof.map_lower_bound - least).abs() < 1e-9 && (proof.map_energy - least).abs() < 1e-9);
                for v in 0..12 {
                    let (all, some) = (best.iter().all(|a| a[v]), best.iter().any(|a| a[v]));
                    // Whole numbers are exact with cut edges alone; superpixel shares round, and may split ties either way.
                    if c == 0 || all == some {
                        prop_assert_eq!(solution.set[v], if map == MapChoice::Minimal { all } else { some });
                    }
                    prop_assert_eq!(map.contains(solution.s[v]), solution.set[v]);
                    prop_assert!(c > 0 || proof.certified[v] == (all == some));
                }
            }
        }
    }

    /// A grid with whole weights, and its smallest and largest mask by an independent program.
    fn whole_grid(width: usize, height: usize, m: &[i64], w: &[i64]) -> (Model, [Vec<bool>; 2]) {
        let n = width * height;
        let mut graphs = [MfGraph::<i64>::new(n + 2), MfGraph::<i64>::new(n + 2)];
        let mut arc = |p: usize, q: usize, c: i64| {
            graphs[0].add_edge(p, q, c);
            graphs[1].add_edge(q, p, c);
        };
        for (v, &m) in m.iter().enumerate() {
            arc(n, v, (-m).max(0));
            arc(v, n + 1, m.max(0));
        }
        let mut weights = w.iter().copied().cycle();
        let mut lines = |count: usize, line: &dyn Fn(usize) -> Vec<u32>| {
            let chain = |i: usize| {
                let scope = line(i);
                let w: Vec<i64> = scope[1..].iter().map(|_| weights.next().unwrap()).collect();
                for (pair, &w) in scope.windows(2).zip(&w) {
                    arc(pair[0] as usize, pair[1] as usize, w);
                    arc(pair[1] as usize, pair[0] as usize, w);
                }
                (scope, Box::new(Chain::new(w.iter().map(|&w| w as f64).collect()).unwrap()) as Box<dyn Factor>)
            };
            Layer::new(n, (0..count).map(chain).collect())
        };
        let rows = lines(height, &|y| (0..width).map(|x| (y * width + x) as u32).collect());
        let columns = lines(width, &|x| (0..height).map(|y| (y * width + x) as u32).collect());
        graphs[0].flow(n, n + 1);
        graphs[1].flow(n + 1, n);
        let smallest = graphs[0].min_cut(n)[..n].to_vec();
        let largest = graphs[1].min_cut(n + 1)[..n].iter().map(|reaches| !reaches).collect();
        let m = m.iter().map(|&m| m as f64).collect();
        (Model::new(m, vec![rows, columns]).unwrap(), [smallest, largest])
    }

    proptest! {
        #![proptest_config(crate::cases(20))]

        #[test]
        fn cut_masks_equal_an_independent_minimum_cut(
            width in 2..40_usize, height in 2..40_usize, strength in 0..20_i64, sweeps in 0..60_usize,
            m in prop::collection::vec(-9..9_i64, 1600), w in prop::collection::vec(0..5_i64, 700), divide in any::<bool>(),
        ) {
            let w: Vec<i64> = w.iter().map(|w| w * strength / 4).collect();
            let (model, masks) = whole_grid(width, height, &m[..width * height], &w);
            let solver = if divide { SolverKind::DivideConquer } else { SolverKind::Accelerated };
            for (map, mask) in [MapChoice::Minimal, MapChoice::Maximal].into_iter().zip(masks) {
                let solution = run(&model, &Options { solver, ..loose(map, sweeps) });
                prop_assert!(solution.certificate.map_proved_optimal);
                prop_assert_eq!(solution.set, mask);
            }
        }
    }
}
