//! What the neighbourhood says about a pixel: the odds of all, carried along the colours of the photo.
//!
//! q = G(p) with p = 1/(1+e^−L) for the log-odds L found so far and G the guided filter of the photo (He, Sun and Tang, 2010):
//! around every pixel, in a square of (2r+1)² pixels, p is explained by the colours as p ≈ ⟨a, rgb⟩ + b,
//!
//! a = (Σ + εI)⁻¹ cov(rgb, p),   b = mean(p) − ⟨a, mean(rgb)⟩,
//!
//! and q is what the mean of all explanations that cover a pixel says of its colour. The term is log(q/(1−q)), with q held to
//! `FLOOR`..1−`FLOOR`. It lets the many weak pixels of one colour speak with one voice (sky between branches, each pixel a weak
//! no), does not cross colour edges, and leaves a twig darker than its sky a twig. On photos with truth it makes probabilities and
//! masks better (data/README.md). It is one number per pixel, so the model stays log-supermodular.
//!
//! Means over squares are running sums along rows and then along columns, so that time does not depend on r.

use rayon::prelude::*;

use crate::grid::{Picture, Shape};
use crate::kernel::logistic::probability;
use crate::{Checkpoint, Result};

/// How often the neighbourhood is asked, each time about what was found the time before. A third time was no better
/// (data/README.md).
pub(super) const ROUNDS: usize = 2;

/// r is the diagonal of the photo divided by this: 19 pixels for 640×427.
const DIAGONAL_PER_RADIUS: f64 = 40.0;

/// ε, the variance of colour (in 0..1) below which a neighbourhood counts as flat: a deviation of 8 levels.
const FLAT: f32 = 1e-3;

/// The context never claims more than one in 1/`FLOOR`.
const FLOOR: f32 = 1e-3;

/// Rows that share one running sum; a constant, so that rounding does not depend on the number of threads.
const BAND: usize = 64;

/// A photo as the guide of the filter: what does not depend on p.
pub(super) struct Guide {
    shape: Shape,
    radius: usize,
    colours: Vec<[f32; 3]>,
    /// Of the square around every pixel, the mean colour and (Σ + εI)⁻¹, its upper triangle.
    squares: Vec<([f32; 3], [f32; 6])>,
}

impl Guide {
    pub(super) fn new(picture: &Picture, checkpoint: Checkpoint<'_>) -> Result<Self> {
        let Shape { width, height } = picture.shape();
        let radius = ((width as f64).hypot(height as f64) / DIAGONAL_PER_RADIUS).round() as usize;
        Self::with_radius(picture, radius, checkpoint)
    }

    /// The guide with squares of (2r+1)² pixels.
    pub(super) fn with_radius(picture: &Picture, radius: usize, checkpoint: Checkpoint<'_>) -> Result<Self> {
        let colours = picture.rgb().par_iter().map(|rgb| rgb.map(|channel| f32::from(channel) / 255.0)).collect();
        Self::of_colours(picture.shape(), colours, radius, checkpoint)
    }

    fn of_colours(shape: Shape, colours: Vec<[f32; 3]>, radius: usize, checkpoint: Checkpoint<'_>) -> Result<Self> {
        let moments: Vec<[f32; 9]> =
            colours.par_iter().map(|&[r, g, b]| [r, g, b, r * r, r * g, r * b, g * g, g * b, b * b]).collect();
        let squares = box_mean(shape, &moments, radius, checkpoint)?.par_iter().map(inverse).collect();
        Ok(Self { shape, radius, colours, squares })
    }

    /// log(q/(1−q)) for every pixel, row by row, from its log-odds so far.
    pub(super) fn log_odds(&self, so_far: &[f64], checkpoint: Checkpoint<'_>) -> Result<Vec<f64>> {
        let p: Vec<f32> = so_far.par_iter().map(|&log_odds| probability(log_odds) as f32).collect();
        let log_odds = |q: f32| {
            let q = f64::from(q.clamp(FLOOR, 1.0 - FLOOR));
            (q / (1.0 - q)).ln()
        };
        Ok(self.filter(&p, checkpoint)?.into_par_iter().map(log_odds).collect())
    }

    /// G(p): the guided filter.
    fn filter(&self, p: &[f32], checkpoint: Checkpoint<'_>) -> Result<Vec<f32>> {
        let say = |(&[x, y, z, w], &[r, g, b]): (&[f32; 4], &[f32; 3])| x * r + y * g + z * b + w;
        Ok(self.planes(p, checkpoint)?.par_iter().zip(&self.colours).map(say).collect())
    }

    /// The mean of all explanations of p by colour that cover a pixel, a and b, for every pixel.
    pub(super) fn planes(&self, p: &[f32], checkpoint: Checkpoint<'_>) -> Result<Vec<[f32; 4]>> {
        let moments: Vec<[f32; 4]> =
            self.colours.par_iter().zip(p).map(|(&[r, g, b], &p)| [p, r * p, g * p, b * p]).collect();
        let means = box_mean(self.shape, &moments, self.radius, checkpoint)?;
        let planes: Vec<[f32; 4]> = self.squares.par_iter().zip(means).map(explanation).collect();
        box_mean(self.shape, &planes, self.radius, checkpoint)
    }
}

/// The mean colour of a square and (Σ + εI)⁻¹, by the cofactors of the symmetric matrix.
fn inverse(&[r, g, b, rr, rg, rb, gg, gb, bb]: &[f32; 9]) -> ([f32; 3], [f32; 6]) {
    let (rr, gg, bb) = (rr - r * r + FLAT, gg - g * g + FLAT, bb - b * b + FLAT);
    let (rg, rb, gb) = (rg - r * g, rb - r * b, gb - g * b);
    let (c00, c01, c02) = (gg * bb - gb * gb, rb * gb - rg * bb, rg * gb - rb * gg);
    let (c11, c12, c22) = (rr * bb - rb * rb, rg * rb - rr * gb, rr * gg - rg * rg);
    let det = rr * c00 + rg * c01 + rb * c02;
    ([r, g, b], [c00, c01, c02, c11, c12, c22].map(|cofactor| cofactor / det))
}

/// a and b of one square from the means of p and of its products with the colours.
fn explanation((&([r, g, b], inverse), [p, rp, gp, bp]): (&([f32; 3], [f32; 6]), [f32; 4])) -> [f32; 4] {
    let (rp, gp, bp) = (rp - r * p, gp - g * p, bp - b * p);
    let [i00, i01, i02, i11, i12, i22] = inverse;
    let x = i00 * rp + i01 * gp + i02 * bp;
    let y = i01 * rp + i11 * gp + i12 * bp;
    let z = i02 * rp + i12 * gp + i22 * bp;
    [x, y, z, p - x * r - y * g - z * b]
}

/// The mean of every channel over the square of (2r+1)² pixels around each pixel, as far as it lies in the photo.
pub(super) fn box_mean<const K: usize>(
    shape: Shape,
    values: &[[f32; K]],
    radius: usize,
    checkpoint: Checkpoint<'_>,
) -> Result<Vec<[f32; K]>> {
    let Shape { width, height } = shape;
    let mut rows = vec![[0.0; K]; values.len()];
    rows.par_chunks_mut(width).zip(values.par_chunks(width)).try_for_each(|(out, row)| {
        checkpoint()?;
        let mut window = Window::new(1);
        (0..radius.min(width)).for_each(|column| window.enter(&row[column..=column]));
        for (column, out) in out.iter_mut().enumerate() {
            if column + radius < width {
                window.enter(&row[column + radius..=column + radius]);
            }
            if column > radius {
                window.leave(&row[column - radius - 1..column - radius]);
            }
            window.write(std::slice::from_mut(out));
        }
        Ok(())
    })?;
    let row = |row: usize| &rows[row * width..][..width];
    let mut means = vec![[0.0; K]; values.len()];
    means.par_chunks_mut(BAND * width).enumerate().try_for_each(|(band, out)| {
        let first = band * BAND;
        let mut window = Window::new(width);
        (first.saturating_sub(radius)..(first + radius).min(height)).for_each(|above| window.enter(row(above)));
        for (here, out) in (first..).zip(out.chunks_mut(width)) {
            checkpoint()?;
            if here + radius < height {
                window.enter(row(here + radius));
            }
            if here > first && here > radius {
                window.leave(row(here - radius - 1));
            }
            window.write(out);
        }
        Ok(())
    })?;
    Ok(means)
}

/// The sums of what a moving window holds, for a line of windows side by side; in `f64`, so that leaving undoes entering.
struct Window<const K: usize> {
    sums: Vec<[f64; K]>,
    count: usize,
}

impl<const K: usize> Window<K> {
    fn new(side_by_side: usize) -> Self {
        Self { sums: vec![[0.0; K]; side_by_side], count: 0 }
    }

    fn enter(&mut self, line: &[[f32; K]]) {
        self.count += 1;
        self.add(line, 1.0);
    }

    fn leave(&mut self, line: &[[f32; K]]) {
        self.count -= 1;
        self.add(line, -1.0);
    }

    fn add(&mut self, line: &[[f32; K]], sign: f64) {
        for (sums, values) in self.sums.iter_mut().zip(line) {
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum += sign * f64::from(value);
            }
        }
    }

    fn write(&self, means: &mut [[f32; K]]) {
        let share = 1.0 / self.count as f64;
        for (means, sums) in means.iter_mut().zip(&self.sums) {
            *means = sums.map(|sum| (sum * share) as f32);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pixels of the square around a pixel, one by one.
    fn square(shape: Shape, pixel: usize, radius: usize) -> Vec<usize> {
        let Shape { width, height } = shape;
        let near = |a: usize, b: usize| a.abs_diff(b) <= radius;
        (0..width * height).filter(|q| near(q % width, pixel % width) && near(q / width, pixel / width)).collect()
    }

    fn mean(pixels: &[usize], value: impl Fn(usize) -> f64) -> f64 {
        pixels.iter().map(|&pixel| value(pixel)).sum::<f64>() / pixels.len() as f64
    }

    /// Least squares with a ridge: the normal equations of one square, solved by elimination.
    fn explanation_reference(pixels: &[usize], colours: &[[f32; 3]], p: &[f32]) -> [f64; 4] {
        let colour = |i: usize| move |pixel: usize| f64::from(colours[pixel][i]);
        let means: [f64; 3] = std::array::from_fn(|i| mean(pixels, colour(i)));
        let mean_p = mean(pixels, |pixel| f64::from(p[pixel]));
        let mut rows: [[f64; 4]; 3] = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                mean(pixels, |pixel| {
                    let other = if j < 3 { colour(j)(pixel) - means[j] } else { f64::from(p[pixel]) - mean_p };
                    (colour(i)(pixel) - means[i]) * other
                }) + if i == j { f64::from(FLAT) } else { 0.0 }
            })
        });
        for pivot in 0..3 {
            let row = rows[pivot].map(|value| value / rows[pivot][pivot]);
            for other in (0..3).filter(|&other| other != pivot) {
                let factor = rows[other][pivot];
                (0..4).for_each(|j| rows[other][j] -= factor * row[j]);
            }
            rows[pivot] = row;
        }
        let a = [rows[0][3], rows[1][3], rows[2][3]];
        [a[0], a[1], a[2], mean_p - (0..3).map(|i| a[i] * means[i]).sum::<f64>()]
    }

    fn guided_reference(shape: Shape, colours: &[[f32; 3]], p: &[f32], radius: usize) -> Vec<f64> {
        let squares: Vec<Vec<usize>> = (0..p.len()).map(|pixel| square(shape, pixel, radius)).collect();
        let planes: Vec<[f64; 4]> = squares.iter().map(|pixels| explanation_reference(pixels, colours, p)).collect();
        (0..p.len())
            .map(|pixel| {
                let plane: [f64; 4] = std::array::from_fn(|i| mean(&squares[pixel], |q| planes[q][i]));
                (0..3).map(|i| plane[i] * f64::from(colours[pixel][i])).sum::<f64>() + plane[3]
            })
            .collect()
    }

    fn scene() -> impl Strategy<Value = (Shape, Vec<[f32; 3]>, Vec<f32>)> {
        (1_usize..9, 1_usize..9).prop_flat_map(|(width, height)| {
            let n = width * height;
            let level = prop_oneof![Just(0.0_f32), Just(1.0), 0.0_f32..1.0];
            let colours = prop::collection::vec([level.clone(), level.clone(), level.clone()], n);
            (Just(Shape::new(width, height)), colours, prop::collection::vec(level, n))
        })
    }

    proptest! {
        #[test]
        fn running_sums_give_the_filter_written_out((shape, colours, p) in scene(), radius in 0_usize..10) {
            let slow = guided_reference(shape, &colours, &p, radius);
            let guide = Guide::of_colours(shape, colours, radius, &|| Ok(())).unwrap();
            for (fast, slow) in guide.filter(&p, &|| Ok(())).unwrap().iter().zip(slow) {
                prop_assert!((f64::from(*fast) - slow).abs() < 2e-3, "{fast} {slow}");
            }
        }
    }

    #[test]
    fn means_are_right_across_the_seams_of_bands() {
        let shape = Shape::new(3, 2 * BAND + 5);
        let values: Vec<[f32; 1]> = (0..shape.n_pixels()).map(|pixel| [(pixel * 7919 % 101) as f32]).collect();
        for radius in [0, 1, 9, BAND, 3 * BAND] {
            for (pixel, found) in box_mean(shape, &values, radius, &|| Ok(())).unwrap().iter().enumerate() {
                let expected = mean(&square(shape, pixel, radius), |q| f64::from(values[q][0]));
                assert!((f64::from(found[0]) - expected).abs() < 1e-4, "{pixel} {radius}");
            }
        }
    }

    #[test]
    fn weak_pixels_of_one_colour_add_up_and_an_edge_stops_them() {
        // Left half dark, right half light; on the left every third pixel knows nothing.
        let shape = Shape::new(80, 60);
        let left = |pixel: usize| pixel % 80 < 40;
        let colours = (0..4800).map(|pixel| if left(pixel) { [30; 3] } else { [220; 3] }).collect();
        let doubt = |pixel: usize| left(pixel) && pixel.is_multiple_of(3);
        let so_far: Vec<f64> = (0..4800)
            .map(|pixel| {
                if doubt(pixel) {
                    0.0
                } else if left(pixel) {
                    3.0
                } else {
                    -3.0
                }
            })
            .collect();
        let guide = Guide::new(&Picture::new(shape, colours), &|| Ok(())).unwrap();
        let around = guide.log_odds(&so_far, &|| Ok(())).unwrap();
        for (pixel, &found) in around.iter().enumerate() {
            assert!(if left(pixel) { found > 1.0 } else { found < -2.0 }, "{pixel} {found}");
        }
    }
}
