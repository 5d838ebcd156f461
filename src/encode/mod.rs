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
mod overlay;
mod path;
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
pub use overlay::{overlay, overlay_samples};
pub use path::path;
pub use strokes::{is_own_strokes, strokes};
pub use thumbnail::{Thumbnails, photo, shrunk, thumbnail};
pub use trace::trace;
pub use trimap::trimap;

use crate::session::{Answer, Output};
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
        output != Output::BaseArray || self.solved.base.is_some()
    }

    pub(crate) fn encoded(&self, output: Output) -> Vec<u8> {
        let (shape, solved, options) = (self.picture.shape(), &*self.solved, &self.options.output);
        match output {
            Output::Mask => mask(&solved.mask),
            Output::Heatmap => heatmap(&solved.marginals),
            Output::Marginals => marginals(&solved.marginals),
            Output::MarginalsArray => array(shape, solved.marginals.as_slice()),
            Output::LogOddsArray => array(shape, &solved.s),
            Output::BaseArray => array(shape, solved.base.as_deref().expect("not asked of a rival")),
            Output::Overlay => overlay(&self.picture, &solved.mask),
            Output::Cutout => cutout(&self.picture, &solved.mask, &solved.marginals, options.matte),
            // A rival proves nothing; there the band alone decides.
            Output::Trimap if solved.rival.is_some() => {
                trimap(&solved.marginals, &vec![true; solved.s.len()], options.trimap_band)
            }
            Output::Trimap => trimap(&solved.marginals, &solved.certified, options.trimap_band),
            Output::Superpixels => array::stack(shape, &self.partitions),
            Output::Path => path(&solved.path),
            Output::Trace => trace(&solved.solution.trace),
            Output::Report => self.report().to_json(),
        }
    }
}
