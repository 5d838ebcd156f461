//! Conditioning by contraction: the model of the pixels no stroke has decided.
//!
//! With S the foreground strokes and V′ the free pixels, the model is G(A) = F(S ∪ A), A ⊆ V′. An edge from a free pixel to
//! a stroke becomes ∓w in the pixel's unary and disappears; a superpixel of N pixels with k₀ foreground strokes keeps its table
//! from k₀ on; what is left over is the constant F(S). Nothing is approximated: P(A | strokes) ∝ exp(−G(A)).

use super::{Contrast, HopScale, Options, Phi};
use crate::annotation::{Seed, Seeds};
use crate::factor::{Cardinality, Chain, Factor};
use crate::field::{Mask, Partition, Shape, Unary};
use crate::model::{Layer, Model};
use crate::{Checkpoint, Result};

/// The log-odds written for a stroke pixel: finite, and far beyond where exp leaves the probability at exactly 0 or 1.
const STROKE: f64 = 1e9;

/// A model of the free pixels, and the way back to the grid.
#[derive(Debug)]
pub struct Problem {
    /// The contracted model.
    pub model: Model,
    shape: Shape,
    /// The pixel of each variable, ascending.
    free: Vec<u32>,
    /// The pixels under hard strokes, and whether they are foreground.
    strokes: Vec<(u32, bool)>,
    /// What each layer of the model is.
    pub(super) kinds: Vec<Kind>,
    /// θ in force, also when it was chosen automatically.
    pub theta: f64,
}

/// What a layer of the model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Rows,
    Columns,
    /// The superpixels of the partition with this number.
    Superpixels(usize),
}

impl Problem {
    /// The shape of the grid.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The pixel of each variable, ascending.
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    /// s over all pixels: the solution on the free ones, −1e9 and 1e9 on foreground and background strokes.
    pub fn expand(&self, s: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.shape.n_pixels()];
        for &(pixel, is_foreground) in &self.strokes {
            all[pixel as usize] = if is_foreground { -STROKE } else { STROKE };
        }
        for (&pixel, &s) in self.free.iter().zip(s) {
            all[pixel as usize] = s;
        }
        all
    }

    /// The set over all pixels: `set` on the free ones, the strokes as drawn.
    pub fn expand_set(&self, set: &[bool]) -> Mask {
        let mut all = vec![false; self.shape.n_pixels()];
        for &(pixel, is_foreground) in &self.strokes {
            all[pixel as usize] = is_foreground;
        }
        for (&pixel, &inside) in self.free.iter().zip(set) {
            all[pixel as usize] = inside;
        }
        Mask::new(self.shape, all)
    }
}

pub(super) fn problem(
    contrast: &Contrast<'_>,
    unary: &Unary,
    partitions: &[Partition],
    seeds: Option<&Seeds>,
    options: &Options,
    checkpoint: Checkpoint<'_>,
) -> Result<Problem> {
    checkpoint()?;
    let shape = unary.shape();
    let seed = |pixel: usize| seeds.map_or(Seed::Unlabelled, |seeds| seeds.labels()[pixel]);
    let (mut free, mut strokes) = (Vec::with_capacity(shape.n_pixels()), Vec::new());
    for pixel in 0..shape.n_pixels() as u32 {
        match seed(pixel as usize) {
            Seed::Unlabelled => free.push(pixel),
            known => strokes.push((pixel, known == Seed::Foreground)),
        }
    }
    let Options { alpha, beta, gamma, temperature, .. } = *options;

    let mut m: Vec<f64> = unary.as_slice().iter().map(|m| m * (alpha / temperature)).collect();
    let mut constant: f64 = (0..m.len()).filter(|&p| seed(p) == Seed::Foreground).map(|p| m[p]).sum();

    let mut layers = Vec::new();
    let mut kinds = Vec::new();
    if beta > 0.0 {
        for direction in [Direction::Rows, Direction::Columns] {
            let lines = direction.lines(shape).map(|line| {
                let mut scope: Vec<u32> = Vec::new();
                let mut weights = Vec::new();
                let mut previous: Option<u32> = None;
                for pixel in line {
                    let here = seed(pixel as usize);
                    let w =
                        previous.map_or(0.0, |q| contrast.weight(q as usize, pixel as usize) * (beta / temperature));
                    let before = previous.map(|q| seed(q as usize));
                    if here == Seed::Unlabelled {
                        if !scope.is_empty() {
                            weights.push(if before == Some(Seed::Unlabelled) { w } else { 0.0 });
                        }
                        scope.push(pixel);
                    }
                    let pair = before.map(|before| (before, here));
                    if let (Some((before, here)), Some(q)) = (pair, previous) {
                        constant += join(&mut m, (q, before), (pixel, here), w);
                    }
                    previous = Some(pixel);
                }
                (scope, weights)
            });
            let mut factors: Vec<(Vec<u32>, Box<dyn Factor>)> = Vec::new();
            for (scope, weights) in lines {
                checkpoint()?;
                if !scope.is_empty() {
                    factors.push((scope, Box::new(Chain::new(weights)?)));
                }
            }
            layers.push(factors);
        }
        kinds.extend([Kind::Rows, Kind::Columns]);
    }
    for (number, partition) in partitions.iter().enumerate() {
        assert_eq!(partition.shape(), shape, "a partition of another shape");
        let (factors, known) = superpixels(partition, seed, options, gamma / temperature, checkpoint)?;
        constant += known;
        layers.push(factors);
        kinds.push(Kind::Superpixels(number));
    }

    // From pixels to variables.
    let mut variable = vec![u32::MAX; shape.n_pixels()];
    for (v, &pixel) in free.iter().enumerate() {
        variable[pixel as usize] = v as u32;
    }
    let layers: Result<Vec<Layer>> = layers
        .into_iter()
        .map(|mut factors| {
            checkpoint()?;
            for pixel in factors.iter_mut().flat_map(|(scope, _)| scope) {
                *pixel = variable[*pixel as usize];
            }
            Ok(Layer::new(free.len(), factors))
        })
        .collect();
    let m = free.iter().map(|&p| m[p as usize]).collect();
    let model = Model::new(m, layers?)?.with_constant(constant);
    Ok(Problem { model, shape, free, strokes, kinds, theta: contrast.theta() })
}

/// Moves the edge pq into the unary of its free end when the other is a stroke; returns its share of the constant.
fn join(m: &mut [f64], (p, p_seed): (u32, Seed), (q, q_seed): (u32, Seed), w: f64) -> f64 {
    use Seed::{Background, Foreground, Unlabelled};
    match (p_seed, q_seed) {
        (Foreground, Unlabelled) => {
            m[q as usize] -= w;
            w
        }
        (Unlabelled, Foreground) => {
            m[p as usize] -= w;
            w
        }
        (Background, Unlabelled) => {
            m[q as usize] += w;
            0.0
        }
        (Unlabelled, Background) => {
            m[p as usize] += w;
            0.0
        }
        (Foreground, Background) | (Background, Foreground) => w,
        _ => 0.0,
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Rows,
    Columns,
}

impl Direction {
    fn lines(self, shape: Shape) -> impl Iterator<Item = Box<dyn Iterator<Item = u32>>> {
        let (width, height) = (shape.width as u32, shape.height as u32);
        let count = match self {
            Direction::Rows => height,
            Direction::Columns => width,
        };
        (0..count).map(move |i| match self {
            Direction::Rows => Box::new(i * width..(i + 1) * width) as Box<dyn Iterator<Item = u32>>,
            Direction::Columns => Box::new((0..height).map(move |row| row * width + i)),
        })
    }
}

type Scoped = Vec<(Vec<u32>, Box<dyn Factor>)>;

/// One factor per superpixel on its free pixels, and what the strokes inside superpixels cost.
fn superpixels(
    partition: &Partition,
    seed: impl Fn(usize) -> Seed,
    options: &Options,
    gamma: f64,
    checkpoint: Checkpoint<'_>,
) -> Result<(Scoped, f64)> {
    checkpoint()?;
    let sizes = partition.sizes();
    let mut scopes: Vec<Vec<u32>> = vec![Vec::new(); partition.count()];
    let mut known = vec![0; partition.count()];
    for (pixel, &label) in partition.labels().iter().enumerate() {
        match seed(pixel) {
            Seed::Unlabelled => scopes[label as usize].push(pixel as u32),
            Seed::Foreground => known[label as usize] += 1,
            Seed::Background => {}
        }
    }
    checkpoint()?;
    let mut constant = 0.0;
    let mut factors: Scoped = Vec::with_capacity(scopes.len());
    for ((scope, total), known) in scopes.into_iter().zip(sizes).zip(known) {
        let weight = match options.hop_scale {
            HopScale::Size => gamma * total as f64,
            HopScale::Paper => gamma,
        };
        let phi = |k: usize| weight * phi(options.phi, k as f64 / total as f64);
        constant += phi(known);
        if scope.is_empty() {
            continue;
        }
        let factor = match options.phi {
            Phi::Quadratic => Cardinality::quadratic(scope.len(), known, total, weight)?,
            Phi::Robust(_) => {
                let mut gains: Vec<f64> = (known..known + scope.len()).map(|k| phi(k + 1) - phi(k)).collect();
                // Differences of rounded values: concave up to the last bit, and now exactly.
                for i in 1..gains.len() {
                    gains[i] = gains[i].min(gains[i - 1]);
                }
                Cardinality::from_gains(gains)?
            }
        };
        factors.push((scope, Box::new(factor)));
    }
    Ok((factors, constant))
}

fn phi(phi: Phi, z: f64) -> f64 {
    match phi {
        Phi::Quadratic => z * (1.0 - z),
        Phi::Robust(q) => 0.25 * (z / q).min((1.0 - z) / q).min(1.0),
    }
}
