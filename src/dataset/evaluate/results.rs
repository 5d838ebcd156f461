//! `results.json` and `results.csv`: every figure, for programs.
//!
//! Neither holds a time or a date: a run that was interrupted and taken up again writes the same bytes as one that was not.

use serde::Serialize;

use super::{Contender, Contrast, Evaluation, Options, Row, Setting};
use crate::encode::report::Tool;
use crate::metric::{Bin, Confusion, Curve, Figures, Scores, Summary};

/// The version of the layout of `results.json`.
pub const SCHEMA: &str = "lfield.evaluate/1";

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    tool: Tool,
    parameters: Parameters,
    photos: Vec<Photo<'a>>,
    failures: Vec<Failure>,
    methods: Vec<Entry<'a>>,
    /// What the paper's table puts above what, and whether it is so here.
    order: Vec<Relation>,
    /// How sure the wrong pixels are, by method, at equal settings.
    confidence: Vec<Confidence>,
}

#[derive(Serialize)]
struct Parameters {
    paper: bool,
    methods: Vec<Contender>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    gamma: Vec<f64>,
    theta: Vec<Contrast>,
    chosen_by: &'static str,
    trimap_widths: Vec<u32>,
    seeds: crate::assemble::SeedMode,
    hop_scale: crate::assemble::HopScale,
    phi: crate::assemble::Phi,
    temperature: Option<f64>,
    components: usize,
    outlier: f64,
    geodesic: String,
    context: f64,
    layers: Vec<String>,
    solver: crate::solver::SolverKind,
    tolerance: f64,
    max_iterations: usize,
    fbp_weight: f64,
    damping: f64,
    bp_schedule: crate::rival::Schedule,
    rival_tolerance: f64,
    rival_max_iterations: usize,
    seed: u64,
}

#[derive(Serialize)]
struct Photo<'a> {
    name: &'a str,
    image: String,
    scribbles: String,
    truth: String,
    degenerate: bool,
}

#[derive(Serialize)]
struct Failure {
    name: String,
    error: String,
}

#[derive(Serialize)]
struct Entry<'a> {
    method: Contender,
    label: &'static str,
    settings: usize,
    solves_per_photo: usize,
    best_setting: Option<Setting>,
    /// Means with the best setting for all photos, which none of them was held out for.
    at_best_setting: Figures,
    summary: &'a Summary,
    published: Option<Published>,
    photos: Vec<Scored<'a>>,
    roc: Option<Roc<'a>>,
    calibration: &'a [Bin],
}

#[derive(Serialize)]
struct Published {
    auc: f64,
    auc_sd: f64,
    auct: f64,
    auct_sd: f64,
}

#[derive(Serialize)]
struct Scored<'a> {
    photo: &'a str,
    setting: Setting,
    scores: &'a Scores,
}

#[derive(Serialize)]
struct Roc<'a> {
    false_positive_rate: Vec<f64>,
    true_positive_rate: &'a [f64],
}

/// One comparison of the paper's table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Relation {
    /// The method that is better in the paper.
    pub better: Contender,
    /// The one that is worse there.
    pub worse: Contender,
    /// By how much mean AUC differs here.
    pub auc: f64,
    /// By how much mean AUCT differs here.
    pub auct: f64,
    /// By how much mean AUC differs when either method has the one setting that is best for all photos.
    pub auc_at_best: f64,
}

/// How sure the methods on the cut are of their errors, at one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Confidence {
    /// The setting.
    pub setting: Setting,
    /// Per method the mean share of wrong pixels beyond 0.99, and the mean entropy of the marginals.
    pub methods: Vec<Sureness>,
}

/// How sure a method is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sureness {
    /// The method.
    pub method: Contender,
    /// Mean over photos of the share of wrong pixels whose marginal is beyond 0.99 on the wrong side.
    pub overconfident: Option<f64>,
    /// Mean entropy of the marginals, nats.
    pub entropy: Option<f64>,
    /// Mean AUC.
    pub auc: Option<f64>,
}

impl Evaluation {
    /// The paper's claims HOP > DR > the rest, as far as the methods are here.
    pub fn relations(&self) -> Vec<Relation> {
        use Contender::{Bp, Cut, Fbp, Hop, MeanField, Unary};
        let pairs = [
            (Hop, Cut),
            (Cut, Fbp),
            (Cut, MeanField),
            (Cut, Unary),
            (Cut, Bp),
            (Hop, Fbp),
            (Hop, MeanField),
            (Hop, Unary),
            (Hop, Bp),
        ];
        let relation = |(better, worse)| {
            let (above, below) = (self.row(better)?, self.row(worse)?);
            let mean = |row: &Row| row.summary.unlabelled.mean;
            Some(Relation {
                better,
                worse,
                auc: mean(above).auc? - mean(below).auc?,
                auct: mean(above).auct? - mean(below).auct?,
                auc_at_best: above.at_best().unlabelled.mean.auc? - below.at_best().unlabelled.mean.auc?,
            })
        };
        pairs.into_iter().filter_map(relation).collect()
    }

    /// The methods on the cut at every setting they share, at the largest α and the best θ of L-Field's.
    pub fn confidence(&self) -> Vec<Confidence> {
        let methods = [Contender::MeanField, Contender::Bp, Contender::Fbp, Contender::Cut];
        let rows: Vec<&Row> = methods.into_iter().filter_map(|method| self.row(method)).collect();
        let Some(cut) = self.row(Contender::Cut).filter(|_| rows.len() > 1) else { return Vec::new() };
        let alpha = cut.settings.iter().map(|setting| setting.alpha).fold(0.0, f64::max);
        let theta = cut.settings[cut.best].theta;
        let shared = cut.settings.iter().filter(|setting| setting.alpha == alpha && setting.theta == theta);
        let mut settings: Vec<Setting> = shared.copied().collect();
        settings.sort_by(|a, b| b.beta.total_cmp(&a.beta));
        let sure = |row: &&Row, setting: &Setting| {
            let place = row.settings.iter().position(|other| other == setting)?;
            let scores = row.judgements.iter().map(|photo| &photo[place].scores);
            let Figures { overconfident, entropy, auc, .. } = Summary::of(scores).unlabelled.mean;
            Some(Sureness { method: row.method, overconfident, entropy, auc })
        };
        let at = |setting: Setting| Confidence {
            setting,
            methods: rows.iter().filter_map(|row| sure(row, &setting)).collect(),
        };
        settings.into_iter().map(at).collect()
    }

    /// The row of a method, if it took part.
    pub fn row(&self, method: Contender) -> Option<&Row> {
        self.rows.iter().find(|row| row.method == method)
    }

    pub(super) fn is_degenerate(&self, photo: usize) -> bool {
        self.rows.first().is_some_and(|row| row.judgement(photo).scores.degenerate)
    }

    pub(super) fn json(&self, options: &Options) -> Vec<u8> {
        let photos = self.photos.iter().enumerate().map(|(index, case)| Photo {
            name: &case.name,
            image: case.image.display().to_string(),
            scribbles: case.scribbles.display().to_string(),
            truth: case.truth.display().to_string(),
            degenerate: self.is_degenerate(index),
        });
        let failure =
            |(case, error): &(super::Case, crate::Error)| Failure { name: case.name.clone(), error: error.to_string() };
        crate::encode::json(&Results {
            schema: SCHEMA,
            tool: Tool::this(),
            parameters: parameters(options),
            photos: photos.collect(),
            failures: self.failures.iter().map(failure).collect(),
            methods: self.rows.iter().map(|row| self.entry(row)).collect(),
            order: self.relations(),
            confidence: self.confidence(),
        })
    }

    fn entry<'a>(&'a self, row: &'a Row) -> Entry<'a> {
        let scored = |(index, case): (usize, &'a super::Case)| Scored {
            photo: &case.name,
            setting: row.settings[row.chosen[index]],
            scores: &row.judgement(index).scores,
        };
        let published = |[auc, auc_sd, auct, auct_sd]: [f64; 4]| Published { auc, auc_sd, auct, auct_sd };
        Entry {
            method: row.method,
            label: row.method.label(),
            settings: row.settings.len(),
            solves_per_photo: row.solves,
            best_setting: row.settings.get(row.best).copied(),
            at_best_setting: row.at_best().unlabelled.mean,
            summary: &row.summary,
            published: row.method.published().map(published),
            photos: self.photos.iter().enumerate().map(scored).collect(),
            roc: row
                .curve
                .as_ref()
                .map(|curve| Roc { false_positive_rate: Curve::rates().collect(), true_positive_rate: &curve.0 }),
            calibration: &row.calibration.bins,
        }
    }

    /// One line per photo, method and setting.
    pub(super) fn csv(&self) -> Vec<u8> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        let mut put = |record: Vec<String>| csv.write_record(record).expect("written to memory");
        let ours =
            ["photo", "method", "alpha", "beta", "gamma", "theta", "chosen", "degenerate", "pixels", "foreground"];
        let counts = ["true_positives", "false_positives", "true_negatives", "false_negatives"];
        let figures = ["", "all_"].into_iter().flat_map(|prefix| Figures::NAMES.map(|name| format!("{prefix}{name}")));
        put(ours.map(String::from).into_iter().chain(figures).chain(counts.map(String::from)).collect());
        for row in &self.rows {
            for (photo, case) in self.photos.iter().enumerate() {
                for (place, setting) in row.settings.iter().enumerate() {
                    let Setting { alpha, beta, gamma, theta } = setting;
                    let Scores { degenerate, unlabelled, all_pixels } = &row.judgements[photo][place].scores;
                    let mut record = vec![case.name.clone(), row.method.name().to_string()];
                    record.extend([alpha, beta, gamma].map(ToString::to_string));
                    record.push(theta.to_string());
                    record.extend([row.chosen[photo] == place, *degenerate].map(|flag| u8::from(flag).to_string()));
                    record.extend([unlabelled.pixels, unlabelled.foreground].map(|count| count.to_string()));
                    let figures = [unlabelled, all_pixels].into_iter().flat_map(|region| region.figures.values());
                    record.extend(figures.map(|figure| figure.map_or(String::new(), |value| format!("{value:.6}"))));
                    let Confusion { true_positives, false_positives, true_negatives, false_negatives } =
                        unlabelled.confusion;
                    let counts = [true_positives, false_positives, true_negatives, false_negatives];
                    record.extend(counts.map(|count| count.to_string()));
                    put(record);
                }
            }
        }
        csv.into_inner().expect("written to memory")
    }
}

fn parameters(options: &Options) -> Parameters {
    let Options { methods, grid, base, widths, criterion, .. } = options;
    Parameters {
        paper: options.paper,
        methods: methods.clone(),
        alpha: grid.alpha.clone(),
        beta: grid.beta.clone(),
        gamma: grid.gamma.clone(),
        theta: grid.theta.iter().map(|&theta| Some(theta).into()).collect(),
        chosen_by: criterion.name(),
        trimap_widths: widths.clone(),
        seeds: base.model.seeds,
        hop_scale: base.model.hop_scale,
        phi: base.model.phi,
        temperature: (!base.fit_temperature).then_some(base.model.temperature),
        components: base.unary.components,
        outlier: base.unary.outlier,
        geodesic: base.unary.geodesic.to_string(),
        context: base.unary.context,
        layers: base.layers.iter().map(ToString::to_string).collect(),
        solver: base.solver.solver,
        tolerance: base.solver.tolerance,
        max_iterations: base.solver.max_iterations,
        fbp_weight: base.rival.weight,
        damping: base.rival.damping,
        bp_schedule: base.rival.schedule,
        rival_tolerance: base.rival.tolerance,
        rival_max_iterations: base.rival.max_iterations,
        seed: base.unary.seed,
    }
}
