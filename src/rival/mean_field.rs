//! Mean field: the factorised Q with the largest lower bound H(p) − E_p[F] ≤ log Z that coordinate ascent finds.
//!
//! The cut is bilinear, E = Σ w(p + q − 2pq), so variables that share no edge are best moved together: on a grid the two colours of a
//! checkerboard. A superpixel joins all its pixels, but its expectation is g(Σp) − c Σ p(1−p) with g concave: below its tangent, so
//! all pixels may follow the slope of g at once and the bound still rises. What is left per pixel is
//!
//! maximise H(p) − a·p − b·p²,   b = Σ c over the pixel's superpixels,
//!
//! and as p² lies below 2p₀p − p₀² + ½KL(p‖p₀) (Pinsker), the step t ← (½b·t₀ − a − 2b·p₀)/(1 + ½b) in log-odds never lowers it. Other
//! tables than the quadratic one have b = 0 and, by Jensen's inequality, a slightly lower bound.

use std::time::Instant;

use rayon::prelude::*;

use super::{Beliefs, Options, iterate};
use crate::factor::Cardinality;
use crate::kernel::logistic::{probability, softplus};
use crate::model::{Layer, Model, ordered_sum};
use crate::{Checkpoint, Error, Result};

/// Variables, or superpixels, a parallel task takes.
const CHUNK: usize = 4096;
const REGIONS: usize = 64;

/// Mean field on chains and superpixels, started from every variable's own cost.
pub fn mean_field(model: &Model, options: &Options, checkpoint: Checkpoint<'_>) -> Result<Beliefs> {
    options.check()?;
    let clock = Instant::now();
    let mut field = Field::new(model, checkpoint)?;
    let run = iterate(options, clock, || field.sweep(checkpoint))?;
    checkpoint()?;
    let (t, p) = field.state(model.n_variables());
    let entropy = ordered_sum(&t, &p, |t, p| softplus(t) - t * p);
    checkpoint()?;
    let log_z = entropy - model.expectation(&p);
    Ok(Beliefs {
        s: t.iter().map(|t| -t).collect(),
        log_z,
        iterations: run.iterations,
        residual: run.residual,
        status: run.status,
        seconds: clock.elapsed().as_secs_f64(),
    })
}

/// The variables class by class, so that a class can be written while the others are read. A variable's *place* is its position
/// in that order.
struct Field<'a> {
    /// The variable at each place.
    order: Vec<u32>,
    /// Class k is at places `classes[k]..classes[k + 1]`; no edge lies within a class.
    classes: Vec<usize>,
    edges: Edges,
    regions: Vec<Regions<'a>>,
    /// m + Σ w − Σ c: what a variable costs when its neighbours are out, but for the slopes of its superpixels.
    base: Vec<f64>,
    /// b = Σ c.
    curvature: Vec<f64>,
    /// Log-odds and probability at each place.
    t: Vec<f64>,
    p: Vec<f64>,
    /// The probabilities of a class while the old ones are still read.
    fresh: Vec<f64>,
}

/// Neighbours of each place and the weights in between.
struct Edges {
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f64>,
}

/// A layer of superpixels.
struct Regions<'a> {
    /// The tables; `None` for a chain, whose edges are in [`Edges`].
    factors: Vec<Option<&'a Cardinality>>,
    /// Superpixel r owns `members[starts[r]..starts[r + 1]]`, which are places.
    starts: &'a [usize],
    members: Vec<u32>,
    /// The superpixel of each place.
    region: Vec<u32>,
    /// The slope of g at the sum of the probabilities, for each superpixel.
    slopes: Vec<f64>,
}

impl<'a> Field<'a> {
    fn new(model: &'a Model, checkpoint: Checkpoint<'_>) -> Result<Self> {
        let n = model.n_variables();
        checkpoint()?;
        let edges = Edges::of(model);
        checkpoint()?;
        let (order, classes) = edges.colouring();
        let mut place = vec![0; n];
        order.iter().zip(0..).for_each(|(&variable, i)| place[variable as usize] = i);
        checkpoint()?;
        let edges = edges.reordered(&order, &place);
        let mut regions = Vec::new();
        for layer in model.layers() {
            checkpoint()?;
            regions.extend(Regions::of(layer, &place)?);
        }
        checkpoint()?;
        let mut base: Vec<f64> = order.iter().map(|&v| model.unary()[v as usize]).collect();
        let t: Vec<f64> = base.iter().map(|m| -m).collect();
        let mut curvature = vec![0.0; n];
        for i in 0..n {
            let tables = regions.iter().filter_map(|layer| layer.factors[layer.region[i] as usize]);
            curvature[i] = tables.map(Cardinality::curvature).sum();
            base[i] += edges.weights[edges.starts[i]..edges.starts[i + 1]].iter().sum::<f64>() - curvature[i];
        }
        let p = t.iter().map(|&t| probability(t)).collect();
        Ok(Self { order, classes, edges, regions, base, curvature, t, p, fresh: vec![0.0; n] })
    }

    /// Moves every class once; returns the largest change of a probability.
    fn sweep(&mut self, checkpoint: Checkpoint<'_>) -> Result<f64> {
        let mut residual = 0.0_f64;
        for class in 0..self.classes.len() - 1 {
            let (start, end) = (self.classes[class], self.classes[class + 1]);
            let Self { edges, regions, base, curvature, t, p, fresh, .. } = self;
            for layer in regions.iter_mut() {
                checkpoint()?;
                layer.refresh(p);
            }
            checkpoint()?;
            let step = |place: usize, t: &mut f64, fresh: &mut f64| {
                let mut cost = base[place];
                for edge in edges.starts[place]..edges.starts[place + 1] {
                    cost -= 2.0 * edges.weights[edge] * p[edges.neighbours[edge] as usize];
                }
                for layer in &*regions {
                    cost += layer.slopes[layer.region[place] as usize];
                }
                let b = curvature[place];
                *t = (0.5 * b * *t - cost - 2.0 * b * p[place]) / (1.0 + 0.5 * b);
                *fresh = probability(*t);
                (*fresh - p[place]).abs()
            };
            let moved = t[start..end]
                .par_chunks_mut(CHUNK)
                .zip(fresh[start..end].par_chunks_mut(CHUNK))
                .enumerate()
                .map(|(chunk, (t, fresh))| {
                    let places = start + chunk * CHUNK..;
                    places.zip(t).zip(fresh).fold(0.0_f64, |most, ((place, t), fresh)| most.max(step(place, t, fresh)))
                })
                .reduce(|| 0.0, f64::max);
            p[start..end].copy_from_slice(&fresh[start..end]);
            residual = residual.max(moved);
        }
        Ok(residual)
    }

    /// Log-odds and probabilities in the order of the variables.
    fn state(&self, n: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut t, mut p) = (vec![0.0; n], vec![0.0; n]);
        for (place, &variable) in self.order.iter().enumerate() {
            t[variable as usize] = self.t[place];
            p[variable as usize] = self.p[place];
        }
        (t, p)
    }
}

impl Edges {
    /// The edges of all chains, by variable.
    fn of(model: &Model) -> Self {
        let pairs = || {
            model.layers().iter().flat_map(|layer| {
                let factors = layer.factors().iter().zip(layer.starts());
                factors.filter_map(|(factor, &start)| Some((factor.as_chain()?, start))).flat_map(
                    move |(chain, start)| {
                        let joined = chain.weights().iter().enumerate().filter(|(_, w)| **w > 0.0);
                        joined.map(move |(i, &w)| (layer.variable(start + i), layer.variable(start + i + 1), w))
                    },
                )
            })
        };
        let mut starts = vec![0; model.n_variables() + 1];
        for (p, q, _) in pairs() {
            starts[p + 1] += 1;
            starts[q + 1] += 1;
        }
        for v in 0..model.n_variables() {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let n_ends = starts[model.n_variables()];
        let mut edges = Self { starts, neighbours: vec![0; n_ends], weights: vec![0.0; n_ends] };
        for (p, q, w) in pairs() {
            for (from, to) in [(p, q), (q, p)] {
                edges.neighbours[next[from]] = to as u32;
                edges.weights[next[from]] = w;
                next[from] += 1;
            }
        }
        edges
    }

    /// The variables class by class, and where the classes begin: each takes the first class no earlier neighbour is in.
    fn colouring(&self) -> (Vec<u32>, Vec<usize>) {
        let n = self.starts.len() - 1;
        let mut colour = vec![u32::MAX; n];
        for v in 0..n {
            let neighbours = &self.neighbours[self.starts[v]..self.starts[v + 1]];
            let taken = |c: &u32| neighbours.iter().any(|&q| colour[q as usize] == *c);
            let free = (0..).find(|c| !taken(c)).expect("fewer neighbours than numbers");
            colour[v] = free;
        }
        let n_classes = colour.iter().max().map_or(0, |c| c + 1);
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&v| colour[v as usize]);
        let classes = (0..=n_classes).map(|c| order.partition_point(|&v| colour[v as usize] < c)).collect();
        (order, classes)
    }

    /// The same edges by place.
    fn reordered(&self, order: &[u32], place: &[u32]) -> Self {
        let mut edges = Self { starts: vec![0], neighbours: Vec::new(), weights: Vec::new() };
        for &v in order {
            let ends = self.starts[v as usize]..self.starts[v as usize + 1];
            edges.neighbours.extend(self.neighbours[ends.clone()].iter().map(|&q| place[q as usize]));
            edges.weights.extend(&self.weights[ends]);
            edges.starts.push(edges.neighbours.len());
        }
        edges
    }
}

impl<'a> Regions<'a> {
    /// The superpixels of a layer; `None` for a layer of chains.
    fn of(layer: &'a Layer, place: &[u32]) -> Result<Option<Self>> {
        let factors: Vec<_> = layer.factors().iter().map(|factor| factor.as_cardinality()).collect();
        if factors.iter().zip(layer.factors()).any(|(table, factor)| table.is_none() && factor.as_chain().is_none()) {
            return Err(Error::UnknownFactor {
                method: "mean field",
                why: "a factor is neither a chain of cut edges nor a table".into(),
            });
        }
        if factors.iter().all(Option::is_none) {
            return Ok(None);
        }
        let members: Vec<u32> = (0..place.len()).map(|i| place[layer.variable(i)]).collect();
        let mut region = vec![0; members.len()];
        for (r, range) in layer.starts().windows(2).enumerate() {
            members[range[0]..range[1]].iter().for_each(|&place| region[place as usize] = r as u32);
        }
        let slopes = vec![0.0; factors.len()];
        Ok(Some(Self { factors, starts: layer.starts(), members, region, slopes }))
    }

    /// Brings the slopes up to date with p.
    fn refresh(&mut self, p: &[f64]) {
        let Self { factors, starts, members, slopes, .. } = self;
        slopes.par_iter_mut().enumerate().with_min_len(REGIONS).for_each(|(r, slope)| {
            let mean: f64 = members[starts[r]..starts[r + 1]].iter().map(|&place| p[place as usize]).sum();
            *slope = factors[r].map_or(0.0, |table| table.slope(mean));
        });
    }
}

#[cfg(test)]
pub(super) fn n_classes(model: &Model) -> usize {
    Edges::of(model).colouring().1.len() - 1
}
