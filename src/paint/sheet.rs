//! The strokes of one photo: what a file held at the start, the strokes since, and those that were undone.
//!
//! The raster is always the base with the strokes on top, in order; undo paints again without the last one. A sheet that nobody looks
//! at folds its rasters into a few kilobytes, and unfolds when it is needed again.

use super::stroke::Stroke;
use crate::encode;
use crate::grid::{Picture, Seed, Seeds, Shape};
use crate::read::{Format, Limits};
use crate::{Error, Result};

/// The most strokes on one photo, and the most points of all of them.
pub(super) const MAX_STROKES: usize = 10_000;
const MAX_POINTS: usize = 2_000_000;

/// The strokes of one photo.
#[derive(Debug)]
pub(super) struct Sheet {
    shape: Shape,
    /// What was there at the start, as a stroke file.
    base: Vec<u8>,
    strokes: Vec<(Stroke, Seed)>,
    undone: Vec<(Stroke, Seed)>,
    n_points: usize,
    /// All of it, unless folded.
    raster: Option<Vec<Seed>>,
}

impl Sheet {
    /// A sheet that starts from what a file held.
    pub(super) fn new(base: &Seeds) -> Self {
        Self {
            shape: base.shape(),
            base: encode::strokes(base),
            strokes: Vec::new(),
            undone: Vec::new(),
            n_points: 0,
            raster: Some(base.labels().to_vec()),
        }
    }

    /// A sheet with nothing on it.
    pub(super) fn empty(shape: Shape) -> Self {
        Self::new(&Seeds::new(shape, vec![Seed::Unlabelled; shape.n_pixels()]))
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Strokes that can be undone, and redone.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.strokes.len(), self.undone.len())
    }

    /// Refuses a stroke beyond what a sheet holds.
    pub(super) fn check_room(&self, stroke: &Stroke) -> Result<(), String> {
        if self.strokes.len() < MAX_STROKES && self.n_points + stroke.points.len() <= MAX_POINTS {
            return Ok(());
        }
        Err(format!(
            "{} strokes are on this photo, which is the most: start lfield paint again to go on",
            self.strokes.len()
        ))
    }

    /// Adds a stroke. What was undone cannot be redone any more.
    pub(super) fn add(&mut self, stroke: Stroke, seed: Seed) {
        self.n_points += stroke.points.len();
        let shape = self.shape;
        paint(self.raster(), shape, &stroke, seed);
        self.strokes.push((stroke, seed));
        self.undone.clear();
    }

    /// Takes the last stroke away; whether there was one.
    pub(super) fn undo(&mut self) -> bool {
        let Some(last) = self.strokes.pop() else { return false };
        self.n_points -= last.0.points.len();
        self.undone.push(last);
        self.raster = None;
        true
    }

    /// Brings back the last stroke that was taken away; whether there was one.
    pub(super) fn redo(&mut self) -> bool {
        let Some((stroke, seed)) = self.undone.pop() else { return false };
        let undone = std::mem::take(&mut self.undone);
        self.add(stroke, seed);
        self.undone = undone;
        true
    }

    /// Keeps strokes and base only.
    pub(super) fn fold(&mut self) {
        self.raster = None;
    }

    /// What every pixel says.
    pub(super) fn seeds(&mut self) -> Seeds {
        Seeds::new(self.shape, self.raster().clone())
    }

    /// Pixels of the object and of the background.
    pub(super) fn classes(&mut self) -> [usize; 2] {
        let labels = self.raster();
        [Seed::Foreground, Seed::Background].map(|class| labels.iter().filter(|&&label| label == class).count())
    }

    fn raster(&mut self) -> &mut Vec<Seed> {
        let Self { shape, base, strokes, raster, .. } = self;
        raster.get_or_insert_with(|| {
            let mut labels = unfolded(*shape, base).unwrap_or_else(|_| vec![Seed::Unlabelled; shape.n_pixels()]);
            for (stroke, seed) in strokes {
                paint(&mut labels, *shape, stroke, *seed);
            }
            labels
        })
    }
}

/// The labels of a stroke file that was made here.
fn unfolded(shape: Shape, file: &[u8]) -> Result<Vec<Seed>, Error> {
    let blank = Picture::new(shape, vec![[0; 3]; shape.n_pixels()]);
    let limits = Limits { max_pixels: shape.n_pixels() as u64 };
    Ok(Seeds::decode(file, Format::Labels, &blank, &limits)?.labels().to_vec())
}

fn paint(labels: &mut [Seed], shape: Shape, stroke: &Stroke, seed: Seed) {
    stroke.cover(shape, |pixels| labels[pixels].fill(seed));
}

#[cfg(test)]
mod tests {
    use super::super::stroke::Tool;
    use super::*;
    use proptest::prelude::*;

    const SHAPE: Shape = Shape { width: 12, height: 9 };

    fn stroke(x: u8, y: u8) -> Stroke {
        let points = vec![[f64::from(x), f64::from(y)], [f64::from(y), f64::from(x) / 2.0]];
        Stroke { tool: Tool::Object, size: 2.0, points, threshold: 0.0 }
    }

    proptest! {
        #![proptest_config(crate::cases(64))]

        /// Against a list that is painted anew each time; folding changes nothing.
        #[test]
        fn undo_and_redo_are_those_of_a_list(steps in prop::collection::vec((0_u8..6, 0_u8..9, 0_u8..9), 0..30)) {
            let mut first = vec![Seed::Unlabelled; SHAPE.n_pixels()];
            first[7] = Seed::Background;
            let mut sheet = Sheet::new(&Seeds::new(SHAPE, first.clone()));
            let (mut done, mut undone) = (Vec::new(), Vec::new());
            for (kind, x, y) in steps {
                match kind {
                    0 => {
                        prop_assert_eq!(sheet.undo(), !done.is_empty());
                        undone.extend(done.pop());
                    }
                    1 => {
                        prop_assert_eq!(sheet.redo(), !undone.is_empty());
                        done.extend(undone.pop());
                    }
                    2 => sheet.fold(),
                    kind => {
                        let seed = [Seed::Unlabelled, Seed::Background, Seed::Foreground][usize::from(kind) - 3];
                        sheet.add(stroke(x, y), seed);
                        done.push((stroke(x, y), seed));
                        undone.clear();
                    }
                }
                let mut expected = first.clone();
                done.iter().for_each(|(stroke, seed)| paint(&mut expected, SHAPE, stroke, *seed));
                prop_assert_eq!(sheet.seeds(), Seeds::new(SHAPE, expected));
                prop_assert_eq!(sheet.counts(), (done.len(), undone.len()));
            }
        }
    }

    #[test]
    fn there_is_room_for_so_many_strokes() {
        let mut sheet = Sheet::empty(SHAPE);
        for _ in 0..MAX_STROKES {
            sheet.check_room(&stroke(1, 1)).unwrap();
            sheet.add(stroke(1, 1), Seed::Foreground);
        }
        assert!(sheet.check_room(&stroke(1, 1)).unwrap_err().contains("10000"));
        assert!(sheet.undo() && sheet.check_room(&stroke(1, 1)).is_ok());
    }
}
