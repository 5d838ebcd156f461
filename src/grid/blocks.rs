//! A grid seen through blocks of ratio × ratio pixels, and the coarser grid whose pixels the blocks are.
//!
//! Colours and costs of a block are the means over it. A stroke never disappears: a block that strokes of one class touch carries
//! that class, and one that both touch the class with more pixels there (the foreground where they are even). Blocks at the right
//! and lower border may be smaller.

use rayon::prelude::*;

use super::{Partition, Picture, Seed, Seeds, Shape, Unary};
use crate::Result;

/// The blocks of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    fine: Shape,
    ratio: usize,
}

impl Blocks {
    /// Blocks of `ratio` pixels a side, at least 1.
    pub fn new(fine: Shape, ratio: usize) -> Self {
        Self { fine, ratio: ratio.max(1) }
    }

    /// The grid that is cut into blocks.
    pub fn fine(&self) -> Shape {
        self.fine
    }

    /// The grid of the blocks.
    pub fn coarse(&self) -> Shape {
        Shape::new(self.fine.width.div_ceil(self.ratio), self.fine.height.div_ceil(self.ratio))
    }

    /// Pixels along the side of a block.
    pub fn ratio(&self) -> usize {
        self.ratio
    }

    /// The block of a pixel.
    #[inline]
    pub fn block(&self, pixel: usize) -> usize {
        let (row, column) = (pixel / self.fine.width, pixel % self.fine.width);
        row / self.ratio * self.coarse().width + column / self.ratio
    }

    /// One value per pixel: that of its block.
    pub fn spread<T: Copy + Default + Send + Sync>(&self, coarse: &[T]) -> Vec<T> {
        let mut fine = vec![T::default(); self.fine.n_pixels()];
        let width = self.coarse().width;
        fine.par_chunks_mut(self.fine.width).enumerate().for_each(|(row, fine)| {
            let values = &coarse[row / self.ratio * width..][..width];
            fine.chunks_mut(self.ratio).zip(values).for_each(|(fine, &value)| fine.fill(value));
        });
        fine
    }

    /// The mean colour of every block, rounded.
    pub fn picture(&self, picture: &Picture) -> Picture {
        let rgb = picture.rgb();
        let mean = |sum: [u64; 3], n: u64| sum.map(|sum| ((sum + n / 2) / n) as u8);
        let add = |sum: &mut [u64; 3], pixel: usize| (0..3).for_each(|c| sum[c] += u64::from(rgb[pixel][c]));
        Picture::new(self.coarse(), self.fold([0; 3], add, mean))
    }

    /// The mean cost of every block.
    pub fn unary(&self, unary: &Unary) -> Result<Unary> {
        let m = unary.as_slice();
        Unary::new(self.coarse(), self.fold(0.0, |sum, pixel| *sum += m[pixel], |sum, n| sum / n as f64))
    }

    /// The strokes that touch every block.
    pub fn seeds(&self, seeds: &Seeds) -> Seeds {
        let labels = seeds.labels();
        let add = |(foreground, background): &mut (u64, u64), pixel: usize| match labels[pixel] {
            Seed::Foreground => *foreground += 1,
            Seed::Background => *background += 1,
            Seed::Unlabelled => {}
        };
        let label = |(foreground, background), _| match (foreground, background) {
            (0, 0) => Seed::Unlabelled,
            _ if foreground >= background => Seed::Foreground,
            _ => Seed::Background,
        };
        Seeds::new(self.coarse(), self.fold((0, 0), add, label))
    }

    /// The region at the middle of every block.
    pub fn partition(&self, partition: &Partition) -> Partition {
        let (coarse, labels) = (self.coarse(), partition.labels());
        let middle = |i: usize, length: usize| (i * self.ratio + self.ratio / 2).min(length - 1);
        let places = (0..coarse.n_pixels()).map(|block| (block % coarse.width, block / coarse.width));
        let at = |(x, y)| labels[middle(y, self.fine.height) * self.fine.width + middle(x, self.fine.width)];
        Partition::from_labels(coarse, &places.map(at).collect::<Vec<_>>())
    }

    /// `end` of what `add` gathers over the pixels of every block, row by row, and their number.
    fn fold<S: Clone + Send + Sync, T: Send>(
        &self,
        start: S,
        add: impl Fn(&mut S, usize) + Sync,
        end: impl Fn(S, u64) -> T + Sync,
    ) -> Vec<T> {
        let (coarse, Shape { width, height }, ratio) = (self.coarse(), self.fine, self.ratio);
        let lines = (0..coarse.height).into_par_iter().map(|line| {
            let rows = line * ratio..((line + 1) * ratio).min(height);
            let mut sums = vec![start.clone(); coarse.width];
            for row in rows.clone() {
                for (block, sum) in sums.iter_mut().enumerate() {
                    let columns = block * ratio..((block + 1) * ratio).min(width);
                    columns.for_each(|column| add(sum, row * width + column));
                }
            }
            let size = |block: usize| (rows.len() * (width - block * ratio).min(ratio)) as u64;
            sums.into_iter().enumerate().map(|(block, sum)| end(sum, size(block))).collect::<Vec<T>>()
        });
        lines.flatten_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scene() -> impl Strategy<Value = (Blocks, Vec<[u8; 3]>, Vec<u8>)> {
        (1_usize..9, 1_usize..9, 1_usize..5).prop_flat_map(|(width, height, ratio)| {
            let colours = prop::collection::vec(any::<[u8; 3]>(), width * height);
            let strokes = prop::collection::vec(0_u8..3, width * height);
            (Just(Blocks::new(Shape::new(width, height), ratio)), colours, strokes)
        })
    }

    /// The pixels of a block, one by one.
    fn members(blocks: Blocks, block: usize) -> Vec<usize> {
        (0..blocks.fine().n_pixels()).filter(|&pixel| blocks.block(pixel) == block).collect()
    }

    proptest! {
        #[test]
        fn a_block_has_the_mean_of_its_pixels_and_keeps_its_strokes((blocks, colours, strokes) in scene()) {
            let (fine, coarse) = (blocks.fine(), blocks.coarse());
            let labels = strokes.iter().map(|&s| [Seed::Unlabelled, Seed::Background, Seed::Foreground][usize::from(s)]);
            let labels: Vec<Seed> = labels.collect();
            let picture = blocks.picture(&Picture::new(fine, colours.clone()));
            let values: Vec<f64> = colours.iter().map(|c| f64::from(c[0])).collect();
            let unary = blocks.unary(&Unary::new(fine, values.clone()).unwrap()).unwrap();
            let seeds = blocks.seeds(&Seeds::new(fine, labels.clone()));
            let numbers: Vec<usize> = (0..coarse.n_pixels()).collect();
            prop_assert_eq!(blocks.spread(&numbers), (0..fine.n_pixels()).map(|p| blocks.block(p)).collect::<Vec<_>>());
            for block in 0..coarse.n_pixels() {
                let members = members(blocks, block);
                let mean = members.iter().map(|&p| values[p]).sum::<f64>() / members.len() as f64;
                prop_assert!((unary.as_slice()[block] - mean).abs() < 1e-9);
                prop_assert!((f64::from(picture.rgb()[block][0]) - mean).abs() <= 0.5);
                let count = |class| members.iter().filter(|&&p| labels[p] == class).count();
                let (object, ground) = (count(Seed::Foreground), count(Seed::Background));
                let expected = match object.max(ground) {
                    0 => Seed::Unlabelled,
                    most if most == object => Seed::Foreground,
                    _ => Seed::Background,
                };
                prop_assert_eq!(seeds.labels()[block], expected);
            }
        }
    }

    #[test]
    fn a_region_is_that_of_the_middle() {
        let blocks = Blocks::new(Shape::new(4, 3), 2);
        let labels = [0, 0, 1, 1, 0, 2, 1, 3, 4, 4, 5, 5];
        let partition = blocks.partition(&Partition::from_labels(blocks.fine(), &labels));
        // The middles are the pixels (1, 1), (3, 1), (1, 2) and (3, 2).
        assert_eq!(partition, Partition::from_labels(blocks.coarse(), &[2, 3, 4, 5]));
    }
}
