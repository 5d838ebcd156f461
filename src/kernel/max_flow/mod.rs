//! Minimum s-t cut of a sparse graph: argmin_A Σ_{v∈A} u_v + Σ_{p∈A, q∉A} c_pq, by augmenting paths in two search trees.
//!
//! Boykov & Kolmogorov (2004): a tree grows from the source and one from the sink; where they touch, flow is pushed along the
//! path, and nodes that lost their way to the root look for a new parent instead of the trees being built again. On pictures
//! paths are short and few trees break, which makes it the method to beat there.
//!
//! Every node carries its *excess*: what the source still offers it (positive), or what it can still send to the sink
//! (negative). Starting from −u and pushing flow, excess ends as −s with s ∈ B(F): the dual solution comes for free.
//! Capacities are whole numbers of some [`Unit`]. So no flow is lost to rounding, equal cuts stay equal, and the method ends.

mod orphan;
mod unit;

pub use unit::Unit;

use std::collections::VecDeque;

use crate::{Checkpoint, Result};

/// Capacities of a pair of nodes, one each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// One end.
    pub from: u32,
    /// The other end.
    pub to: u32,
    /// Paid when `from` is inside the set and `to` is not.
    pub capacity: i64,
    /// Paid when `to` is inside the set and `from` is not.
    pub reverse: i64,
}

/// Where a node stands after [`Graph::solve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Inside every minimum cut: the source still reaches it.
    Source,
    /// Inside none: it still reaches the sink.
    Sink,
    /// Inside the largest minimum cut, outside the smallest; its excess is zero.
    Free,
}

/// A residual graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// One more than there are nodes, to end the last one's arcs.
    nodes: Vec<Node>,
    arcs: Vec<Arc>,
    active: VecDeque<u32>,
    orphans: VecDeque<u32>,
    /// Arcs that [`separate`](Self::separate) deleted, with what was left on them.
    deleted: Vec<(u32, i64)>,
    time: u32,
}

#[derive(Clone, Debug)]
struct Node {
    excess: i64,
    /// First of its arcs; they are contiguous.
    first: u32,
    /// The arc to its parent, or one of the three below.
    parent: u32,
    /// When `distance` was last known to be right.
    stamp: u32,
    /// Arcs to the root.
    distance: u32,
    side: Side,
    active: bool,
}

/// Nodes that grow or look for a parent between two checkpoints.
const CHECK_EVERY: usize = 4096;

const NONE: u32 = u32::MAX;
const ROOT: u32 = u32::MAX - 1;
const ORPHAN: u32 = u32::MAX - 2;

#[derive(Clone, Copy, Debug)]
struct Arc {
    head: u32,
    /// The same edge, the other way.
    sister: u32,
    residual: i64,
}

impl Graph {
    /// The graph with all excesses zero.
    ///
    /// # Panics
    /// When an edge leaves the range of nodes or its capacity is negative.
    pub fn new(n_nodes: usize, edges: &[Edge]) -> Self {
        assert!(edges.len() < (ORPHAN / 2) as usize, "more edges than can be numbered");
        let free = Node { excess: 0, first: 0, parent: NONE, stamp: 0, distance: 0, side: Side::Free, active: false };
        let mut nodes = vec![free; n_nodes + 1];
        for edge in edges {
            assert!(edge.capacity >= 0 && edge.reverse >= 0, "a negative capacity");
            nodes[edge.from as usize].first += 1;
            nodes[edge.to as usize].first += 1;
        }
        let mut end = 0;
        for node in &mut nodes {
            end += node.first;
            node.first = end;
        }
        let mut arcs = vec![Arc { head: 0, sister: 0, residual: 0 }; 2 * edges.len()];
        // Filled from the back, so that each node's arcs come out in the order of the edges.
        for edge in edges.iter().rev() {
            let mut place = |node: u32| {
                let first = &mut nodes[node as usize].first;
                *first -= 1;
                *first
            };
            let (there, back) = (place(edge.from), place(edge.to));
            arcs[there as usize] = Arc { head: edge.to, sister: back, residual: edge.capacity };
            arcs[back as usize] = Arc { head: edge.from, sister: there, residual: edge.reverse };
        }
        Self { nodes, arcs, active: VecDeque::new(), orphans: VecDeque::new(), deleted: Vec::new(), time: 0 }
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len() - 1
    }

    /// What the source still offers the node (positive), or what it can still send to the sink (negative).
    pub fn excess(&self, node: usize) -> i64 {
        self.nodes[node].excess
    }

    /// Sets the excess: −u at the start.
    pub fn set_excess(&mut self, node: usize, excess: i64) {
        self.nodes[node].excess = excess;
    }

    /// Where the node stands after the last [`solve`](Self::solve).
    pub fn side(&self, node: usize) -> Side {
        self.nodes[node].side
    }

    /// The nodes joined to this one by an edge of any capacity, each with the arc that leads there.
    pub fn neighbours(&self, node: usize) -> impl Iterator<Item = (u32, usize)> {
        let joined = |arc: &Arc| arc.residual > 0 || self.arcs[arc.sister as usize].residual > 0;
        let arcs = self.arcs_of(node);
        arcs.filter(move |&arc| joined(&self.arcs[arc])).map(|arc| (arc as u32, self.arcs[arc].head as usize))
    }

    /// Moves the excess at the end of an arc back to its start, as far as capacities allow. From the leaves of a tree to its root,
    /// this balances all that the tree can balance, in one pass and without searching.
    pub fn draw_back(&mut self, arc: u32) {
        let arc = arc as usize;
        let Arc { head, sister, residual } = self.arcs[arc];
        let start = self.arcs[sister as usize].head as usize;
        let amount = self.nodes[head as usize].excess.clamp(-residual, self.arcs[sister as usize].residual);
        self.push(sister as usize, amount);
        self.nodes[head as usize].excess -= amount;
        self.nodes[start].excess += amount;
    }

    /// Deletes the node's edges to nodes on another side. What flows on them stays in the excesses.
    pub fn separate(&mut self, node: usize) {
        for arc in self.arcs_of(node) {
            if self.nodes[self.arcs[arc].head as usize].side != self.nodes[node].side {
                for arc in [arc, self.arcs[arc].sister as usize] {
                    let left = std::mem::take(&mut self.arcs[arc].residual);
                    if left > 0 {
                        self.deleted.push((arc as u32, left));
                    }
                }
            }
        }
    }

    /// What is left of the capacity of each edge, from its first end to the second; `edges` are the ends, in the order of [`new`](Self::new).
    pub fn residuals(&self, edges: impl Iterator<Item = (u32, u32)>) -> Vec<i64> {
        let mut left: Vec<i64> = self.arcs.iter().map(|arc| arc.residual).collect();
        self.deleted.iter().for_each(|&(arc, residual)| left[arc as usize] = residual);
        // Each node's arcs are in the order of the edges.
        let mut next: Vec<u32> = self.nodes.iter().map(|node| node.first).collect();
        let mut take = |node: u32| {
            let arc = next[node as usize];
            next[node as usize] += 1;
            left[arc as usize]
        };
        edges.map(|(from, to)| (take(from), take(to)).0).collect()
    }

    /// Pushes as much flow as there can be, returns how much, and leaves every node on its side.
    pub fn solve(&mut self) -> i128 {
        self.solve_among(0..self.n_nodes())
    }

    /// The same, on some nodes that no edge joins to the others.
    pub fn solve_among(&mut self, nodes: impl IntoIterator<Item = usize>) -> i128 {
        self.solve_until(nodes, &|| Ok(())).expect("this checkpoint does not fail")
    }

    /// The same, as long as the checkpoint does not fail. Afterwards the flow is valid but not the largest, and no node's side means
    /// anything.
    pub fn solve_until(&mut self, nodes: impl IntoIterator<Item = usize>, checkpoint: Checkpoint<'_>) -> Result<i128> {
        debug_assert!(self.active.is_empty() && self.orphans.is_empty());
        self.time = 0;
        for i in nodes {
            let node = &mut self.nodes[i];
            node.side = match node.excess {
                0 => Side::Free,
                1.. => Side::Source,
                _ => Side::Sink,
            };
            node.parent = if node.excess == 0 { NONE } else { ROOT };
            (node.stamp, node.distance, node.active) = (0, 1, node.excess != 0);
            if node.active {
                self.active.push_back(i as u32);
            }
        }
        let mut flow = 0_i128;
        let mut work = 0;
        while let Some(i) = self.active.pop_front() {
            let i = i as usize;
            self.nodes[i].active = false;
            work += 1;
            // The node stays at work while it has a tree to be in and finds paths.
            while self.nodes[i].parent != NONE {
                if work >= CHECK_EVERY {
                    work = 0;
                    if let Err(stop) = checkpoint() {
                        self.active.clear();
                        return Err(stop);
                    }
                }
                let Some(bridge) = self.grow(i) else { break };
                self.tick();
                flow += i128::from(self.augment(bridge));
                work += self.adopt_orphans();
            }
        }
        Ok(flow)
    }

    fn arcs_of(&self, node: usize) -> std::ops::Range<usize> {
        self.nodes[node].first as usize..self.nodes[node + 1].first as usize
    }

    fn tick(&mut self) {
        if self.time == u32::MAX {
            self.time = 0;
            self.nodes.iter_mut().for_each(|node| node.stamp = 0);
        }
        self.time += 1;
    }

    fn activate(&mut self, i: usize) {
        if !self.nodes[i].active {
            self.nodes[i].active = true;
            self.active.push_back(i as u32);
        }
    }

    /// What can flow from the root's side to the far end of `arc`, for a node on `side` that owns the arc.
    #[inline]
    fn outward(&self, side: Side, arc: usize) -> i64 {
        let along = if side == Side::Source { arc } else { self.arcs[arc].sister as usize };
        self.arcs[along].residual
    }

    /// Takes free neighbours into the node's tree until it meets the other: the arc that joins source tree and sink tree.
    fn grow(&mut self, i: usize) -> Option<usize> {
        let Node { side, stamp, distance, .. } = self.nodes[i];
        for arc in self.arcs_of(i) {
            if self.outward(side, arc) == 0 {
                continue;
            }
            let Arc { head, sister, .. } = self.arcs[arc];
            let j = &mut self.nodes[head as usize];
            if j.side == Side::Free {
                (j.side, j.parent, j.stamp, j.distance) = (side, sister, stamp, distance + 1);
                self.activate(head as usize);
            } else if j.side != side {
                // Come back to this node first: it may have more to offer.
                return Some(if side == Side::Source { arc } else { sister as usize });
            } else if j.stamp <= stamp && j.distance > distance + 1 {
                (j.parent, j.stamp, j.distance) = (sister, stamp, distance + 1);
            }
        }
        None
    }

    /// Pushes what fits through the path over `bridge`, from root to root. Nodes whose arc to the parent is full become orphans.
    fn augment(&mut self, bridge: usize) -> i64 {
        let ends = [self.arcs[self.arcs[bridge].sister as usize].head, self.arcs[bridge].head];
        let mut fits = self.arcs[bridge].residual;
        for end in ends {
            let mut i = end as usize;
            while self.nodes[i].parent != ROOT {
                let parent = self.nodes[i].parent as usize;
                fits = fits.min(self.inward(self.nodes[i].side, parent));
                i = self.arcs[parent].head as usize;
            }
            fits = fits.min(self.nodes[i].excess.abs());
        }
        self.push(bridge, fits);
        for end in ends {
            let mut i = end as usize;
            let side = self.nodes[i].side;
            while self.nodes[i].parent != ROOT {
                let parent = self.nodes[i].parent as usize;
                let along = if side == Side::Source { self.arcs[parent].sister as usize } else { parent };
                self.push(along, fits);
                let next = self.arcs[parent].head as usize;
                if self.arcs[along].residual == 0 {
                    self.nodes[i].parent = ORPHAN;
                    self.orphans.push_front(i as u32);
                }
                i = next;
            }
            let root = &mut self.nodes[i];
            root.excess -= if side == Side::Source { fits } else { -fits };
            if root.excess == 0 {
                root.parent = ORPHAN;
                self.orphans.push_front(i as u32);
            }
        }
        fits
    }

    /// What can flow from the far end of `arc` to its owner in a source tree, and back in a sink tree.
    #[inline]
    fn inward(&self, side: Side, arc: usize) -> i64 {
        let along = if side == Side::Source { self.arcs[arc].sister as usize } else { arc };
        self.arcs[along].residual
    }

    fn push(&mut self, arc: usize, amount: i64) {
        let sister = self.arcs[arc].sister as usize;
        self.arcs[arc].residual -= amount;
        self.arcs[sister].residual += amount;
    }
}

#[cfg(test)]
mod tests;
