//! The paper's statements about minimum norm, L-Field and MAP, against brute force over all sets or orders.

use super::*;
use crate::factor::Scratch;

/// A set function given by its 2ⁿ values; bit v of the index is variable v.
pub(super) struct Table {
    pub(super) n: usize,
    pub(super) values: Vec<f64>,
}

impl Table {
    pub(super) fn of(model: &Model) -> Self {
        let n = model.n_variables();
        Self { n, values: sets(n).map(|set| model.energy(&set)).collect() }
    }

    /// The gain of each variable when they are added in this order.
    fn gains(&self, order: &[usize]) -> Vec<f64> {
        let mut gains = vec![0.0; self.n];
        let mut set = 0;
        for &v in order {
            gains[v] = self.values[set | 1 << v] - self.values[set];
            set |= 1 << v;
        }
        gains
    }

    pub(super) fn greedy(&self, x: &[f64]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..self.n).collect();
        order.sort_by(|&a, &b| x[b].total_cmp(&x[a]));
        self.gains(&order)
    }

    pub(super) fn lovasz(&self, x: &[f64]) -> f64 {
        dot(x, &self.greedy(x))
    }

    pub(super) fn is_submodular(&self) -> bool {
        (0..self.values.len()).all(|a| {
            (0..self.values.len())
                .all(|b| self.values[a] + self.values[b] >= self.values[a | b] + self.values[a & b] - 1e-9)
        })
    }

    /// argmin { Σ g_v(s_v) : s ∈ B(F) } for convex g given by their derivatives, by divide and conquer: give all variables the
    /// slope that meets s(V) = F(V), look through all sets for the one violated most, split there. It shares nothing with the solvers.
    pub(super) fn minimise(&self, derivative: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        const REACH: f64 = 40.0;
        let at_slope = |v: usize, slope: f64| bisect(-REACH, REACH, |s| derivative(v, s) > slope);
        let mut s = vec![0.0; self.n];
        let mut blocks = vec![(0, (1_usize << self.n) - 1)];
        while let Some((base, top)) = blocks.pop() {
            let members: Vec<usize> = (0..self.n).filter(|v| (top ^ base) >> v & 1 == 1).collect();
            let whole = self.values[top] - self.values[base];
            let low = members.iter().map(|&v| derivative(v, -REACH)).fold(f64::INFINITY, f64::min);
            let high = members.iter().map(|&v| derivative(v, REACH)).fold(f64::NEG_INFINITY, f64::max);
            let slope = bisect(low, high, |slope| members.iter().map(|&v| at_slope(v, slope)).sum::<f64>() > whole);
            members.iter().for_each(|&v| s[v] = at_slope(v, slope));
            let slack = |set: usize| {
                let sum: f64 = members.iter().filter(|&&v| set >> v & 1 == 1).map(|&v| s[v]).sum();
                self.values[set] - self.values[base] - sum
            };
            let between = (0..self.values.len()).filter(|set| set & base == base && set | top == top);
            let least = between.min_by(|&a, &b| slack(a).total_cmp(&slack(b))).expect("at least the base");
            if slack(least) < -1e-10 && least != base && least != top {
                blocks.extend([(base, least), (least, top)]);
            }
        }
        s
    }
}

/// The point of an interval from which on a statement holds.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        *(if holds(middle) { &mut high } else { &mut low }) = middle;
    }
    0.5 * (low + high)
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A 3×2 grid with everything in it; rounded, it has many ties.
pub(super) fn small_models() -> impl Strategy<Value = Model> {
    let reals = |range, n| prop::collection::vec(range, n);
    (reals(-3.0..3.0_f64, 6), reals(0.0..1.5_f64, 7), prop::collection::vec(0..2_u8, 6), 0.0..6.0_f64, any::<bool>())
        .prop_map(|(m, w, labels, c, ties)| {
            let round = |v: Vec<f64>| -> Vec<f64> { if ties { v.iter().map(|v| v.round()).collect() } else { v } };
            grid_model(3, 2, &round(m), &round(w), &labels, c)
        })
}

fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let insert = |order: Vec<usize>| {
        (0..n).map(move |at| {
            let mut longer = order.clone();
            longer.insert(at, n - 1);
            longer
        })
    };
    orders(n - 1).into_iter().flat_map(insert).collect()
}

proptest! {
    #![proptest_config(crate::cases(24))]

    // Edmonds' theorem: Edmonds' greedy vertex is the best of all vertices of B(F), one for each order.
    #[test]
    fn greedy_solves_the_linear_programme(model in small_models(), x in prop::collection::vec(-2.0..2.0_f64, 6)) {
        let table = Table::of(&model);
        let best = orders(6).iter().map(|order| dot(&x, &table.gains(order))).fold(f64::NEG_INFINITY, f64::max);
        prop_assert!((dot(&x, &model.greedy(&x)) - best).abs() < 1e-9);
        prop_assert!((model.lovasz(&x) - best).abs() < 1e-9);
    }

    // Fujishige's theorem and the paper's corollary: {s < 0}, that is p > ½, is the smallest minimiser and {s ≤ 0}, p ≥ ½, the largest; also with ties.
    #[test]
    fn signs_of_the_minimum_norm_point_are_the_smallest_and_the_largest_map(model in small_models()) {
        let table = Table::of(&model);
        let least = table.values.iter().copied().fold(f64::INFINITY, f64::min);
        let best = (0..64_usize).filter(|&set| table.values[set] <= least + 1e-9);
        let (smallest, largest) = best.fold((63, 0), |(all, any), set| (all & set, any | set));
        for solver in [SolverKind::MinNorm, SolverKind::Accelerated] {
            let s = run(&model, &tight(solver)).s;
            let p: Vec<f64> = s.iter().map(|s| 1.0 / (1.0 + s.exp())).collect();
            let above = |threshold: f64| p.iter().enumerate().filter(|(_, p)| **p > threshold).map(|(v, _)| 1 << v).sum::<usize>();
            // The point is known to 1e-6, so "½" is read that wide.
            prop_assert_eq!(smallest, above(0.5 + 1e-6), "{:?}", s);
            prop_assert_eq!(largest, above(0.5 - 1e-6), "{:?}", s);
        }
    }

    // The paper's theorem that L-Field is the minimum norm: the point that minimises Σ log(1 + e^{−s}) over B(F) is the minimum-norm point.
    #[test]
    fn l_field_and_minimum_norm_share_their_solution(model in small_models()) {
        let field = Table::of(&model).minimise(|_, s| -1.0 / (1.0 + s.exp()));
        prop_assert!(distance(&field, &run(&model, &tight(SolverKind::MinNorm)).s) < 1e-5);
    }

    // The paper's lemma on weighted norms: Σ w(x−y)² and Σ (1/w) log(e^{−wx} + e^{−wy}) share their optimum over B(F). The first is a weighted projection.
    #[test]
    fn weighted_squares_and_weighted_logarithms_share_their_optimum(
        gains in prop::collection::vec(-2.0..2.0_f64, 5), chain in prop::collection::vec(0.0..2.0_f64, 4),
        w in prop::collection::vec(0.3..3.0_f64, 5), y in prop::collection::vec(-2.0..2.0_f64, 5),
    ) {
        let mut gains = gains;
        gains.sort_by(|a, b| b.total_cmp(a));
        let factors: [Box<dyn Factor>; 2] =
            [Box::new(Cardinality::from_gains(gains).unwrap()), Box::new(Chain::new(chain).unwrap())];
        for factor in factors {
            let mut projected = y.clone();
            factor.project_weighted(&mut projected, &w, &mut Scratch::default());
            let model = Model::new(vec![0.0; 5], vec![Layer::new(5, vec![((0..5).collect(), factor)])]).unwrap();
            let table = Table::of(&model);
            let squares = table.minimise(|v, x| 2.0 * w[v] * (x - y[v]));
            let logarithms = table.minimise(|v, x| -1.0 / (1.0 + (w[v] * (x - y[v])).exp()));
            prop_assert!(distance(&squares, &logarithms) < 1e-5);
            prop_assert!(distance(&squares, &projected) < 1e-5);
        }
    }
}
