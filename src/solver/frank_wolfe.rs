//! Frank–Wolfe with away steps and exact line search: B(F) is seen only through its greedy vertices.
//!
//! s is a convex combination of *atoms*. A step goes towards the vertex v that Edmonds' algorithm finds for −s, or away from the
//! worst atom, whichever falls more steeply, and as far as ½‖s‖² falls or the combination allows. The gap ⟨s, s − v⟩ is
//! the certificate's. The order is O(1/k) whatever the model, and linear in the end, where the steps away have emptied the
//! atoms off the optimal face (Lacoste-Julien & Jaggi 2015).
//!
//! Atoms cost a vector each. Beyond a budget of memory the two lightest are merged into their mean, which is still in B(F):
//! a large photo thus runs in constant memory, with steps away from means instead of vertices.

use super::Solver;
use crate::model::{Model, ordered_sum};

/// Numbers that all atoms together may hold, 256 MB of them.
const BUDGET: usize = 1 << 25;

/// Atoms kept even if that is more.
const LEAST_ATOMS: usize = 8;

/// State of the iteration.
pub(super) struct FrankWolfe<'a> {
    model: &'a Model,
    atoms: Vec<Atom>,
    most_atoms: usize,
    /// s = Σ weight · vector.
    point: Vec<f64>,
}

struct Atom {
    weight: f64,
    vector: Vec<f64>,
}

impl<'a> FrankWolfe<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let towards: Vec<f64> = model.unary().iter().map(|m| -m).collect();
        let vector = model.greedy(&towards);
        let most_atoms = (BUDGET / model.n_variables().max(1)).max(LEAST_ATOMS);
        Self { model, point: vector.clone(), atoms: vec![Atom { weight: 1.0, vector }], most_atoms }
    }

    /// Makes room for one more atom: the two lightest become one.
    fn merge(&mut self) {
        self.atoms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let (Some(light), Some(other)) = (self.atoms.pop(), self.atoms.last_mut()) else { return };
        let weight = light.weight + other.weight;
        let share = light.weight / weight;
        other.vector.iter_mut().zip(&light.vector).for_each(|(a, b)| *a += share * (b - *a));
        other.weight = weight;
    }
}

impl Solver for FrankWolfe<'_> {
    fn step(&mut self) {
        let s = &self.point;
        let downhill: Vec<f64> = s.iter().map(|s| -s).collect();
        let vertex = self.model.greedy(&downhill);
        let squared = dot(s, s);
        let towards = squared - dot(s, &vertex);
        let heights: Vec<f64> = self.atoms.iter().map(|atom| dot(s, &atom.vector)).collect();
        let worst = (0..heights.len()).max_by(|&a, &b| heights[a].total_cmp(&heights[b])).expect("weights sum to 1");
        let away = heights[worst] - squared;
        if towards <= 0.0 && away <= 0.0 {
            return;
        }
        if towards >= away {
            // s ← s + γ (v − s)
            let length: f64 = squared - 2.0 * dot(s, &vertex) + dot(&vertex, &vertex);
            let gamma = (towards / length).min(1.0);
            self.point.iter_mut().zip(&vertex).for_each(|(s, v)| *s += gamma * (v - *s));
            self.atoms.iter_mut().for_each(|atom| atom.weight *= 1.0 - gamma);
            match self.atoms.iter_mut().find(|atom| atom.vector == vertex) {
                Some(known) => known.weight += gamma,
                None => self.atoms.push(Atom { weight: gamma, vector: vertex }),
            }
            if self.atoms.len() > self.most_atoms {
                self.merge();
            }
        } else {
            // s ← s + γ (s − a), until the atom's weight is gone
            let atom = &self.atoms[worst];
            let length = squared - 2.0 * heights[worst] + dot(&atom.vector, &atom.vector);
            let most = atom.weight / (1.0 - atom.weight);
            let gamma = (away / length).min(most);
            self.point.iter_mut().zip(&atom.vector).for_each(|(s, a)| *s += gamma * (*s - a));
            self.atoms.iter_mut().for_each(|atom| atom.weight *= 1.0 + gamma);
            self.atoms[worst].weight -= gamma;
            if gamma == most {
                self.atoms.swap_remove(worst);
            }
        }
        self.atoms.retain(|atom| atom.weight > 0.0);
    }

    fn point(&mut self) -> &[f64] {
        // Summed anew with weights that sum to one, so that rounding does not carry s out of B(F).
        let sum: f64 = self.atoms.iter().map(|atom| atom.weight).sum();
        self.point.fill(0.0);
        for Atom { weight, vector } in &mut self.atoms {
            *weight /= sum;
            self.point.iter_mut().zip(&*vector).for_each(|(s, a)| *s += *weight * a);
        }
        &self.point
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    ordered_sum(a, b, |a, b| a * b)
}
