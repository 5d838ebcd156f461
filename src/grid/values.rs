//! One value per pixel: the shape of the grid, modular costs, probabilities, and the foreground set.

use std::fmt;

use ndarray::Array2;
use rayon::prelude::*;

use crate::{Error, Result};

/// Width and height of a pixel grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Pixels in a row.
    pub width: usize,
    /// Pixels in a column.
    pub height: usize,
}

impl Shape {
    /// A grid of `width` columns and `height` rows.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height }
    }

    /// Number of pixels.
    pub fn n_pixels(self) -> usize {
        self.width * self.height
    }

    /// The row-major `(height, width)` pair that `ndarray` and NumPy use.
    pub fn dim(self) -> (usize, usize) {
        (self.height, self.width)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}×{}", self.width, self.height)
    }
}

/// The modular cost m in nats, one per pixel: negative favours foreground.
#[derive(Clone, Debug, PartialEq)]
pub struct Unary(Array2<f64>);

impl Unary {
    /// Takes one finite cost per pixel, row by row.
    pub fn new(shape: Shape, values: Vec<f64>) -> Result<Self> {
        check("a unary cost", &values, "a finite number", |m| m.is_finite())?;
        Ok(Self(grid(shape, values)))
    }
}

/// The probability of foreground μ, one per pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginals(Array2<f64>);

impl Marginals {
    /// Takes one probability per pixel, row by row.
    pub fn new(shape: Shape, values: Vec<f64>) -> Result<Self> {
        check("a marginal", &values, "a probability between 0 and 1", |p| (0.0..=1.0).contains(&p))?;
        Ok(Self(grid(shape, values)))
    }

    /// μ = 1/(1+eˢ), on the mask's side of one half where rounding has left it on neither: a tiny s ≠ 0 gives ½ in floating point.
    ///
    /// Refuses an s that contradicts the mask outright: that is an error in the solver, not a matter of rounding.
    pub fn beside(mask: &Mask, s: &[f64]) -> Result<Self> {
        assert_eq!(s.len(), mask.as_slice().len(), "one s per pixel");
        let beside_half = |(&s, &inside): (&f64, &bool)| {
            let p = 1.0 / (1.0 + s.exp());
            match inside {
                _ if p != 0.5 => p,
                true => 0.5_f64.next_up(),
                false => 0.5_f64.next_down(),
            }
        };
        let values: Vec<f64> = s.par_iter().zip(mask.as_slice()).map(beside_half).collect();
        if let Some(pixel) = values.iter().zip(mask.as_slice()).position(|(&p, &inside)| (p > 0.5) != inside) {
            return Err(Error::parameter(
                format!("s at pixel {pixel}"),
                s[pixel],
                "on the same side of zero as the mask",
            ));
        }
        Self::new(mask.shape(), values)
    }

    /// μ = 1/(1+eˢ) of the log-odds s, row by row.
    pub fn from_log_odds(shape: Shape, s: &[f64]) -> Self {
        Self(grid(shape, s.iter().map(|&s| 1.0 / (1.0 + s.exp())).collect()))
    }
}

/// The foreground set A ⊆ V.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask(Array2<bool>);

impl Mask {
    /// Takes one membership per pixel, row by row.
    ///
    /// # Panics
    /// When the number of values is not the number of pixels.
    pub fn new(shape: Shape, values: Vec<bool>) -> Self {
        Self(grid(shape, values))
    }

    /// Number of foreground pixels.
    pub fn area(&self) -> usize {
        self.0.iter().filter(|&&inside| inside).count()
    }

    /// Length of the outline: pairs of 4-neighbours of which one is inside.
    pub fn boundary(&self) -> usize {
        let width = self.0.ncols();
        let values = self.as_slice();
        let across: usize =
            values.chunks(width).map(|row| row.windows(2).filter(|pair| pair[0] != pair[1]).count()).sum();
        let down = values.iter().zip(values.iter().skip(width)).filter(|(above, below)| above != below).count();
        across + down
    }
}

fn grid<T>(shape: Shape, values: Vec<T>) -> Array2<T> {
    assert_eq!(values.len(), shape.n_pixels(), "one value per pixel of a {shape} grid");
    Array2::from_shape_vec(shape.dim(), values).expect("the length was checked")
}

macro_rules! views {
    ($($grid:ident of $value:ty),*) => {$(
        impl $grid {
            /// The shape of the grid.
            pub fn shape(&self) -> Shape {
                let (height, width) = self.0.dim();
                Shape { width, height }
            }

            /// The values, row by row.
            pub fn as_slice(&self) -> &[$value] {
                self.0.as_slice().expect("grids are row-major")
            }

            /// The values as a `(height, width)` array.
            pub fn array(&self) -> &Array2<$value> {
                &self.0
            }
        }
    )*};
}

views!(Unary of f64, Marginals of f64, Mask of bool);

fn check(name: &str, values: &[f64], expected: &str, good: impl Fn(f64) -> bool) -> Result<()> {
    match values.iter().position(|&v| !good(v)) {
        None => Ok(()),
        Some(pixel) => Err(Error::parameter(format!("{name} (pixel {pixel})"), values[pixel], expected)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_odds_too_small_to_show_still_lands_on_its_side() {
        let mask = Mask::new(Shape::new(4, 1), vec![true, false, true, false]);
        let marginals = Marginals::beside(&mask, &[-1e-300, 0.0, 0.0, 1e-17]).unwrap();
        let sides: Vec<bool> = marginals.as_slice().iter().map(|&p| p > 0.5).collect();
        assert_eq!(sides, mask.as_slice());
        let sides: Vec<bool> = marginals.as_slice().iter().map(|&p| p >= 0.5).collect();
        assert_eq!(sides, mask.as_slice());
    }

    #[test]
    fn log_odds_that_contradict_the_mask_are_refused() {
        let mask = Mask::new(Shape::new(1, 1), vec![true]);
        assert!(Marginals::beside(&mask, &[0.25]).is_err());
    }
}
