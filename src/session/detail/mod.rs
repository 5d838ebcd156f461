//! Levels of detail: a large photo is segmented small first, and at its own size where that leaves doubt.
//!
//! A block of f × f pixels becomes one pixel of the level below. Divided by f², the energy of a photo whose blocks are each of one side is
//!
//! F(A)/f² = α m̄(A) + (β/f) Σ w_pq [p ∈ A ≠ q ∈ A] + γ Σ_P |P| φ(|A ∩ P| / |P|)
//!
//! over blocks, with m̄ their mean costs: the same model with β/f, radii of f-th length and smallest regions of f²-th size, and the same x.
//! What the level below decides, it decides for all pixels of a block: all but an outline's width around its mask and where |x| is small
//! ([`band`]). These pixels are conditioned on, by the same contraction as strokes, and the certificate is that of the open pixels *given* them.
//! Evidence ([`carry`]) and superpixels ([`cut`]) are made at full size around the open pixels only. A level above twice the size of the
//! smallest has a level below it, so a photo of 50 megapixels has three. `full` decides nothing below: every pixel is solved for, started
//! from the messages of the level below.

mod band;
mod carry;
mod cut;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rayon::prelude::*;

use super::evidence::Evidence;
use super::observe::Watch;
use super::stage::{Keyed, Stage, key};
use super::{Answer, Bias, Frame, Marks, Method, Options, Output, Session, Solved, Superpixels};
use crate::assemble::{HopScale, Problem};
use crate::grid::{Blocks, Marginals, Seed, Seeds, Shape};
use crate::read::Digest;
use crate::solver::{Messages, Status};
use crate::superpixel::Layer;
use crate::{Checkpoint, Error, Result};

/// Pixels of the smallest level, about.
const SMALLEST: f64 = 1e6;

/// The largest ratio of neighbouring levels.
const MOST: f64 = 4.0;

/// At how many sizes a photo is segmented.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Detail {
    /// Photos above 2 megapixels first at about 1, then at their own size where that leaves doubt.
    #[default]
    Auto,
    /// Every pixel is solved for at the photo's own size.
    Full,
    /// As `Auto`, with this many megapixels in the place of 1.
    Megapixels(f64),
}

impl FromStr for Detail {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            "full" => Ok(Self::Full),
            _ => {
                let wrong = || Error::parameter("detail", format!("{text:?}"), "auto, full, or megapixels above 0");
                Self::Megapixels(text.parse().map_err(|_| wrong())?).check()
            }
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Full => f.write_str("full"),
            Self::Megapixels(megapixels) => megapixels.fmt(f),
        }
    }
}

impl Detail {
    pub(super) fn check(self) -> Result<Self> {
        match self {
            Self::Megapixels(megapixels) if !(megapixels > 0.0 && megapixels.is_finite()) => {
                Err(Error::parameter("detail", megapixels, "auto, full, or megapixels above 0"))
            }
            good => Ok(good),
        }
    }

    /// How many times smaller, along a side, the level below a photo of so many pixels is; none where there is none.
    pub(super) fn ratio(self, n_pixels: usize) -> Option<usize> {
        let smallest = match self {
            Self::Auto | Self::Full => SMALLEST,
            Self::Megapixels(megapixels) => (1e6 * megapixels).max(1.0),
        };
        let times = n_pixels as f64 / smallest;
        (times > 2.0).then(|| times.sqrt().round().clamp(2.0, MOST) as usize)
    }
}

/// One level of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Its size.
    pub shape: Shape,
    /// Pixels that were solved for.
    pub free_pixels: usize,
    /// Pixels that the levels before it have decided.
    pub decided_pixels: usize,
    /// Sweeps.
    pub iterations: usize,
    /// Why the solver stopped.
    pub status: Status,
    /// The certified gap per free pixel, given what was decided.
    pub gap_per_pixel: f64,
}

/// The level below: a session on the reduced photo.
#[derive(Debug)]
pub(super) struct Coarse {
    blocks: Blocks,
    session: Box<Session>,
    /// What its strokes, costs and superpixels were made from.
    seeds: Option<Digest>,
    costs: Option<Digest>,
    given: Option<Vec<Digest>>,
}

/// What the level below has found.
pub(super) struct Below {
    blocks: Blocks,
    pub(super) answer: Answer,
    /// The evidence it was found with, and the side of every block that was decided; nothing where every pixel is to be solved for.
    band: Option<Band>,
    /// Pixels that are decided and under no stroke.
    n_decided: usize,
}

struct Band {
    evidence: Arc<Evidence>,
    /// Strokes that are facts, and what was decided.
    facts: Keyed<Seeds>,
}

impl Session {
    /// The ratio to the level below. Rivals, and pixels taken alone, know no levels.
    fn ratio(&self) -> Option<usize> {
        self.options.detail.ratio(self.picture.shape().n_pixels()).filter(|_| self.options.method == Method::Lfield)
    }

    /// Cuts the superpixels that need no strokes: those of the smallest level, where levels decide.
    pub(super) fn prepare_below(&mut self, watch: &Watch<'_>) -> Result<()> {
        if let Some(ratio) = self.ratio().filter(|_| self.options.decides_below()) {
            let earlier = self.coarse.take().filter(|coarse| coarse.blocks.ratio() == ratio);
            let mut coarse = earlier.unwrap_or_else(|| Coarse::new(self, ratio));
            coarse.session.set_options(reduced(&self.options, ratio)?)?;
            let prepared = coarse.session.prepare_below(watch);
            self.coarse = Some(coarse);
            return prepared;
        }
        let superpixels = self.cut(&|| watch.checkpoint())?;
        self.keep_superpixels(&superpixels, None);
        Ok(())
    }

    /// Solves the level below, if there is one; without `keep` it is not needed again after its messages are.
    pub(super) fn solve_below(&mut self, watch: &Watch<'_>, keep: bool) -> Result<Option<Below>> {
        let earlier = self.coarse.take();
        let Some(ratio) = self.ratio() else { return Ok(None) };
        let earlier = earlier.filter(|coarse| coarse.blocks.ratio() == ratio);
        let mut coarse = earlier.unwrap_or_else(|| Coarse::new(self, ratio));
        if !coarse.follow(self)? {
            return Ok(None);
        }
        let answer = coarse.session.run(watch, true)?;
        let (blocks, session) = (coarse.blocks, &mut coarse.session);
        let evidence = session.evidence.last().filter(|_| self.options.decides_below());
        let band = evidence.map(|evidence| {
            let coarse_facts = session.facts(&session.options.model);
            let labels = decided(blocks, &answer.solved, coarse_facts, self.facts(&self.options.model));
            let key = Digest::of(&labels.par_iter().map(|&label| label as u8).collect::<Vec<_>>());
            Band { evidence, facts: Keyed { key, value: Arc::new(Seeds::new(blocks.fine(), labels)) } }
        });
        if !keep {
            session.problem = Stage::default();
            session.evidence = Stage::default();
        }
        self.coarse = Some(coarse);
        let n_known = |facts: &Seeds| facts.count(Seed::Foreground) + facts.count(Seed::Background);
        let n_strokes = self.facts(&self.options.model).map_or(0, n_known);
        let n_decided = band.as_ref().map_or(0, |band| n_known(&band.facts.value) - n_strokes);
        Ok(Some(Below { blocks, answer, band, n_decided }))
    }

    /// The superpixels: where the level below has left pixels open, and its own elsewhere.
    pub(super) fn cut_given(&self, below: Option<&Below>, checkpoint: Checkpoint<'_>) -> Result<Arc<Superpixels>> {
        let (below, band) = match below.and_then(|below| Some((below, below.band.as_ref()?))) {
            Some(both) if self.given.is_none() && self.options.needs_superpixels() => both,
            _ => return self.cut(checkpoint),
        };
        if let Some(known) = self.superpixels.get(self.superpixels_key(Some(band.facts.key))) {
            return Ok(known);
        }
        let layers = self.options.layers.par_iter().zip(below.answer.partitions());
        let cut = layers.map(|(layer, coarse)| {
            cut::layer(below.blocks, coarse, &self.picture, layer, |pixel| band.is_open(pixel), checkpoint)
        });
        let names = self.options.layers.iter().map(|layer| key(layer)).collect();
        Ok(Arc::new(Superpixels { partitions: Arc::new(cut.collect::<Result<_>>()?), names }))
    }

    /// The evidence, likewise.
    pub(super) fn weigh_given(&self, below: Option<&Below>, checkpoint: Checkpoint<'_>) -> Result<Arc<Evidence>> {
        let (below, band) = match below.and_then(|below| Some((below, below.band.as_ref()?))) {
            Some(both) if self.costs.is_none() => both,
            _ => return self.weigh(checkpoint),
        };
        if let Some(known) = self.evidence.get(self.evidence_key(Some(band.facts.key))) {
            return Ok(known);
        }
        let known = (below.answer.picture(), &band.evidence.unary);
        let unary = carry::costs(below.blocks, known, &self.picture, |pixel| band.is_open(pixel), checkpoint)?;
        Ok(Arc::new(Evidence { unary, mixtures: band.evidence.mixtures.clone(), ..*band.evidence }))
    }
}

impl Band {
    fn is_open(&self, pixel: usize) -> bool {
        self.facts.value.labels()[pixel] == Seed::Unlabelled
    }
}

impl Below {
    /// The key of what is decided.
    pub(super) fn decided(&self) -> Option<Digest> {
        self.band.as_ref().map(|band| band.facts.key)
    }

    /// The bias: what was decided was decided under it.
    pub(super) fn bias(&self) -> Option<Bias> {
        self.band.as_ref().map(|_| Bias::Fixed(self.answer.bias()))
    }

    /// The bias that fits the smaller photo.
    pub(super) fn fitting(&self) -> Option<f64> {
        self.band.as_ref().and(self.answer.fitting_bias())
    }

    /// Strokes that are facts, and what is decided.
    pub(super) fn facts(&self) -> Option<&Seeds> {
        self.band.as_ref().map(|band| &*band.facts.value)
    }

    /// Gives decided pixels the log-odds of their block, and says of them what was proved there.
    pub(super) fn complete(&self, solved: &mut Solved, strokes: Option<&Seeds>) -> Result<()> {
        let Some(facts) = self.facts() else { return Ok(()) };
        let (s, certified) = (&self.answer.solved.s, &self.answer.solved.certified);
        let width = self.blocks.fine().width;
        let rows = solved.s.par_chunks_mut(width).zip(solved.certified.par_chunks_mut(width)).enumerate();
        rows.for_each(|(row, (own, proved))| {
            for (pixel, (own, proved)) in (row * width..).zip(own.iter_mut().zip(proved)) {
                let is_stroke = strokes.is_some_and(|strokes| strokes.labels()[pixel] != Seed::Unlabelled);
                if !is_stroke && facts.labels()[pixel] != Seed::Unlabelled {
                    let block = self.blocks.block(pixel);
                    (*own, *proved) = (s[block], certified[block]);
                }
            }
        });
        solved.marginals = Marginals::beside(&solved.mask, &solved.s)?;
        Ok(())
    }
}

/// The levels of an answer: those below, and this one.
pub(super) fn scales(below: Option<&Below>, shape: Shape, solved: &Solved) -> Vec<Scale> {
    let mut scales = below.map_or(Vec::new(), |below| below.answer.scales.clone());
    let solution = &solved.solution;
    scales.push(Scale {
        shape,
        free_pixels: solved.n_free,
        decided_pixels: below.map_or(0, |below| below.n_decided),
        iterations: solution.iterations,
        status: solution.status,
        gap_per_pixel: solution.certificate.gap_per_pixel,
    });
    scales
}

impl Coarse {
    fn new(session: &Session, ratio: usize) -> Self {
        let blocks = Blocks::new(session.picture.shape(), ratio);
        let picture = Arc::new(blocks.picture(&session.picture));
        let bare = Session::bare(picture, session.options.clone());
        let session = Box::new(Session { is_below: true, ..bare });
        Self { blocks, session, seeds: None, costs: None, given: None }
    }

    /// Where to start the problem of the level above.
    pub(super) fn start(&self, problem: &Problem, temperature: f64) -> Option<Messages> {
        self.session.warm.prolonged(problem, self.blocks, temperature)
    }

    /// Brings strokes, costs, superpixels and options up to date. False where a class of strokes has no block to itself: then there is no
    /// level below.
    fn follow(&mut self, fine: &Session) -> Result<bool> {
        let (blocks, session) = (self.blocks, &mut *self.session);
        session.set_options(reduced(&fine.options, blocks.ratio())?)?;
        let of = |seeds: &Option<Keyed<Seeds>>| seeds.as_ref().map(|seeds| seeds.key);
        if self.seeds != of(&fine.seeds) || session.seeds.is_none() {
            (session.strokes, session.seeds) = (None, None);
            if let Some(seeds) = fine.seeds() {
                let reduced = blocks.seeds(seeds);
                let survives = |class| reduced.count(class) > 0 || seeds.count(class) == 0;
                if !survives(Seed::Foreground) || !survives(Seed::Background) {
                    return Ok(false);
                }
                session.set_seeds(reduced)?;
            }
            self.seeds = of(&fine.seeds);
        }
        let costs = fine.costs.as_ref().map(|costs| costs.key);
        if self.costs != costs {
            session.costs = None;
            if let Some(costs) = &fine.costs {
                session.set_unary(blocks.unary(&costs.value)?)?;
            }
            self.costs = costs;
        }
        session.is_prior = fine.is_prior;
        let given = fine.given.as_ref().map(|given| given.names.clone());
        if self.given != given {
            let reduced =
                fine.given.iter().flat_map(|given| given.partitions.iter()).map(|given| blocks.partition(given));
            session.set_partitions(reduced.collect())?;
            self.given = given;
        }
        Ok(true)
    }
}

/// The same model on blocks of `ratio` pixels a side.
fn reduced(options: &Options, ratio: usize) -> Result<Options> {
    let mut options = options.clone();
    options.output.emit.retain(|&output| output == Output::Superpixels);
    // Clicks are among the strokes that are handed down; the box still says where the object's colours are looked for.
    let block = |frame: Frame| {
        let (x, y) = (frame.x / ratio, frame.y / ratio);
        let (right, bottom) = (frame.x.saturating_add(frame.width), frame.y.saturating_add(frame.height));
        Frame { x, y, width: right.div_ceil(ratio) - x, height: bottom.div_ceil(ratio) - y }
    };
    options.marks = Marks { frame: options.marks.frame.map(block), ..Marks::default() };
    let (side, area) = (ratio as f64, (ratio * ratio) as f64);
    options.model.beta /= side;
    if options.model.hop_scale == HopScale::Paper {
        options.model.gamma /= area;
    }
    for layer in &mut options.layers {
        let smallest = (layer.min_size() as f64 / area).round().max(1.0);
        *layer = Layer::new(layer.spatial() / side, layer.range(), smallest as usize)?;
    }
    Ok(options)
}

/// What is known at the finer level: its strokes where they are facts, and the side of every block that is not open. A block under a stroke
/// is open where the stroke does not cover it.
fn decided(blocks: Blocks, below: &Solved, coarse_strokes: Option<&Seeds>, strokes: Option<&Seeds>) -> Vec<Seed> {
    let mask = below.mask.as_slice();
    let open = band::open(blocks.coarse(), mask, &below.s);
    let is_stroke = |block: usize| coarse_strokes.is_some_and(|strokes| strokes.labels()[block] != Seed::Unlabelled);
    let side = |block: usize| match mask[block] {
        _ if open[block] || is_stroke(block) => Seed::Unlabelled,
        true => Seed::Foreground,
        false => Seed::Background,
    };
    let mut labels = blocks.spread(&(0..open.len()).map(side).collect::<Vec<_>>());
    if let Some(strokes) = strokes {
        labels.par_iter_mut().zip(strokes.labels()).for_each(|(label, &stroke)| {
            if stroke != Seed::Unlabelled {
                *label = stroke;
            }
        });
    }
    labels
}

#[cfg(test)]
mod tests;
