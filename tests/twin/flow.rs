//! Minimum cut with whole numbers of any size, by Dinic's algorithm.

use dashu_int::IBig;

pub(super) const SOURCE: usize = 0;
pub(super) const SINK: usize = 1;

/// Nodes and arcs with what they can still take.
pub(super) struct Network {
    arcs: Vec<Arc>,
    leaving: Vec<Vec<u32>>,
    level: Vec<u32>,
    /// The arc each node tries next.
    next: Vec<usize>,
}

/// Arc i and i ^ 1 are each other's reverse.
struct Arc {
    to: usize,
    rest: IBig,
}

const UNREACHED: u32 = u32::MAX;

impl Network {
    pub(super) fn new() -> Self {
        Self { arcs: Vec::new(), leaving: vec![Vec::new(); 2], level: Vec::new(), next: Vec::new() }
    }

    pub(super) fn node(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.leaving.len() - 1
    }

    /// From p to q up to `there`, and from q to p up to `back`.
    pub(super) fn arc(&mut self, p: usize, q: usize, there: IBig, back: IBig) {
        for (from, to, rest) in [(p, q, there), (q, p, back)] {
            self.leaving[from].push(self.arcs.len() as u32);
            self.arcs.push(Arc { to, rest });
        }
    }

    /// Costs `cost` when the node is on the side of the source; a negative cost is earned there.
    pub(super) fn cost(&mut self, node: usize, cost: IBig) {
        if cost > IBig::ZERO {
            self.arc(node, SINK, cost, IBig::ZERO);
        } else if cost < IBig::ZERO {
            self.arc(SOURCE, node, -cost, IBig::ZERO);
        }
    }

    /// Which nodes are on the source's side of every minimum cut, and which of any.
    pub(super) fn minimum_cuts(mut self) -> (Vec<bool>, Vec<bool>) {
        loop {
            self.level = self.distances(SOURCE, |network, arc| network.arcs[arc].rest > IBig::ZERO);
            if self.level[SINK] == UNREACHED {
                break;
            }
            self.next = vec![0; self.leaving.len()];
            while self.augment() {}
        }
        let reached = |level: &u32| *level != UNREACHED;
        let to_sink = self.distances(SINK, |network, arc| network.arcs[arc ^ 1].rest > IBig::ZERO);
        (self.level.iter().map(reached).collect(), to_sink.iter().map(|level| !reached(level)).collect())
    }

    fn distances(&self, from: usize, passes: impl Fn(&Self, usize) -> bool) -> Vec<u32> {
        let mut level = vec![UNREACHED; self.leaving.len()];
        level[from] = 0;
        let mut queue = vec![from];
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            for &arc in &self.leaving[node] {
                let to = self.arcs[arc as usize].to;
                if level[to] == UNREACHED && passes(self, arc as usize) {
                    level[to] = level[node] + 1;
                    queue.push(to);
                }
            }
        }
        level
    }

    /// Fills one path of falling distance; false when there is none left.
    fn augment(&mut self) -> bool {
        let mut path: Vec<usize> = Vec::new();
        loop {
            let node = path.last().map_or(SOURCE, |&arc| self.arcs[arc].to);
            if node == SINK {
                break;
            }
            match self.leaving[node].get(self.next[node]) {
                Some(&arc) => {
                    let Arc { to, rest } = &self.arcs[arc as usize];
                    if self.level[*to] == self.level[node] + 1 && *rest > IBig::ZERO {
                        path.push(arc as usize);
                    } else {
                        self.next[node] += 1;
                    }
                }
                None => match path.pop() {
                    Some(arc) => self.next[self.arcs[arc ^ 1].to] += 1,
                    None => return false,
                },
            }
        }
        let amount = path.iter().map(|&arc| &self.arcs[arc].rest).min().expect("a path has arcs").clone();
        for arc in path {
            self.arcs[arc].rest -= &amount;
            self.arcs[arc ^ 1].rest += &amount;
        }
        true
    }
}
