//! Minimum cuts against all subsets, and against another implementation on grids.

use ac_library::MfGraph;
use proptest::prelude::*;

use super::*;

fn cost(u: &[i64], edges: &[Edge], inside: impl Fn(usize) -> bool) -> i64 {
    let modular: i64 = (0..u.len()).filter(|&v| inside(v)).map(|v| u[v]).sum();
    let cut = |edge: &Edge| match (inside(edge.from as usize), inside(edge.to as usize)) {
        (true, false) => edge.capacity,
        (false, true) => edge.reverse,
        _ => 0,
    };
    modular + edges.iter().map(cut).sum::<i64>()
}

fn solved(u: &[i64], edges: &[Edge]) -> (Graph, i128) {
    let mut graph = Graph::new(u.len(), edges);
    (0..u.len()).for_each(|v| graph.set_excess(v, -u[v]));
    let flow = graph.solve();
    (graph, flow)
}

/// Flow, smallest and largest minimum cut by an independent program.
fn oracle(u: &[i64], edges: &[Edge]) -> (i64, Vec<bool>, Vec<bool>) {
    let (s, t) = (u.len(), u.len() + 1);
    let run = |forward: bool| {
        let mut graph = MfGraph::<i64>::new(u.len() + 2);
        let mut arc = |p, q, c| if forward { graph.add_edge(p, q, c) } else { graph.add_edge(q, p, c) };
        for (v, &u) in u.iter().enumerate() {
            arc(s, v, (-u).max(0));
            arc(v, t, u.max(0));
        }
        for edge in edges {
            arc(edge.from as usize, edge.to as usize, edge.capacity);
            arc(edge.to as usize, edge.from as usize, edge.reverse);
        }
        let (from, to) = if forward { (s, t) } else { (t, s) };
        let flow = graph.flow(from, to);
        (flow, graph.min_cut(from)[..u.len()].to_vec())
    };
    let (flow, smallest) = run(true);
    let (_, reaches_sink) = run(false);
    (flow, smallest, reaches_sink.iter().map(|r| !r).collect())
}

fn grid(width: usize, height: usize, capacities: &[i64]) -> Vec<Edge> {
    let mut capacities = capacities.iter().copied().cycle();
    let mut edges = Vec::new();
    for v in 0..width * height {
        let right = (v % width + 1 < width).then_some(v + 1);
        let down = (v / width + 1 < height).then_some(v + width);
        for q in right.into_iter().chain(down) {
            let (capacity, reverse) = (capacities.next().unwrap(), capacities.next().unwrap());
            edges.push(Edge { from: v as u32, to: q as u32, capacity, reverse });
        }
    }
    edges
}

proptest! {
    #![proptest_config(crate::cases(400))]

    #[test]
    fn no_subset_costs_less(
        u in prop::collection::vec(-6..6_i64, 1..9),
        ends in prop::collection::vec((0..8_u32, 0..8_u32, 0..6_i64, 0..6_i64), 0..20),
    ) {
        let n = u.len();
        let edges: Vec<Edge> = ends.iter().map(|&(from, to, capacity, reverse)| Edge {
            from: from % n as u32, to: to % n as u32, capacity, reverse,
        }).filter(|edge| edge.from != edge.to).collect();
        let (graph, flow) = solved(&u, &edges);
        let all = |set: usize| cost(&u, &edges, |v| set >> v & 1 == 1);
        let least = (0..1 << n).map(all).min().unwrap();
        prop_assert_eq!(u.iter().map(|u| i128::from(*u.min(&0))).sum::<i128>() + flow, i128::from(least));
        let best: Vec<usize> = (0..1 << n).filter(|&set| all(set) == least).collect();
        for v in 0..n {
            let side = match (best.iter().all(|set| set >> v & 1 == 1), best.iter().any(|set| set >> v & 1 == 1)) {
                (true, _) => Side::Source,
                (false, true) => Side::Free,
                (false, false) => Side::Sink,
            };
            prop_assert_eq!(graph.side(v), side);
        }
        // The excess left is −s with s ∈ B(F): it proves the cut.
        for set in 0..1_usize << n {
            let s: i64 = (0..n).filter(|v| set >> v & 1 == 1).map(|v| -graph.excess(v)).sum();
            prop_assert!(s <= all(set));
        }
        prop_assert_eq!((0..n).map(|v| (-graph.excess(v)).min(0)).sum::<i64>(), least);
    }
}

proptest! {
    #![proptest_config(crate::cases(40))]

    #[test]
    fn grids_agree_with_another_implementation(
        width in 1..30_usize, height in 1..30_usize, strength in 1..60_i64,
        u in prop::collection::vec(-50..50_i64, 900), c in prop::collection::vec(0..10_i64, 400),
    ) {
        let c: Vec<i64> = c.iter().map(|c| c * strength / 10).collect();
        let (u, edges) = (&u[..width * height], grid(width, height, &c));
        let (graph, flow) = solved(u, &edges);
        let (expected, smallest, largest) = oracle(u, &edges);
        prop_assert_eq!(flow, i128::from(expected));
        for v in 0..u.len() {
            prop_assert_eq!(graph.side(v) == Side::Source, smallest[v]);
            prop_assert_eq!(graph.side(v) != Side::Sink, largest[v]);
        }
    }
}

#[test]
fn pieces_can_be_solved_apart() {
    let c = [4, 1, 7, 0, 3, 9, 2];
    let edges = grid(12, 9, &c);
    let u: Vec<i64> = (0..108).map(|v| (v * 37 % 41) - 20).collect();
    let (mut graph, _) = solved(&u, &edges);
    (0..108).for_each(|v| graph.separate(v));
    let source: Vec<usize> = (0..108).filter(|&v| graph.side(v) == Side::Source).collect();
    let sink: Vec<usize> = (0..108).filter(|&v| graph.side(v) == Side::Sink).collect();
    assert!(!source.is_empty() && !sink.is_empty());
    for &v in &source {
        assert!(graph.neighbours(v).all(|(_, q)| graph.side(q) == Side::Source));
    }
    let before: Vec<i64> = sink.iter().map(|&v| graph.excess(v)).collect();
    // Lower the source side's excess by a constant: flow moves there and nowhere else.
    source.iter().for_each(|&v| graph.set_excess(v, graph.excess(v) - 5));
    graph.solve_among(source.iter().copied());
    assert_eq!(before, sink.iter().map(|&v| graph.excess(v)).collect::<Vec<_>>());
}

#[test]
fn a_tree_without_bottlenecks_balances_itself() {
    let edges: Vec<Edge> =
        [(0, 1), (0, 2), (2, 3), (2, 4)].map(|(from, to)| Edge { from, to, capacity: 9, reverse: 9 }).into();
    let mut graph = Graph::new(5, &edges);
    [4, -3, 5, -8, 2].into_iter().enumerate().for_each(|(v, excess)| graph.set_excess(v, excess));
    let arc = |graph: &Graph, p: usize, q: usize| graph.neighbours(p).find(|(_, head)| *head == q).unwrap().0;
    for (p, q) in [(2, 4), (2, 3), (0, 2), (0, 1)] {
        graph.draw_back(arc(&graph, p, q));
    }
    assert!((0..5).all(|v| graph.excess(v) == 0));
    // With a bottleneck, what does not fit stays behind.
    let mut graph = Graph::new(2, &[Edge { from: 0, to: 1, capacity: 1, reverse: 2 }]);
    graph.set_excess(1, 7);
    graph.draw_back(arc(&graph, 0, 1));
    assert_eq!([graph.excess(0), graph.excess(1)], [2, 5]);
    graph.set_excess(1, -7);
    graph.draw_back(arc(&graph, 0, 1));
    assert_eq!([graph.excess(0), graph.excess(1)], [-1, -4]);
}

#[test]
fn units_are_exact_for_whole_numbers_and_survive_any_size() {
    let unit = Unit::for_largest(1000.0);
    for value in [0.0, 1.0, -3.0, 0.5, 999.75] {
        assert_eq!(unit.value(unit.nearest(value)), value);
        assert_eq!(unit.nearest(value) % unit.nearest(0.25), 0);
    }
    assert!(unit.value(unit.within(0.3)) <= 0.3);
    for largest in [0.0, f64::MIN_POSITIVE, 1e-300, 1e300, f64::MAX] {
        let unit = Unit::for_largest(largest);
        assert!(unit.nearest(largest) < 1 << 60);
        assert!((unit.value(unit.nearest(largest)) - largest).abs() <= 1e-15 * largest);
    }
}

#[test]
fn no_nodes_and_no_edges_are_fine() {
    assert_eq!(Graph::new(0, &[]).solve(), 0);
    let (graph, flow) = solved(&[3, -2, 0], &[]);
    assert_eq!(flow, 0);
    assert_eq!([0, 1, 2].map(|v| graph.side(v)), [Side::Sink, Side::Source, Side::Free]);
}
