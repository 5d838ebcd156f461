//! `gallery.png` and its caption: the paper's figure, on one photo. The rival at four strengths of the cut above L-Field at the same four, and
//! superpixels at two strengths beside the photo and the truth.

use std::ops::ControlFlow;

use super::photo::Photo;
use super::{Case, Contender, Options, Setting};
use crate::Result;
use crate::assemble::HopScale;
use crate::encode::{LETTERS, Tile, gallery, heat};
use crate::grid::{Marginals, Seed};

/// Weights of the cut, falling.
const BETAS: [f64; 4] = [10.0, 1.0, 0.1, 0.01];

/// Weights of the superpixels: by size, and as printed, where a weight is shared by the pixels of a superpixel.
const GAMMAS: [f64; 2] = [10.0, 1.0];
const PRINTED_GAMMAS: [f64; 2] = [10_000.0, 1_000.0];

/// The picture and its caption.
pub(super) fn figure(case: &Case, options: &Options) -> Result<(Vec<u8>, String)> {
    let (mut photo, truth) = Photo::read(case, options, &|_| ControlFlow::Continue(()))?;
    let shape = photo.picture().shape();
    let labels = truth.labels().iter();
    let truth: Tile = labels.map(|label| label.map_or([128; 3], |inside| [if inside { 255 } else { 0 }; 3])).collect();
    let mut panels = vec![("the photo and its strokes".to_string(), painted(&photo)), ("the truth".to_string(), truth)];
    let mut wanted: Vec<(Contender, Setting)> = Vec::new();
    let setting = |beta, gamma, theta| Setting { alpha: 1.0, beta, gamma, theta };
    let theta = Some(options.grid.theta[options.grid.theta.len() / 2]);
    let gammas = match options.base.model.hop_scale {
        HopScale::Size => GAMMAS,
        HopScale::Paper => PRINTED_GAMMAS,
    };
    wanted.extend(gammas.map(|gamma| (Contender::Hop, setting(0.0, gamma, None.into()))));
    wanted.extend(BETAS.map(|beta| (Contender::Fbp, setting(beta, 0.0, theta.into()))));
    wanted.extend(BETAS.map(|beta| (Contender::Cut, setting(beta, 0.0, theta.into()))));
    for (method, setting) in wanted {
        let answer = photo.answer(method, &setting)?;
        let marginals: Marginals = photo.marginals(method, &answer, &setting);
        panels.push((format!("{}, {setting}", method.label()), heat(&marginals)));
    }
    let mut caption =
        format!("# {}\n\nProbabilities from dark violet (0) through green (½) to yellow (1).\n\n", case.name);
    for (letter, (text, _)) in LETTERS.iter().zip(&panels) {
        caption.push_str(&format!("- ({letter}) {text}\n"));
    }
    let tiles: Vec<Tile> = panels.into_iter().map(|(_, tile)| tile).collect();
    Ok((gallery(shape, 4, &tiles), caption))
}

/// The photo with its strokes in red and blue.
fn painted(photo: &Photo<'_>) -> Tile {
    let strokes = photo.seeds().labels().iter().zip(photo.picture().rgb());
    let paint = |(seed, &colour): (&Seed, &[u8; 3])| match seed {
        Seed::Foreground => [230, 30, 30],
        Seed::Background => [40, 80, 255],
        Seed::Unlabelled => colour,
    };
    strokes.map(paint).collect()
}
