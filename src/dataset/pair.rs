//! What belongs to a photo: strokes, truth, costs or probabilities in folders that mirror the folder of photos.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::read::MARKS;
use crate::store::files::FileId;
use crate::{Error, Result};

/// Endings of the formats that can be read.
pub const EXTENSIONS: [&str; 11] = ["png", "jpg", "jpeg", "bmp", "tif", "tiff", "webp", "pnm", "ppm", "pgm", "pbm"];

/// What a file in a mirrored folder may be called: the stem of the photo, a mark or none, an ending.
pub(super) struct Kind {
    what: &'static str,
    marks: &'static [&'static str],
    endings: &'static [&'static str],
}

pub(super) const STROKES: Kind = Kind { what: "stroke", marks: &MARKS, endings: &EXTENSIONS };
pub(super) const TRUTH: Kind = Kind {
    what: "truth",
    marks: &[".truth", "_truth", "-truth", "_mask", "-mask", "_gt", "-gt"],
    endings: &EXTENSIONS,
};
pub(super) const UNARY: Kind = Kind { what: "cost", marks: &[".unary", "_unary"], endings: &["npy"] };
pub(super) const PRIOR: Kind =
    Kind { what: "probability", marks: &[".prior", "_prior"], endings: &["npy", "npz", "png", "tif", "tiff", "pgm"] };

/// The one file of a kind in `folder` that has the photo's path and stem, and is not the photo.
pub(super) fn partner(folder: &Path, below: &Path, image: &Path, kind: &Kind) -> Result<Option<PathBuf>> {
    let stem = below.file_stem().unwrap_or_default();
    let place = folder.join(below.parent().unwrap_or(Path::new("")));
    let mut seen: HashSet<FileId> = FileId::of(image).into_iter().collect();
    let mut found: Option<PathBuf> = None;
    let marks = std::iter::once(&"").chain(kind.marks);
    for (mark, ending) in marks.flat_map(|mark| kind.endings.iter().map(move |ending| (mark, ending))) {
        let mut name = stem.to_os_string();
        name.push(format!("{mark}.{ending}"));
        let path = place.join(name);
        let is_new = path.is_file() && FileId::of(&path).is_some_and(|id| seen.insert(id));
        match &found {
            _ if !is_new => {}
            None => found = Some(path),
            Some(first) => {
                let (image, first) = (image.to_path_buf(), first.clone());
                return Err(Error::SeveralFiles { what: kind.what, image, first, second: path });
            }
        }
    }
    Ok(found)
}
