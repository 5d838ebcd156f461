//! A partition of the pixels into regions: what mean shift makes and superpixel potentials stand on.

use std::collections::BTreeMap;

use super::Shape;

/// Every pixel in exactly one region; labels are dense, `0..count`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    shape: Shape,
    labels: Vec<u32>,
    count: usize,
}

impl Partition {
    /// Makes a partition from any labels at all: equal labels are one region (connected or not), and regions are
    /// renumbered in the order in which a row-by-row scan first meets them.
    ///
    /// # Panics
    /// When the number of labels is not the number of pixels.
    pub fn from_labels<L: Copy + Ord>(shape: Shape, labels: &[L]) -> Self {
        assert_eq!(labels.len(), shape.n_pixels(), "one label per pixel of a {shape} grid");
        let mut dense = BTreeMap::new();
        let labels: Vec<u32> = labels
            .iter()
            .map(|&label| {
                let next = dense.len() as u32;
                *dense.entry(label).or_insert(next)
            })
            .collect();
        Self { shape, labels, count: dense.len() }
    }

    /// Takes labels that are dense already, `0..count`.
    ///
    /// # Panics
    /// When the number of labels is not the number of pixels, or a label is not below `count`.
    pub fn from_dense(shape: Shape, labels: Vec<u32>, count: usize) -> Self {
        assert_eq!(labels.len(), shape.n_pixels(), "one label per pixel of a {shape} grid");
        assert!(labels.iter().all(|&label| (label as usize) < count), "labels below {count}");
        Self { shape, labels, count }
    }

    /// The shape of the grid.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The region of every pixel, row by row.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Number of regions.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of pixels in each region.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.count];
        for &label in &self.labels {
            sizes[label as usize] += 1;
        }
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_labels_become_dense_in_scan_order() {
        let partition = Partition::from_labels(Shape::new(3, 2), &[7_i64, -1, 7, 900, -1, 7]);
        assert_eq!(partition.labels(), [0, 1, 0, 2, 1, 0]);
        assert_eq!(partition.sizes(), [3, 2, 1]);
    }
}
