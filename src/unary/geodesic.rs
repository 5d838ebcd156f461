//! How far every pixel is from the nearest stroke of each class, along paths that avoid colour changes.
//!
//! d(v) is the length of the shortest path of 8-neighbours from a stroke to v, where the step from p to q costs
//! λ·|p − q| + ‖rgb_p − rgb_q‖ (colours in 0..1) and λ = 2/diagonal, so that crossing a flat photo costs about as much as
//! crossing from black to white. The colours are first blurred over 3×3 pixels: what a path adds up otherwise is mostly noise.
//! Colour alone cannot tell the person in the stroke from the one beside it; log(d_bg/d_fg) can, and being one number per
//! pixel it leaves the model log-supermodular.
//!
//! Every step costs at least λ, so a circular queue of buckets of width λ settles each bucket for good when it is its
//! turn (Dial's method): no comparisons, and time linear in pixels plus buckets.

use std::f64::consts::SQRT_2;

use rayon::prelude::*;

use crate::grid::{Picture, Seed, Seeds, Shape};
use crate::{Checkpoint, Result};

/// Pixels settled between two checkpoints.
const CHECK_EVERY: usize = 4096;

/// log(d_bg/d_fg) for every pixel, row by row: positive where a foreground stroke is nearer. A distance counts at least
/// λ/2, which keeps the strokes themselves finite. Both classes need a stroke.
pub(super) fn log_ratio(picture: &Picture, seeds: &Seeds, checkpoint: Checkpoint<'_>) -> Result<Vec<f64>> {
    let shape = picture.shape();
    let step = 2.0 / (shape.width as f64).hypot(shape.height as f64);
    let colours = blurred(picture);
    let from = |class: Seed| distance(shape, &colours, step, |pixel| seeds.labels()[pixel] == class, checkpoint);
    let (foreground, background) = rayon::join(|| from(Seed::Foreground), || from(Seed::Background));
    let log_ratio = |(fg, bg): (f64, f64)| (bg.max(0.5 * step) / fg.max(0.5 * step)).ln();
    Ok(foreground?.into_par_iter().zip(background?).map(log_ratio).collect())
}

/// Colours in 0..1 after the weights (1 2 1)/4 in both directions, the border repeated.
fn blurred(picture: &Picture) -> Vec<[f32; 3]> {
    let Shape { width, height } = picture.shape();
    let rgb = picture.rgb();
    let blend = |a: [f32; 3], b: [f32; 3], c: [f32; 3]| std::array::from_fn(|i| 0.25 * (a[i] + c[i]) + 0.5 * b[i]);
    let mut colours = vec![[0.0; 3]; rgb.len()];
    colours.par_chunks_mut(width).enumerate().for_each(|(row, out)| {
        let (above, below) = (row.saturating_sub(1), (row + 1).min(height - 1));
        let unit = |row: usize, column: usize| rgb[row * width + column].map(|channel| f32::from(channel) / 255.0);
        let vertical = |column: usize| blend(unit(above, column), unit(row, column), unit(below, column));
        let (mut left, mut here) = (vertical(0), vertical(0));
        for (column, out) in out.iter_mut().enumerate() {
            let right = vertical((column + 1).min(width - 1));
            *out = blend(left, here, right);
            (left, here) = (here, right);
        }
    });
    colours
}

/// d(v) for every pixel, row by row; infinite only when there is no source.
fn distance(
    shape: Shape,
    colours: &[[f32; 3]],
    step: f64,
    source: impl Fn(usize) -> bool,
    checkpoint: Checkpoint<'_>,
) -> Result<Vec<f64>> {
    // A border of pixels that no path makes nearer spares the neighbours a look at where the grid ends.
    let stride = shape.width + 2;
    let padded = |row: usize| (row + 1) * stride + 1..(row + 2) * stride - 1;
    let mut distance = vec![f64::NEG_INFINITY; stride * (shape.height + 2)];
    let mut framed = vec![[0.0; 3]; distance.len()];
    let mut queue = Buckets::new(step, SQRT_2 * step + 3.0_f64.sqrt());
    for (row, colours) in colours.chunks(shape.width).enumerate() {
        framed[padded(row)].copy_from_slice(colours);
        for (column, pixel) in padded(row).enumerate() {
            let is_source = source(row * shape.width + column);
            distance[pixel] = if is_source { 0.0 } else { f64::INFINITY };
            if is_source {
                queue.push(pixel, 0.0);
            }
        }
    }
    let neighbours = [1, stride, stride - 1, stride + 1];
    let lengths = [step, step, SQRT_2 * step, SQRT_2 * step];
    let mut settled = 0;
    while let Some(pixel) = queue.pop(&distance) {
        settled += 1;
        if settled % CHECK_EVERY == 0 {
            checkpoint()?;
        }
        let (here, colour) = (distance[pixel], framed[pixel]);
        for (offset, length) in neighbours.into_iter().zip(lengths) {
            for neighbour in [pixel - offset, pixel + offset] {
                // Most neighbours are nearer already, whatever their colour.
                if here + length >= distance[neighbour] {
                    continue;
                }
                let through = here + (length + colour_change(colour, framed[neighbour]));
                if through < distance[neighbour] {
                    distance[neighbour] = through;
                    queue.push(neighbour, through);
                }
            }
        }
    }
    Ok((0..shape.height).flat_map(|row| &distance[padded(row)]).copied().collect())
}

/// ‖p − q‖
fn colour_change(p: [f32; 3], q: [f32; 3]) -> f64 {
    let [x, y, z] = [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    f64::from((x * x + y * y + z * z).sqrt())
}

/// Pixels waiting at a distance, in buckets of one step each; a ring, since no edge is longer than its circumference.
struct Buckets {
    per_distance: f64,
    ring: Vec<Vec<u32>>,
    current: u64,
    waiting: usize,
}

impl Buckets {
    fn new(width: f64, longest: f64) -> Self {
        let count = ((longest / width) as usize + 3).next_power_of_two();
        Self { per_distance: 1.0 / width, ring: vec![Vec::new(); count], current: 0, waiting: 0 }
    }

    fn bucket(&self, distance: f64) -> u64 {
        (distance * self.per_distance) as u64
    }

    /// Where a bucket lies in the ring, whose length is a power of two.
    fn slot(&self, bucket: u64) -> usize {
        bucket as usize & (self.ring.len() - 1)
    }

    fn push(&mut self, pixel: usize, distance: f64) {
        let slot = self.slot(self.bucket(distance));
        self.ring[slot].push(pixel as u32);
        self.waiting += 1;
    }

    /// A pixel of the nearest bucket, skipping those that have meanwhile been reached by a shorter path.
    fn pop(&mut self, distance: &[f64]) -> Option<usize> {
        while self.waiting > 0 {
            let slot = self.slot(self.current);
            match self.ring[slot].pop() {
                None => self.current += 1,
                Some(pixel) => {
                    self.waiting -= 1;
                    if self.bucket(distance[pixel as usize]) == self.current {
                        return Some(pixel as usize);
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bellman–Ford: relax every edge until nothing changes.
    fn distance_reference(shape: Shape, colours: &[[f32; 3]], step: f64, sources: &[bool]) -> Vec<f64> {
        let width = shape.width;
        let mut distance: Vec<f64> = sources.iter().map(|&s| if s { 0.0 } else { f64::INFINITY }).collect();
        loop {
            let before = distance.clone();
            for p in 0..distance.len() {
                for q in 0..distance.len() {
                    let apart = (p % width).abs_diff(q % width).pow(2) + (p / width).abs_diff(q / width).pow(2);
                    if apart == 1 || apart == 2 {
                        let squared: f64 =
                            (0..3).map(|i| (f64::from(colours[p][i]) - f64::from(colours[q][i])).powi(2)).sum();
                        distance[q] = distance[q].min(distance[p] + step * (apart as f64).sqrt() + squared.sqrt());
                    }
                }
            }
            if distance == before {
                return distance;
            }
        }
    }

    /// The nine weights written out, for one pixel.
    fn blurred_reference(picture: &Picture, row: usize, column: usize) -> [f64; 3] {
        let Shape { width, height } = picture.shape();
        let mut sum = [0.0; 3];
        for (dy, weight_y) in [(0, 1.0), (1, 2.0), (2, 1.0)] {
            for (dx, weight_x) in [(0, 1.0), (1, 2.0), (2, 1.0)] {
                let y = (row + dy).clamp(1, height) - 1;
                let x = (column + dx).clamp(1, width) - 1;
                for (sum, channel) in sum.iter_mut().zip(picture.rgb()[y * width + x]) {
                    *sum += weight_x * weight_y / 16.0 * f64::from(channel) / 255.0;
                }
            }
        }
        sum
    }

    fn scene() -> impl Strategy<Value = (Picture, Vec<bool>)> {
        (1_usize..9, 1_usize..9).prop_flat_map(|(width, height)| {
            let shape = Shape::new(width, height);
            // Few levels make ties and flat regions, where buckets fill up.
            let level = prop::sample::select(vec![0_u8, 1, 90, 255]);
            let colours = prop::collection::vec([level.clone(), level.clone(), level], width * height);
            let sources = prop::collection::vec(prop::bool::weighted(0.1), width * height);
            (colours, sources).prop_map(move |(colours, sources)| (Picture::new(shape, colours), sources))
        })
    }

    proptest! {
        #[test]
        fn buckets_find_the_distances_of_bellman_and_ford((picture, sources) in scene(), step in 0.001..0.5) {
            let colours = blurred(&picture);
            let fast = distance(picture.shape(), &colours, step, |pixel| sources[pixel], &|| Ok(())).unwrap();
            let slow = distance_reference(picture.shape(), &colours, step, &sources);
            for (fast, slow) in fast.iter().zip(slow) {
                prop_assert!(*fast == slow || (fast - slow).abs() < 1e-5, "{fast} {slow}");
            }
        }

        #[test]
        fn the_blur_has_nine_weights((picture, _) in scene()) {
            let width = picture.shape().width;
            for (pixel, found) in blurred(&picture).iter().enumerate() {
                let expected = blurred_reference(&picture, pixel / width, pixel % width);
                for i in 0..3 {
                    prop_assert!((f64::from(found[i]) - expected[i]).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn a_flat_row_counts_steps_and_the_nearer_stroke_wins() {
        let shape = Shape::new(6, 1);
        let picture = Picture::new(shape, vec![[7; 3]; 6]);
        let mut labels = vec![Seed::Unlabelled; 6];
        labels[0] = Seed::Foreground;
        labels[5] = Seed::Background;
        let ratio = log_ratio(&picture, &Seeds::new(shape, labels), &|| Ok(())).unwrap();
        let expected = [10.0_f64, 4.0, 1.5, 2.0 / 3.0, 0.25, 0.1].map(f64::ln);
        for (found, expected) in ratio.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{ratio:?}");
        }
    }

    #[test]
    fn an_edge_costs_its_contrast_and_a_path_goes_round_it() {
        // A white wall with a gap at the bottom, between two black rooms.
        let shape = Shape::new(9, 9);
        let wall = |pixel: usize| (pixel % 9) == 4 && pixel / 9 < 6;
        let colours: Vec<[f32; 3]> = (0..81).map(|pixel| if wall(pixel) { [1.0; 3] } else { [0.0; 3] }).collect();
        let found = distance(shape, &colours, 0.01, |pixel| pixel == 2, &|| Ok(())).unwrap();
        // Into the wall: two steps and the full contrast.
        assert!((found[4] - (0.02 + 3.0_f64.sqrt())).abs() < 1e-6);
        // Behind it: round the end, four diagonal steps and eight straight ones.
        assert!((found[6] - (0.04 * SQRT_2 + 0.08)).abs() < 1e-6, "{}", found[6]);
    }
}
