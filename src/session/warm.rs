//! Warm start: the messages of the last solve, kept per pixel and layer.
//!
//! A new stroke changes which pixels are free, a weight which layers there are; what is kept per pixel and by the name of a layer
//! fits every later problem of the same photo. The start need not be feasible: the first sweep projects. The solution
//! of F/T is s/T, so messages are kept at T = 1.

use crate::assemble::Problem;
use crate::grid::Blocks;
use crate::read::Digest;
use crate::solver::Messages;

/// The messages of the last solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Warm {
    layers: Vec<(Digest, Vec<f64>)>,
}

impl Warm {
    /// Keeps the messages of a solved problem; `names` are those of its layers. A pixel under a stroke keeps what it had, for when the
    /// stroke is taken away.
    pub(super) fn keep(&mut self, problem: &Problem, names: &[Digest], temperature: f64, messages: &Messages) {
        let mut earlier = std::mem::take(&mut self.layers);
        let layers = problem.model.layers().iter().zip(messages.layers()).zip(names);
        let spread = layers.map(|((layer, message), &name)| {
            let at = earlier.iter().position(|(kept, _)| *kept == name);
            let mut all = at.map_or_else(|| vec![0.0; problem.shape().n_pixels()], |at| earlier.swap_remove(at).1);
            for (place, value) in message.iter().enumerate() {
                all[problem.free()[layer.variable(place)] as usize] = temperature * value;
            }
            (name, all)
        });
        self.layers = spread.collect();
    }

    /// Where to start a problem on a finer grid with the same layers: every pixel with the messages of its block. A message per pixel means
    /// the same at every level.
    pub(super) fn prolonged(&self, problem: &Problem, blocks: Blocks, temperature: f64) -> Option<Messages> {
        let layers = problem.model.layers();
        if layers.len() != self.layers.len() {
            return None;
        }
        let gather = |(layer, (_, all)): (&crate::model::Layer, &(Digest, Vec<f64>))| {
            let block = |place: usize| blocks.block(problem.free()[layer.variable(place)] as usize);
            (0..layer.n_variables()).map(|place| all[block(place)] / temperature).collect()
        };
        Some(Messages::new(layers.iter().zip(&self.layers).map(gather).collect()))
    }

    /// Where to start a problem with layers of these names, if any of them was solved before.
    pub(super) fn start(&self, problem: &Problem, names: &[Digest], temperature: f64) -> Option<Messages> {
        let find = |name: &Digest| self.layers.iter().find(|(kept, _)| kept == name);
        if !names.iter().any(|name| find(name).is_some()) {
            return None;
        }
        let gather = |(layer, name): (&crate::model::Layer, &Digest)| match find(name) {
            Some((_, all)) => {
                let pixel = |place: usize| problem.free()[layer.variable(place)] as usize;
                (0..layer.n_variables()).map(|place| all[pixel(place)] / temperature).collect()
            }
            None => vec![0.0; layer.n_variables()],
        };
        Some(Messages::new(problem.model.layers().iter().zip(names).map(gather).collect()))
    }
}
