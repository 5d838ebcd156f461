//! Messages per pixel: what is kept of a solution when strokes or weights change, and another set of pixels is free.
//!
//! A message s_r belongs to a layer and a variable. Kept by layer and pixel instead, it can be gathered for any other problem on the
//! same grid. The result need not lie in the base polytopes of that problem; the first sweep of
//! [`solve_from`](crate::solver::solve_from) projects it there.

use super::Problem;
use super::contract::Kind;
use crate::field::Shape;
use crate::solver::Messages;

/// The messages of a solution by layer and pixel; zero where there was none.
#[derive(Clone, Debug)]
pub struct PixelMessages {
    shape: Shape,
    layers: Vec<(Kind, Vec<f64>)>,
}

impl PixelMessages {
    /// No message for any pixel of a grid.
    pub fn new(shape: Shape) -> Self {
        Self { shape, layers: Vec::new() }
    }

    /// The shape of the grid.
    pub fn shape(&self) -> Shape {
        self.shape
    }
}

impl Problem {
    /// Writes the messages of a solution of this problem into `kept`. Pixels under strokes keep what an earlier problem wrote, and so do
    /// layers that this problem does not have.
    ///
    /// # Panics
    /// When the messages are of another problem or `kept` is of another shape.
    pub fn keep(&self, messages: &Messages, kept: &mut PixelMessages) {
        assert_eq!(kept.shape, self.shape(), "messages of another grid");
        assert_eq!(messages.layers().len(), self.kinds.len(), "messages of another problem");
        for ((layer, message), &kind) in self.model.layers().iter().zip(messages.layers()).zip(&self.kinds) {
            let at = kept.layers.iter().position(|(of, _)| *of == kind).unwrap_or_else(|| {
                kept.layers.push((kind, vec![0.0; self.shape().n_pixels()]));
                kept.layers.len() - 1
            });
            let values = &mut kept.layers[at].1;
            for (place, &value) in message.iter().enumerate() {
                values[self.free()[layer.variable(place)] as usize] = value;
            }
        }
    }

    /// The messages kept for the free pixels of this problem, in its layer order; zero where there is none.
    ///
    /// # Panics
    /// When `kept` is of another shape.
    pub fn start(&self, kept: &PixelMessages) -> Messages {
        assert_eq!(kept.shape, self.shape(), "messages of another grid");
        let gathered = self.model.layers().iter().zip(&self.kinds).map(|(layer, kind)| {
            match kept.layers.iter().find(|(of, _)| of == kind) {
                None => vec![0.0; layer.n_variables()],
                Some((_, values)) => {
                    let pixel = |place| self.free()[layer.variable(place)] as usize;
                    (0..layer.n_variables()).map(|place| values[pixel(place)]).collect()
                }
            }
        });
        Messages::new(gathered.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, model};
    use super::*;
    use crate::annotation::{Seed, Seeds};
    use crate::field::{Partition, Unary};
    use crate::picture::Picture;
    use crate::solver::{self, Solution};

    const SHAPE: Shape = Shape { width: 12, height: 9 };

    fn noise(i: usize) -> f64 {
        ((i * 7919) % 1009) as f64 / 504.5 - 1.0
    }

    /// A problem with a stroke in the first columns of the given rows.
    fn problem(rows: &[usize], beta: f64) -> Problem {
        let n = SHAPE.n_pixels();
        let picture = Picture::new(SHAPE, (0..n).map(|p| [(100.0 + 20.0 * noise(p)) as u8; 3]).collect());
        let unary = Unary::new(SHAPE, (0..n).map(|p| 3.0 * noise(p + 5)).collect()).unwrap();
        let labels: Vec<u32> = (0..n as u32).map(|p| p % 12 / 4 + p / 12 / 3 * 3).collect();
        let is_stroke = |p: usize| p % 12 < 5 && rows.contains(&(p / 12));
        let seeds = (0..n).map(|p| if is_stroke(p) { Seed::Foreground } else { Seed::Unlabelled }).collect();
        let options = Options { beta, ..Options::default() };
        let partitions = [Partition::from_labels(SHAPE, &labels)];
        model(&picture, &unary, &partitions, Some(&Seeds::new(SHAPE, seeds)), &options, &|| Ok(())).unwrap()
    }

    fn solve(problem: &Problem, start: Option<&PixelMessages>) -> Solution {
        let options = solver::Options { tolerance: 1e-12, ..solver::Options::default() };
        let start = start.map(|kept| problem.start(kept));
        let mut observe = |_: &solver::Progress| std::ops::ControlFlow::Continue(());
        solver::solve_until(&problem.model, &options, start.as_ref(), &mut observe, &|| Ok(())).unwrap()
    }

    #[test]
    fn what_was_kept_of_a_problem_is_where_it_starts_again() {
        let problem = problem(&[4], 2.0);
        let messages = solve(&problem, None).messages.unwrap();
        let mut kept = PixelMessages::new(SHAPE);
        problem.keep(&messages, &mut kept);
        assert_eq!(problem.start(&kept).layers(), messages.layers());
        assert_eq!(solve(&problem, Some(&kept)).iterations, 0);
    }

    #[test]
    fn other_strokes_and_weights_start_from_what_was_kept_and_end_where_a_cold_start_does() {
        let mut kept = PixelMessages::new(SHAPE);
        for (rows, beta) in [(&[4][..], 2.0), (&[4, 7], 2.0), (&[7], 2.0), (&[7], 0.0), (&[1, 2], 3.0), (&[], 3.0)] {
            let problem = problem(rows, beta);
            let (cold, warm) = (solve(&problem, None), solve(&problem, Some(&kept)));
            let apart = cold.s.iter().zip(&warm.s).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let allowed = cold.certificate.error_bound + warm.certificate.error_bound;
            assert!(apart <= allowed, "{apart} {allowed}");
            problem.keep(&warm.messages.unwrap(), &mut kept);
        }
    }

    #[test]
    fn a_pixel_keeps_its_message_while_a_stroke_covers_it() {
        let (bare, covered) = (problem(&[], 2.0), problem(&[3], 2.0));
        let mut kept = PixelMessages::new(SHAPE);
        bare.keep(&solve(&bare, None).messages.unwrap(), &mut kept);
        let before = bare.start(&kept);
        covered.keep(&solve(&covered, None).messages.unwrap(), &mut kept);
        let (after, covered_pixel) = (bare.start(&kept), 3 * 12 + 2);
        let at = bare.model.layers()[0].place(covered_pixel);
        assert_eq!(before.layers()[0][at], after.layers()[0][at]);
        assert_ne!(before.layers()[0], after.layers()[0]);
    }
}
