//! How long a session takes to stop: `cargo bench --bench interrupt -- [breaks]`, 300 breaks unless told otherwise.
//!
//! Each method runs once to its end on each bundled sample, for the longest time between two calls of the observer. Then sessions are
//! broken at random moments, spread evenly over the time a whole run takes, and the time from the break to the return is printed
//! as a distribution. Half of the breaks are in the first solve of a session, reading included; the other half in a warm one, after
//! β has changed. After each the session solves again, with the first β, and its answer is held against that of a fresh one: the same
//! after a break in the first solve, within the certificates after a break in a warm one.
//!
//! Fails when an answer differs, or when a break or a call took more processor time than the limit; with `RAYON_NUM_THREADS=1` that is
//! the time it takes on an idle machine, and an upper bound of it with more threads.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lfield::read::Input;
use lfield::solver::SolverKind;
use lfield::{Answer, Checkpoint, Error, Event, Method, Options, Result, Session};

const LIMIT: Duration = Duration::from_millis(50);

fn main() {
    let breaks: usize = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(300);
    println!("## interrupt, {} threads\n", rayon::current_num_threads());
    println!("Times in milliseconds: by the clock / of the processor.\n");
    println!("| method | sample | whole run | longest between two calls | in stage |\n|---|---|---|---|---|");
    let mut runs = Vec::new();
    let mut longest = Spent::default();
    for (name, options) in methods() {
        for sample in ["beetle", "lamp", "poppy", "tree"] {
            let input = input(sample);
            let (answer, whole, between, stage) = calls(&input, &options);
            println!("| {name} | {sample} | {whole:.2?} | {} | {stage} |", both(between.time, between.work));
            longest = longest.max(between);
            runs.push(Run { input, options: options.clone(), whole, answer });
            if name != "lfield" {
                break;
            }
        }
    }
    let mut random = Random(1);
    let mut told = Told::default();
    for i in 0..breaks.div_ceil(2) {
        runs[i % runs.len()].break_twice([random.unit(), random.unit()], &mut told);
    }
    let sorted = |of: fn(&Spent) -> Duration| {
        let mut values: Vec<Duration> = told.latencies.iter().map(of).collect();
        values.sort();
        values
    };
    let (times, works) = (sorted(|spent| spent.time), sorted(|spent| spent.work));
    let at = |share: f64| ((works.len().max(1) - 1) as f64 * share) as usize;
    println!("\n| breaks | median | 90 % | 99 % | longest |\n|---|---|---|---|---|");
    let cells = [0.5, 0.9, 0.99, 1.0].map(|share| both(times[at(share)], works[at(share)]));
    println!("| {} | {} |", works.len(), cells.join(" | "));
    println!("\nLast event before the break: {:?}", told.stages);
    println!(
        "\nAnswers afterwards as they should be: {}; pixels on another side: {}",
        told.n_equal, told.n_pixels_apart
    );
    assert!(longest.work < LIMIT && works[at(1.0)] < LIMIT, "more than {LIMIT:?} of processor time to stop");
}

fn both(time: Duration, work: Duration) -> String {
    format!("{:.0} / {:.1}", time.as_secs_f64() * 1e3, work.as_secs_f64() * 1e3)
}

/// Every way to marginals, and the temperature fit.
fn methods() -> Vec<(&'static str, Options)> {
    let method = |method| Options { method, ..Options::default() };
    let solver = |solver| {
        let mut options = Options::default();
        options.model.gamma = 0.0;
        options.solver.solver = solver;
        // Not a time, so that every run ends at the same place.
        options.solver.max_iterations = 30;
        options
    };
    vec![
        ("lfield", method(Method::Lfield)),
        ("mean field", method(Method::MeanField)),
        ("belief propagation", method(Method::Bp)),
        ("fractional", method(Method::Fbp)),
        ("temperature fit", Options { fit_temperature: true, ..Options::default() }),
        ("divide-conquer, γ=0", solver(SolverKind::DivideConquer)),
        ("messages, γ=0", solver(SolverKind::Messages)),
        ("douglas-rachford, γ=0", solver(SolverKind::DouglasRachford)),
        ("ep, γ=0", solver(SolverKind::Ep)),
        ("frank-wolfe, γ=0", solver(SolverKind::FrankWolfe)),
    ]
}

fn input(sample: &str) -> Input {
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(sample).with_extension("png");
    Input { image, ..Input::default() }
}

/// The answer and time of a whole run, the longest between two calls of the observer (start and end included), and where that was.
fn calls(input: &Input, options: &Options) -> (Answer, Duration, Spent, String) {
    struct Last {
        at: Moment,
        stage: &'static str,
        longest: Spent,
        place: String,
    }
    let started = Instant::now();
    let last = Last { at: Moment::now(), stage: "start", longest: Spent::default(), place: String::new() };
    let last = Mutex::new(last);
    let note = |now: &'static str| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = last.at.spent();
        if spent.work > last.longest.work {
            last.place = format!("{} → {now}", last.stage);
        }
        last.longest = last.longest.max(spent);
        last.at = Moment::now();
        if now != "working" {
            last.stage = now;
        }
    };
    let working = || {
        note("working");
        Ok(())
    };
    let mut session = Session::read(input, options.clone(), &working).expect("a bundled sample");
    let answer = session.solve(&mut |event| {
        note(stage(&event));
        ControlFlow::Continue(())
    });
    let answer = answer.expect("an answer");
    note("end");
    let whole = started.elapsed();
    let last = last.into_inner().unwrap_or_else(PoisonError::into_inner);
    (answer, whole, last.longest, last.place)
}

fn stage(event: &Event<'_>) -> &'static str {
    match event {
        Event::Begun(_) => "begun",
        Event::Assembled(_) => "assembled",
        Event::Sweep(_) => "sweep",
        Event::Point(_) => "point",
        Event::Solved => "solved",
        Event::Working => "working",
    }
}

/// A sample and a method, and what comes of them undisturbed.
struct Run {
    input: Input,
    options: Options,
    whole: Duration,
    answer: Answer,
}

/// What the breaks have shown.
#[derive(Default)]
struct Told {
    latencies: Vec<Spent>,
    /// How many breaks came after which event.
    stages: BTreeMap<&'static str, usize>,
    n_equal: usize,
    /// Pixels on different sides in masks of warm and fresh answers.
    n_pixels_apart: usize,
}

impl Run {
    /// Breaks a fresh session and the same session warm, at these shares of the time a whole run takes.
    fn break_twice(&self, shares: [f64; 2], told: &mut Told) {
        let delays = shares.map(|share| self.whole.mul_f64(share));
        let fresh = |checkpoint: Checkpoint<'_>| Session::read(&self.input, self.options.clone(), checkpoint);
        let broken = told.latency(delays[0], fresh);
        let mut session = broken.unwrap_or_else(|| fresh(&|| Ok(())).expect("a bundled sample"));
        let next = session.solve(&mut |_| ControlFlow::Continue(())).expect("an answer");
        assert!(next.log_odds() == self.answer.log_odds() && next.mask() == self.answer.mask(), "not the same answer");
        told.n_equal += 1;

        let mut other = self.options.clone();
        other.model.beta *= 1.5;
        session.set_options(other).expect("a larger β");
        let mut session = told.latency(delays[1], |_| Ok(session)).expect("a session");
        session.set_options(self.options.clone()).expect("the options from before");
        let next = session.solve(&mut |_| ControlFlow::Continue(())).expect("an answer");
        let (a, b) = (next.certificate(), self.answer.certificate());
        let most = if self.options.method.is_certified() { a.error_bound + b.error_bound } else { 0.0 };
        let (x, y) = (next.log_odds(), self.answer.log_odds());
        assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() <= most + 1e-9), "beyond the certificates");
        // Then so are the masks, but for pixels whose side of one half neither proves.
        let masks = next.mask().as_slice().iter().zip(self.answer.mask().as_slice());
        told.n_pixels_apart += masks.filter(|(a, b)| a != b).count();
        told.n_equal += 1;
    }
}

impl Told {
    /// Breaks what `open` opens and its solve after `delay`, notes what passes from the break to the return, and gives back the session.
    fn latency(&mut self, delay: Duration, open: impl FnOnce(Checkpoint<'_>) -> Result<Session>) -> Option<Session> {
        let is_broken = AtomicBool::new(false);
        let checkpoint = || if is_broken.load(Ordering::SeqCst) { Err(Error::Interrupted) } else { Ok(()) };
        let mut last = "read";
        let (session, result, spent) = std::thread::scope(|scope| {
            let breaker = scope.spawn(|| {
                std::thread::sleep(delay);
                is_broken.store(true, Ordering::SeqCst);
                Moment::now()
            });
            let mut session = None;
            let result = open(&checkpoint).and_then(|opened| {
                session.insert(opened).solve(&mut |event| {
                    if checkpoint().is_err() {
                        return ControlFlow::Break(());
                    }
                    if !matches!(event, Event::Working) {
                        last = stage(&event);
                    }
                    ControlFlow::Continue(())
                })
            });
            let returned = Moment::now();
            let broken = breaker.join().expect("a clock");
            (session, result.map(drop), broken.until(&returned))
        });
        match result {
            Err(Error::Interrupted) => self.latencies.push(spent),
            Ok(()) => {
                self.latencies.push(Spent::default());
                last = "none, was done";
            }
            Err(error) => panic!("{error}"),
        }
        *self.stages.entry(last).or_default() += 1;
        session
    }
}

/// Time that has passed, and processor time of all threads together, which other programs on the machine do not lengthen.
#[derive(Clone, Copy, Default)]
struct Spent {
    time: Duration,
    work: Duration,
}

impl Spent {
    fn max(self, other: Self) -> Self {
        Self { time: self.time.max(other.time), work: self.work.max(other.work) }
    }
}

/// The clock, and the nanoseconds that every thread has run; without `/proc` as if one thread ran all the time.
struct Moment {
    at: Instant,
    threads: Option<HashMap<OsString, u64>>,
}

impl Moment {
    fn now() -> Self {
        let threads = std::fs::read_dir("/proc/self/task").ok().map(|tasks| {
            let nanoseconds = |task: std::fs::DirEntry| {
                let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
                Some((task.file_name(), text.split(' ').next()?.parse().ok()?))
            };
            tasks.filter_map(|task| nanoseconds(task.ok()?)).collect()
        });
        Self { at: Instant::now(), threads }
    }

    fn spent(&self) -> Spent {
        self.until(&Self::now())
    }

    fn until(&self, later: &Self) -> Spent {
        let time = later.at.saturating_duration_since(self.at);
        let work = match (&self.threads, &later.threads) {
            (Some(before), Some(after)) => {
                let ran = |(thread, &now): (_, &u64)| now.saturating_sub(before.get(thread).copied().unwrap_or(0));
                Duration::from_nanos(after.iter().map(ran).sum())
            }
            _ => time,
        };
        Spent { time, work }
    }
}

/// Numbers that are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
