//! What a batch will do, decided before it does anything: photos, each with its strokes, truth, options and place for its outputs.
//!
//! Photos come from a folder or from a manifest. A photo that cannot be segmented stays in the plan with the reason, so that the
//! report accounts for every one. Two photos with the same outputs, or an output on top of any input, stop the batch here.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::photos::{Found, Selection, photos};
use super::report;
use crate::dataset::manifest::{self, Row};
use crate::dataset::pair::{Kind, PRIOR, STROKES, TRUTH, UNARY, partner};
use crate::read::picture::format_of;
use crate::read::{Digest, EvidenceFile, Input, Recorded, Source, discover};
use crate::session::{MAX_LAYERS, Options, Output, Overlay};
use crate::store::files::FileId;
use crate::store::output_names;
use crate::{Error, Result};

/// One photo of a batch.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its place in the order of the whole batch, from 0.
    pub index: usize,
    /// Its path below the folder, with `/` on every system.
    pub name: String,
    /// Hash of that path: what decides which shard it belongs to.
    pub key: Digest,
    /// The files to read.
    pub input: Input,
    /// The truth to score against.
    pub truth: Option<PathBuf>,
    /// The folder below the output folder that takes its outputs.
    pub folder: PathBuf,
    /// The options in force; a report is always among the outputs.
    pub options: Arc<Options>,
    /// Why it cannot be segmented.
    pub obstacle: Option<Obstacle>,
}

/// Why a photo cannot be segmented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Nothing is known about it, which is no failure.
    Skipped(String),
    /// Something is wrong with it.
    Failed(String),
}

/// Every photo of a batch, in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The photos.
    pub items: Vec<Item>,
    /// Files that look like photos but are there for the sake of one: strokes, truths, earlier outputs.
    pub n_sidecars: usize,
}

/// Where to look for photos and for what belongs to them. Folders of strokes, truths and evidence mirror the folder of photos:
/// the same path and stem.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The folder of photos; with a manifest, what its relative paths start from (by default its own folder).
    pub root: Option<PathBuf>,
    /// The list of photos, instead of searching the folder.
    pub manifest: Option<PathBuf>,
    /// Which files of the folder.
    pub selection: Selection,
    /// The folder of strokes, instead of strokes beside photos.
    pub scribbles: Option<PathBuf>,
    /// The folder of truths.
    pub truth: Option<PathBuf>,
    /// The folder of costs, instead of colour mixtures.
    pub unary: Option<PathBuf>,
    /// The folder of probabilities, instead of colour mixtures.
    pub prior: Option<PathBuf>,
}

/// What goes for every photo, unless its row of a manifest says otherwise.
#[derive(Clone, Debug)]
pub struct Common {
    /// Options.
    pub overlay: Overlay,
    /// Whether not converging is a failure, for the reports.
    pub strict: bool,
    /// How errors are worded in the report.
    pub explain: fn(&Error) -> String,
}

impl Default for Common {
    fn default() -> Self {
        Self { overlay: Overlay::default(), strict: false, explain: ToString::to_string }
    }
}

/// What goes for one photo.
struct Choice {
    options: Arc<Options>,
    input: Input,
    explain: fn(&Error) -> String,
}

/// Options by the texts of the rows that ask for them: few rows differ.
type Known = HashMap<String, Arc<Options>>;

impl Common {
    /// With the options of a row on top. Files in the row are below `base`. What makes no sense comes back as a phrase.
    fn with(&self, row: &Row, base: &Path, known: &mut Known) -> std::result::Result<Choice, String> {
        let top = row.overlay()?;
        if row.superpixels.len() > MAX_LAYERS {
            return Err(format!("{} layers of superpixels: give at most {MAX_LAYERS}", row.superpixels.len()));
        }
        let below = |path: &Option<String>| path.as_ref().map(|path| base.join(path));
        let evidence = EvidenceFile::either(below(&row.unary), below(&row.prior));
        let overlay = self.overlay.clone().with(Overlay { has_costs: evidence.is_some(), ..top });
        let mut input = self.input(&overlay);
        input.evidence = evidence;
        input.superpixels = row.superpixels.iter().map(|path| base.join(path)).collect();
        let text = format!("{:?} {}", row.options, overlay.has_costs);
        let options = match known.get(&text) {
            Some(options) => Arc::clone(options),
            None => {
                let options = Arc::new(reported(overlay).map_err(|error| format!("an option out of range ({error})"))?);
                known.insert(text, Arc::clone(&options));
                options
            }
        };
        Ok(Choice { options, input, explain: self.explain })
    }

    fn input(&self, overlay: &Overlay) -> Input {
        let recorded = Recorded { paper: overlay.paper == Some(true), strict: self.strict };
        Input {
            format: overlay.scribble_format.unwrap_or_default(),
            recorded,
            is_marked: !overlay.marks().is_empty(),
            ..Input::default()
        }
    }
}

/// The options in force; a report is always among the outputs.
fn reported(overlay: Overlay) -> Result<Options> {
    let mut options = overlay.options()?;
    if !options.output.emit.contains(&Output::Report) {
        options.output.emit.push(Output::Report);
    }
    Ok(options)
}

impl Plan {
    /// Makes the plan for outputs in `out`.
    pub fn make(sources: &Sources, out: &Path, common: &Common) -> Result<Self> {
        let (mut items, n_sidecars) = match &sources.manifest {
            Some(manifest) => (sources.listed(manifest, common)?, 0),
            None => sources.searched(out, common)?,
        };
        for (index, item) in items.iter_mut().enumerate() {
            item.index = index;
        }
        let plan = Self { items, n_sidecars };
        plan.refuse_clashes(out)?;
        plan.refuse_overwriting(out, sources.manifest.as_deref())?;
        Ok(plan)
    }

    /// A name for the whole plan: the photos in their order, and every option.
    pub fn digest(&self) -> Digest {
        let line = |item: &Item| {
            let Item { name, input, options, truth, .. } = item;
            format!("{name}\n{}\n{options:?}\n{}\n", input.format, truth.is_some())
        };
        Digest::of(self.items.iter().map(line).collect::<String>().as_bytes())
    }

    fn refuse_clashes(&self, out: &Path) -> Result<()> {
        let mut taken: HashMap<(&Path, &OsStr), &Item> = HashMap::new();
        for item in self.items.iter().filter(|item| item.obstacle.is_none()) {
            if let Some(first) = taken.insert((&item.folder, item.stem()), item) {
                return Err(Error::SameOutput {
                    first: first.input.image.clone(),
                    second: item.input.image.clone(),
                    output: out.join(&item.folder).join(item.stem()),
                });
            }
        }
        Ok(())
    }

    /// One photo's outputs may hit another's strokes, so all are held against all.
    fn refuse_overwriting(&self, out: &Path, manifest: Option<&Path>) -> Result<()> {
        if !out.exists() {
            return Ok(());
        }
        let mut inputs: HashMap<FileId, PathBuf> = HashMap::new();
        let files = self.items.iter().flat_map(|item| item.input.files().into_iter().chain(item.truth.as_deref()));
        for path in files.chain(manifest) {
            inputs.extend(FileId::of(path).map(|id| (id, path.to_path_buf())));
        }
        let outputs = self
            .items
            .iter()
            .filter(|item| item.obstacle.is_none())
            .flat_map(|item| item.output_names().into_iter().map(|name| out.join(&item.folder).join(name)));
        for output in outputs.chain(report::NAMES.iter().map(|name| out.join(name))) {
            if let Some(input) = FileId::of(&output).and_then(|id| inputs.get(&id)) {
                return Err(Error::WouldOverwrite { output, input: input.clone() });
            }
        }
        Ok(())
    }
}

impl Item {
    /// The photo's name without ending, with which the names of its outputs begin.
    pub fn stem(&self) -> &OsStr {
        self.input.stem()
    }

    /// What the paths of its outputs begin with, below the output folder and with `/` on every system.
    pub fn results(&self) -> String {
        slashed(&self.folder.join(self.stem()))
    }

    /// Names of the files that may be written for it.
    pub fn output_names(&self) -> Vec<OsString> {
        output_names(&self.input, &self.options)
    }
}

impl Sources {
    fn searched(&self, out: &Path, common: &Common) -> Result<(Vec<Item>, usize)> {
        let has_costs = self.unary.is_some() || self.prior.is_some();
        let overlay = common.overlay.clone().with(Overlay { has_costs, ..Overlay::default() });
        let input = common.input(&overlay);
        let choice = Choice { input, options: Arc::new(reported(overlay)?), explain: common.explain };
        let root = self.root.as_deref().unwrap_or(Path::new("."));
        let folders = [&self.scribbles, &self.truth, &self.unary, &self.prior];
        let aside: Vec<&Path> = folders.into_iter().flatten().map(PathBuf::as_path).chain([out]).collect();
        for folder in folders.into_iter().flatten() {
            std::fs::read_dir(folder).map_err(Error::unreadable(folder))?;
        }
        let (found, n_sidecars) = photos(root, &self.selection, &aside)?;
        let item = |found| match found {
            Found::Photo(path) => self.item(root.join(&path), &path, None, None, &choice),
            // The content counts, not the name: a JPEG called .heic is a photo like any other.
            Found::Foreign(path) => match content(&root.join(&path)) {
                Ok(()) => self.item(root.join(&path), &path, None, None, &choice),
                Err(error) => Item {
                    obstacle: Some(Obstacle::Skipped((choice.explain)(&error))),
                    ..bare(root.join(&path), &path, &choice)
                },
            },
            Found::Closed(path, error) => Item {
                obstacle: Some(Obstacle::Failed((choice.explain)(&error))),
                ..bare(root.join(&path), &path, &choice)
            },
        };
        Ok((found.into_iter().map(item).collect(), n_sidecars))
    }

    fn listed(&self, manifest: &Path, common: &Common) -> Result<Vec<Item>> {
        let mut common = common.clone();
        common.overlay.has_costs = self.unary.is_some() || self.prior.is_some();
        let mut known = Known::new();
        let own = manifest.parent().unwrap_or(Path::new(""));
        let base = self.root.as_deref().unwrap_or(own);
        let mut items = Vec::new();
        for row in manifest::read(manifest)? {
            let choice = common
                .with(&row, base, &mut known)
                .map_err(|problem| manifest::at(manifest, row.line, &format!("has {problem}"), "correct the line"))?;
            let path = Path::new(&row.image);
            // What lies outside the folder goes to the top of the output folder.
            let inside = path.strip_prefix(base).unwrap_or(path);
            let inside: PathBuf =
                match inside.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
                    true => inside.components().filter(|part| *part != Component::CurDir).collect(),
                    false => PathBuf::from(path.file_name().unwrap_or_default()),
                };
            let named = |file: &Option<String>| file.as_ref().map(|file| base.join(file));
            let mut item = self.item(base.join(path), &inside, named(&row.scribbles), named(&row.truth), &choice);
            item.name.clone_from(&row.image);
            item.key = Digest::of(row.image.as_bytes());
            items.push(item);
        }
        Ok(items)
    }

    /// A photo with what belongs to it. `below` is its path below the folder.
    fn item(
        &self,
        image: PathBuf,
        below: &Path,
        scribbles: Option<PathBuf>,
        truth: Option<PathBuf>,
        choice: &Choice,
    ) -> Item {
        let mut item = bare(image, below, choice);
        let partners = self.partners(&item.input, below, scribbles, truth);
        match partners {
            Ok(Partners { scribbles, truth, evidence }) => {
                item.input.scribbles = scribbles;
                item.input.scribbles_below.clone_from(&self.scribbles);
                item.input.evidence = evidence;
                item.truth = truth;
            }
            Err(error) => item.obstacle = Some(obstacle(&item.input.image, error, choice.explain)),
        }
        item
    }

    fn partners(
        &self,
        input: &Input,
        below: &Path,
        scribbles: Option<PathBuf>,
        truth: Option<PathBuf>,
    ) -> Result<Partners> {
        let image = &input.image;
        let mirrored = |folder: &Option<PathBuf>, kind: &Kind| match folder {
            Some(folder) => partner(folder, below, image, kind),
            None => Ok(None),
        };
        let truth = match truth {
            Some(path) => Some(path),
            None => mirrored(&self.truth, &TRUTH)?,
        };
        let evidence = match &input.evidence {
            Some(file) => Some(file.clone()),
            None => EvidenceFile::either(mirrored(&self.unary, &UNARY)?, mirrored(&self.prior, &PRIOR)?),
        };
        if let (None, Some(folder)) = (&evidence, self.unary.as_ref().or(self.prior.as_ref())) {
            return Err(Error::unsuitable(
                image,
                format!("has no partner in {}", folder.display()),
                "put a file with the same path and stem there",
            ));
        }
        let strokes = match (scribbles, &self.scribbles) {
            (Some(path), _) => Ok(path),
            (None, Some(folder)) => partner(folder, below, image, &STROKES)?.ok_or_else(|| Error::NoStrokes {
                image: image.clone(),
                looked_for: vec![folder.join(below).with_extension("png")],
            }),
            (None, None) => discover(image),
        };
        let scribbles = match strokes {
            Ok(path) => Some(path),
            Err(Error::NoStrokes { .. }) if evidence.is_some() || input.is_marked => None,
            Err(error) => return Err(error),
        };
        Ok(Partners { scribbles, truth, evidence })
    }
}

/// What belongs to a photo.
struct Partners {
    scribbles: Option<PathBuf>,
    truth: Option<PathBuf>,
    evidence: Option<EvidenceFile>,
}

/// A photo without what belongs to it.
fn bare(image: PathBuf, below: &Path, choice: &Choice) -> Item {
    let name = slashed(below);
    let input = Input { image, ..choice.input.clone() };
    let folder = below.parent().unwrap_or(Path::new("")).to_path_buf();
    let (key, options) = (Digest::of(name.as_bytes()), Arc::clone(&choice.options));
    Item { index: 0, name, key, input, truth: None, folder, options, obstacle: None }
}

fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Refuses what is no photo by its first bytes.
fn content(image: &Path) -> Result<()> {
    let source = Source::open(image)?;
    format_of(image, source.head()).map(|_| ())
}

/// A photo without strokes is passed over, unless it is no photo at all.
fn obstacle(image: &Path, error: Error, explain: fn(&Error) -> String) -> Obstacle {
    match (content(image), error) {
        (Err(error), _) => Obstacle::Failed(explain(&error)),
        // How strokes are painted need not be said for every photo of a folder.
        (Ok(_), Error::NoStrokes { looked_for, .. }) => {
            let names: Vec<String> = looked_for.iter().map(|path| path.display().to_string()).collect();
            Obstacle::Skipped(format!("no strokes; looked for {}", names.join(", ")))
        }
        (Ok(_), error @ Error::Unsuitable { .. }) => Obstacle::Skipped(explain(&error)),
        (Ok(_), error) => Obstacle::Failed(explain(&error)),
    }
}
