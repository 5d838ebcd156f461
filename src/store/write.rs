//! The end of the story: every output rendered in memory, side by side, then all put in place at once.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;

use crate::assemble::Phi;
use crate::encode::report::{self, Report};
use crate::encode::{self, Output, TraceRow};
use crate::session::{EvidenceFile, Input, Method, Options, Segmentation};
use crate::solver::Status;
use crate::store::files::{Rendered, Staged, probe, refuse_overwriting};
use crate::{Error, Result};

/// What [`Segmentation::write`] has left on disk.
#[derive(Clone, Debug)]
pub struct Written {
    /// The files, in the order in which outputs are listed.
    pub files: Vec<PathBuf>,
    /// The report, also when it was not among the outputs.
    pub report: Report,
}

impl Input {
    /// Every file named, for the promise that none is overwritten.
    pub(crate) fn files(&self) -> Vec<&Path> {
        let named = std::iter::once(&self.image).chain(&self.scribbles).chain(&self.superpixels);
        named.map(PathBuf::as_path).chain(self.evidence.iter().map(EvidenceFile::path)).collect()
    }

    /// Refuses an output folder that cannot be written to, or in which an output would replace one of the inputs. To be
    /// asked before the work begins.
    pub fn check_folder(&self, folder: &Path, options: &Options) -> Result<()> {
        probe(folder)?;
        let mut files = self.files();
        let found = self.scribbles.is_none().then(|| crate::read::discover(&self.image).ok()).flatten();
        files.extend(found.as_deref());
        let n_layers = if self.superpixels.is_empty() { options.layers.len() } else { self.superpixels.len() };
        refuse_overwriting(folder, &output_names(&self.image, &options.output.emit, n_layers), &files)
    }
}

/// The names of the files that `emit` can lead to, for an image and a number of superpixel layers.
pub fn output_names(image: &Path, emit: &[Output], n_layers: usize) -> Vec<OsString> {
    let stem = image.file_stem().unwrap_or_default();
    let mut names = Vec::new();
    for output in emit {
        match output {
            Output::Superpixels => {
                for layer in 1..=n_layers {
                    names.extend(["png", "npy"].map(|extension| layer_name(stem, layer, extension)));
                }
            }
            other => names.push(name(stem, suffix(*other))),
        }
    }
    names
}

/// What follows `STEM.`; label maps have names of their own.
fn suffix(output: Output) -> &'static str {
    match output {
        Output::Mask => "mask.png",
        Output::Heatmap => "heatmap.png",
        Output::Marginals => "marginals.png",
        Output::MarginalsArray => "marginals.npy",
        Output::LogOddsArray => "s.npy",
        Output::Overlay => "overlay.png",
        Output::Cutout => "cutout.png",
        Output::Trimap => "trimap.png",
        Output::Superpixels => "superpixels",
        Output::Trace => "trace.csv",
        Output::Report => "report.json",
    }
}

fn name(stem: &OsStr, suffix: &str) -> OsString {
    let mut name = stem.to_os_string();
    name.push(".");
    name.push(suffix);
    name
}

fn layer_name(stem: &OsStr, layer: usize, extension: &str) -> OsString {
    name(stem, &format!("superpixels-{layer}.{extension}"))
}

impl Segmentation {
    /// Writes the outputs asked for. `last_word` is asked when every file is complete under a temporary name; when it breaks,
    /// nothing is left behind and the answer is [`Error::Interrupted`].
    pub fn write(
        &self,
        folder: &Path,
        input: &Input,
        options: &Options,
        last_word: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<Written> {
        let began = Instant::now();
        input.check_folder(folder, options)?;
        let emit: Vec<Output> = Output::ALL.into_iter().filter(|o| options.output.emit.contains(o)).collect();
        let stem = input.image.file_stem().unwrap_or_default();
        let mut staged = Staged::new(folder)?;
        let rendered: Vec<Rendered> =
            emit.par_iter().flat_map_iter(|&output| self.render(output, stem, options)).collect();
        staged.add(&rendered)?;
        let mut names: Vec<String> = rendered.iter().map(|file| file.name.to_string_lossy().into_owned()).collect();
        drop(rendered);

        let wants_report = emit.contains(&Output::Report);
        let report_name = name(stem, suffix(Output::Report));
        if wants_report {
            names.push(report_name.to_string_lossy().into_owned());
        }
        let mut report = self.report(input, options, names);
        report.timing.write = began.elapsed().as_secs_f64();
        report.timing.total = self.started.elapsed().as_secs_f64();
        if wants_report {
            staged.add(&[Rendered { name: report_name, bytes: report.to_json() }])?;
        }
        if last_word().is_break() {
            return Err(Error::Interrupted);
        }
        Ok(Written { files: staged.commit()?, report })
    }

    /// The files of one output; none for the report, which is made last.
    fn render(&self, output: Output, stem: &OsStr, options: &Options) -> Vec<Rendered> {
        let picture = &self.scene.picture;
        let bytes = match output {
            Output::Mask => encode::mask(&self.mask),
            Output::Heatmap => encode::heatmap(&self.marginals),
            Output::Marginals => encode::marginals(&self.marginals),
            Output::MarginalsArray => encode::array(picture.shape(), self.marginals.as_slice()),
            Output::LogOddsArray => encode::array(picture.shape(), &self.s),
            Output::Overlay => encode::overlay(picture, &self.mask),
            Output::Cutout => encode::cutout(picture, &self.mask, &self.marginals, options.output.matte),
            Output::Trimap => {
                // A rival proves nothing; there the band alone decides.
                let all = self.rival.map(|_| vec![true; self.certified.len()]);
                let certified = all.as_ref().unwrap_or(&self.certified);
                encode::trimap(&self.marginals, certified, options.output.trimap_band)
            }
            Output::Trace => encode::trace(self.trace()),
            Output::Superpixels => {
                let layers = self.partitions.par_iter().enumerate().map(|(layer, partition)| {
                    let (bytes, extension) = encode::labels(partition);
                    Rendered { name: layer_name(stem, layer + 1, extension), bytes }
                });
                return layers.collect();
            }
            Output::Report => return Vec::new(),
        };
        vec![Rendered { name: name(stem, suffix(output)), bytes }]
    }

    fn trace(&self) -> impl Iterator<Item = TraceRow> {
        self.solution.trace.iter().map(|progress| TraceRow {
            sweep: progress.iteration,
            seconds: progress.seconds,
            gap: progress.gap,
            gap_per_pixel: progress.gap_per_pixel,
            log_z_upper: progress.log_z_upper,
            map_lower_bound: progress.map_lower_bound,
        })
    }

    fn report(&self, input: &Input, options: &Options, outputs: Vec<String>) -> Report {
        let shape = self.scene.picture.shape();
        let strokes = self.scene.strokes.as_ref();
        let certificate = &self.solution.certificate;
        let p = self.marginals.as_slice();
        let solver = match self.rival {
            None => word(options.solver.solver),
            Some(_) => options.method.name().to_string(),
        };
        Report {
            schema: report::SCHEMA,
            tool: report::Tool::THIS,
            fingerprint: self.fingerprint(input, options),
            input: report::Input {
                image: shown(&input.image),
                scribbles: strokes.map(|strokes| shown(&strokes.path)),
                format: strokes.map(|strokes| strokes.format.name().to_string()),
                width: shape.width,
                height: shape.height,
            },
            scribbles: report::Scribbles {
                foreground: strokes.map_or(0, |strokes| strokes.foreground),
                background: strokes.map_or(0, |strokes| strokes.background),
            },
            parameters: self.parameters(input, options),
            mixtures: self.mixtures.as_ref().map(|mixtures| report::Mixtures {
                foreground: mixture(&mixtures.foreground),
                background: mixture(&mixtures.background),
            }),
            superpixels: self.partitions.iter().map(layer).collect(),
            model: report::Model { pixels: shape.n_pixels(), free_pixels: self.n_free, layers: self.n_layers },
            solve: report::Solve {
                solver,
                iterations: self.solution.iterations,
                map_calls: self.solution.map_calls,
                converged: self.solution.status == Status::Converged,
                status: word(self.solution.status),
                seconds: self.solution.seconds,
                gap: certificate.gap,
                gap_per_pixel: certificate.gap_per_pixel,
            },
            bounds: report::Bounds {
                log_z_upper: certificate.log_z_upper,
                log_z_lower: certificate.log_z_lower,
                renyi_infinity_upper: certificate.renyi_infinity_upper,
            },
            rival: self.rival.map(|rival| report::Rival {
                method: options.method.name().to_string(),
                iterations: self.solution.iterations,
                converged: self.solution.status == Status::Converged,
                residual: rival.residual,
                log_z: rival.log_z,
                log_z_is: if rival.is_lower_bound { "lower bound" } else { "estimate" },
            }),
            temperature: self.fit.map(|fit| report::Temperature {
                value: fit.temperature,
                method: "log loss on held-out strokes",
                slips: crate::session::SLIPS,
                folds: fit.folds,
                pieces: fit.pieces,
                pixels: fit.pixels,
                log_loss: fit.log_loss,
                log_loss_at_one: fit.log_loss_at_one,
            }),
            map: report::Map {
                energy: certificate.map_energy,
                lower_bound: certificate.map_lower_bound,
                gap: certificate.map_gap,
                proved_optimal: certificate.map_proved_optimal,
                repaired_pixels: certificate.repaired_pixels,
                area: self.mask.area(),
            },
            marginals: report::Marginals {
                min: p.iter().copied().fold(1.0, f64::min),
                max: p.iter().copied().fold(0.0, f64::max),
                mean: p.iter().sum::<f64>() / p.len() as f64,
                certified_pixels: self.certified.iter().filter(|&&proved| proved).count(),
                error_bound: certificate.error_bound,
            },
            timing: self.timing,
            outputs,
            warnings: self.warnings.clone(),
        }
    }

    fn parameters(&self, input: &Input, options: &Options) -> report::Parameters {
        let learned = self.mixtures.is_some();
        let (unary, prior) = match &input.evidence {
            Some(EvidenceFile::Unary(path)) => (Some(shown(path)), None),
            Some(EvidenceFile::Prior(path)) => (None, Some(shown(path))),
            None => (None, None),
        };
        let cut_here = !self.partitions.is_empty() && input.superpixels.is_empty();
        report::Parameters {
            paper: options.paper,
            method: options.method.name().to_string(),
            alpha: self.model.alpha,
            beta: self.model.beta,
            gamma: self.model.gamma,
            theta: self.theta,
            phi: phi(self.model.phi),
            hop_scale: word(self.model.hop_scale),
            seeds: word(self.model.seeds),
            temperature: self.model.temperature,
            fbp_weight: (options.method == Method::Fbp).then_some(options.rival.weight),
            damping: options.method.is_cut_only().then_some(options.rival.damping),
            components: learned.then_some(options.unary.components),
            outlier: learned.then_some(options.unary.outlier),
            context: learned.then_some(options.unary.context),
            geodesic: self.geodesic,
            layer: if cut_here { options.layers.iter().map(ToString::to_string).collect() } else { Vec::new() },
            unary,
            prior,
            superpixels: input.superpixels.iter().map(|path| shown(path)).collect(),
            scribble_format: input.format.name().to_string(),
            solver: word(options.solver.solver),
            factors: word(options.solver.factors),
            tolerance: options.solver.tolerance,
            max_iterations: match self.rival {
                None => options.solver.max_iterations,
                Some(_) => options.rival.max_iterations,
            },
            time_limit: options.solver.time_limit.map(|limit| limit.as_secs_f64()),
            strict: options.strict,
            map: word(options.solver.map),
            matte: word(options.output.matte),
            trimap_band: options.output.trimap_band,
            max_pixels: options.limits.max_pixels,
            emit: options.output.emit.iter().map(|output| output.name().to_string()).collect(),
            seed: options.unary.seed,
        }
    }
}

fn mixture(mixture: &crate::unary::Mixture) -> report::Mixture {
    report::Mixture {
        components: mixture.components(),
        weights: mixture.weights().to_vec(),
        means: mixture.means().to_vec(),
        log_likelihood: mixture.log_likelihood(),
    }
}

fn layer(partition: &crate::grid::Partition) -> report::Layer {
    let mut sizes = partition.sizes();
    sizes.sort_unstable();
    report::Layer { count: partition.count(), median_size: sizes[sizes.len() / 2], largest: sizes[sizes.len() - 1] }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The name under which a choice is serialised.
fn word(choice: impl serde::Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(name)) => name,
        other => unreachable!("a choice without fields serialises to its name, not to {other:?}"),
    }
}

fn phi(phi: Phi) -> String {
    match phi {
        Phi::Quadratic => "quadratic".to_string(),
        Phi::Robust(q) => format!("robust:{q}"),
    }
}
