//! A robot user: strokes until the mask is good.
//!
//! It starts from the strokes of the folder, and after every answer puts one more: of the pixels where mask and truth differ, missed and
//! false foreground apart, it takes the largest connected region, and paints a disc with the true label around the region's point deepest
//! inside. What counts is how many strokes a good mask takes. A robot that always hits the middle is better than a person: with a
//! jitter the point is drawn from all that are at least half as deep. Instead of where the error is, it can stroke where the
//! [suggestion](crate::session::Suggestion) says, or at an uncertain pixel drawn at random.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::journal::Journal;
use super::{Case, Contender, Done, Event, Observe, Options, each, proceed};
use crate::encode::plot::{Axis, Chart};
use crate::grid::{Mask, Seed, Seeds, Shape, Truth, components, depths};
use crate::metric::Confusion;
use crate::read::Digest;
use crate::session::{Answer, Session};
use crate::store::files::{Rendered, Staged};
use crate::{Error, Result};

/// What the robot does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Robot {
    /// Where it strokes.
    pub place: Place,
    /// Radius of a stroke in pixels.
    pub radius: usize,
    /// Most strokes.
    pub strokes: usize,
    /// Seed of the points drawn beside the middle; none for the middle itself.
    pub jitter: Option<u64>,
}

impl Default for Robot {
    fn default() -> Self {
        Self { place: Place::Error, radius: 8, strokes: 20, jitter: None }
    }
}

/// Where the robot strokes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Place {
    /// In the largest region that is wrong
    Error,
    /// Where the answer suggests it
    Suggest,
    /// At a random pixel with a probability between 0.1 and 0.9
    Random,
}

/// The levels of IoU whose strokes are averaged.
fn levels() -> impl Iterator<Item = f64> {
    (85..=98).map(|percent| f64::from(percent) / 100.0)
}

/// A mask this good needs no more strokes.
const ENOUGH: f64 = 0.98;

/// How good the mask is after some strokes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Strokes beside those of the folder.
    pub strokes: usize,
    /// IoU over all pixels that the truth decides.
    pub iou: f64,
    /// Seconds of the solve.
    pub seconds: f64,
}

/// A method on all photos.
#[derive(Clone, Debug)]
pub struct Course {
    /// The method.
    pub method: Contender,
    /// One list per photo; a list ends when the mask is good or no stroke is left.
    pub trials: Vec<Vec<Trial>>,
}

impl Course {
    /// Mean strokes until IoU is at least `level`; those that never get there count as `most`.
    pub fn strokes_to(&self, level: f64, most: usize) -> f64 {
        let first = |trials: &Vec<Trial>| trials.iter().find(|trial| trial.iou >= level).map_or(most, |t| t.strokes);
        mean(self.trials.iter().map(|trials| first(trials) as f64))
    }

    /// Mean strokes over the levels .85 to .98.
    pub fn band(&self, most: usize) -> f64 {
        mean(levels().map(|level| self.strokes_to(level, most)))
    }

    /// Mean IoU after so many strokes; what was good before stays as it was.
    pub fn iou_after(&self, strokes: usize) -> f64 {
        let last = |trials: &Vec<Trial>| {
            trials.iter().take_while(|trial| trial.strokes <= strokes).last().map_or(0.0, |t| t.iou)
        };
        mean(self.trials.iter().map(last))
    }

    /// Mean seconds of a solve after a stroke.
    pub fn seconds(&self) -> f64 {
        mean(self.trials.iter().flatten().filter(|trial| trial.strokes > 0).map(|trial| trial.seconds))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// What the robot found.
#[derive(Debug)]
pub struct Outcome {
    /// The robot.
    pub robot: Robot,
    /// The photos, in order.
    pub photos: Vec<Case>,
    /// Those that failed, and why.
    pub failures: Vec<(Case, Error)>,
    /// One per method.
    pub courses: Vec<Course>,
}

/// Lets the robot work on every photo with every method, keeping what is done in the folder `cache`.
pub fn follow(cases: &[Case], options: &Options, robot: Robot, cache: &Path, observe: Observe<'_>) -> Result<Outcome> {
    options.check()?;
    let solves = cases.len() * options.methods.len();
    proceed(observe(Event::Planned { photos: cases.len(), solves }))?;
    let run = |case: &Case| -> Result<Vec<Vec<Trial>>> {
        let digest = Digest::of(format!("{} {robot:?}", options.key(case)?).as_bytes());
        let mut journal: Journal<Trial> = Journal::open(cache, &case.name, digest)?;
        let mut user = None;
        let mut all = Vec::new();
        for &method in &options.methods {
            let known = journal.get(&method);
            let trials = match known {
                Some(trials) => trials,
                None => {
                    if user.is_none() {
                        user = Some(User::read(case, options, robot, observe)?);
                    }
                    let trials = user.as_mut().expect("just read").work(method)?;
                    journal.add(&method, &trials)?;
                    trials
                }
            };
            proceed(observe(Event::Solved(1)))?;
            all.push(trials);
        }
        Ok(all)
    };
    let Done { photos, answers, failures } = each(cases, options, observe, &run)?;
    let course = |(i, &method): (usize, &Contender)| Course {
        method,
        trials: answers.iter().map(|methods| methods[i].clone()).collect(),
    };
    let courses = options.methods.iter().enumerate().map(course).collect();
    Ok(Outcome { robot, photos, failures, courses })
}

/// The robot at work on one photo.
struct User<'a> {
    options: &'a Options,
    robot: Robot,
    name: &'a str,
    session: Session,
    strokes: Seeds,
    truth: Truth,
    observe: Observe<'a>,
}

impl<'a> User<'a> {
    fn read(case: &'a Case, options: &'a Options, robot: Robot, observe: Observe<'a>) -> Result<Self> {
        let session =
            Session::read(&case.input(options.format), options.base.clone(), &|| proceed(observe(Event::Working)))?;
        let truth = Truth::read(&case.truth, session.picture().shape(), &options.base.limits)?;
        let strokes = session.seeds().expect("a photo without costs from a file has strokes").clone();
        Ok(Self { options, robot, name: &case.name, session, strokes, truth, observe })
    }

    fn work(&mut self, method: Contender) -> Result<Vec<Trial>> {
        let setting = self.options.settings(method)[0];
        let mut options = self.options.with(method, &setting);
        options.solver = self.options.base.solver.clone();
        self.session.set_options(options)?;
        self.session.start_cold();
        let mut strokes = self.strokes.clone();
        let mut trials = Vec::new();
        for count in 0..=self.robot.strokes {
            self.session.set_seeds(strokes.clone())?;
            let began = Instant::now();
            let observe = self.observe;
            let answer = self.session.solve(&mut |_| observe(Event::Working))?;
            let iou = iou(answer.mask(), &self.truth);
            trials.push(Trial { strokes: count, iou, seconds: began.elapsed().as_secs_f64() });
            if iou >= ENOUGH || count == self.robot.strokes {
                break;
            }
            let luck = Luck { seed: self.robot.jitter.unwrap_or(0), photo: self.name, count };
            let Some(point) = self.point(&answer, luck) else { break };
            let Some(inside) = self.truth.labels()[point] else { break };
            strokes = dab(&strokes, &self.truth, point, self.robot.radius, inside);
        }
        Ok(trials)
    }

    /// Where the next stroke goes.
    fn point(&self, answer: &Answer, luck: Luck<'_>) -> Option<usize> {
        let shape = self.truth.shape();
        match self.robot.place {
            Place::Error => {
                let region = largest_error(answer.mask(), &self.truth)?;
                let depths = depths(shape, &region);
                let deepest = *depths.iter().max()?;
                let mut points: Vec<usize> = match self.robot.jitter {
                    None => region.iter().zip(depths).filter(|(_, depth)| *depth == deepest).map(|(&p, _)| p).collect(),
                    // Depths are squared.
                    Some(_) => {
                        region.iter().zip(depths).filter(|(_, depth)| 4 * *depth >= deepest).map(|(&p, _)| p).collect()
                    }
                };
                points.sort_unstable();
                Some(points[if self.robot.jitter.is_some() { luck.draw(points.len()) } else { 0 }])
            }
            Place::Suggest => answer.suggestion().map(|at| self.decided(at.y * shape.width + at.x))?,
            Place::Random => {
                let p = answer.marginals().as_slice().iter();
                let labels = self.truth.labels();
                let open: Vec<usize> = p
                    .enumerate()
                    .filter(|&(pixel, &p)| (0.1..=0.9).contains(&p) && labels[pixel].is_some())
                    .map(|(pixel, _)| pixel)
                    .collect();
                (!open.is_empty()).then(|| open[luck.draw(open.len())])
            }
        }
    }

    /// The pixel itself, or the nearest one that the truth decides.
    fn decided(&self, point: usize) -> Option<usize> {
        let width = self.truth.shape().width;
        let away = |pixel: usize| {
            (pixel % width).abs_diff(point % width).pow(2) + (pixel / width).abs_diff(point / width).pow(2)
        };
        let labels = self.truth.labels();
        (0..labels.len()).filter(|&pixel| labels[pixel].is_some()).min_by_key(|&pixel| (away(pixel), pixel))
    }
}

/// The largest connected region of missed or of false foreground, the latter if they are equal; none when nothing is wrong.
fn largest_error(mask: &Mask, truth: &Truth) -> Option<Vec<usize>> {
    let wrong = |inside: bool| {
        let is_wrong = |pixel: usize| mask.as_slice()[pixel] == inside && truth.labels()[pixel] == Some(!inside);
        components(truth.shape(), is_wrong)
    };
    // The first of equals.
    let larger = |a: Vec<usize>, b: Vec<usize>| if b.len() > a.len() { b } else { a };
    wrong(true).into_iter().chain(wrong(false)).reduce(larger)
}

/// The strokes with a disc on top, clipped to where the truth has its label.
fn dab(strokes: &Seeds, truth: &Truth, centre: usize, radius: usize, inside: bool) -> Seeds {
    let Shape { width, height } = strokes.shape();
    let (x, y) = (centre % width, centre / width);
    let mut labels = strokes.labels().to_vec();
    for v in y.saturating_sub(radius)..(y + radius + 1).min(height) {
        for u in x.saturating_sub(radius)..(x + radius + 1).min(width) {
            let is_near = u.abs_diff(x).pow(2) + v.abs_diff(y).pow(2) <= radius.pow(2);
            if is_near && truth.labels()[v * width + u] == Some(inside) {
                labels[v * width + u] = if inside { Seed::Foreground } else { Seed::Background };
            }
        }
    }
    Seeds::new(strokes.shape(), labels)
}

/// IoU over the pixels that the truth decides; 1 where neither has any foreground.
fn iou(mask: &Mask, truth: &Truth) -> f64 {
    let mut confusion = Confusion::default();
    for (&answer, truth) in mask.as_slice().iter().zip(truth.labels()) {
        if let Some(truth) = *truth {
            confusion.add(answer, truth);
        }
    }
    confusion.iou().unwrap_or(1.0)
}

/// Random choices that depend on nothing but the seed, the photo and the stroke.
#[derive(Clone, Copy)]
struct Luck<'a> {
    seed: u64,
    photo: &'a str,
    count: usize,
}

impl Luck<'_> {
    fn draw(self, n: usize) -> usize {
        let Self { seed, photo, count } = self;
        Digest::of(format!("{seed} {photo} {count}").as_bytes()).share(n)
    }
}

impl Outcome {
    /// The names of the files that [`Outcome::write`] writes.
    pub const FILES: [&'static str; 3] = ["robot.csv", "table.md", "robot.svg"];

    /// Writes table, list and chart, all at once.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let files =
            [self.csv(), self.table().into_bytes(), self.chart().svg().into_bytes()].into_iter().zip(Self::FILES);
        let rendered: Vec<Rendered> = files.map(|(bytes, name)| Rendered { name: name.into(), bytes }).collect();
        let mut staged = Staged::new(folder)?;
        staged.add(&rendered)?;
        staged.commit()
    }

    fn csv(&self) -> Vec<u8> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        let mut put = |record: [String; 5]| csv.write_record(record).expect("written to memory");
        put(["photo", "method", "strokes", "iou", "seconds"].map(String::from));
        for course in &self.courses {
            for (case, trials) in self.photos.iter().zip(&course.trials) {
                for Trial { strokes, iou, seconds } in trials {
                    let method = course.method.name().to_string();
                    put([case.name.clone(), method, strokes.to_string(), format!("{iou:.6}"), format!("{seconds:.3}")]);
                }
            }
        }
        csv.into_inner().expect("written to memory")
    }

    /// The table in Markdown.
    pub fn table(&self) -> String {
        let Robot { place, radius, strokes: most, jitter } = self.robot;
        let place = match place {
            Place::Error => "in the largest wrong region",
            Place::Suggest => "where the answer suggests it",
            Place::Random => "at a random uncertain pixel",
        };
        let jitter = jitter.map_or_else(String::new, |seed| format!(", beside the middle at random (seed {seed})"));
        let after: Vec<usize> = [0, 5, 10, 20].into_iter().filter(|&count| count <= most).collect();
        let heads: String = after.iter().map(|count| format!(" IoU after {count} |")).collect();
        let mut text = format!(
            "# A robot on {} photos\n\nUp to {most} strokes, discs of radius {radius} {place}{jitter}, each solved in the same session. \
             Strokes until the mask is as good as that, {most} if it never is; the band is the mean over IoU .85, .86 … .98. Means over photos.\n\n\
             | method | strokes to .85 | to .90 | band |{heads} seconds per update |\n| --- | --- | --- | --- |{} --- |\n",
            self.photos.len(),
            " --- |".repeat(after.len()),
        );
        for course in &self.courses {
            let ious: String = after.iter().map(|&count| format!(" {:.4} |", course.iou_after(count))).collect();
            text += &format!(
                "| {} | {:.2} | {:.2} | {:.2} |{ious} {:.2} |\n",
                course.method.label(),
                course.strokes_to(0.85, most),
                course.strokes_to(0.90, most),
                course.band(most),
                course.seconds(),
            );
        }
        for (case, error) in &self.failures {
            text += &format!("\nFailed: {}: {error}\n", case.name);
        }
        text
    }

    fn chart(&self) -> Chart {
        let most = self.robot.strokes;
        let curve = |course: &Course| {
            let points = (0..=most).map(|count| (count as f64, course.iou_after(count))).collect();
            let label = format!("{}  {:.2}", course.method.label(), course.strokes_to(0.90, most));
            super::chart::series(course.method, label, points, true)
        };
        Chart {
            title: format!("A robot on {} photos; the legend shows strokes to .90", self.photos.len()),
            x: Axis { label: "strokes".into(), range: (0.0, most.max(1) as f64) },
            y: Axis { label: "mean IoU".into(), range: (0.5, 1.0) },
            series: self.courses.iter().map(curve).collect(),
            diagonal: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_error_is_found_and_of_equals_the_false_one() {
        let shape = Shape::new(6, 2);
        let mask = Mask::new(shape, "xx..x.......".chars().map(|c| c == 'x').collect());
        let truth = |rows: &str| {
            let label = |c| match c {
                'f' => Some(true),
                'b' => Some(false),
                _ => None,
            };
            Truth::new(shape, rows.chars().map(label).collect())
        };
        assert_eq!(largest_error(&mask, &truth("bbffbbbbbbbb")), Some(vec![0, 1]));
        assert_eq!(largest_error(&mask, &truth("ffffbbb?bbbb")), Some(vec![2, 3]));
        assert_eq!(largest_error(&mask, &truth("ff??fb??????")), None);
    }

    #[test]
    fn a_dab_keeps_to_the_truth() {
        let shape = Shape::new(5, 3);
        let truth =
            Truth::new(shape, (0..15).map(|pixel| if pixel == 1 { None } else { Some(pixel % 5 < 3) }).collect());
        let none = Seeds::new(shape, vec![Seed::Unlabelled; 15]);
        let strokes = dab(&none, &truth, 7, 1, true);
        let drawn: Vec<usize> = (0..15).filter(|&pixel| strokes.labels()[pixel] == Seed::Foreground).collect();
        assert_eq!(drawn, [2, 6, 7, 12]);
    }

    #[test]
    fn counts_are_the_first_strokes_that_suffice() {
        let trial = |strokes, iou| Trial { strokes, iou, seconds: 1.0 };
        let trials = vec![vec![trial(0, 0.5), trial(1, 0.86), trial(2, 0.99)], vec![trial(0, 0.2), trial(1, 0.3)]];
        let course = Course { method: Contender::Defaults, trials };
        assert_eq!(course.strokes_to(0.85, 20), 10.5);
        assert_eq!(course.strokes_to(0.90, 20), 11.0);
        assert!((course.iou_after(1) - 0.58).abs() < 1e-12 && (course.iou_after(20) - 0.645).abs() < 1e-12);
        assert!((course.band(20) - (2.0 * 10.5 + 12.0 * 11.0) / 14.0).abs() < 1e-12);
    }
}
