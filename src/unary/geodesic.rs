//! How far every pixel is from the nearest stroke of each class, along paths that avoid colour changes.
//!
//! d(v) is the length of the shortest path of 4-neighbours from a stroke to v, where the step from p to q costs
//! λ + ‖rgb_p − rgb_q‖ (colours in 0..1) and λ = 2/diagonal, so that crossing the photo costs about as much as crossing
//! from black to white. Colour alone cannot tell the person in the stroke from the one beside it; log(d_bg/d_fg) can, and being
//! one number per pixel it leaves the model log-supermodular.
//!
//! Every step costs at least λ, so a circular queue of buckets of width λ settles each bucket for good when it is
//! its turn (Dial's method): no comparisons, and time linear in pixels plus buckets.

use crate::annotation::{Seed, Seeds};
use crate::picture::Picture;

/// log(d_bg/d_fg) for every pixel, row by row: positive where a foreground stroke is nearer. A distance counts at least
/// λ/2, which keeps the strokes themselves finite. Both classes need a stroke.
pub(super) fn log_ratio(picture: &Picture, seeds: &Seeds) -> Vec<f64> {
    let step = step(picture);
    let (foreground, background) =
        rayon::join(|| distance(picture, seeds, Seed::Foreground), || distance(picture, seeds, Seed::Background));
    let floor = 0.5 * step;
    foreground.iter().zip(&background).map(|(fg, bg)| (bg.max(floor) / fg.max(floor)).ln()).collect()
}

/// λ, what a step costs between pixels of one colour.
fn step(picture: &Picture) -> f64 {
    let shape = picture.shape();
    2.0 / (shape.width as f64).hypot(shape.height as f64)
}

/// d(v) for every pixel, row by row; infinite only when no pixel carries `class`.
fn distance(picture: &Picture, seeds: &Seeds, class: Seed) -> Vec<f64> {
    let step = step(picture);
    let width = picture.shape().width;
    let mut distance = vec![f64::INFINITY; picture.rgb().len()];
    let mut queue = Buckets::new(step, step + 3.0_f64.sqrt());
    for (pixel, &seed) in seeds.labels().iter().enumerate() {
        if seed == class {
            distance[pixel] = 0.0;
            queue.push(pixel, 0.0);
        }
    }
    while let Some(pixel) = queue.pop(&distance) {
        for neighbour in neighbours(pixel, width, distance.len()) {
            let through = distance[pixel] + (step + colour_change(picture.rgb()[pixel], picture.rgb()[neighbour]));
            if through < distance[neighbour] {
                distance[neighbour] = through;
                queue.push(neighbour, through);
            }
        }
    }
    distance
}

fn neighbours(pixel: usize, width: usize, n_pixels: usize) -> impl Iterator<Item = usize> {
    let column = pixel % width;
    let left = (column > 0).then(|| pixel - 1);
    let right = (column + 1 < width).then_some(pixel + 1);
    let above = pixel.checked_sub(width);
    let below = (pixel + width < n_pixels).then_some(pixel + width);
    [left, right, above, below].into_iter().flatten()
}

/// ‖p − q‖ with colours in 0..1.
fn colour_change(p: [u8; 3], q: [u8; 3]) -> f64 {
    let squared: i32 = p.iter().zip(q).map(|(&p, q)| (i32::from(p) - i32::from(q)).pow(2)).sum();
    f64::from(squared).sqrt() / 255.0
}

/// Pixels waiting at a distance, in buckets of one step each; a ring, since no edge is longer than its circumference.
struct Buckets {
    width: f64,
    ring: Vec<Vec<u32>>,
    current: u64,
    waiting: usize,
}

impl Buckets {
    fn new(width: f64, longest: f64) -> Self {
        Self { width, ring: vec![Vec::new(); (longest / width) as usize + 3], current: 0, waiting: 0 }
    }

    fn bucket(&self, distance: f64) -> u64 {
        (distance / self.width) as u64
    }

    fn push(&mut self, pixel: usize, distance: f64) {
        let slot = self.bucket(distance) % self.ring.len() as u64;
        self.ring[slot as usize].push(pixel as u32);
        self.waiting += 1;
    }

    /// A pixel of the nearest bucket, skipping those that have meanwhile been reached by a shorter path.
    fn pop(&mut self, distance: &[f64]) -> Option<usize> {
        while self.waiting > 0 {
            let slot = (self.current % self.ring.len() as u64) as usize;
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
    use crate::field::Shape;

    /// Bellman–Ford: relax every edge until nothing changes.
    fn distance_reference(picture: &Picture, seeds: &Seeds, class: Seed) -> Vec<f64> {
        let Shape { width, height } = picture.shape();
        let start = |&seed: &Seed| if seed == class { 0.0 } else { f64::INFINITY };
        let mut distance: Vec<f64> = seeds.labels().iter().map(start).collect();
        let step = 2.0 / ((width * width + height * height) as f64).sqrt();
        loop {
            let before = distance.clone();
            for p in 0..width * height {
                for q in 0..width * height {
                    if (p % width).abs_diff(q % width) + (p / width).abs_diff(q / width) == 1 {
                        let squared: f64 = (0..3)
                            .map(|i| (f64::from(picture.rgb()[p][i]) - f64::from(picture.rgb()[q][i])).powi(2))
                            .sum();
                        distance[q] = distance[q].min(distance[p] + (step + squared.sqrt() / 255.0));
                    }
                }
            }
            if distance == before {
                return distance;
            }
        }
    }

    fn scene() -> impl Strategy<Value = (Picture, Seeds)> {
        (1_usize..9, 1_usize..9).prop_flat_map(|(width, height)| {
            let shape = Shape::new(width, height);
            // Few levels make ties and flat regions, where buckets fill up.
            let level = prop::sample::select(vec![0_u8, 1, 90, 255]);
            let colours = prop::collection::vec([level.clone(), level.clone(), level], width * height);
            let seed =
                prop::sample::select(vec![Seed::Unlabelled, Seed::Unlabelled, Seed::Background, Seed::Foreground]);
            let seeds = prop::collection::vec(seed, width * height);
            (colours, seeds).prop_map(move |(colours, seeds)| (Picture::new(shape, colours), Seeds::new(shape, seeds)))
        })
    }

    proptest! {
        #[test]
        fn buckets_find_the_distances_of_bellman_and_ford((picture, seeds) in scene()) {
            for class in [Seed::Foreground, Seed::Background] {
                let fast = distance(&picture, &seeds, class);
                let slow = distance_reference(&picture, &seeds, class);
                for (fast, slow) in fast.iter().zip(slow) {
                    prop_assert!(*fast == slow || (fast - slow).abs() < 1e-12, "{fast} {slow}");
                }
            }
        }
    }

    #[test]
    fn a_flat_row_counts_steps_and_an_edge_adds_its_contrast() {
        let shape = Shape::new(6, 1);
        let picture = Picture::new(shape, vec![[0; 3], [0; 3], [0; 3], [255, 0, 0], [255, 0, 0], [255, 0, 0]]);
        let mut labels = vec![Seed::Unlabelled; 6];
        labels[0] = Seed::Foreground;
        labels[5] = Seed::Background;
        let seeds = Seeds::new(shape, labels);
        let step = 2.0 / 37.0_f64.sqrt();
        let expected = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|steps| steps * step + if steps > 2.0 { 1.0 } else { 0.0 });
        for (found, expected) in distance(&picture, &seeds, Seed::Foreground).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12);
        }
        let ratio = log_ratio(&picture, &seeds);
        assert!(ratio[..3].iter().all(|&r| r > 0.0) && ratio[3..].iter().all(|&r| r < 0.0));
        assert!((ratio[0] - ((1.0 + 5.0 * step) / (0.5 * step)).ln()).abs() < 1e-12);
    }
}
