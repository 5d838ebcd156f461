//! One photo: a session on it answers task after task.

use super::grid::{Contender, Setting, Solve, Task};
use super::{Case, Event, Observe, Options};
use crate::Result;
use crate::grid::{Marginals, Mask, Picture, Seeds, Truth};
use crate::metric::{Judge, Judgement};
use crate::session::{self, Session};

/// A photo that has been read.
pub(super) struct Photo<'a> {
    options: &'a Options,
    session: Session,
    observe: Observe<'a>,
}

/// An answer before it is judged.
pub(super) struct Answer {
    log_odds: Vec<f64>,
    mask: Mask,
    /// T fitted to the strokes, when that was asked for: it takes the place of every other scale.
    temperature: Option<f64>,
}

impl<'a> Photo<'a> {
    /// The photo and its truth.
    pub(super) fn read(case: &Case, options: &'a Options, observe: Observe<'a>) -> Result<(Self, Truth)> {
        let input = case.input(options.format);
        let session = Session::read(&input, options.base.clone(), &|| super::proceed(observe(Event::Working)))?;
        let truth = Truth::read(&case.truth, session.picture().shape(), &options.base.limits)?;
        Ok((Self { options, session, observe }, truth))
    }

    pub(super) fn picture(&self) -> &Picture {
        self.session.picture()
    }

    pub(super) fn seeds(&self) -> &Seeds {
        self.session.seeds().expect("a photo without costs from a file has strokes")
    }

    /// Does a task; one judgement per setting, in its order. A task starts from nothing.
    pub(super) fn run(&mut self, task: &Task, judge: &Judge<'_>) -> Result<Vec<Judgement>> {
        let mut judgements = Vec::new();
        self.session.start_cold();
        for Solve { weights, settings } in &task.solves {
            let answer = self.solve(task.method, weights)?;
            for setting in settings {
                let marginals = self.marginals(task.method, &answer, setting);
                judgements.push(judge.judge(&answer.log_odds, &marginals, &answer.mask));
            }
        }
        Ok(judgements)
    }

    /// The answer of a method to one setting.
    pub(super) fn answer(&mut self, method: Contender, setting: &Setting) -> Result<Answer> {
        let tasks = super::grid::plan(method, &[*setting]);
        self.session.start_cold();
        self.solve(method, &tasks[0].solves[0].weights)
    }

    /// The marginals a setting makes of an answer: L-Field's are scaled to the α and the temperature asked for.
    pub(super) fn marginals(&self, method: Contender, answer: &Answer, setting: &Setting) -> Marginals {
        let scale = match answer.temperature {
            Some(fitted) => 1.0 / fitted,
            None if method.is_homogeneous() => setting.alpha / self.options.of(method).model.temperature,
            None => 1.0,
        };
        let s: Vec<f64> = answer.log_odds.iter().map(|x| -x * scale).collect();
        Marginals::from_log_odds(self.picture().shape(), &s)
    }

    fn solve(&mut self, method: Contender, weights: &Setting) -> Result<Answer> {
        let session::Options { mut model, fit_temperature, mut output, .. } = self.options.of(method);
        model.alpha = weights.alpha;
        model.beta = weights.beta;
        model.gamma = weights.gamma;
        model.theta = weights.theta.into();
        if method.is_homogeneous() {
            model.temperature = 1.0;
        }
        output.emit.clear();
        let options = session::Options {
            model,
            output,
            method: method.method(),
            fit_temperature: false,
            ..self.options.of(method)
        };
        self.session.set_options(options)?;
        let observe = self.observe;
        let answer = self.session.solve(&mut |_| observe(Event::Working))?;
        let temperature = match fit_temperature && method.is_homogeneous() {
            true => Some(self.session.fit_temperature(&mut |_| observe(Event::Working))?.temperature),
            false => None,
        };
        Ok(Answer { log_odds: answer.log_odds(), mask: answer.mask().clone(), temperature })
    }
}
