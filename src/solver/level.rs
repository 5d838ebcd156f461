//! Level sets: the optimum of F + λ|·| for every λ, from one solution.
//!
//! B(F + λ|·|) = B(F) + λ·1. So if the messages s_r give s = m + Σ s_r for F, the same messages give s + λ for F + λ|·|: the
//! solution moves by λ, x* becomes x* − λ, and {x* > λ} minimises F(A) + λ|A| (parametric maximum flow). Nothing is solved again.
//! The [certificate](Certificate) is issued for the moved point, and the mask of every level is finished by its own minimum cut
//! ([`map`](super::map)), so it is an exact minimiser wherever that is said.

use super::certificate::MapChoice;
use super::primal::Primal;
use super::proof::Proof;
use super::{Certificate, Messages, Options, Point, Solution, map};
use crate::model::Model;
use crate::{Checkpoint, Result};

/// A path has a level for each of so many shares of the variables, as far as they differ.
const STEPS: usize = 50;

/// Minimum cuts that the search for an area may take.
const TRIES: usize = 10;

/// What a solution says about a `model` that differs from the one solved by a bias: `messages` are those of the solution.
pub fn certify(
    model: &Model,
    solution: Solution,
    messages: &Messages,
    options: &Options,
    checkpoint: Checkpoint<'_>,
) -> Result<Solution> {
    let base = model.total(&messages.0);
    let point = Point { s: &base, messages: messages.0.iter().map(Vec::as_slice).collect() };
    let mut primal = Primal::default();
    primal.find(model, point.s);
    let (set, certificate) = Certificate::issue(model, &point, &mut primal, options.map, checkpoint)?;
    let s = primal.x.iter().map(|x| -x).collect();
    let status = solution.status.judged(&certificate, options);
    Ok(Solution { s, base, set, certificate, status, ..solution })
}

/// All levels of a solution.
#[derive(Debug)]
pub struct Levels<'a> {
    model: &'a Model,
    messages: Vec<&'a [f64]>,
    s: Vec<f64>,
    /// s, ascending.
    sorted: Vec<f64>,
    gap: f64,
    choice: MapChoice,
}

/// A minimiser of F + λ|·|.
#[derive(Clone, Debug)]
pub struct Level {
    /// λ.
    pub bias: f64,
    /// The set.
    pub set: Vec<bool>,
    /// F of the set, without the bias.
    pub energy: f64,
    /// No set has F + λ|·| smaller by more than this.
    pub gap: f64,
}

impl<'a> Levels<'a> {
    /// The levels of a solution with these messages and this duality gap.
    pub fn new(model: &'a Model, messages: &'a Messages, gap: f64, choice: MapChoice) -> Self {
        let s = model.total(&messages.0);
        let mut sorted = s.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let messages = messages.0.iter().map(Vec::as_slice).collect();
        Self { model, messages, s, sorted, gap, choice }
    }

    /// The level of one bias.
    pub fn at(&self, bias: f64, checkpoint: Checkpoint<'_>) -> Result<Level> {
        let model = self.model.with_bias(bias, 0);
        let s: Vec<f64> = self.s.iter().map(|s| s + bias).collect();
        let point = Point { s: &s, messages: self.messages.clone() };
        let proof = Proof::new(&model, &point);
        let (set, gap) = match map::exact(&model, &proof, self.gap, self.choice, checkpoint)? {
            Some(exact) => (exact.set, exact.gap),
            None => {
                let set: Vec<bool> = s.iter().map(|&s| self.choice.contains(s)).collect();
                let gap = proof.map_gap(&set);
                (set, gap)
            }
        };
        Ok(Level { bias, energy: self.model.energy(&set), set, gap })
    }

    /// Biases, falling, at which the set changes much: in every fiftieth of the variables the widest step of s, and no bias at all.
    pub fn biases(&self) -> Vec<f64> {
        let n = self.sorted.len();
        let widest = |step: usize| {
            let (from, to) = ((step * n / STEPS).max(1), ((step + 1) * n / STEPS).min(n));
            let width = |&k: &usize| self.sorted[k] - self.sorted[k - 1];
            (from..to).max_by(|a, b| width(a).total_cmp(&width(b)).then(b.cmp(a))).map(|k| self.between(k))
        };
        let mut biases: Vec<f64> =
            (0..STEPS).filter_map(widest).chain([self.between(0), 0.0, self.between(n)]).collect();
        biases.sort_unstable_by(|a, b| b.total_cmp(a));
        biases.dedup();
        biases
    }

    /// The bias whose set has the number of variables nearest to `count`, as far as a few minimum cuts can tell.
    pub fn nearest(&self, count: usize, checkpoint: Checkpoint<'_>) -> Result<f64> {
        let mut bias = self.between(count);
        // Sets shrink as the bias grows.
        let (mut small, mut large) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut best = (usize::MAX, bias);
        let mut step = 1e-3;
        for _ in 0..TRIES {
            let found = self.at(bias, checkpoint)?.set.iter().filter(|&&inside| inside).count();
            best = if found.abs_diff(count) < best.0 { (found.abs_diff(count), bias) } else { best };
            match found.cmp(&count) {
                std::cmp::Ordering::Equal => break,
                std::cmp::Ordering::Greater => small = bias,
                std::cmp::Ordering::Less => large = bias,
            }
            bias = match (small.is_finite(), large.is_finite()) {
                (true, true) => 0.5 * (small + large),
                (true, false) => small + step,
                _ => large - step,
            };
            step *= 4.0;
        }
        Ok(best.1)
    }

    /// A bias between those at which the k-th and the next variable come in.
    fn between(&self, k: usize) -> f64 {
        match (k.checked_sub(1).and_then(|k| self.sorted.get(k)), self.sorted.get(k)) {
            (Some(a), Some(b)) => -0.5 * (a + b),
            (Some(a), None) => -(a + 1.0),
            (None, Some(b)) => -(b - 1.0),
            (None, None) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::super::tests::{grid_model, run, sets, tight};
    use super::super::{SolverKind, solve};
    use super::*;

    #[test]
    fn a_moved_solution_is_converged_only_where_its_own_certificate_says_so() {
        let model =
            grid_model(4, 3, &[0.7, -1.1, 0.4, 2.0, -0.3, 0.9, -1.7, 0.2, 1.3, -0.6, 0.8, -2.1], &[0.5], &[0; 12], 2.0);
        let options = Options { max_iterations: 1, ..tight(SolverKind::Accelerated) };
        let solution = run(&model, &options);
        assert!(solution.certificate.gap > 0.0);
        let messages = solution.messages.clone().unwrap();
        let claimed = Solution { status: super::super::Status::Converged, ..solution };
        let judged = |tolerance: f64| {
            let options = Options { tolerance, ..options.clone() };
            certify(&model.with_bias(0.3, 0), claimed.clone(), &messages, &options, &|| Ok(())).unwrap()
        };
        let gap = judged(1.0).certificate.gap_per_pixel;
        assert_eq!(judged(2.0 * gap).status, super::super::Status::Converged);
        assert_eq!(judged(0.5 * gap).status, super::super::Status::Rounding);
    }

    proptest! {
        #![proptest_config(crate::cases(40))]

        #[test]
        fn every_level_is_a_minimiser_and_its_certificate_true(
            m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.0..1.5_f64, 24),
            labels in prop::collection::vec(0..3_u8, 12), c in 0.0..6.0_f64, bias in -4.0..4.0_f64, known in 0..3_usize,
            sweeps in prop_oneof![1..6_usize, Just(20_000)],
        ) {
            let model = grid_model(4, 3, &m, &w, &labels, c).with_constant(0.3);
            let options = Options { max_iterations: sweeps, ..tight(SolverKind::Accelerated) };
            let solution = run(&model, &options);
            let messages = solution.messages.clone().unwrap();
            let size = |set: &[bool]| set.iter().filter(|&&inside| inside).count() as f64;
            let least = |bias: f64| {
                sets(12).map(|set| model.energy(&set) + bias * size(&set)).fold(f64::INFINITY, f64::min)
            };
            let levels = Levels::new(&model, &messages, solution.certificate.gap, MapChoice::Minimal);
            let mut before = 0.0;
            for bias in levels.biases() {
                let level = levels.at(bias, &|| Ok(())).unwrap();
                let value = level.energy + bias * size(&level.set);
                prop_assert!(level.gap < 1e-6 && value <= least(bias) + 1e-6, "{bias}: {value} > {}", least(bias));
                prop_assert!(size(&level.set) >= before, "sets do not shrink as the bias falls");
                before = size(&level.set);
            }
            let biased = model.with_bias(bias, known);
            let moved = certify(&biased, solution.clone(), &messages, &options, &|| Ok(())).unwrap();
            let log_z = -(bias * known as f64)
                + sets(12).map(|set| (-model.energy(&set) - bias * size(&set)).exp()).sum::<f64>().ln();
            let proof = &moved.certificate;
            let least = least(bias) + bias * known as f64;
            prop_assert!(proof.map_lower_bound <= least + 1e-9 && least <= proof.map_energy + 1e-9);
            prop_assert!(proof.map_energy <= least + 1e-6 && proof.map_proved_optimal);
            prop_assert!(proof.log_z_lower <= log_z + 1e-9 && log_z <= proof.log_z_upper + 1e-9);
            let own = run(&biased, &tight(SolverKind::Accelerated));
            for (moved, own) in moved.s.iter().zip(&own.s) {
                prop_assert!((moved - own).abs() <= proof.error_bound + 1e-6);
            }
        }

        #[test]
        fn an_area_is_met_by_the_nearest_level(
            m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.0..1.5_f64, 24),
            labels in prop::collection::vec(0..3_u8, 12), c in 0.0..6.0_f64, count in 0..=12_usize,
        ) {
            let model = grid_model(4, 3, &m, &w, &labels, c);
            let solution = solve(&model, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
            let messages = solution.messages.unwrap();
            let levels = Levels::new(&model, &messages, solution.certificate.gap, MapChoice::Minimal);
            let area = |bias: f64| levels.at(bias, &|| Ok(())).unwrap().set.iter().filter(|&&inside| inside).count();
            let found = area(levels.nearest(count, &|| Ok(())).unwrap());
            let nearest = levels.biases().into_iter().map(|bias| area(bias).abs_diff(count)).min().unwrap();
            prop_assert!(found.abs_diff(count) <= nearest, "{found} for {count}");
        }
    }
}
