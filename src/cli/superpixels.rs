//! `lfield superpixels IMAGE`: the layers alone, as label maps and to look at.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::{Args, ValueHint};
use lfield::Error;
use lfield::encode::regions::{self, Quantiles, Summary, SummaryInput, SummaryLayer};
use lfield::encode::report::Tool;
use lfield::encode::{labels, regions::SCHEMA};
use lfield::grid::{Partition, Picture, Shape};
use lfield::read::{Limits, Loaded};
use lfield::session;
use lfield::store::files::{Rendered, Staged, probe, refuse_overwriting};
use lfield::superpixel::{Layer, Series};

use super::options::refuse_many_layers;
use super::progress::Meter;
use super::voice::Voice;
use super::{DONE, interrupt, parse, pipe};

/// Cut a photo into superpixels by mean shift: label maps, outlines and mean colours
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Superpixels {
    /// The photo: PNG, JPEG, BMP, TIFF, WebP or PNM
    #[arg(value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    image: PathBuf,

    #[arg(long, value_name = "HS,HR,MIN", allow_hyphen_values = true, help = format!(
        "A layer: radius in pixels (at most 100), radius in colour (CIE Luv), smallest region in pixels; repeat for more \
         [default: {}]",
        default_layers().iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
    ))]
    layer: Vec<Layer>,

    /// Refuse larger photos, before they are decoded
    #[arg(long, value_name = "N", value_parser = parse::pixels, default_value_t = Limits::default().max_pixels)]
    max_pixels: u64,

    /// Most memory to use, such as 800M or 16G; larger photos are refused before they are decoded [default: what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse::memory)]
    max_memory: Option<u64>,

    /// The folder for the results; made when missing
    #[arg(short, long, value_name = "DIR", value_parser = parse::folder(), value_hint = ValueHint::DirPath, default_value = "lfield-out")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  lfield superpixels cat.jpg
  lfield superpixels cat.jpg --layer 5,4,10 --layer 15,12,300 -o out

Writes for every layer a label map (STEM.superpixels-1.png, 16-bit; .npy when there are more than 65,535 regions), the
photo with outlines (STEM.outlines-1.png) and every region in its mean colour (STEM.means-1.png); and counts, sizes and
seconds in STEM.superpixels.json. A label map can be given back with `lfield segment --superpixels FILE`.
hs, hr and M mean what they mean to EDISON and pymeanshift.";

impl Superpixels {
    pub(super) fn run(&self, voice: &Voice) -> Result<u8> {
        interrupt::listen(*voice);
        pipe::refuse("lfield superpixels", &[("the photo", Some(&*self.image)), ("-o", Some(&*self.output))])?;
        refuse_many_layers(self.layer.len())?;
        let layers = if self.layer.is_empty() { default_layers() } else { self.layer.clone() };
        probe(&self.output)?;
        refuse_overwriting(&self.output, &self.names(layers.len()), &[&self.image])?;

        let limits = Limits { max_pixels: self.max_pixels };
        let threads = rayon::current_num_threads();
        let need = session::memory::check_superpixels(&self.image, &limits, layers.len(), threads, self.max_memory)?;
        if voice.is_verbose() {
            voice.say(format_args!("{}, {need}", self.image.display()));
        }
        let Loaded { value: picture, warnings, .. } = Picture::read(&self.image, &limits)?;
        let mut series = Series::new(&picture, &layers)?;
        let cut = layers.iter().map(|layer| cut(&mut series, picture.shape(), layer, *voice));
        let cut: Vec<(Partition, f64)> = cut.collect::<lfield::Result<_>>()?;

        interrupt::writing()?;
        let mut staged = Staged::new(&self.output)?;
        let mut outputs = Vec::new();
        let mut summaries = Vec::new();
        for ((number, layer), (partition, seconds)) in (1..).zip(&layers).zip(&cut) {
            let (map, extension) = labels(partition);
            let map = Rendered { name: self.name(&format!("superpixels-{number}.{extension}")), bytes: map };
            summaries.push(SummaryLayer {
                layer: *layer,
                labels: map.name.to_string_lossy().into_owned(),
                count: partition.count(),
                sizes: Quantiles::of(partition),
                seconds: *seconds,
            });
            let (outlines, means) = (regions::outlines(&picture, partition), regions::means(&picture, partition));
            let outlines = Rendered { name: self.name(&format!("outlines-{number}.png")), bytes: outlines };
            let means = Rendered { name: self.name(&format!("means-{number}.png")), bytes: means };
            let rendered = [map, outlines, means];
            outputs.extend(rendered.iter().map(|file| file.name.to_string_lossy().into_owned()));
            staged.add(&rendered)?;
        }
        let json = self.name("superpixels.json");
        outputs.push(json.to_string_lossy().into_owned());
        let shape = picture.shape();
        let image = self.image.display().to_string();
        let summary = Summary {
            schema: SCHEMA,
            tool: Tool::this(),
            input: SummaryInput { image, width: shape.width, height: shape.height },
            layers: summaries,
            outputs,
            warnings,
        };
        staged.add(&[Rendered { name: json, bytes: summary.to_json() }])?;
        if interrupt::requested().is_break() {
            return Err(Error::Interrupted.into());
        }
        staged.commit()?;
        self.tell(*voice, &summary);
        Ok(DONE)
    }

    /// Every name that may be written.
    fn names(&self, n_layers: usize) -> Vec<OsString> {
        let per_layer = (1..=n_layers).flat_map(|number| {
            ["superpixels-N.png", "superpixels-N.npy", "outlines-N.png", "means-N.png"]
                .map(|suffix| self.name(&suffix.replace('N', &number.to_string())))
        });
        per_layer.chain([self.name("superpixels.json")]).collect()
    }

    fn name(&self, suffix: &str) -> OsString {
        let mut name = self.image.file_stem().unwrap_or_default().to_os_string();
        name.push(".");
        name.push(suffix);
        name
    }

    fn tell(&self, voice: Voice, summary: &Summary) {
        let SummaryInput { image, width, height } = &summary.input;
        voice.say_of(&voice.bold(image), format_args!("{width}×{height}"));
        for SummaryLayer { layer, count, sizes, seconds, .. } in &summary.layers {
            let Quantiles { min, max, median, .. } = sizes;
            voice.fact(
                &format!("{:<10}", layer.to_string()),
                format_args!("{count} regions of {min} to {max} pixels, median {median}; {seconds:.2} s"),
            );
        }
        let names = summary.outputs.join(", ");
        voice.fact(&format!("{:<10}", "wrote"), format_args!("{names} in {}", self.output.display()));
        for warning in &summary.warnings {
            voice.warn(warning);
        }
    }
}

/// The regions of a layer, and the seconds they took.
fn cut(series: &mut Series, shape: Shape, layer: &Layer, voice: Voice) -> lfield::Result<(Partition, f64)> {
    let meter = Meter::new(voice, format!("{shape}: superpixels {layer}"));
    let began = Instant::now();
    let partition = series.next(layer, &|| Ok(()), &|share| meter.show(share))?;
    Ok((partition, began.elapsed().as_secs_f64()))
}

fn default_layers() -> Vec<Layer> {
    session::Options::default().layers
}
