//! Repair of the search trees: every orphan finds a new parent whose way to a root is sound, the shortest there is, or leaves.

use super::{Graph, NONE, ORPHAN, ROOT, Side};

impl Graph {
    /// Returns how many orphans there were.
    pub(super) fn adopt_orphans(&mut self) -> usize {
        let mut count = 0;
        while let Some(i) = self.orphans.pop_front() {
            self.adopt(i as usize);
            count += 1;
        }
        count
    }

    fn adopt(&mut self, i: usize) {
        let side = self.nodes[i].side;
        let mut best = (u32::MAX, NONE);
        for arc in self.arcs_of(i) {
            if self.inward(side, arc) == 0 {
                continue;
            }
            let j = self.arcs[arc].head as usize;
            if self.nodes[j].side != side || self.nodes[j].parent == NONE {
                continue;
            }
            if let Some(distance) = self.distance_to_root(j)
                && distance < best.0
            {
                best = (distance, arc as u32);
            }
        }
        if best.1 != NONE {
            let time = self.time;
            let node = &mut self.nodes[i];
            (node.parent, node.stamp, node.distance) = (best.1, time, best.0 + 1);
            return;
        }
        // It leaves; its children are orphans now, and neighbours that could take it back when they grow are active.
        for arc in self.arcs_of(i) {
            let j = self.arcs[arc].head as usize;
            if self.nodes[j].side != side || self.nodes[j].parent == NONE {
                continue;
            }
            if self.inward(side, arc) > 0 {
                self.activate(j);
            }
            if self.nodes[j].parent == self.arcs[arc].sister {
                self.nodes[j].parent = ORPHAN;
                self.orphans.push_back(j as u32);
            }
        }
        let node = &mut self.nodes[i];
        (node.parent, node.side) = (NONE, Side::Free);
    }

    /// Arcs from the node to its root, if its way does not end at an orphan. Leaves the answer at every node on the way.
    fn distance_to_root(&mut self, from: usize) -> Option<u32> {
        let mut steps = 0;
        let mut i = from;
        let distance = loop {
            let node = &self.nodes[i];
            if node.stamp == self.time && node.parent != ORPHAN {
                break steps + node.distance;
            }
            match node.parent {
                ROOT => break steps + 1,
                ORPHAN => return None,
                parent => i = self.arcs[parent as usize].head as usize,
            }
            steps += 1;
        };
        let mut i = from;
        let mut left = distance;
        while self.nodes[i].stamp != self.time {
            (self.nodes[i].stamp, self.nodes[i].distance) = (self.time, left);
            left -= 1;
            match self.nodes[i].parent {
                ROOT => break,
                parent => i = self.arcs[parent as usize].head as usize,
            }
        }
        Some(distance)
    }
}
