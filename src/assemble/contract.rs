//! Conditioning by contraction: the model of the pixels no stroke has decided.
//!
//! With S the foreground strokes and V′ the free pixels, the model is G(A) = F(S ∪ A), A ⊆ V′. An edge from a free pixel to
//! a stroke becomes ∓w in the pixel's unary and disappears; a superpixel of N pixels with k₀ foreground strokes keeps its table
//! from k₀ on; what is left over is the constant F(S). Nothing is approximated: P(A | strokes) ∝ exp(−G(A)).
//!
//! Pixels whose own cost is beyond [`DECIDED`] are contracted as well, where that is exact ([`decided`](super::decided)).

use std::borrow::Cow;

use super::decided::decided;
use super::{Contrast, HopScale, Options, Phi};
use crate::factor::{Cardinality, Chain, Factor};
use crate::grid::{Mask, Partition, Seed, Seeds, Shape, Unary};
use crate::kernel::rounding::{EPSILON, Sum};
use crate::model::{Layer, Model, Rounding};
use crate::{Checkpoint, Result};

/// The log-odds written for a stroke pixel: finite, and far beyond where exp leaves the probability at exactly 0 or 1.
pub(crate) const STROKE: f64 = 1e9;

/// A model of the free pixels, and the way back to the grid.
#[derive(Debug)]
pub struct Problem {
    /// The contracted model.
    pub model: Model,
    shape: Shape,
    /// The pixel of each variable, ascending.
    free: Vec<u32>,
    /// The pixels under hard strokes or decided by their own cost, and whether they are foreground.
    known: Vec<(u32, bool)>,
    n_decided: usize,
    /// θ in force, also when it was chosen automatically.
    pub theta: f64,
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

    /// How many pixels their own cost has decided, no stroke being there.
    pub fn n_decided(&self) -> usize {
        self.n_decided
    }

    /// The same with λ·|A| on top of the energy, |A| counting known pixels.
    pub fn with_bias(&self, bias: f64) -> Model {
        self.model.with_bias(bias, self.n_known_inside())
    }

    /// How many pixels are known to be foreground.
    pub fn n_known_inside(&self) -> usize {
        self.known.iter().filter(|(_, is_foreground)| *is_foreground).count()
    }

    /// s over all pixels: the solution on the free ones, −1e9 and 1e9 on foreground and background strokes and decided pixels.
    pub fn expand(&self, s: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.shape.n_pixels()];
        for &(pixel, is_foreground) in &self.known {
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
        for &(pixel, is_foreground) in &self.known {
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
    let Options { alpha, beta, gamma, temperature, .. } = *options;
    let mut m: Vec<f64> = unary.as_slice().iter().map(|m| m * (alpha / temperature)).collect();

    let mut labels = seeds.map(|seeds| Cow::Borrowed(seeds.labels()));
    let stroke = |pixel: usize| labels.as_ref().map_or(Seed::Unlabelled, |labels| labels[pixel]);
    let decided = decided(&m, |pixel| stroke(pixel) == Seed::Unlabelled, reach(partitions.len(), options));
    for &pixel in &decided {
        let label = if m[pixel as usize] < 0.0 { Seed::Foreground } else { Seed::Background };
        labels.get_or_insert_with(|| vec![Seed::Unlabelled; shape.n_pixels()].into()).to_mut()[pixel as usize] = label;
    }
    let seed = |pixel: usize| labels.as_ref().map_or(Seed::Unlabelled, |labels| labels[pixel]);
    let (mut free, mut known) = (Vec::with_capacity(shape.n_pixels()), Vec::new());
    for pixel in 0..shape.n_pixels() as u32 {
        match seed(pixel as usize) {
            Seed::Unlabelled => free.push(pixel),
            label => known.push((pixel, label == Seed::Foreground)),
        }
    }

    let mut constant = Sum::default();
    constant.extend((0..m.len()).filter(|&p| seed(p) == Seed::Foreground).map(|p| m[p]));
    // What joining edges to known pixels rounds away, by pixel.
    let mut rounded: Vec<(u32, f64)> = Vec::new();

    let mut layers = Vec::new();
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
                        constant.add(join(&mut m, (q, before), (pixel, here), w));
                        let free = [(q, before, here), (pixel, here, before)].into_iter();
                        let joined = free.filter(|(_, own, other)| *own == Seed::Unlabelled && own != other);
                        rounded.extend(joined.map(|(pixel, ..)| (pixel, EPSILON * m[pixel as usize].abs())));
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
    }
    for partition in partitions {
        assert_eq!(partition.shape(), shape, "a partition of another shape");
        checkpoint()?;
        layers.push(superpixels(partition, seed, options, gamma / temperature, &mut constant)?);
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
    rounded.iter_mut().for_each(|(pixel, _)| *pixel = variable[*pixel as usize]);
    // Every term of the constant is itself right to a few digits.
    let error = constant.error() + 8.0 * EPSILON * constant.size();
    let (constant, error) = if error.is_finite() { (constant.value(), error) } else { (0.0, f64::INFINITY) };
    let rounding = Rounding { unary: rounded, constant: error };
    let model = Model::new(m, layers?)?.with_constant(constant).with_rounding(rounding);
    Ok(Problem { model, shape, free, known, n_decided: decided.len(), theta: contrast.theta() })
}

/// What edges and superpixels together can add to, or take from, the cost of a pixel.
fn reach(n_layers: usize, options: &Options) -> f64 {
    let steepest = match options.phi {
        Phi::Quadratic => 1.0,
        Phi::Robust(q) => 0.25 / q,
    };
    // A superpixel that counts as one is less steep than one that counts by its size; a weight is at most 1.
    (4.0 * options.beta + n_layers as f64 * steepest * options.gamma) / options.temperature
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

/// One factor per superpixel on its free pixels; what the strokes inside superpixels cost goes to the constant.
fn superpixels(
    partition: &Partition,
    seed: impl Fn(usize) -> Seed,
    options: &Options,
    gamma: f64,
    constant: &mut Sum,
) -> Result<Scoped> {
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
    let mut factors: Scoped = Vec::with_capacity(scopes.len());
    for ((scope, total), known) in scopes.into_iter().zip(sizes).zip(known) {
        let weight = match options.hop_scale {
            HopScale::Size => gamma * total as f64,
            HopScale::Paper => gamma,
        };
        constant.add(weight * phi(options.phi, known as f64 / total as f64));
        if scope.is_empty() {
            continue;
        }
        let factor = match options.phi {
            Phi::Quadratic => Cardinality::quadratic(scope.len(), known, total, weight)?,
            Phi::Robust(q) => {
                let gains = (known..known + scope.len()).map(|k| robust_gain(k, total, q, weight));
                Cardinality::from_gains(gains.collect())?
            }
        };
        factors.push((scope, Box::new(factor)));
    }
    Ok(factors)
}

/// h(k + 1) − h(k) of a robust table: exactly what it is minus at the mirror image, so that a superpixel and none of it cost the same.
fn robust_gain(k: usize, total: usize, q: f64, weight: f64) -> f64 {
    let mirrored = total - 1 - k;
    if k > mirrored {
        return -robust_gain(mirrored, total, q, weight);
    }
    let (top, slope) = (0.25 * weight, 0.25 * weight / (total as f64 * q));
    if k == mirrored { 0.0 } else { (top - k as f64 * slope).clamp(0.0, slope) }
}

fn phi(phi: Phi, z: f64) -> f64 {
    match phi {
        Phi::Quadratic => z * (1.0 - z),
        Phi::Robust(q) => 0.25 * (z / q).min((1.0 - z) / q).min(1.0),
    }
}
