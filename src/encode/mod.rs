//! From results to files: every picture, array and table the program writes, as bytes in memory.
//!
//! One file per output, each a plain function of pixel grids that returns the encoded bytes. Nothing here touches the disk
//! except [`files`], which takes the finished bytes and puts all of them in place at once. Encoding is single-threaded per
//! file and has no clock in it, so the same grids give the same bytes; the pipeline encodes the files side by side.

mod array;
mod cutout;
mod gallery;
mod heatmap;
mod labels;
mod marginals;
mod mask;
mod overlay;
pub mod plot;
mod samples;
mod thumbnail;

pub mod regions;
pub mod report;
mod trace;
mod trimap;

pub use array::array;
pub use cutout::{Matte, cutout};
pub use gallery::{LETTERS, Tile, gallery};
pub use heatmap::{heat, heatmap};
pub use labels::labels;
pub use marginals::{marginals, marginals_beside};
pub use mask::mask;
pub use overlay::overlay;
pub use thumbnail::Thumbnails;
pub use trace::{TraceRow, trace};
pub use trimap::trimap;

/// One output a user can ask for with `--emit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Output {
    /// The MAP mask.
    Mask,
    /// The marginals in colour.
    Heatmap,
    /// The marginals as 16-bit grey.
    Marginals,
    /// The marginals as float64.
    MarginalsArray,
    /// The log-odds s as float64.
    LogOddsArray,
    /// Outline and tint of the mask on the photo.
    Overlay,
    /// The object alone, on nothing.
    Cutout,
    /// Foreground, background, undecided.
    Trimap,
    /// The label maps of the superpixel layers.
    Superpixels,
    /// The course of the solve.
    Trace,
    /// Everything in numbers.
    Report,
}

impl Output {
    /// Every output there is, in the order in which they are listed.
    pub const ALL: [Self; 11] = [
        Self::Mask,
        Self::Heatmap,
        Self::Marginals,
        Self::MarginalsArray,
        Self::LogOddsArray,
        Self::Overlay,
        Self::Cutout,
        Self::Trimap,
        Self::Superpixels,
        Self::Trace,
        Self::Report,
    ];

    /// What is written when nothing is asked for.
    pub const DEFAULT: [Self; 4] = [Self::Mask, Self::Heatmap, Self::Marginals, Self::Report];

    /// The name by which `--emit` knows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mask => "mask",
            Self::Heatmap => "heatmap",
            Self::Marginals => "marginals",
            Self::MarginalsArray => "marginals.npy",
            Self::LogOddsArray => "s.npy",
            Self::Overlay => "overlay",
            Self::Cutout => "cutout",
            Self::Trimap => "trimap",
            Self::Superpixels => "superpixels",
            Self::Trace => "trace",
            Self::Report => "report",
        }
    }
}
