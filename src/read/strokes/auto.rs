//! Which encoding a stroke file is in, when the file itself leaves one reading.
//!
//! Guessing wrong turns foreground into background, so anything with two readings is refused with the values found. A text in
//! the file speaks first. Grey {0, 128, 255} is decided by the name of the file or its folder, GrabCut codes by a 3
//! among them. Colours decide when all that is not red or blue is transparent or one plain grey, or is the photo itself. Soft edges,
//! half-transparent brushes and JPEG are no obstacle ([`paint`], [`level`]). A way out is only named when it has been tried and leads to
//! strokes of both classes.

use std::path::Path;

use super::super::raster::Raster;
use super::Format;
use super::encoding::{by_index, diff, seeds};
use super::{level, paint};
use crate::grid::{Picture, Seed};
use crate::read::standard;
use crate::{Error, Result};

/// A format, and why it is the one.
pub(super) struct Decision {
    pub(super) format: Format,
    pub(super) reason: String,
}

pub(super) fn decide(raster: &Raster, photo: &Picture, path: &Path, hints: Hints) -> Result<Decision> {
    let named = raster.note.as_deref().and_then(|note| note.trim().to_lowercase().parse().ok());
    let decided = match (named, &raster.grey) {
        (Some(format), _) if format != Format::Auto => Ok((format, "its PNG text key lfield says so".to_string())),
        (_, Some(values)) => by_grey(raster, values, hints),
        (_, None) => by_colour(raster, photo),
    };
    match decided {
        Ok((format, reason)) => Ok(Decision { format, reason }),
        Err(Doubt { why, options }) => {
            let works = |format: &&Format| {
                let read = seeds(raster, **format, photo, path).map(|(seeds, _)| seeds).unwrap_or_default();
                read.contains(&Seed::Foreground) && read.contains(&Seed::Background)
            };
            let options: Vec<&str> = options.iter().filter(works).map(|format| format.name()).collect();
            let why = match options[..] {
                [] => format!(
                    "{why}: paint red on the object and blue on the background, on a white canvas of the photo's size"
                ),
                _ => why.to_string(),
            };
            let (path, found) = (path.to_path_buf(), raster.describe());
            Err(Error::AmbiguousStrokes { path, found, why, options: options.join("|") })
        }
    }
}

/// Why a file does not decide, and the formats it might be in.
struct Doubt {
    why: &'static str,
    options: &'static [Format],
}

use Format::{Diff, Grabcut, Labels, Palette, Redblue, Trimap};

fn by_grey(raster: &Raster, values: &[u16], hints: Hints) -> Result<(Format, String), Doubt> {
    let found = distinct(values);
    let within = |allowed: &[u16]| found.iter().all(|value| allowed.contains(value));
    if !raster.is_opaque() {
        return Err(Doubt {
            why: "some of it is transparent, so black may be paint or nothing",
            options: &[Labels, Trimap],
        });
    }
    if within(&[0, 255]) && found.len() == 2 {
        return Err(Doubt {
            why: "255 is foreground, but 0 may be background or unlabelled",
            options: &[Labels, Trimap],
        });
    }
    let is_soft = || {
        let read = level::labels(raster, values).map(|(seeds, _)| seeds).unwrap_or_default();
        read.contains(&Seed::Foreground) && read.contains(&Seed::Background)
    };
    if within(&[0, 128, 255]) || is_soft() {
        return match hints {
            (true, false) => Ok((Labels, "its name or folder says scribble".into())),
            (false, true) => Ok((Trimap, "its name or folder says trimap".into())),
            _ => Err(Doubt {
                why: "the background is 128 in labels and 0 in a trimap, and the name says neither \"scribble\" nor \"trimap\" alone",
                options: &[Labels, Trimap],
            }),
        };
    }
    if within(&[0, 1, 2, 3]) {
        return match found.contains(&3) {
            true => Ok((Grabcut, "its values are OpenCV's 0 to 3".into())),
            false => Err(Doubt {
                why: "without a 3 these may be OpenCV's codes or numbers of classes",
                options: &[Grabcut, Palette],
            }),
        };
    }
    Err(Doubt {
        why: "these are not the values of any one encoding (smoothing or JPEG compression adds others)",
        options: &[Trimap],
    })
}

fn distinct(values: &[u16]) -> Vec<u16> {
    let mut is_there = vec![false; 1 << 16];
    for &value in values {
        is_there[usize::from(value)] = true;
    }
    (0..=u16::MAX).filter(|&value| is_there[usize::from(value)]).collect()
}

/// Whether names contain "scribble", and "trimap".
pub(crate) type Hints = (bool, bool);

/// What the name of the file and of its folder say; below the folder `root` of a batch, also every folder on the way.
pub(crate) fn hints(path: &Path, root: Option<&Path>) -> Hints {
    if standard::is_meant(path) {
        return (false, false);
    }
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let (path, root) = (absolute(path), root.map(absolute));
    let depth = match root.as_ref().and_then(|root| path.strip_prefix(root).ok()) {
        Some(below) => below.components().count() + 1,
        None => 2,
    };
    let says = |word| {
        let mut names = path.ancestors().filter_map(Path::file_name).take(depth.max(2));
        names.any(|name| name.to_string_lossy().to_lowercase().contains(word))
    };
    (says("scribble"), says("trimap"))
}

fn by_colour(raster: &Raster, photo: &Picture) -> Result<(Format, String), Doubt> {
    let indexed = by_index(raster).filter(|seeds| seeds.iter().any(|&seed| seed != Seed::Unlabelled));
    match paint::canvas(raster) {
        Some(canvas) if !paint::is_copy(raster, photo, canvas) => {
            let (colours, _) = paint::read(raster);
            // Indices that give the canvas a class are only the order in which a program met the colours.
            let on_canvas = |seeds: &Vec<Seed>| {
                colours.iter().zip(seeds).any(|(colour, seed)| *colour == Seed::Unlabelled && *seed != Seed::Unlabelled)
            };
            return match indexed {
                Some(seeds) if seeds != colours && !on_canvas(&seeds) => {
                    Err(Doubt { why: "the palette's colours and its indices disagree", options: &[Redblue, Palette] })
                }
                _ => Ok((Redblue, "its strokes are red and blue on a plain canvas".into())),
            };
        }
        _ => {}
    }
    if indexed.is_some() {
        return Ok((Palette, "it is an indexed PNG with indices 0, 1 and 2".into()));
    }
    match diff(raster, photo) {
        Some(seeds) if seeds.iter().any(|&seed| seed != Seed::Unlabelled) => {
            Ok((Diff, "it is the photo with red and blue painted on it".into()))
        }
        _ => Err(Doubt {
            why: "there is more in it than red, blue and one plain grey, and it is not the photo painted on",
            options: &[Redblue, Diff],
        }),
    }
}
