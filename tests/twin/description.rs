//! A random model of any scale: drawn from bytes, built for lfield, and written down exactly.
//!
//! Most are a [`Model`] as it is; some come from a photo, strokes and weights by [`assemble::model`], and are exact from the doubles *before*
//! contraction: m·(α/T), w·(β/T), superpixel weights. So what contraction rounds is held against the claims too.

use std::cmp::Ordering;

use dashu_int::IBig;
use dashu_ratio::RBig;
use lfield::assemble::{self, Contrast, HopScale, Phi, SeedMode, Theta};
use lfield::factor::{Cardinality, Chain, Factor};
use lfield::grid::Picture;
use lfield::grid::{Partition, Shape, Unary};
use lfield::grid::{Seed, Seeds};
use lfield::model::{Layer, Model};
use lfield::solver::{Factors, MapChoice, Options, SolverKind};

use super::exact::{Function, whole};

/// Choices, made by a byte each.
pub(crate) struct Dice<'a>(pub(crate) &'a mut dyn FnMut() -> u8);

impl Dice<'_> {
    fn below(&mut self, n: usize) -> usize {
        debug_assert!(n <= 256);
        usize::from((self.0)()) % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// In [0, 1).
    fn share(&mut self) -> f64 {
        f64::from(u16::from_le_bytes([(self.0)(), (self.0)()])) / 65536.0
    }
}

/// How large the numbers of a model are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// As photos have them.
    Ordinary,
    /// Small whole numbers, with many ties.
    Whole,
    /// No costs at all, p = ½ everywhere.
    Half,
    /// Ordinary, with a border of this cost.
    Border(f64),
    /// Ordinary, with a few of about this size.
    Few(f64),
    /// Ordinary, times this.
    Times(f64),
    /// Every number of any size from 1e-12 to 1e30.
    Mixed,
    /// Two numbers of any size, again and again.
    Equal([f64; 2]),
}

impl Scale {
    fn draw(dice: &mut Dice<'_>) -> Self {
        match dice.below(16) {
            0..=2 => Self::Ordinary,
            3..=4 => Self::Whole,
            5 => Self::Half,
            6..=8 => Self::Border(dice.pick(&[1e3, 1e6, 1e8, 1e8, 1e12, 1e30])),
            9..=10 => Self::Few(dice.pick(&[1e5, 1e9, 1e16, 1e30, 1e30])),
            11 => Self::Times(dice.pick(&[1e-12, 1e-12, 1e-6, 1e6, 1e15, 1e29])),
            12..=14 => Self::Mixed,
            _ => Self::Equal([Self::Mixed.number(dice), Self::Mixed.number(dice)]),
        }
    }

    /// Where all solvers but the slowest must end with proof.
    pub(crate) fn is_ordinary(self) -> bool {
        matches!(self, Self::Ordinary | Self::Whole | Self::Half)
    }

    /// Not negative.
    fn number(self, dice: &mut Dice<'_>) -> f64 {
        if dice.one_in(8) {
            return 0.0;
        }
        match self {
            Self::Whole => dice.below(4) as f64,
            Self::Ordinary | Self::Half | Self::Border(_) => 5.0 * dice.share() / 3.0,
            Self::Few(large) if dice.one_in(8) => large * (0.1 + 0.9 * dice.share()),
            Self::Few(_) => 5.0 * dice.share() / 3.0,
            Self::Times(factor) => factor * (5.0 * dice.share() / 3.0),
            Self::Mixed => (0.1 + 0.9 * dice.share()) * 10_f64.powi(dice.below(43) as i32 - 12),
            Self::Equal(two) => dice.pick(&two),
        }
    }

    fn cost(self, dice: &mut Dice<'_>) -> f64 {
        let size = if self == Self::Half { 0.0 } else { self.number(dice) };
        if dice.one_in(2) { -size } else { size }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) scale: Scale,
    pub(crate) shape: Shape,
    unary: Vec<f64>,
    terms: Terms,
    pub(crate) options: Options,
}

#[derive(Clone, Debug)]
enum Terms {
    /// A model as it is.
    Plain {
        /// One weight per edge: all rows, then all columns.
        weights: Vec<f64>,
        layers: Vec<Vec<(Vec<u32>, Table)>>,
        constant: f64,
    },
    /// A photo with strokes, assembled.
    Photo { rgb: Vec<[u8; 3]>, partitions: Vec<Vec<u32>>, strokes: Vec<Seed>, options: assemble::Options },
}

#[derive(Clone, Debug)]
enum Table {
    Quadratic { known: usize, total: usize, weight: f64 },
    Gains(Vec<f64>),
}

/// The model for lfield, and the same exactly.
pub(crate) struct Twins {
    pub(crate) model: Model,
    pub(crate) function: Function,
    /// What the function was before vast costs were decided, for a model that was assembled.
    pub(crate) before: Option<Before>,
    /// The sum of the sizes of all numbers given, also of those that strokes and vast costs have decided.
    pub(crate) weight: RBig,
}

/// The function of all pixels without strokes, and for each what its own cost has decided.
pub(crate) struct Before {
    pub(crate) function: Function,
    pub(crate) decided: Vec<Option<bool>>,
}

impl Description {
    pub(crate) fn draw(dice: &mut Dice<'_>) -> Self {
        let scale = Scale::draw(dice);
        let side = dice.pick(&[2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5, 6, 8, 12, 12]);
        let shape = Shape::new(1 + dice.below(side), 1 + dice.below(side));
        let n = shape.n_pixels();
        let sign = if dice.one_in(4) { -1.0 } else { 1.0 };
        let cost = |v: usize, dice: &mut Dice<'_>| match scale {
            Scale::Border(height) if on_border(shape, v) => sign * height,
            _ => scale.cost(dice),
        };
        let unary = (0..n).map(|v| cost(v, dice)).collect();
        let terms = if dice.one_in(5) { photo(shape, scale, dice) } else { plain(shape, scale, dice) };
        Self { scale, shape, unary, terms, options: solver_options(n, dice) }
    }

    /// Equal energies are equal in floating-point numbers too: ties have to go the way they were asked to.
    pub(crate) fn has_exact_ties(&self) -> bool {
        let plain = matches!(self.terms, Terms::Plain { .. });
        match self.scale {
            Scale::Whole => plain,
            Scale::Half => plain || self.strokes().iter().all(|&seed| seed == Seed::Unlabelled),
            _ => false,
        }
    }

    fn strokes(&self) -> &[Seed] {
        match &self.terms {
            Terms::Photo { strokes, options, .. } if options.seeds == SeedMode::Hard => strokes,
            _ => &[],
        }
    }

    pub(crate) fn twins(&self) -> Twins {
        match &self.terms {
            Terms::Plain { weights, layers, constant } => self.plain_twins(weights, layers, *constant),
            Terms::Photo { rgb, partitions, options, .. } => self.photo_twins(rgb, partitions, options),
        }
    }

    fn plain_twins(&self, weights: &[f64], superpixels: &[Vec<(Vec<u32>, Table)>], constant: f64) -> Twins {
        let n = self.shape.n_pixels();
        let mut definition =
            Definition { constant: vec![constant], unary: self.unary.clone(), ..Definition::default() };
        let mut rest = weights.iter().copied();
        let [rows, columns] = lines(self.shape).map(|lines| {
            let chains = lines.into_iter().map(|line| {
                let weights: Vec<f64> = line[1..].iter().map(|_| rest.next().expect("one weight per edge")).collect();
                definition.chain(&line, &weights);
                (line, Box::new(Chain::new(weights).expect("weights")) as Box<dyn Factor>)
            });
            Layer::new(n, chains.collect())
        });
        let superpixels = superpixels.iter().map(|layer| {
            let factors = layer.iter().map(|(scope, table)| {
                definition.table(scope, table);
                let factor = match table {
                    Table::Quadratic { known, total, weight } => {
                        Cardinality::quadratic(scope.len(), *known, *total, *weight)
                    }
                    Table::Gains(gains) => Cardinality::from_gains(gains.clone()),
                };
                (scope.clone(), Box::new(factor.expect("a concave table")) as Box<dyn Factor>)
            });
            Layer::new(n, factors.collect())
        });
        let layers = [rows, columns].into_iter().chain(superpixels.collect::<Vec<_>>()).collect();
        let model = Model::new(self.unary.clone(), layers).expect("costs").with_constant(constant);
        let function = definition.function();
        Twins { model, weight: function.weight(), function, before: None }
    }

    fn photo_twins(&self, rgb: &[[u8; 3]], partitions: &[Vec<u32>], options: &assemble::Options) -> Twins {
        let (shape, n) = (self.shape, self.shape.n_pixels());
        let picture = Picture::new(shape, rgb.to_vec());
        let unary = Unary::new(shape, self.unary.clone()).expect("costs");
        let partitions: Vec<Partition> =
            partitions.iter().map(|labels| Partition::from_labels(shape, labels)).collect();
        let Terms::Photo { strokes, .. } = &self.terms else { unreachable!("a photo") };
        let seeds = Seeds::new(shape, strokes.clone());
        let problem =
            assemble::model(&picture, &unary, &partitions, Some(&seeds), options, &|| Ok(())).expect("a model");

        let strokes = self.strokes();
        let free: Vec<usize> =
            (0..n).filter(|&v| strokes.get(v).is_none_or(|&seed| seed == Seed::Unlabelled)).collect();
        let inside: Vec<bool> = (0..n).map(|v| strokes.get(v) == Some(&Seed::Foreground)).collect();
        let assemble::Options { alpha, beta, gamma, temperature, .. } = *options;
        let scaled = self.unary.iter().map(|m| m * (alpha / temperature)).collect();
        let mut definition = Definition { unary: scaled, ..Definition::default() };
        let contrast = Contrast::new(&picture, options.theta);
        for line in lines(shape).into_iter().flatten() {
            let weight = |pair: &[u32]| contrast.weight(pair[0] as usize, pair[1] as usize) * (beta / temperature);
            definition.chain(&line, &line.windows(2).map(weight).collect::<Vec<_>>());
        }
        for partition in &partitions {
            for region in 0..partition.count() as u32 {
                let scope: Vec<u32> = (0..n as u32).filter(|&v| partition.labels()[v as usize] == region).collect();
                let total = scope.len();
                let weight = match options.hop_scale {
                    HopScale::Size => gamma / temperature * total as f64,
                    HopScale::Paper => gamma / temperature,
                };
                match options.phi {
                    Phi::Quadratic => definition.table(&scope, &Table::Quadratic { known: 0, total, weight }),
                    Phi::Robust(q) => {
                        let (top, slope) = (0.25 * weight, 0.25 * weight / (total as f64 * q));
                        let rising = |k: usize| (top - k as f64 * slope).clamp(0.0, slope);
                        let gain = |k: usize| match k.cmp(&(total - 1 - k)) {
                            Ordering::Less => rising(k),
                            Ordering::Equal => 0.0,
                            Ordering::Greater => -rising(total - 1 - k),
                        };
                        definition.table(&scope, &Table::Gains((0..total).map(gain).collect()));
                    }
                }
            }
        }
        let whole = definition.function();
        let set = problem.expand_set(&vec![false; problem.free().len()]);
        let left: Vec<usize> = problem.free().iter().map(|&v| v as usize).collect();
        let decided = free.iter().map(|&v| (!left.contains(&v)).then_some(set.as_slice()[v])).collect();
        let function = whole.conditioned(&left, set.as_slice());
        Twins {
            model: problem.model,
            function,
            before: Some(Before { function: whole.conditioned(&free, &inside), decided }),
            weight: whole.weight(),
        }
    }
}

/// The doubles that define a function, before they are whole numbers of one unit.
#[derive(Default)]
struct Definition {
    constant: Vec<f64>,
    unary: Vec<f64>,
    edges: Vec<(usize, usize, f64)>,
    tables: Vec<(Vec<usize>, Vec<Product>)>,
}

/// A gain: a double times a small whole number.
type Product = (f64, i64);

impl Definition {
    fn chain(&mut self, line: &[u32], weights: &[f64]) {
        self.edges.extend(line.windows(2).zip(weights).map(|(pair, &w)| (pair[0] as usize, pair[1] as usize, w)));
    }

    fn table(&mut self, scope: &[u32], table: &Table) {
        let gains = match table {
            Table::Quadratic { known, total, weight } => {
                let scale = weight / (*total as f64 * *total as f64);
                (1..=scope.len()).map(|i| (scale, *total as i64 - 2 * (known + i) as i64 + 1)).collect()
            }
            Table::Gains(gains) => gains.iter().map(|&gain| (gain, 1)).collect(),
        };
        self.tables.push((scope.iter().map(|&v| v as usize).collect(), gains));
    }

    fn function(self) -> Function {
        let edges = self.edges.iter().map(|(.., w)| *w);
        let gains = self.tables.iter().flat_map(|(_, gains)| gains.iter().map(|(gain, _)| *gain));
        let numbers: Vec<f64> = self.constant.iter().chain(&self.unary).copied().chain(edges).chain(gains).collect();
        let (units, exponent) = whole(&numbers);
        let mut units = units.into_iter();
        let mut take = |n: usize| -> Vec<IBig> { units.by_ref().take(n).collect() };
        Function {
            exponent,
            constant: take(self.constant.len()).into_iter().sum(),
            unary: take(self.unary.len()),
            edges: self.edges.iter().map(|&(p, q, _)| (p, q, take(1).remove(0))).collect(),
            tables: self
                .tables
                .iter()
                .map(|(scope, gains)| {
                    let times = gains.iter().map(|(_, times)| IBig::from(*times));
                    (
                        scope.clone(),
                        take(gains.len()).into_iter().zip(times).map(|(gain, times)| gain * times).collect(),
                    )
                })
                .collect(),
        }
    }
}

fn on_border(shape: Shape, v: usize) -> bool {
    let (x, y) = (v % shape.width, v / shape.width);
    x == 0 || y == 0 || x + 1 == shape.width || y + 1 == shape.height
}

/// All rows and all columns.
fn lines(shape: Shape) -> [Vec<Vec<u32>>; 2] {
    let (width, height) = (shape.width as u32, shape.height as u32);
    let rows = (0..height).map(|y| (y * width..(y + 1) * width).collect());
    let columns = (0..width).map(|x| (0..height).map(|y| y * width + x).collect());
    [rows.collect(), columns.collect()]
}

/// A few regions, in blocks or scattered.
fn labels(shape: Shape, dice: &mut Dice<'_>) -> Vec<u32> {
    let block = 1 + dice.below(4);
    if dice.one_in(3) {
        let regions = 1 + dice.below(4) + shape.n_pixels() / 24;
        return (0..shape.n_pixels()).map(|_| dice.below(regions) as u32).collect();
    }
    (0..shape.n_pixels()).map(|v| (v / shape.width / block * shape.width + v % shape.width / block) as u32).collect()
}

fn plain(shape: Shape, scale: Scale, dice: &mut Dice<'_>) -> Terms {
    let n_edges: usize = lines(shape).iter().flatten().map(|line| line.len() - 1).sum();
    let weights = (0..n_edges).map(|_| scale.number(dice)).collect();
    let layers = (0..dice.below(3)).map(|_| superpixels(shape, scale, dice)).collect();
    let constant = if dice.one_in(3) { scale.cost(dice) } else { 0.0 };
    Terms::Plain { weights, layers, constant }
}

fn superpixels(shape: Shape, scale: Scale, dice: &mut Dice<'_>) -> Vec<(Vec<u32>, Table)> {
    let labels = labels(shape, dice);
    let mut scopes: Vec<Vec<u32>> = vec![Vec::new(); *labels.iter().max().expect("a pixel") as usize + 1];
    labels.iter().zip(0..).for_each(|(&label, v)| scopes[label as usize].push(v));
    // Now and then a region has no factor.
    scopes.retain(|scope| !scope.is_empty() && !dice.one_in(12));
    let table = |scope: &Vec<u32>, dice: &mut Dice<'_>| {
        let n = scope.len();
        if dice.one_in(3) {
            // Half stays half only if the table is the same from both ends.
            let mut gains: Vec<f64> = (0..n).map(|_| scale.cost(dice)).collect();
            gains.sort_by(|a, b| b.total_cmp(a));
            if scale == Scale::Half {
                let d = scale.number(dice);
                gains = (0..n).map(|i| [d, 0.0, -d][((2 * i + 1).cmp(&n) as i8 + 1) as usize]).collect();
            }
            return Table::Gains(gains);
        }
        let known = if scale != Scale::Half && dice.one_in(4) { dice.below(3) } else { 0 };
        let total = n + known + if known > 0 { dice.below(3) } else { 0 };
        // Whole numbers stay whole; otherwise, as photos have them, c_P = γ|P|.
        let size = if scale == Scale::Whole { total * total } else { total };
        Table::Quadratic { known, total, weight: scale.number(dice) * size as f64 }
    };
    scopes
        .into_iter()
        .map(|scope| {
            let table = table(&scope, dice);
            (scope, table)
        })
        .collect()
}

fn photo(shape: Shape, scale: Scale, dice: &mut Dice<'_>) -> Terms {
    let n = shape.n_pixels();
    let rgb = (0..n).map(|_| [dice.below(60) as u8, 40 * dice.below(2) as u8, 7]).collect();
    let partitions = (0..dice.below(3)).map(|_| labels(shape, dice)).collect();
    let seeds = [Seed::Unlabelled, Seed::Unlabelled, Seed::Unlabelled, Seed::Background, Seed::Foreground];
    let strokes = (0..n).map(|_| dice.pick(&seeds)).collect();
    let options = assemble::Options {
        alpha: dice.pick(&[1.0, 1.0, 1.0, 0.3, 1e-6, 1e6]),
        beta: scale.number(dice).min(1e30),
        gamma: scale.number(dice).min(1e30),
        theta: dice.pick(&[Theta::Fixed(0.005), Theta::Fixed(1e-4), Theta::Fixed(0.0), Theta::Auto]),
        phi: dice.pick(&[Phi::Quadratic, Phi::Quadratic, Phi::Robust(0.1), Phi::Robust(0.5)]),
        hop_scale: dice.pick(&[HopScale::Size, HopScale::Size, HopScale::Paper]),
        seeds: dice.pick(&[SeedMode::Hard, SeedMode::Hard, SeedMode::Soft]),
        temperature: dice.pick(&[1.0, 1.0, 1.0, 0.3, 7.0]),
    };
    Terms::Photo { rgb, partitions, strokes, options }
}

fn solver_options(n: usize, dice: &mut Dice<'_>) -> Options {
    let solver = dice.pick(&[
        SolverKind::Accelerated,
        SolverKind::Accelerated,
        SolverKind::Accelerated,
        SolverKind::Messages,
        SolverKind::DouglasRachford,
        SolverKind::Ep,
        SolverKind::FrankWolfe,
        SolverKind::MinNorm,
        SolverKind::MinNorm,
        SolverKind::DivideConquer,
        SolverKind::DivideConquer,
    ]);
    let most = if n <= 36 { 2000 } else { 500 };
    Options {
        solver,
        factors: dice.pick(&[Factors::Layers, Factors::Layers, Factors::Edges]),
        tolerance: dice.pick(&[1e-5, 1e-5, 1e-6, 1e-7, 1e-9]),
        max_iterations: dice.pick(&[most, most, most, most, 0, 1, 5, 40]),
        map: dice.pick(&[MapChoice::Minimal, MapChoice::Maximal]),
        ..Options::default()
    }
}
