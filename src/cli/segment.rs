//! `lfield segment IMAGE`: the main job.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueHint};
use lfield::read::{EvidenceFile, Format, Input, Limits, Recorded};
use lfield::session::{self, Session};
use lfield::solver::Status;
use lfield::store;

use super::options::{MarkArgs, PriorArgs, RunArgs, refuse_many_layers};
use super::progress::Bar;
use super::voice::Voice;
use super::{DONE, Global, NOT_CERTIFIED, interrupt, parse, pipe, print, summary, usage};

/// Segment one photo: a mask, a probability for every pixel, and proof of how good they are
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct Segment {
    /// The photo: PNG, JPEG, BMP, TIFF, WebP or PNM; - reads the standard input, as for one of the files below
    #[arg(value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    image: PathBuf,

    /// The strokes [default: STEM.scribbles.png and the like beside the photo, or scribbles/STEM.png]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    scribbles: Option<PathBuf>,

    /// How the strokes are encoded
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Auto, help_heading = "Input")]
    scribble_format: Format,

    /// Costs in nats instead of colour mixtures: .npy of height x width, negative favours foreground
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "prior", help_heading = "Input")]
    unary: Option<PathBuf>,

    /// Probabilities of foreground instead of colour mixtures, say a network's: .npy (also two classes), .npz, PNG or TIFF
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    prior: Option<PathBuf>,

    /// A label map instead of mean shift: .npy integers or PNG; repeat for more layers
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "layer", help_heading = "Input")]
    superpixels: Vec<PathBuf>,

    /// Refuse larger photos, before they are decoded
    #[arg(long, value_name = "N", value_parser = parse::pixels, default_value_t = Limits::default().max_pixels, help_heading = "Input")]
    max_pixels: u64,

    /// Most memory to use, such as 800M or 16G; larger photos are refused before they are decoded [default: what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, help_heading = "Input")]
    max_memory: Option<u64>,

    /// The folder for the results; made when missing. - writes the one output that --emit names to the standard output
    #[arg(short, long, value_name = "DIR", value_parser = parse::folder(), value_hint = ValueHint::DirPath, default_value = "lfield-out", help_heading = "Output")]
    output: PathBuf,

    /// Print the report to the standard output, as one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    network: PriorArgs,

    #[command(flatten)]
    marks: MarkArgs,

    #[command(flatten)]
    run: RunArgs,
}

const EXAMPLES: &str = "\
Examples:
  lfield segment cat.jpg                           strokes found beside the photo
  lfield segment cat.jpg --scribbles s.png -o out  strokes and results where you say
  lfield segment cat.jpg --emit cutout --matte soft
  lfield segment cat.jpg --box 40,25,200,150       a box around the object instead of strokes
  lfield segment cat.jpg --beta 40                 smoother outline
  lfield segment cat.jpg --prior network.png       clean up a network's probabilities
  lfield segment cat.jpg --temperature fit         probabilities scaled on held-out strokes
  lfield segment cat.jpg --method fbp --beta 1     what a rival believes, for comparison
  lfield segment cat.jpg --paper --beta 1 --gamma 0.1
  lfield segment - --scribbles s.png -o - --emit mask < cat.jpg > mask.png
  lfield segment cat.jpg --json | jq .map

Strokes: paint red on the object and blue on the background, on a transparent
layer of the photo's size or on a copy of the photo, and save them as
cat.scribbles.png beside cat.jpg. Other encodings: --scribble-format.";

impl Segment {
    pub(super) fn run(&self, global: &Global, voice: &Voice) -> Result<u8> {
        interrupt::listen(*voice);
        self.open_pipes()?;
        let (input, options) = (self.input(), self.options(global)?);
        let piped = match pipe::is_meant(&self.output) {
            true => Some(pipe::output(&options.output.emit, self.run.has_emit(), self.json)?),
            false => store::check_folder(&input, &self.output, &options).map(|()| None)?,
        };
        let need = input.check_memory(&options, rayon::current_num_threads(), self.max_memory)?;
        if voice.is_verbose() {
            voice.say(format_args!("{}, {need}", input.image.display()));
        }

        let mut bar = Bar::new(*voice, options.solver.tolerance);
        let session = Session::read(&input, options, &|| Ok(()))?;
        let answer = session.into_answer(&mut |event| {
            bar.show(event);
            ControlFlow::Continue(())
        })?;
        drop(bar);

        interrupt::writing()?;
        match piped {
            Some(output) => {
                let (bytes, report) = store::single(&answer, output)?;
                print(&bytes)?;
                let place = format!("{} to the standard output", output.name());
                summary::tell(*voice, &answer, &report, &place);
            }
            None => {
                let written = store::write(&answer, &self.output, &interrupt::requested)?;
                if self.json {
                    print(&written.report.to_json())?;
                }
                let place = summary::wrote(&written, input.stem(), &self.output);
                summary::tell(*voice, &answer, &written.report, &place);
            }
        }
        if self.run.solver.strict() && answer.status() != Status::Converged {
            return Ok(NOT_CERTIFIED);
        }
        Ok(DONE)
    }

    fn open_pipes(&self) -> Result<(), clap::Error> {
        let mut files = vec![
            ("the photo", Some(&*self.image)),
            ("--scribbles", self.scribbles.as_deref()),
            ("--unary", self.unary.as_deref()),
            ("--prior", self.prior.as_deref()),
        ];
        files.extend(self.superpixels.iter().map(|path| ("--superpixels", Some(&**path))));
        pipe::open(&files)?;
        let has_evidence = [&self.scribbles, &self.unary, &self.prior].into_iter().any(Option::is_some);
        if pipe::is_meant(&self.image) && !has_evidence && !self.is_marked() {
            return Err(usage(
                "the photo comes from the standard input, so no strokes lie beside it: name them with --scribbles, or mark with --box, --fg and --bg",
            ));
        }
        Ok(())
    }

    /// Whether a box or clicks are given.
    fn is_marked(&self) -> bool {
        !self.marks.overlay().marks().is_empty()
    }

    fn input(&self) -> Input {
        let input = Input {
            image: self.image.clone(),
            scribbles: self.scribbles.clone(),
            format: self.scribble_format,
            evidence: EvidenceFile::either(self.unary.clone(), self.prior.clone()),
            superpixels: self.superpixels.clone(),
            is_marked: self.is_marked(),
            recorded: Recorded { paper: self.run.model.paper(), strict: self.run.solver.strict() },
            ..Input::default()
        };
        if pipe::is_meant(&self.image) { input } else { input.with_strokes() }
    }

    fn options(&self, global: &Global) -> Result<session::Options> {
        refuse_many_layers(self.superpixels.len())?;
        if self.prior.is_none() && !self.network.is_empty() {
            return Err(usage(
                "--prior-clip, --prior-temperature and --prior-colour say how far to trust --prior: name its file",
            )
            .into());
        }
        let from_file = self.unary.is_some() || self.prior.is_some();
        let run = self.run.overlay(self.max_pixels, global.seed, from_file)?;
        Ok(run.with(self.network.overlay()).with(self.marks.overlay()).options()?)
    }
}
