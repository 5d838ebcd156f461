//! From modes to regions: link, fuse, absorb.
//!
//! 1. Neighbouring pixels (up, down, left, right) whose modes agree to within one colour unit are linked.
//! 2. Adjacent regions whose mean modes are within hr/2 are fused, round after round, until none are.
//! 3. Regions of fewer than M pixels join the adjacent region nearest in colour, round after round, until none is left.
//!
//! Each round unites regions with union-find and contracts the adjacency graph; regions are always connected, and every
//! choice is by colour and then by label.

use rayon::prelude::*;

use super::Layer;
use super::filter::Modes;
use super::luv::lightness_weight;
use crate::grid::{Partition, Shape};
use crate::{Checkpoint, Result};

/// Difference in each of L, u and v below which neighbouring pixels have the same mode.
const SAME_MODE: f32 = 1.0;

/// The regions that the modes make.
pub(super) fn regions(shape: Shape, modes: &Modes, layer: &Layer, checkpoint: Checkpoint<'_>) -> Result<Partition> {
    let mut labels = link(shape, modes, checkpoint)?;
    let mut graph = Graph::new(shape, &labels, modes, checkpoint)?;
    while graph.unite(&graph.alike((layer.range() / 2.0).powi(2))) {
        checkpoint()?;
    }
    while graph.unite(&graph.small(layer.min_size())) {
        checkpoint()?;
    }
    for label in &mut labels {
        *label = graph.now[*label as usize];
    }
    Ok(Partition::from_dense(shape, labels, graph.regions.len()))
}

/// Labels the connected sets of pixels with the same mode, in scan order.
fn link(shape: Shape, modes: &Modes, checkpoint: Checkpoint<'_>) -> Result<Vec<u32>> {
    let mut sets = Sets::new(shape.n_pixels());
    for_neighbours(shape, checkpoint, |p, q| {
        let alike = || {
            let (a, b) = (modes.colour(p), modes.colour(q));
            (0..3).all(|c| (a[c] - b[c]).abs() < SAME_MODE)
        };
        if modes.number(p) == modes.number(q) || alike() {
            sets.unite(p as u32, q as u32);
        }
    })?;
    Ok(sets.labels().0)
}

/// Visits every pair of a pixel and its right or lower neighbour.
fn for_neighbours(shape: Shape, checkpoint: Checkpoint<'_>, mut visit: impl FnMut(usize, usize)) -> Result<()> {
    for start in (0..shape.n_pixels()).step_by(shape.width.max(1)) {
        checkpoint()?;
        let end = start + shape.width;
        (start..end - 1).for_each(|pixel| visit(pixel, pixel + 1));
        if end < shape.n_pixels() {
            (start..end).for_each(|pixel| visit(pixel, pixel + shape.width));
        }
    }
    Ok(())
}

/// Size and mean mode of a region.
#[derive(Clone, Copy)]
struct Region {
    size: usize,
    mode: [f64; 3],
}

impl Region {
    /// Squared distance in colour, seen from the brighter of the two.
    fn distance(&self, other: &Self) -> f64 {
        let [l, u, v] = [0, 1, 2].map(|c| self.mode[c] - other.mode[c]);
        let weight = f64::from(lightness_weight(self.mode[0].max(other.mode[0]) as f32));
        weight * l * l + u * u + v * v
    }
}

/// Regions and which of them touch.
struct Graph {
    /// The present label of every region there was in the beginning.
    now: Vec<u32>,
    regions: Vec<Region>,
    /// Pairs of adjacent regions, smaller label first, sorted.
    edges: Vec<(u32, u32)>,
}

impl Graph {
    fn new(shape: Shape, labels: &[u32], modes: &Modes, checkpoint: Checkpoint<'_>) -> Result<Self> {
        let count = labels.iter().max().map_or(0, |&label| label as usize + 1);
        let mut regions = vec![Region { size: 0, mode: [0.0; 3] }; count];
        for (pixel, &label) in labels.iter().enumerate() {
            let region = &mut regions[label as usize];
            region.size += 1;
            for (sum, value) in region.mode.iter_mut().zip(modes.colour(pixel)) {
                *sum += f64::from(value);
            }
        }
        for region in &mut regions {
            region.mode = region.mode.map(|sum| sum / region.size as f64);
        }
        let mut edges = Vec::new();
        for_neighbours(shape, checkpoint, |p, q| {
            let edge = (labels[p], labels[q]);
            if edge.0 != edge.1 && edges.last() != Some(&edge) {
                edges.push(edge);
            }
        })?;
        let mut graph = Self { now: (0..count as u32).collect(), regions, edges };
        graph.tidy();
        Ok(graph)
    }

    /// Adjacent regions closer in colour than the square root of `limit`.
    fn alike(&self, limit: f64) -> Vec<(u32, u32)> {
        let distance = |&(a, b): &(u32, u32)| self.regions[a as usize].distance(&self.regions[b as usize]);
        self.edges.iter().filter(|edge| distance(edge) < limit).copied().collect()
    }

    /// Every region of fewer than `min_size` pixels, with its nearest neighbour in colour.
    fn small(&self, min_size: usize) -> Vec<(u32, u32)> {
        let mut nearest: Vec<Option<(f64, u32)>> = vec![None; self.regions.len()];
        for &(a, b) in &self.edges {
            let distance = self.regions[a as usize].distance(&self.regions[b as usize]);
            for (from, to) in [(a, b), (b, a)] {
                let best = &mut nearest[from as usize];
                if self.regions[from as usize].size < min_size && best.is_none_or(|(d, _)| distance < d) {
                    *best = Some((distance, to));
                }
            }
        }
        (0..).zip(nearest).filter_map(|(from, best)| best.map(|(_, to)| (from, to))).collect()
    }

    /// Makes one region of each of these pairs; whether there was any.
    fn unite(&mut self, pairs: &[(u32, u32)]) -> bool {
        if pairs.is_empty() {
            return false;
        }
        let mut sets = Sets::new(self.regions.len());
        for &(a, b) in pairs {
            sets.unite(a, b);
        }
        let (renamed, count) = sets.labels();
        let mut regions = vec![Region { size: 0, mode: [0.0; 3] }; count];
        for (region, &name) in self.regions.iter().zip(&renamed) {
            let union = &mut regions[name as usize];
            let size = union.size + region.size;
            for (mean, value) in union.mode.iter_mut().zip(region.mode) {
                *mean += (value - *mean) * region.size as f64 / size as f64;
            }
            union.size = size;
        }
        self.regions = regions;
        for label in &mut self.now {
            *label = renamed[*label as usize];
        }
        for (a, b) in &mut self.edges {
            (*a, *b) = (renamed[*a as usize], renamed[*b as usize]);
        }
        self.tidy();
        true
    }

    /// Keeps one edge for each pair of different regions.
    fn tidy(&mut self) {
        self.edges.retain(|(a, b)| a != b);
        for (a, b) in &mut self.edges {
            (*a, *b) = ((*a).min(*b), (*a).max(*b));
        }
        self.edges.par_sort_unstable();
        self.edges.dedup();
    }
}

/// Disjoint sets: union by smallest member, so that the root is met first in a scan.
struct Sets(Vec<u32>);

impl Sets {
    fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    fn root(&mut self, mut item: u32) -> u32 {
        while self.0[item as usize] != item {
            let grandparent = self.0[self.0[item as usize] as usize];
            self.0[item as usize] = grandparent;
            item = grandparent;
        }
        item
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// A label for every item, equal in a set, dense and in order of first appearance; and their number.
    fn labels(mut self) -> (Vec<u32>, usize) {
        let mut count = 0;
        for item in 0..self.0.len() {
            // A parent is never larger than its child, so it already holds its label.
            let parent = self.0[item] as usize;
            self.0[item] = if parent == item { count } else { self.0[parent] };
            count += u32::from(parent == item);
        }
        (self.0, count as usize)
    }
}
