//! Strokes dealt into folds, for judging on some what was learned from the others.
//!
//! Whole pieces are dealt, not pixels: a pixel's neighbours in the same stroke all but repeat it. A piece is a stroke (a connected
//! component, diagonals count), or, where that is more than its share of a class, a part of it cut across its long axis.
//! The pieces of a class go, the largest first, each to the fold that has the fewest pixels of it so far.

use super::{Seed, Seeds, Shape, components};

/// Which fold each stroke pixel is in.
#[derive(Clone, Debug)]
pub struct Folds {
    /// One entry per pixel; `None` where there is no stroke.
    pub fold: Vec<Option<u8>>,
    /// Number of pieces dealt.
    pub pieces: usize,
}

impl Seeds {
    /// Deals the strokes into `n_folds` folds of about as many pixels of each class.
    pub fn folds(&self, n_folds: u8) -> Folds {
        let mut folds = Folds { fold: vec![None; self.labels.len()], pieces: 0 };
        for class in [Seed::Foreground, Seed::Background] {
            let total = self.count(class);
            let mut pieces: Vec<Vec<usize>> = Vec::new();
            for stroke in components(self.shape, |pixel| self.labels[pixel] == class) {
                let share = stroke.len() as f64 / total as f64 * f64::from(n_folds);
                pieces.extend(self.cut(stroke, (share.round() as usize).max(1)));
            }
            pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
            folds.pieces += pieces.len();
            let mut load = vec![0; usize::from(n_folds)];
            for piece in pieces {
                let least = (0..load.len()).min_by_key(|&fold| load[fold]).expect("there is a fold");
                load[least] += piece.len();
                piece.into_iter().for_each(|pixel| folds.fold[pixel] = Some(least as u8));
            }
        }
        folds
    }

    /// The same strokes without those of one fold.
    pub fn without(&self, folds: &Folds, fold: u8) -> Self {
        let keep = |(&label, &of): (&Seed, &Option<u8>)| if of == Some(fold) { Seed::Unlabelled } else { label };
        Self { shape: self.shape, labels: self.labels.iter().zip(&folds.fold).map(keep).collect() }
    }

    /// Cuts a stroke into parts of equal size across its long axis.
    fn cut(&self, mut stroke: Vec<usize>, n_parts: usize) -> Vec<Vec<usize>> {
        if n_parts < 2 {
            return vec![stroke];
        }
        sort_along_axis(&mut stroke, self.shape, |&pixel| pixel);
        let length = stroke.len().div_ceil(n_parts);
        stroke.chunks(length).map(<[usize]>::to_vec).collect()
    }
}

/// Sorts items by where their pixels lie along the long axis of the ellipse with the same second moments.
pub(crate) fn sort_along_axis<T>(items: &mut [T], shape: Shape, pixel: impl Fn(&T) -> usize) {
    let position = |item: &T| [(pixel(item) % shape.width) as f64, (pixel(item) / shape.width) as f64];
    let n = items.len() as f64;
    let mean = |value: &dyn Fn([f64; 2]) -> f64| items.iter().map(|item| value(position(item))).sum::<f64>() / n;
    let centre = [mean(&|p| p[0]), mean(&|p| p[1])];
    let moment = |i: usize, j: usize| mean(&|p| (p[i] - centre[i]) * (p[j] - centre[j]));
    let (sin, cos) = (0.5 * (2.0 * moment(0, 1)).atan2(moment(0, 0) - moment(1, 1))).sin_cos();
    let along = |item: &T| {
        let [x, y] = position(item);
        x * cos + y * sin
    };
    items.sort_unstable_by(|a, b| along(a).total_cmp(&along(b)).then(pixel(a).cmp(&pixel(b))));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(rows: &[&str]) -> Seeds {
        let label = |c: char| match c {
            'f' => Seed::Foreground,
            'b' => Seed::Background,
            _ => Seed::Unlabelled,
        };
        Seeds::new(Shape::new(rows[0].len(), rows.len()), rows.concat().chars().map(label).collect())
    }

    #[test]
    fn strokes_stay_whole_and_diagonals_belong_together() {
        let seeds = seeds(&["f..ff..bb", ".f.ff...b", "f.......b", "...bbb..."]);
        let folds = seeds.folds(2);
        assert_eq!(folds.pieces, 4);
        let of = |x: usize, y: usize| folds.fold[y * 9 + x];
        assert!(of(0, 0) == of(1, 1) && of(1, 1) == of(0, 2) && of(0, 0) != of(3, 0));
        assert!(of(7, 0) == of(8, 2) && of(7, 0) != of(3, 3));
        assert_eq!(of(2, 0), None);
        let rest = seeds.without(&folds, 0);
        assert_eq!(rest.count(Seed::Foreground) + seeds.without(&folds, 1).count(Seed::Foreground), 7);
        assert!(
            rest.labels()
                .iter()
                .zip(&folds.fold)
                .all(|(label, fold)| (*label == Seed::Unlabelled) == (*fold != Some(1)))
        );
    }

    #[test]
    fn a_single_stroke_is_cut_across_its_long_axis() {
        let row = "f".repeat(40);
        let seeds = seeds(&[&row, &row, &"b".repeat(40)]);
        let folds = seeds.folds(4);
        assert_eq!(folds.pieces, 8);
        for x in 0..40 {
            assert_eq!(folds.fold[x], folds.fold[x / 10 * 10], "column {x}");
            assert_eq!(folds.fold[x], folds.fold[40 + x]);
        }
        let mut used: Vec<u8> = (0..4).map(|part| folds.fold[part * 10].unwrap()).collect();
        used.sort_unstable();
        assert_eq!(used, [0, 1, 2, 3]);
    }
}
