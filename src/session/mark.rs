//! What is known without strokes drawn: a box around the object, and clicks.
//!
//! Outside the box is background. A click is a disc of 1 % of the photo's shorter side. Both become strokes, on top of those drawn.
//! A box that no object stroke is in leaves the object's colours to be found: `evidence` starts from what the box holds.

use std::fmt;
use std::str::FromStr;

use crate::grid::{Seed, Seeds, Shape};
use crate::{Error, Result};

/// Radius of a click, as a share of the shorter side.
const RADIUS: f64 = 0.01;

/// A box and clicks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// A box with the whole object in it.
    pub frame: Option<Frame>,
    /// Points of the object.
    pub foreground: Clicks,
    /// Points of the background.
    pub background: Clicks,
}

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// First column.
    pub x: usize,
    /// First row.
    pub y: usize,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Frame {
    /// Whether a pixel of a grid so wide is inside.
    pub(super) fn contains(&self, pixel: usize, width: usize) -> bool {
        let (x, y) = (pixel % width, pixel / width);
        (self.x..self.x.saturating_add(self.width)).contains(&x)
            && (self.y..self.y.saturating_add(self.height)).contains(&y)
    }
}

/// Points, by column and row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clicks(pub Vec<(usize, usize)>);

impl FromStr for Frame {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match numbers(text)[..] {
            [Some(x), Some(y), Some(width @ 1..), Some(height @ 1..)] => Ok(Self { x, y, width, height }),
            _ => Err(Error::parameter("box", format!("{text:?}"), "X,Y,W,H in pixels, such as 40,25,200,150")),
        }
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{},{}", self.x, self.y, self.width, self.height)
    }
}

impl FromStr for Clicks {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let point = |text: &str| match numbers(text)[..] {
            [Some(x), Some(y)] => Ok((x, y)),
            _ => Err(Error::parameter("a click", format!("{text:?}"), "X,Y in pixels; more after a semicolon")),
        };
        text.split(';').filter(|part| !part.trim().is_empty()).map(point).collect::<Result<_>>().map(Self)
    }
}

impl fmt::Display for Clicks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points: Vec<String> = self.0.iter().map(|(x, y)| format!("{x},{y}")).collect();
        f.write_str(&points.join(";"))
    }
}

fn numbers(text: &str) -> Vec<Option<usize>> {
    text.split(',').map(|number| number.trim().parse().ok()).collect()
}

impl Marks {
    /// Whether nothing is marked.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The strokes with what is marked on top; where a stroke says foreground, it stays so outside the box. Fails on what lies outside the
    /// photo.
    pub(super) fn on(&self, shape: Shape, strokes: Option<&Seeds>) -> Result<Seeds> {
        let Shape { width, height } = shape;
        let mut labels =
            strokes.map_or_else(|| vec![Seed::Unlabelled; shape.n_pixels()], |seeds| seeds.labels().to_vec());
        if let Some(frame) = self.frame {
            if frame.x >= width || frame.y >= height {
                return Err(Error::parameter("box", frame, format!("a box inside the photo of {shape}")));
            }
            for (pixel, label) in labels.iter_mut().enumerate() {
                if !frame.contains(pixel, width) && *label != Seed::Foreground {
                    *label = Seed::Background;
                }
            }
        }
        let radius = (RADIUS * width.min(height) as f64).max(1.0);
        for (clicks, seed) in [(&self.foreground, Seed::Foreground), (&self.background, Seed::Background)] {
            for &(x, y) in &clicks.0 {
                if x >= width || y >= height {
                    return Err(Error::parameter(
                        "a click",
                        format!("{x},{y}"),
                        format!("inside the photo of {shape}"),
                    ));
                }
                let far = radius.floor() as usize;
                for v in y.saturating_sub(far)..(y + far + 1).min(height) {
                    for u in x.saturating_sub(far)..(x + far + 1).min(width) {
                        if (u.abs_diff(x) as f64).hypot(v.abs_diff(y) as f64) <= radius {
                            labels[v * width + u] = seed;
                        }
                    }
                }
            }
        }
        Ok(Seeds::new(shape, labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_and_written_alike() {
        let frame: Frame = "4, 5,20,10".parse().unwrap();
        assert_eq!(frame, Frame { x: 4, y: 5, width: 20, height: 10 });
        assert_eq!(frame.to_string(), "4,5,20,10");
        let clicks: Clicks = "3,4; 7,8".parse().unwrap();
        assert_eq!((clicks.to_string().as_str(), clicks.0), ("3,4;7,8", vec![(3, 4), (7, 8)]));
        for text in ["", "1,2,3", "1,2,0,4", "-1,2,3,4", "a,b,c,d"] {
            assert!(text.parse::<Frame>().is_err(), "{text}");
        }
        assert!("3".parse::<Clicks>().is_err() && "3,4,5".parse::<Clicks>().is_err());
    }

    #[test]
    fn outside_the_box_is_background_and_a_click_is_a_disc() {
        let shape = Shape::new(8, 6);
        let marks =
            Marks { frame: Some("2,1,4,9".parse().unwrap()), foreground: "4,3".parse().unwrap(), ..Marks::default() };
        let seeds = marks.on(shape, None).unwrap();
        let at = |x: usize, y: usize| seeds.labels()[y * 8 + x];
        assert_eq!(
            (at(1, 3), at(2, 0), at(6, 3), at(2, 5)),
            (Seed::Background, Seed::Background, Seed::Background, Seed::Unlabelled)
        );
        assert_eq!(seeds.count(Seed::Foreground), 5);
        let far = Marks { foreground: "8,0".parse().unwrap(), ..Marks::default() };
        assert!(far.on(shape, None).unwrap_err().to_string().contains("8×6"));
        assert!(Marks { frame: Some("9,0,2,2".parse().unwrap()), ..Marks::default() }.on(shape, None).is_err());
    }
}
