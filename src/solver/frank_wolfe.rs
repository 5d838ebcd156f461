//! Frank–Wolfe with pairwise steps and exact line search: B(F) is seen only through its greedy vertices.
//!
//! s is a convex combination of *atoms*. A step finds the vertex v that Edmonds' algorithm gives for −s; first it moves weight
//! from the worst atom to the best while that falls more steeply than the way to v would, then it goes towards v; always as
//! far as ½‖s‖² falls or the combination allows. The gap ⟨s, s − v⟩ is the certificate's. The order is O(1/k) whatever the model, and
//! linear in the end, where the pairwise steps have emptied the atoms off the optimal face (Lacoste-Julien & Jaggi 2015; the
//! blend of both kinds of steps: Tsuji, Tanaka & Pokutta 2022). Steps away from the worst atom alone stalled now and then.
//!
//! Atoms cost a vector each. Beyond a budget of memory the two lightest are merged into their mean, which is still in B(F):
//! a large photo thus runs in constant memory, with means among the atoms.

use super::{Point, Solver};
use crate::model::{Model, ordered_sum};
use crate::{Checkpoint, Result};

/// Numbers that all atoms together may hold, 256 MB of them.
const BUDGET: usize = 1 << 25;

/// Atoms kept even if that is more.
const LEAST_ATOMS: usize = 8;

/// Moves between atoms for each new vertex, at most.
const LOCAL_STEPS: usize = 100;

/// State of the iteration.
pub(super) struct FrankWolfe<'a> {
    model: &'a Model,
    atoms: Vec<Atom>,
    most_atoms: usize,
    /// s = Σ weight · vector.
    point: Vec<f64>,
    /// s_r = Σ weight · message, one per layer, filled in when asked for.
    messages: Vec<Vec<f64>>,
}

struct Atom {
    weight: f64,
    vector: Vec<f64>,
    /// What the vector is the sum of, but for m.
    messages: Vec<Vec<f64>>,
}

impl Atom {
    /// The greedy vertex for x.
    fn vertex(model: &Model, x: &[f64], weight: f64) -> Self {
        let messages = model.greedy_messages(x);
        Self { weight, vector: model.total(&messages), messages }
    }
}

impl<'a> FrankWolfe<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let towards: Vec<f64> = model.unary().iter().map(|m| -m).collect();
        let atom = Atom::vertex(model, &towards, 1.0);
        let numbers = model.n_variables() * (1 + model.layers().len());
        let most_atoms = (BUDGET / numbers.max(1)).max(LEAST_ATOMS);
        Self { model, point: atom.vector.clone(), messages: atom.messages.clone(), atoms: vec![atom], most_atoms }
    }

    /// Makes room for one more atom: the two lightest become one.
    fn merge(&mut self) {
        self.atoms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let (Some(light), Some(other)) = (self.atoms.pop(), self.atoms.last_mut()) else { return };
        let weight = light.weight + other.weight;
        let share = light.weight / weight;
        let blend = |a: &mut [f64], b: &[f64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += share * (b - *a));
        blend(&mut other.vector, &light.vector);
        other.messages.iter_mut().zip(&light.messages).for_each(|(a, b)| blend(a, b));
        other.weight = weight;
    }

    /// Moves weight from the worst atom to the best as long as that falls more steeply than `towards`; a few times, for each costs
    /// about as much as finding a vertex.
    fn balance(&mut self, towards: f64, checkpoint: Checkpoint<'_>) -> Result<()> {
        for _ in 0..LOCAL_STEPS {
            checkpoint()?;
            let heights: Vec<f64> = self.atoms.iter().map(|atom| dot(&self.point, &atom.vector)).collect();
            let by_height = |a: &usize, b: &usize| heights[*a].total_cmp(&heights[*b]);
            let worst = (0..heights.len()).max_by(by_height).expect("weights sum to 1");
            let best = (0..heights.len()).min_by(by_height).expect("weights sum to 1");
            let fall = heights[worst] - heights[best];
            if fall <= 0.0 || fall < towards {
                break;
            }
            let way: Vec<f64> =
                self.atoms[best].vector.iter().zip(&self.atoms[worst].vector).map(|(b, w)| b - w).collect();
            let most = self.atoms[worst].weight;
            let gamma = (fall / dot(&way, &way)).min(most);
            self.point.iter_mut().zip(&way).for_each(|(s, d)| *s += gamma * d);
            self.atoms[best].weight += gamma;
            if gamma < most {
                self.atoms[worst].weight -= gamma;
            } else {
                self.atoms.swap_remove(worst);
            }
        }
        Ok(())
    }

    /// Moves weight between atoms, then towards the vertex for −s.
    fn walk(&mut self, checkpoint: Checkpoint<'_>) -> Result<()> {
        checkpoint()?;
        let downhill: Vec<f64> = self.point.iter().map(|s| -s).collect();
        let vertex = Atom::vertex(self.model, &downhill, 0.0);
        let towards = dot(&self.point, &self.point) - dot(&self.point, &vertex.vector);
        self.balance(towards, checkpoint)?;
        // s ← s + γ (v − s)
        let way: Vec<f64> = vertex.vector.iter().zip(&self.point).map(|(v, s)| v - s).collect();
        let gamma = (-dot(&self.point, &way) / dot(&way, &way)).min(1.0);
        // Not a number when s is the vertex.
        if gamma.is_nan() || gamma <= 0.0 {
            return Ok(());
        }
        self.point.iter_mut().zip(&way).for_each(|(s, d)| *s += gamma * d);
        self.atoms.iter_mut().for_each(|atom| atom.weight *= 1.0 - gamma);
        match self.atoms.iter_mut().find(|atom| atom.vector == vertex.vector) {
            Some(known) => known.weight += gamma,
            None => self.atoms.push(Atom { weight: gamma, ..vertex }),
        }
        self.atoms.retain(|atom| atom.weight > 0.0);
        if self.atoms.len() > self.most_atoms {
            self.merge();
        }
        Ok(())
    }
}

impl Solver for FrankWolfe<'_> {
    fn step(&mut self) {
        self.step_until(&|| Ok(())).expect("this checkpoint does not fail");
    }

    fn step_until(&mut self, checkpoint: Checkpoint<'_>) -> Result<()> {
        self.walk(checkpoint)?;
        // Weights that sum to one, so that rounding does not carry s out of B(F).
        let sum: f64 = self.atoms.iter().map(|atom| atom.weight).sum();
        self.atoms.iter_mut().for_each(|atom| atom.weight /= sum);
        Ok(())
    }

    fn point(&mut self) -> Point<'_> {
        // Summed anew, free of the rounding errors that moving it has gathered.
        self.messages.iter_mut().for_each(|message| message.fill(0.0));
        for Atom { weight, messages, .. } in &self.atoms {
            for (total, message) in self.messages.iter_mut().zip(messages) {
                total.iter_mut().zip(message).for_each(|(s, a)| *s += weight * a);
            }
        }
        self.model.total_into(&self.messages, &mut self.point);
        Point { s: &self.point, messages: self.messages.iter().map(|message| &message[..]).collect() }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    ordered_sum(a, b, |a, b| a * b)
}
