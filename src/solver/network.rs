//! A model as a flow network: F(A) = min { cost(A ∪ Y) : Y auxiliary nodes }, on the variables that are not fixed yet.
//!
//! Chains are edges already. A table h(k) of concave gains d₁ ≥ … ≥ d_n is linear plus Σ_j a_j min(k, j) over the places j where the
//! gains drop by a_j, and min(k, j) = min_y { j·y + Σ_i x_i(1 − y) } needs one auxiliary node and n arcs: robust Pⁿ has two drops, at
//! most four when Q·N is no whole number. A quadratic table drops everywhere by the same δ and is cheaper as a complete graph,
//! h(k) = k·h(n)/n + ½δ·k(n − k). A fixed variable moves into its neighbours' costs; a table keeps what lies beyond the fixed ones.
//!
//! Auxiliary nodes start with excess zero: the j·y they cost has already been drawn as flow from their pixels, evenly. So the excesses
//! of the variables are −s with s ∈ B(F) from the start, and stay so however flow is pushed.

use crate::kernel::max_flow::{Edge, Graph, Unit};
use crate::kernel::rounding::{EPSILON, at_least};
use crate::model::Model;
use crate::{Checkpoint, Result};

/// Variables between two checkpoints.
const CHECK_EVERY: usize = 16_384;

/// The network, in whole units.
pub(super) struct Network {
    pub(super) graph: Graph,
    pub(super) unit: Unit,
    /// The variable of each node; auxiliary nodes come after them.
    pub(super) variables: Vec<u32>,
    /// For no set does the network's cut differ from F by more than this, up to what all sets have in common.
    pub(super) error: f64,
}

/// Why there is no network.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotAGraph {
    /// A factor that is neither a chain nor a table.
    Factor,
    /// More edges than allowed.
    Edges(usize),
}

/// Terms in real numbers, before the unit is known.
struct Terms {
    unary: Vec<f64>,
    /// Sum of the sizes of what came together in each cost.
    sizes: Vec<f64>,
    /// What tables add to the costs of nodes. Rounded to units one by one, as their other terms are.
    shares: Vec<(u32, f64)>,
    edges: Vec<Joined>,
    truncated: Vec<Truncated>,
    /// By how much tables, as they stand here, can differ from those of the model.
    error: f64,
}

/// A weight that counts both ways alike, and what already flows from p to q.
struct Joined {
    p: u32,
    q: u32,
    weight: f64,
    flow: f64,
}

/// (high − low)·min(|A ∩ nodes|, limit), between gains of `high` before the limit and `low` behind it.
struct Truncated {
    nodes: std::rc::Rc<[u32]>,
    high: f64,
    low: f64,
    limit: usize,
}

impl Truncated {
    /// The weight in units. Gains are rounded, not their differences, so that all of them together still cost what they did: nothing, for
    /// a table that is the same for a set and the rest of it.
    fn units(&self, unit: Unit) -> i64 {
        unit.nearest(self.high) - unit.nearest(self.low)
    }
}

impl Network {
    /// The network of the variables for which `fixed` does not say whether they are inside. Superpixels may add `max_edges` edges.
    /// The flow in the chains is that of `messages`, one per layer in layer order, or zero where there is none. The outer error is the
    /// checkpoint's.
    pub(super) fn new(
        model: &Model,
        fixed: impl Fn(usize) -> Option<bool>,
        messages: &[&[f64]],
        max_edges: usize,
        checkpoint: Checkpoint<'_>,
    ) -> Result<Result<Self, NotAGraph>> {
        let variables: Vec<u32> = (0..model.n_variables() as u32).filter(|&v| fixed(v as usize).is_none()).collect();
        let mut node = vec![u32::MAX; model.n_variables()];
        variables.iter().zip(0..).for_each(|(&v, i)| node[v as usize] = i);
        let mut terms = Terms::new(variables.iter().map(|&v| model.unary()[v as usize]).collect());
        let mut n_edges = 0;
        for (r, layer) in model.layers().iter().enumerate() {
            checkpoint()?;
            let mut checked = 0;
            for (factor, range) in layer.factors().iter().zip(layer.starts().windows(2)) {
                if range[1] - checked > CHECK_EVERY {
                    checked = range[1];
                    checkpoint()?;
                }
                let scope = || (range[0]..range[1]).map(|place| layer.variable(place));
                if scope().all(|v| node[v] == u32::MAX) {
                    continue;
                }
                if let Some(chain) = factor.as_chain() {
                    let message = messages.get(r).map_or(&[][..], |message| &message[range[0]..range[1]]);
                    // Whatever the pixels up to here send in all, they send over this edge.
                    let mut flow = 0.0;
                    for (i, ((p, q), &w)) in scope().zip(scope().skip(1)).zip(chain.weights()).enumerate() {
                        flow += message.get(i).unwrap_or(&0.0);
                        terms.edge((node[p], fixed(p)), (node[q], fixed(q)), w, flow);
                    }
                    continue;
                }
                let free: Vec<u32> = scope().map(|v| node[v]).filter(|&i| i != u32::MAX).collect();
                if let Some(gains) = factor.gains() {
                    let known = scope().filter(|&v| fixed(v) == Some(true)).count();
                    let rounding = rounding(&gains);
                    let gains = &gains[known..known + free.len()];
                    let table = Table::new(gains, rounding);
                    n_edges += table.n_edges(free.len());
                    if n_edges <= max_edges {
                        terms.error += table.error(gains);
                        terms.table(&free, &table);
                    }
                } else {
                    return Ok(Err(NotAGraph::Factor));
                }
            }
        }
        if n_edges > max_edges {
            return Ok(Err(NotAGraph::Edges(n_edges)));
        }
        Ok(Ok(terms.into_units(variables)))
    }

    /// The messages of the layers: what flows to and from each variable in each factor of `model`, of which no variable was fixed.
    pub(super) fn messages(&self, model: &Model, checkpoint: Checkpoint<'_>) -> Result<Vec<Vec<f64>>> {
        let mut terms = Terms::new(vec![0.0; model.n_variables()]);
        let mut messages: Vec<Vec<f64>> = vec![vec![0.0; model.n_variables()]; model.layers().len()];
        /// Where the flow of a term goes: a layer, and the first place of the factor there.
        struct Home(usize, usize);
        let (mut edge_homes, mut truncated_homes) = (Vec::new(), Vec::new());
        for (r, layer) in model.layers().iter().enumerate() {
            checkpoint()?;
            for (factor, range) in layer.factors().iter().zip(layer.starts().windows(2)) {
                let scope: Vec<u32> = (range[0]..range[1]).map(|place| layer.variable(place) as u32).collect();
                if let Some(chain) = factor.as_chain() {
                    for (pair, &w) in scope.windows(2).zip(chain.weights()) {
                        terms.edge((pair[0], None), (pair[1], None), w, 0.0);
                    }
                } else if let Some(gains) = factor.gains() {
                    let table = Table::new(&gains, rounding(&gains));
                    terms.table(&scope, &table);
                    messages[r][range[0]..range[1]].fill(table.slope());
                }
                edge_homes.resize_with(terms.edges.len(), || Home(r, range[0]));
                truncated_homes.resize_with(terms.truncated.len(), || Home(r, range[0]));
            }
        }
        checkpoint()?;
        let ends = terms.edges.iter().map(|edge| (edge.p, edge.q));
        let auxiliary = terms.truncated.iter().zip(model.n_variables() as u32..);
        let drawn = auxiliary.flat_map(|(term, auxiliary)| term.nodes.iter().map(move |&from| (from, auxiliary)));
        let residuals = self.graph.residuals(ends.chain(drawn));
        checkpoint()?;
        let (of_edges, of_truncated) = residuals.split_at(terms.edges.len());
        for ((edge, &residual), Home(r, _)) in terms.edges.iter().zip(of_edges).zip(&edge_homes) {
            let layer = &model.layers()[*r];
            let flow = self.unit.value(self.unit.within(edge.weight) - residual);
            messages[*r][layer.place(edge.p as usize)] += flow;
            messages[*r][layer.place(edge.q as usize)] -= flow;
        }
        let mut rest = of_truncated;
        for (term, Home(r, first)) in terms.truncated.iter().zip(&truncated_homes) {
            let (own, others) = rest.split_at(term.nodes.len());
            let places = &mut messages[*r][*first..*first + term.nodes.len()];
            let weight = term.units(self.unit);
            places.iter_mut().zip(own).for_each(|(s, &residual)| *s += self.unit.value(weight - residual));
            rest = others;
        }
        Ok(messages)
    }
}

impl Terms {
    fn new(unary: Vec<f64>) -> Self {
        let sizes = unary.iter().map(|u| u.abs()).collect();
        Self { unary, sizes, shares: Vec::new(), edges: Vec::new(), truncated: Vec::new(), error: 0.0 }
    }

    fn cost(&mut self, node: u32, cost: f64) {
        self.unary[node as usize] += cost;
        self.sizes[node as usize] += cost.abs();
        // Each addition rounds a number that is no larger than what has come together.
        self.error += EPSILON * self.sizes[node as usize];
    }

    fn edge(&mut self, (p, p_fixed): (u32, Option<bool>), (q, q_fixed): (u32, Option<bool>), weight: f64, flow: f64) {
        match (p_fixed, q_fixed) {
            (None, None) if weight > 0.0 => self.edges.push(Joined { p, q, weight, flow }),
            (None, Some(inside)) => self.cost(p, if inside { -weight } else { weight }),
            (Some(inside), None) => self.cost(q, if inside { -weight } else { weight }),
            _ => {}
        }
    }

    fn table(&mut self, nodes: &[u32], table: &Table) {
        match table {
            Table::Quadratic { slope, weight } => {
                self.shares.extend(nodes.iter().map(|&i| (i, *slope)));
                for (k, &p) in nodes.iter().enumerate() {
                    self.edges.extend(nodes[k + 1..].iter().map(|&q| Joined { p, q, weight: *weight, flow: 0.0 }));
                }
            }
            Table::Pieces { last, drops } => {
                self.shares.extend(nodes.iter().map(|&i| (i, *last)));
                let nodes: std::rc::Rc<[u32]> = nodes.into();
                let truncated =
                    |drop: &Drop| Truncated { nodes: nodes.clone(), high: drop.high, low: drop.low, limit: drop.limit };
                self.truncated.extend(drops.iter().map(truncated));
            }
        }
    }

    fn into_units(self, variables: Vec<u32>) -> Network {
        let Self { unary, shares, edges, truncated, error, .. } = self;
        // What can come together in a node bounds its excess, whatever flows.
        let mut load: Vec<f64> = unary.iter().map(|u| u.abs()).collect();
        shares.iter().for_each(|&(i, cost)| load[i as usize] += cost.abs());
        for edge in &edges {
            load[edge.p as usize] += edge.weight;
            load[edge.q as usize] += edge.weight;
        }
        let mut largest = 0.0_f64;
        for term in &truncated {
            let weight = term.high - term.low;
            term.nodes.iter().for_each(|&i| load[i as usize] += weight);
            largest = largest.max(weight * term.nodes.len() as f64).max(term.high.abs()).max(term.low.abs());
        }
        let unit = Unit::for_largest(2.0 * load.into_iter().fold(largest, f64::max));
        // A cost moves by half a unit, a weight by less than one.
        let n_counted =
            unary.len() + shares.len() + edges.len() + truncated.iter().map(|term| term.nodes.len()).sum::<usize>();
        let error = at_least(error + n_counted as f64 * unit.value(1), n_counted);

        let mut s: Vec<i64> = unary.iter().map(|&u| unit.nearest(u)).collect();
        shares.iter().for_each(|&(i, cost)| s[i as usize] += unit.nearest(cost));
        let mut arcs: Vec<Edge> = Vec::with_capacity(edges.len());
        arcs.extend(edges.iter().map(|edge| {
            let capacity = unit.within(edge.weight);
            let flow = unit.nearest(edge.flow).clamp(-capacity, capacity);
            s[edge.p as usize] += flow;
            s[edge.q as usize] -= flow;
            Edge { from: edge.p, to: edge.q, capacity: capacity - flow, reverse: capacity + flow }
        }));
        let n_nodes = unary.len() + truncated.len();
        for (term, auxiliary) in truncated.iter().zip(unary.len() as u32..) {
            let weight = term.units(unit);
            let n = term.nodes.len() as i64;
            // limit·weight units, dealt out one after the other.
            let total = i128::from(weight) * term.limit as i128;
            let (each, rest) = ((total / i128::from(n)) as i64, (total % i128::from(n)) as i64);
            for (&from, k) in term.nodes.iter().zip(0..) {
                let flow = each + i64::from(k < rest);
                s[from as usize] += flow;
                arcs.push(Edge { from, to: auxiliary, capacity: weight - flow, reverse: flow });
            }
        }
        let mut graph = Graph::new(n_nodes, &arcs);
        s.iter().enumerate().for_each(|(i, s)| graph.set_excess(i, -s));
        Network { graph, unit, variables, error }
    }
}

/// A concave table as a sum of terms that are cuts.
#[derive(Debug, PartialEq)]
enum Table {
    /// k·slope + weight·k(n − k)
    Quadratic { slope: f64, weight: f64 },
    /// k·last + Σ (high − low)·min(k, limit)
    Pieces { last: f64, drops: Vec<Drop> },
}

/// Where the gains of a table fall.
#[derive(Debug, PartialEq)]
struct Drop {
    limit: usize,
    high: f64,
    low: f64,
}

/// How far rounding can have moved a gain that came from differences of sums.
fn rounding(gains: &[f64]) -> f64 {
    let largest = gains.iter().fold(0.0_f64, |largest, d| largest.max(d.abs()));
    1e-15 * largest * (gains.len() as f64).max(4.0)
}

impl Table {
    fn new(gains: &[f64], rounding: f64) -> Self {
        let n = gains.len();
        let drop = |i: usize| gains[i] - gains[i + 1];
        let even = || (1..n - 1).all(|i| (drop(i) - drop(0)).abs() <= rounding);
        if n >= 2 && drop(0) > rounding && even() {
            // From the ends alone: exactly zero for a table that is the same for a set and the rest of it.
            let slope = 0.5 * (gains[0] + gains[n - 1]);
            return Table::Quadratic { slope, weight: 0.5 * (gains[0] - gains[n - 1]) / (n - 1) as f64 };
        }
        // Runs of equal gains; each is replaced by its mean, so that h is met where runs end.
        let mut runs: Vec<(usize, f64)> = Vec::new();
        let mut start = 0;
        for end in 1..=n {
            if end == n || gains[start] - gains[end] > rounding {
                let run = &gains[start..end];
                let mean = || run.iter().sum::<f64>() / run.len() as f64;
                runs.push((end, if run[0] == run[run.len() - 1] { run[0] } else { mean() }));
                start = end;
            }
        }
        let drops =
            runs.windows(2).map(|run| Drop { limit: run[0].0, high: run[0].1, low: run[1].1.min(run[0].1) }).collect();
        Table::Pieces { last: runs.last().map_or(0.0, |run| run.1), drops }
    }

    /// What every variable costs, besides cuts.
    fn slope(&self) -> f64 {
        match self {
            Table::Quadratic { slope, .. } => *slope,
            Table::Pieces { last, .. } => *last,
        }
    }

    /// How far h(k) can be from the sum of the first k gains, for any k.
    fn error(&self, gains: &[f64]) -> f64 {
        let n = gains.len();
        let (mut error, mut gain, mut size) = (0.0, self.slope(), self.slope().abs());
        let mut drops = match self {
            Table::Quadratic { .. } => &[][..],
            Table::Pieces { drops, .. } => drops,
        };
        for (i, &exact) in gains.iter().enumerate().rev() {
            if let Table::Quadratic { slope, weight } = self {
                gain = slope + weight * (n as f64 - 1.0 - 2.0 * i as f64);
                size = slope.abs() + weight * n as f64;
            }
            while let [rest @ .., drop] = drops
                && i < drop.limit
            {
                gain = drop.high;
                size = drop.high.abs();
                drops = rest;
            }
            // The gains of the model are themselves right to a digit.
            error += (exact - gain).abs() + EPSILON * (exact.abs() + 4.0 * size);
        }
        at_least(error, n)
    }

    fn n_edges(&self, n: usize) -> usize {
        match self {
            Table::Quadratic { .. } => n * (n - 1) / 2,
            Table::Pieces { drops, .. } => n * drops.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// h(k) as the network has it: the auxiliary nodes free to choose.
    fn value(table: &Table, n: usize, k: usize) -> f64 {
        let k_ = k as f64;
        match table {
            Table::Quadratic { slope, weight } => k_ * slope + weight * k_ * (n - k) as f64,
            Table::Pieces { last, drops } => {
                k_ * last + drops.iter().map(|drop| (drop.high - drop.low) * k.min(drop.limit) as f64).sum::<f64>()
            }
        }
    }

    proptest! {
        #[test]
        fn a_table_is_the_sum_of_its_terms(mut gains in prop::collection::vec(-3..3_i32, 0..12), even in any::<bool>(), shift in -1.0..1.0_f64) {
            gains.sort_unstable_by(|a, b| b.cmp(a));
            let n = gains.len();
            let gains: Vec<f64> = gains.iter().zip(0..).map(|(d, i)| if even { shift - f64::from(i) } else { shift + f64::from(*d) }).collect();
            let table = Table::new(&gains, rounding(&gains));
            prop_assert_eq!(matches!(table, Table::Quadratic { .. }), n > 1 && (even || n == 2 && gains[0] > gains[1] || {
                let drop = gains[0] - gains[1];
                drop > 0.5 && gains.windows(2).all(|d| (d[0] - d[1] - drop).abs() < 0.5)
            }));
            for k in 0..=n {
                prop_assert!((value(&table, n, k) - gains[..k].iter().sum::<f64>()).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_robust_table_has_two_drops_whatever_rounding_did() {
        let h =
            |k: usize| 3.7 * 1000.0 * 0.25 * (k as f64 / 1000.0 / 0.1).min((1.0 - k as f64 / 1000.0) / 0.1).min(1.0);
        let mut gains: Vec<f64> = (0..1000).map(|k| h(k + 1) - h(k)).collect();
        for i in 1..1000 {
            gains[i] = gains[i].min(gains[i - 1]);
        }
        let table = Table::new(&gains, rounding(&gains));
        let Table::Pieces { drops, .. } = &table else { panic!("{table:?}") };
        assert_eq!(drops.iter().map(|drop| drop.limit).collect::<Vec<_>>(), [100, 900]);
        assert!((0..=1000).all(|k| (value(&table, 1000, k) - h(k)).abs() < 1e-9));
    }
}
