//! One photo: a session on it answers task after task.

use super::grid::{Contender, Setting, Solve, Task};
use super::{Case, Event, Observe, Options};
use crate::grid::{Marginals, Mask, Picture, Seeds, Truth};
use crate::metric::{Judge, Judgement};
use crate::session::{Frame, Session};
use crate::{Error, Result};

/// A photo that has been read.
pub(super) struct Photo<'a> {
    options: &'a Options,
    session: Session,
    /// Around the object, where that takes the place of strokes.
    frame: Option<Frame>,
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
        if options.box_from_truth {
            let picture = Picture::read(&case.image, &options.base.limits)?.value;
            let truth = Truth::read(&case.truth, picture.shape(), &options.base.limits)?;
            let frame =
                frame(&truth).ok_or_else(|| Error::unsuitable(&case.truth, "has no foreground", "a box needs some"))?;
            let session = Session::new(picture, options.base.clone())?;
            return Ok((Self { options, session, frame: Some(frame), observe }, truth));
        }
        let session = Session::read(&input, options.base.clone(), &|| super::proceed(observe(Event::Working)))?;
        let truth = Truth::read(&case.truth, session.picture().shape(), &options.base.limits)?;
        Ok((Self { options, session, frame: None, observe }, truth))
    }

    pub(super) fn picture(&self) -> &Picture {
        self.session.picture()
    }

    pub(super) fn seeds(&self) -> Option<&Seeds> {
        self.session.seeds()
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
        let fit_temperature = self.options.of(method).fit_temperature;
        let mut options = self.options.with(method, weights);
        options.marks.frame = self.frame.or(options.marks.frame);
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

/// The box around the foreground, grown on every side by a twentieth of its size, as far as the photo goes.
fn frame(truth: &Truth) -> Option<Frame> {
    let width = truth.shape().width;
    let object =
        || truth.labels().iter().enumerate().filter(|(_, label)| **label == Some(true)).map(|(pixel, _)| pixel);
    let (left, right) = (object().map(|pixel| pixel % width).min()?, object().map(|pixel| pixel % width).max()?);
    let (top, bottom) = (object().next()? / width, object().next_back()? / width);
    let grown = |from: usize, to: usize, length: usize| {
        let margin = ((to - from + 1) as f64 * 0.05).round() as usize;
        (from.saturating_sub(margin), (to + margin).min(length - 1))
    };
    let ((left, right), (top, bottom)) = (grown(left, right, width), grown(top, bottom, truth.shape().height));
    Some(Frame { x: left, y: top, width: right - left + 1, height: bottom - top + 1 })
}
