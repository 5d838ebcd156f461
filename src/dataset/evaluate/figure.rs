//! `gallery.png` and its caption: the paper's figure, on one photo. The rival at four strengths of the cut above L-Field at the same four, and
//! superpixels at two strengths beside the photo and the truth.

use std::ops::ControlFlow;
use std::path::Path;

use super::photo::Photo;
use super::{Case, Contender, Options, Setting};
use crate::Result;
use crate::assemble::{HopScale, Theta};
use crate::encode::{LETTERS, Tile, gallery, heat};
use crate::grid::{Marginals, Seed};
use crate::read::Digest;
use crate::store::files::{Rendered, Staged};

/// Weights of the cut, falling.
const BETAS: [f64; 4] = [10.0, 1.0, 0.1, 0.01];

/// Weights of the superpixels: by size, and as printed, where a weight is shared by the pixels of a superpixel.
const GAMMAS: [f64; 2] = [10.0, 1.0];
const PRINTED_GAMMAS: [f64; 2] = [10_000.0, 1_000.0];

/// The picture and its caption; drawn before with the same key, they are in the folder `cache`.
pub(super) fn figure(case: &Case, options: &Options, cache: &Path) -> Result<[Vec<u8>; 2]> {
    let theta = options.grid.theta[options.grid.theta.len() / 2];
    let key = Digest::of(format!("{} {theta:?}", options.key(case)?).as_bytes());
    let names = ["png", "md"].map(|ending| format!("{}-{key}.gallery.{ending}", case.name));
    if let [Ok(picture), Ok(caption)] = names.each_ref().map(|name| std::fs::read(cache.join(name))) {
        return Ok([picture, caption]);
    }
    let drawn = draw(case, options, theta)?;
    let files = names.into_iter().zip(drawn.clone());
    let mut staged = Staged::new(cache)?;
    staged.add(&files.map(|(name, bytes)| Rendered { name: name.into(), bytes }).collect::<Vec<_>>())?;
    staged.commit()?;
    Ok(drawn)
}

fn draw(case: &Case, options: &Options, theta: Theta) -> Result<[Vec<u8>; 2]> {
    let (mut photo, truth) = Photo::read(case, options, &|_| ControlFlow::Continue(()))?;
    let shape = photo.picture().shape();
    let labels = truth.labels().iter();
    let truth: Tile = labels.map(|label| label.map_or([128; 3], |inside| [if inside { 255 } else { 0 }; 3])).collect();
    let mut panels = vec![("the photo and its strokes".to_string(), painted(&photo)), ("the truth".to_string(), truth)];
    let mut wanted: Vec<(Contender, Setting)> = Vec::new();
    let setting = |beta, gamma, theta| Setting { alpha: 1.0, beta, gamma, theta };
    let theta = Some(theta);
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
    Ok([gallery(shape, 4, &tiles), caption.into_bytes()])
}

/// The photo with its strokes in red and blue.
fn painted(photo: &Photo<'_>) -> Tile {
    let Some(seeds) = photo.seeds() else { return photo.picture().rgb().to_vec() };
    let strokes = seeds.labels().iter().zip(photo.picture().rgb());
    let paint = |(seed, &colour): (&Seed, &[u8; 3])| match seed {
        Seed::Foreground => [230, 30, 30],
        Seed::Background => [40, 80, 255],
        Seed::Unlabelled => colour,
    };
    strokes.map(paint).collect()
}
