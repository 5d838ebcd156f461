//! An answer, written up.

use std::path::Path;

use super::{
    Bounds, Detail, DetailLevel, Layer, Map, Marginals, Mixture, Mixtures, Model, Parameters, Report, Rival, Scribbles,
    Solve, Temperature, Tool,
};
use crate::grid::{Partition, Seed};
use crate::read::{EvidenceFile, Input};
use crate::session::{Answer, Bias, Clicks, Method, SLIPS, Scale};
use crate::solver::Status;
use crate::unary;

impl Answer {
    /// Everything known about it, in the schema `lfield.report/1`. What only a file has, its names and cache key, is null or empty.
    pub fn report(&self) -> Report {
        let (options, solved, shape) = (&self.options, &*self.solved, self.picture.shape());
        let (solution, certificate) = (&solved.solution, &solved.solution.certificate);
        let input = self.origin().map(|origin| &origin.input);
        let strokes = self.origin().and_then(|origin| origin.strokes.as_ref());
        let count = |seed| self.seeds.as_ref().map_or(0, |seeds| seeds.count(seed));
        let p = solved.marginals.as_slice();
        let solver = match solved.rival {
            None => word(options.solver.solver),
            Some(_) => options.method.name().to_string(),
        };
        Report {
            schema: super::SCHEMA.to_string(),
            tool: Tool::this(),
            fingerprint: None,
            input: super::Input {
                image: input.map(|input| shown(&input.image)),
                scribbles: strokes.map(|(path, ..)| shown(path)),
                format: strokes.map(|(_, format, _)| format.name().to_string()),
                width: shape.width,
                height: shape.height,
            },
            scribbles: Scribbles { foreground: count(Seed::Foreground), background: count(Seed::Background) },
            parameters: self.parameters(input),
            mixtures: self.mixtures.as_ref().map(|mixtures| Mixtures {
                foreground: mixture(&mixtures.foreground),
                background: mixture(&mixtures.background),
            }),
            superpixels: self.partitions.iter().map(layer).collect(),
            model: Model {
                pixels: shape.n_pixels(),
                free_pixels: solved.n_free,
                decided_pixels: solved.n_decided,
                layers: solved.n_layers,
            },
            detail: detail(&self.scales),
            solve: Solve {
                solver,
                iterations: solution.iterations,
                map_calls: solution.map_calls,
                converged: solution.status == Status::Converged,
                status: word(solution.status),
                seconds: solution.seconds,
                gap: finite(certificate.gap),
                gap_per_pixel: finite(certificate.gap_per_pixel),
            },
            bounds: Bounds {
                log_z_upper: finite(certificate.log_z_upper),
                log_z_lower: finite(certificate.log_z_lower),
                renyi_infinity_upper: finite(certificate.renyi_infinity_upper),
            },
            rival: solved.rival.map(|rival| Rival {
                method: options.method.name().to_string(),
                iterations: solution.iterations,
                converged: solution.status == Status::Converged,
                residual: finite(rival.residual),
                log_z: finite(rival.log_z),
                log_z_is: if rival.is_lower_bound { "lower bound" } else { "estimate" }.into(),
            }),
            temperature: self.fit.map(|fit| Temperature {
                value: fit.temperature,
                method: "log loss on held-out strokes".into(),
                slips: SLIPS,
                folds: fit.folds,
                pieces: fit.pieces,
                pixels: fit.pixels,
                log_loss: fit.log_loss,
                log_loss_at_one: fit.log_loss_at_one,
            }),
            map: Map {
                energy: finite(certificate.map_energy),
                lower_bound: finite(certificate.map_lower_bound),
                gap: finite(certificate.map_gap),
                proved_optimal: certificate.map_proved_optimal,
                repaired_pixels: certificate.repaired_pixels,
                dropped_pixels: solved.n_dropped,
                area: solved.mask.area(),
            },
            marginals: Marginals {
                min: p.iter().copied().fold(1.0, f64::min),
                max: p.iter().copied().fold(0.0, f64::max),
                mean: p.iter().sum::<f64>() / p.len() as f64,
                certified_pixels: solved.certified.iter().filter(|&&proved| proved).count(),
                error_bound: finite(certificate.error_bound),
                error_bound_median: finite(median(&certificate.bounds)),
            },
            suggestion: self.suggestion(),
            timing: self.timing,
            outputs: Vec::new(),
            warnings: self.warnings.iter().map(ToString::to_string).collect(),
        }
    }

    fn parameters(&self, input: Option<&Input>) -> Parameters {
        let options = &self.options;
        let learned = self.mixtures.is_some();
        let recorded = input.map(|input| input.recorded).unwrap_or_default();
        let (unary, prior) = match input.and_then(|input| input.evidence.as_ref()) {
            Some(EvidenceFile::Unary(path)) => (Some(shown(path)), None),
            Some(EvidenceFile::Prior(path)) => (None, Some(shown(path))),
            None => (None, None),
        };
        let cut_here = !self.partitions.is_empty() && !self.has_given_partitions;
        Parameters {
            paper: recorded.paper,
            detail: options.detail.to_string(),
            method: options.method.name().to_string(),
            alpha: self.model.alpha,
            beta: self.model.beta,
            gamma: self.model.gamma,
            theta: self.solved.theta,
            phi: self.model.phi.to_string(),
            hop_scale: word(self.model.hop_scale),
            seeds: word(self.model.seeds),
            bias: self.solved.bias,
            area: match options.bias {
                Bias::Auto | Bias::Fixed(_) => None,
                Bias::Area(share) => Some(share),
            },
            reach: self.reach,
            refit: options.refit,
            frame: options.marks.frame.map(|frame| frame.to_string()),
            fg: clicks(&options.marks.foreground),
            bg: clicks(&options.marks.background),
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
            prior_clip: self.prior.map(|fit| fit.clip),
            prior_temperature: self.prior.map(|fit| fit.temperature),
            prior_colour: self.prior.map(|fit| fit.colour),
            superpixels: input.iter().flat_map(|input| &input.superpixels).map(|path| shown(path)).collect(),
            scribble_format: input.map(|input| input.format).unwrap_or_default().name().to_string(),
            solver: word(options.solver.solver),
            factors: word(options.solver.factors),
            tolerance: options.solver.tolerance,
            max_iterations: match self.solved.rival {
                None => options.solver.max_iterations,
                Some(_) => options.rival.max_iterations,
            },
            time_limit: options.solver.time_limit.map(|limit| limit.as_secs_f64()),
            strict: recorded.strict,
            map: word(options.solver.map),
            matte: word(options.output.matte),
            matte_width: options.output.matte_width,
            trimap_band: options.output.trimap_band,
            max_pixels: options.limits.max_pixels,
            emit: options.output.emit.iter().map(|output| output.name().to_string()).collect(),
            seed: options.unary.seed,
        }
    }
}

fn clicks(clicks: &Clicks) -> Option<String> {
    (!clicks.0.is_empty()).then(|| clicks.to_string())
}

fn detail(scales: &[Scale]) -> Detail {
    let level = |scale: &Scale| DetailLevel {
        width: scale.shape.width,
        height: scale.shape.height,
        free_pixels: scale.free_pixels,
        decided_pixels: scale.decided_pixels,
        iterations: scale.iterations,
        converged: scale.status == Status::Converged,
        gap_per_pixel: finite(scale.gap_per_pixel),
    };
    let last = scales.last().expect("an answer has at least its own size");
    Detail {
        levels: scales.iter().map(level).collect(),
        free_pixels: last.free_pixels,
        decided_pixels: last.decided_pixels,
        conditional: last.decided_pixels > 0,
    }
}

fn mixture(mixture: &unary::Mixture) -> Mixture {
    Mixture {
        components: mixture.components(),
        weights: mixture.weights().to_vec(),
        means: mixture.means().to_vec(),
        log_likelihood: mixture.log_likelihood(),
    }
}

fn layer(partition: &Partition) -> Layer {
    let mut sizes = partition.sizes();
    sizes.sort_unstable();
    Layer { count: partition.count(), median_size: sizes[sizes.len() / 2], largest: sizes[sizes.len() - 1] }
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

/// JSON has no infinity: a bound that is none is null.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The value in the middle; zero of none.
fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    match values.is_empty() {
        true => 0.0,
        false => *values.select_nth_unstable_by(middle, f64::total_cmp).1,
    }
}
