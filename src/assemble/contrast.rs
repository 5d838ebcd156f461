//! Edge weights from contrast: w_pq = exp(−θ‖rgb_p − rgb_q‖²), RGB on 0–255.
//!
//! Equal neighbours are joined with weight 1, and the more two colours differ the cheaper it is to cut between them.

use super::Theta;
use crate::grid::{Picture, Shape};

/// The weights of all 4-neighbour edges of one photo, computed where they are asked for.
#[derive(Debug)]
pub struct Contrast<'a> {
    picture: &'a Picture,
    theta: f64,
}

impl<'a> Contrast<'a> {
    /// Weights of `picture` at the given θ.
    pub fn new(picture: &'a Picture, theta: Theta) -> Self {
        let theta = match theta {
            Theta::Fixed(theta) => theta,
            Theta::Auto => automatic(picture),
        };
        Self { picture, theta }
    }

    /// θ in force.
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// The shape of the photo.
    pub fn shape(&self) -> Shape {
        self.picture.shape()
    }

    /// w_pq of two pixels.
    pub fn weight(&self, p: usize, q: usize) -> f64 {
        let rgb = self.picture.rgb();
        (-self.theta * squared_distance(rgb[p], rgb[q])).exp()
    }
}

/// 1/(2·mean squared distance of neighbours); 0 for a photo of one colour, where any θ gives the same weights.
fn automatic(picture: &Picture) -> f64 {
    let Shape { width, height } = picture.shape();
    let rgb = picture.rgb();
    let (mut sum, mut edges) = (0.0, 0_u64);
    for row in 0..height {
        for column in 0..width {
            let p = row * width + column;
            if column + 1 < width {
                sum += squared_distance(rgb[p], rgb[p + 1]);
                edges += 1;
            }
            if row + 1 < height {
                sum += squared_distance(rgb[p], rgb[p + width]);
                edges += 1;
            }
        }
    }
    if sum > 0.0 { edges as f64 / (2.0 * sum) } else { 0.0 }
}

fn squared_distance(a: [u8; 3], b: [u8; 3]) -> f64 {
    let channel = |i: usize| (f64::from(a[i]) - f64::from(b[i])).powi(2);
    channel(0) + channel(1) + channel(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_is_the_printed_formula_on_the_0_to_255_scale() {
        let picture = Picture::new(Shape::new(2, 1), vec![[10, 20, 30], [13, 16, 30]]);
        let weight = Contrast::new(&picture, Theta::Fixed(0.01)).weight(0, 1);
        assert!((weight - (-0.01_f64 * 25.0).exp()).abs() < 1e-15);
        let auto = Contrast::new(&picture, Theta::Auto);
        assert!((auto.theta() - 1.0 / 50.0).abs() < 1e-15);
    }
}
