//! Strokes: image bytes of any [`Format`] → [`Seeds`]; [`discover`] finds the file beside the photo.

mod annotation;
mod auto;
mod discover;
mod encoding;
mod format;
mod level;
mod paint;

use auto::Hints;
pub(crate) use auto::hints;
pub(crate) use discover::MARKS;
pub use discover::discover;
pub use format::Format;

use std::path::{Path, PathBuf};

use super::raster::Raster;
use crate::Result;
use crate::grid::{Picture, Seed, Seeds};
use crate::read::{Digest, Limits, Source};

/// The seeds of a stroke file, and how they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strokes {
    /// The file.
    pub path: PathBuf,
    /// What it says about each pixel of the photo.
    pub seeds: Seeds,
    /// The format it was read as, never [`Format::Auto`].
    pub format: Format,
    /// Why that format, when it was found out.
    pub reason: Option<String>,
    /// Pixels of foreground strokes.
    pub foreground: usize,
    /// Pixels of background strokes.
    pub background: usize,
    /// What was in the file.
    pub digest: Digest,
    /// What the user should know, as whole sentences.
    pub warnings: Vec<String>,
}

impl Strokes {
    /// Reads the strokes for `photo` from an image of the same size; the EXIF orientation of the file is applied.
    pub fn read(path: &Path, photo: &Picture, format: Format, limits: &Limits) -> Result<Self> {
        Self::read_below(path, None, photo, format, limits)
    }

    /// The same for a file found in a folder of strokes, whose name and folders then count as well.
    pub(crate) fn read_below(
        path: &Path,
        root: Option<&Path>,
        photo: &Picture,
        format: Format,
        limits: &Limits,
    ) -> Result<Self> {
        let mut source = Source::open(path)?;
        if annotation::is_meant(source.head()) {
            return annotation::read(path, &mut source, photo.shape(), format, limits);
        }
        let raster = Raster::decode_source(source, limits, Some(photo.shape()))?;
        Self::of_raster(path, raster, hints(path, root), photo, format)
    }

    fn of_raster(path: &Path, raster: Raster, hints: Hints, photo: &Picture, format: Format) -> Result<Self> {
        let (format, reason) = match format {
            Format::Auto => {
                let decision = auto::decide(&raster, photo, path, hints)?;
                (decision.format, Some(decision.reason))
            }
            chosen => (chosen, None),
        };
        let (labels, n_soft) = encoding::seeds(&raster, format, photo, path)?;
        let seeds = Seeds::new(raster.shape, labels);
        let (foreground, background) = (seeds.count(Seed::Foreground), seeds.count(Seed::Background));
        let mut warnings: Vec<String> = raster.frames.iter().map(|frames| frames.note(path)).collect();
        if n_soft > 0 {
            warnings.push(format!("{}: {n_soft} pixels at the soft edges of strokes were left out", path.display()));
        }
        if let Some(note) = raster.note.filter(|note| note.trim().to_lowercase().parse::<Format>().is_err()) {
            warnings
                .push(format!("{}: the PNG text key lfield says {note:?}, which is no stroke format", path.display()));
        }
        if foreground + background == raster.shape.n_pixels() {
            warnings.push(format!("{}: the strokes cover every pixel, so nothing is left to decide", path.display()));
        }
        let digest = raster.digest;
        Ok(Self { path: path.to_path_buf(), seeds, format, reason, foreground, background, digest, warnings })
    }

    /// Refuses strokes that leave a class without a pixel.
    pub fn require_both_classes(&self) -> Result<()> {
        self.seeds.require_both_classes(&self.path.display().to_string())
    }
}

impl Seeds {
    /// Decodes a stroke image for `photo`. Without a name to go by, [`Format::Auto`] refuses what only a name could tell.
    ///
    /// ```
    /// use lfield::{Format, Limits, Picture, Seed, Seeds, Shape};
    ///
    /// # fn main() -> lfield::Result<()> {
    /// let photo = Picture::from_rgb(Shape::new(3, 1), vec![[90, 80, 70]; 3])?;
    /// let strokes = b"P5 3 1 255 \xff\x80\x00";
    /// let seeds = Seeds::decode(strokes, Format::Labels, &photo, &Limits::default())?;
    /// assert_eq!(seeds.labels(), [Seed::Foreground, Seed::Background, Seed::Unlabelled]);
    /// assert!(Seeds::decode(strokes, Format::Auto, &photo, &Limits::default()).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn decode(bytes: &[u8], format: Format, photo: &Picture, limits: &Limits) -> Result<Self> {
        let name = Path::new("the stroke image");
        let raster = Raster::decode(name, bytes, limits, Some(photo.shape()))?;
        Ok(Strokes::of_raster(name, raster, (false, false), photo, format)?.seeds)
    }
}

#[cfg(test)]
mod tests;
