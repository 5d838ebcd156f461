//! From results to files: every picture, array and table the program writes, as bytes in memory.
//!
//! One file per output, each a plain function of pixel grids; [`Answer::encode`] chooses among them. Nothing here touches the disk.
//! Encoding is single-threaded per output and has no clock in it, so the same grids give the same bytes.

mod array;
mod cutout;
mod gallery;
mod heatmap;
mod labels;
mod marginals;
mod mask;
mod matte;
mod outline;
mod overlay;
mod path;
mod photo;
pub mod plot;
mod samples;
mod strokes;
mod thumbnail;

pub mod regions;
pub mod report;
mod trace;
mod trimap;

pub use array::array;
pub use cutout::{cutout, cutout_samples};
pub use gallery::{LETTERS, Tile, gallery};
pub use heatmap::{heat, heatmap};
pub use labels::labels;
pub use marginals::marginals;
pub use mask::mask;
pub use matte::Band;
pub use outline::{coco, labelme, packed_runs, svg};
pub use overlay::{overlay, overlay_samples};
pub use path::path;
pub use strokes::{is_own_strokes, strokes};
#[cfg(test)]
pub(crate) use thumbnail::base64;
pub use thumbnail::{Thumbnails, photo, shrunk, thumbnail};
pub use trace::trace;
pub use trimap::trimap;

use std::borrow::Cow;

use crate::session::{Answer, Matte, Output};
use crate::{Error, Result};

/// Text for HTML and SVG, between tags or in an attribute.
///
/// ```
/// assert_eq!(lfield::encode::escaped("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
/// ```
pub fn escaped(text: &str) -> String {
    let entities = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")];
    entities.iter().fold(text.to_string(), |text, (c, entity)| text.replace(*c, entity))
}

/// Text for one line of a terminal or a page. Names of files may hold line breaks, commands to the terminal and marks that turn the
/// direction of writing, so that `gpj.exe` looks like `exe.jpg`: all are shown, not obeyed.
///
/// ```
/// assert_eq!(lfield::encode::printable("a\nb\u{202e}c é"), "a\\nb\\u{202e}c é");
/// ```
pub fn printable(text: &str) -> String {
    let is_obeyed = |c: char| {
        let is_direction =
            matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        c.is_control() || is_direction || matches!(c, '\u{2028}' | '\u{2029}')
    };
    text.chars().map(|c| if is_obeyed(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Indented JSON with a final newline, of what has string keys and numbers that are finite or null.
pub fn json(value: &impl serde::Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(value).expect("keys are strings");
    json.push(b'\n');
    json
}

impl Answer {
    /// One output as the bytes of its file; a rival has none that proves. Of the superpixels, all layers as one uint32 `.npy` array of shape (layers, H, W).
    pub fn encode(&self, output: Output) -> Result<Vec<u8>> {
        if self.has(output) {
            return Ok(self.encoded(output));
        }
        Err(Error::parameter("the output", output.name(), "one that a rival has: it proves nothing"))
    }

    /// Whether there is such an output.
    pub(crate) fn has(&self, output: Output) -> bool {
        !matches!(output, Output::BaseArray | Output::BoundArray) || self.solved.base.is_some()
    }

    /// The name of the photo's file.
    fn file_name(&self) -> Option<String> {
        let name = self.origin().and_then(|origin| origin.input.image.file_name());
        name.map(|name| name.to_string_lossy().into_owned())
    }

    /// For every pixel, whether its side is proved. A rival proves nothing; there the band of probabilities alone decides.
    fn decided(&self) -> Cow<'_, [bool]> {
        match self.solved.rival {
            Some(_) => vec![true; self.solved.s.len()].into(),
            None => (&*self.solved.certified).into(),
        }
    }

    fn band<'a>(&self, certified: &'a [bool]) -> Band<'a> {
        let options = &self.options.output;
        Band { certified, undecided: options.trimap_band, width: options.matte_width }
    }

    /// The cut-out as 8-bit RGBA samples, row by row.
    pub fn cutout_samples(&self, matte: Matte) -> Vec<u8> {
        let (solved, decided) = (&*self.solved, self.decided());
        cutout_samples(&self.picture, &solved.mask, &solved.marginals, matte, &self.band(&decided))
    }

    pub(crate) fn encoded(&self, output: Output) -> Vec<u8> {
        let (shape, solved, options) = (self.picture.shape(), &*self.solved, &self.options.output);
        match output {
            Output::Mask => mask(&solved.mask),
            Output::Heatmap => heatmap(&solved.marginals),
            Output::Marginals => marginals(&solved.marginals),
            Output::MarginalsArray => array(shape, solved.marginals.as_slice()),
            Output::LogOddsArray => array(shape, &solved.s),
            Output::BoundArray => array(shape, solved.bounds.as_deref().expect("not asked of a rival")),
            Output::BaseArray => array(shape, solved.base.as_deref().expect("not asked of a rival")),
            Output::Overlay => overlay(&self.picture, &solved.mask),
            Output::Cutout => {
                let decided = self.decided();
                cutout(&self.picture, &solved.mask, &solved.marginals, options.matte, &self.band(&decided))
            }
            Output::Trimap => trimap(&solved.marginals, &self.decided(), options.trimap_band),
            Output::Labelme => labelme(&solved.mask, self.file_name().as_deref()),
            Output::Coco => coco(&solved.mask, self.file_name().as_deref()),
            Output::Svg => svg(&solved.mask),
            Output::Superpixels => array::stack(shape, &self.partitions),
            Output::Path => path(&solved.path),
            Output::Trace => trace(&solved.solution.trace),
            Output::Report => self.report().to_json(),
        }
    }
}
