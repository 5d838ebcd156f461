//! One photo: read it, learn its colours and cut its superpixels once, then answer task after task.

use std::cell::OnceCell;
use std::ops::ControlFlow;

use super::grid::{Method, Setting, Solve, Task};
use super::{Case, Options};
use crate::annotation::{Seeds, Truth};
use crate::assemble::{self, Problem};
use crate::baseline;
use crate::field::{Marginals, Mask, Partition, Unary};
use crate::metric::{Judge, Judgement};
use crate::picture::Picture;
use crate::pipeline::{self, Input, Scene};
use crate::solver::{self, Messages};
use crate::superpixel::{self, Layer};
use crate::{Result, unary};

/// A photo that has been read.
pub(super) struct Photo<'a> {
    options: &'a Options,
    scene: Scene,
    pub(super) truth: Truth,
    /// What the colours say and where the regions are, with the options in force, and with the tool's own where those differ.
    given: OnceCell<Evidence>,
    own: OnceCell<Evidence>,
}

struct Evidence {
    unary: Unary,
    layers: Vec<Layer>,
    partitions: OnceCell<Vec<Partition>>,
}

/// An answer before it is judged: s over all pixels, and the set.
pub(super) struct Answer {
    s: Vec<f64>,
    mask: Mask,
    /// T fitted to the strokes, when that was asked for: it takes the place of every other scale.
    temperature: Option<f64>,
}

impl<'a> Photo<'a> {
    pub(super) fn read(case: &Case, options: &'a Options) -> Result<Self> {
        let (image, scribbles) = (case.image.clone(), Some(case.scribbles.clone()));
        let input = Input { image, scribbles, format: options.format, ..Input::default() };
        input.check_memory(&options.base, rayon::current_num_threads(), options.max_memory)?;
        let scene = Scene::read(&input, &options.base, &|| Ok(()))?;
        let truth = Truth::read(&case.truth, scene.picture.shape(), &options.base.limits)?;
        Ok(Self { options, scene, truth, given: OnceCell::new(), own: OnceCell::new() })
    }

    pub(super) fn picture(&self) -> &Picture {
        &self.scene.picture
    }

    pub(super) fn seeds(&self) -> &Seeds {
        self.scene.seeds().expect("a scene without costs from a file has strokes")
    }

    pub(super) fn judge(&self) -> Judge<'_> {
        Judge::new(&self.truth, Some(self.seeds()), &self.options.widths)
    }

    /// Does a task; one judgement per setting, in its order.
    pub(super) fn run(&self, task: &Task, judge: &Judge<'_>) -> Result<Vec<Judgement>> {
        let mut judgements = Vec::new();
        let mut before = None;
        for Solve { weights, settings } in &task.solves {
            let answer = self.solve(task.method, weights, &mut before)?;
            let order: Vec<f64> = answer.s.iter().map(|s| -s).collect();
            for setting in settings {
                let marginals = self.marginals(task.method, &answer, setting);
                judgements.push(judge.judge(&order, &marginals, &answer.mask));
            }
        }
        Ok(judgements)
    }

    /// The answer of a method to one setting.
    pub(super) fn answer(&self, method: Method, setting: &Setting) -> Result<Answer> {
        let tasks = super::grid::plan(method, &[*setting]);
        self.solve(method, &tasks[0].solves[0].weights, &mut None)
    }

    /// The marginals a setting makes of an answer: L-Field's are scaled to the α and the temperature asked for.
    pub(super) fn marginals(&self, method: Method, answer: &Answer, setting: &Setting) -> Marginals {
        let scale = match answer.temperature {
            Some(fitted) => 1.0 / fitted,
            None if method.is_homogeneous() => setting.alpha / self.evidence_options(method).model.temperature,
            None => 1.0,
        };
        let s: Vec<f64> = answer.s.iter().map(|s| s * scale).collect();
        Marginals::from_log_odds(self.picture().shape(), &s)
    }

    fn solve(&self, method: Method, weights: &Setting, before: &mut Option<(usize, Messages)>) -> Result<Answer> {
        let problem = self.problem(method, weights)?;
        if method.is_homogeneous() {
            return self.minimum_norm(method, weights, &problem, before);
        }
        let rival = &self.options.base.rival;
        let beliefs = match method {
            Method::Mf => baseline::mean_field(&problem.model, rival, &|| Ok(()))?,
            Method::Bp => baseline::belief_propagation(&problem.model, rival, &|| Ok(()))?,
            _ => baseline::fractional_belief_propagation(&problem.model, rival, &|| Ok(()))?,
        };
        let set: Vec<bool> = beliefs.s.iter().map(|&s| s < 0.0).collect();
        Ok(Answer { s: problem.expand(&beliefs.s), mask: problem.expand_set(&set), temperature: None })
    }

    fn problem(&self, method: Method, weights: &Setting) -> Result<Problem> {
        let evidence = self.evidence(method)?;
        let model = self.weighed(method, weights);
        let partitions: &[Partition] = if weights.gamma > 0.0 { self.partitions(evidence)? } else { &[] };
        assemble::model(self.picture(), &evidence.unary, partitions, Some(self.seeds()), &model, &|| Ok(()))
    }

    fn weighed(&self, method: Method, weights: &Setting) -> assemble::Options {
        let own = self.evidence_options(method).model;
        assemble::Options {
            alpha: weights.alpha,
            beta: weights.beta,
            gamma: weights.gamma,
            theta: weights.theta.into(),
            temperature: if method.is_homogeneous() { 1.0 } else { own.temperature },
            ..own
        }
    }

    /// L-Field, from where the solve before it ended when that had the same layers.
    fn minimum_norm(
        &self,
        method: Method,
        weights: &Setting,
        problem: &Problem,
        before: &mut Option<(usize, Messages)>,
    ) -> Result<Answer> {
        let own = self.evidence_options(method);
        let (model, options) = (&problem.model, &own.solver);
        let mut observe = |_: &solver::Progress| ControlFlow::Continue(());
        let solution = match before.take() {
            Some((layers, start)) if layers == model.layers().len() => {
                solver::solve_from(model, options, &start, &mut observe)?
            }
            _ => solver::solve(model, options, &mut observe)?,
        };
        *before = solution.messages.map(|messages| (model.layers().len(), messages));
        let temperature = match own.fit_temperature {
            true => {
                let partitions = if weights.gamma > 0.0 { self.partitions(self.evidence(method)?)? } else { &[] };
                let own = pipeline::Options { model: self.weighed(method, weights), ..own };
                Some(pipeline::fit_temperature(&self.scene, partitions, &own, &|| Ok(()))?.temperature)
            }
            false => None,
        };
        Ok(Answer { s: problem.expand(&solution.s), mask: problem.expand_set(&solution.set), temperature })
    }

    fn evidence_options(&self, method: Method) -> pipeline::Options {
        if method == Method::Defaults { self.options.own() } else { self.options.base.clone() }
    }

    fn evidence(&self, method: Method) -> Result<&Evidence> {
        let options = self.evidence_options(method);
        let given = &self.options.base;
        let shared = (&options.unary, &options.layers) == (&given.unary, &given.layers);
        let cell = if shared { &self.given } else { &self.own };
        if let Some(evidence) = cell.get() {
            return Ok(evidence);
        }
        let unary = unary::log_odds(self.picture(), self.seeds(), &options.unary, &|| Ok(()))?.unary;
        Ok(cell.get_or_init(|| Evidence { unary, layers: options.layers, partitions: OnceCell::new() }))
    }

    fn partitions<'b>(&self, evidence: &'b Evidence) -> Result<&'b [Partition]> {
        if let Some(partitions) = evidence.partitions.get() {
            return Ok(partitions);
        }
        let cut = evidence.layers.iter().map(|layer| superpixel::mean_shift(self.picture(), layer, &|| Ok(())));
        let cut = cut.collect::<Result<Vec<_>>>()?;
        Ok(evidence.partitions.get_or_init(|| cut))
    }
}
