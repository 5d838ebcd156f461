//! How long a run takes to stop: `cargo bench --bench interrupt -- [breaks]`, 300 breaks unless told otherwise.
//!
//! Each method runs once to its end on each bundled sample, for the longest time between two calls of the observer. Then runs are
//! broken at random moments, spread evenly over the time a whole run takes, and the time from the break to the return is printed
//! as a distribution. Fails when either took more processor time than the limit; with `RAYON_NUM_THREADS=1` that is the time it
//! takes on an idle machine, and an upper bound of it with more threads.

use std::collections::HashMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lfield::Error;
use lfield::pipeline::{Event, Input, Method, Options, segment};
use lfield::solver::SolverKind;

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
            let (whole, between, stage) = calls(&input, &options);
            println!("| {name} | {sample} | {whole:.2?} | {} | {stage} |", both(between.time, between.work));
            longest = longest.max(between);
            runs.push((input, options.clone(), whole));
            if name != "lfield" {
                break;
            }
        }
    }
    let mut random = Random(1);
    let latencies: Vec<Spent> = (0..breaks)
        .map(|i| {
            let (input, options, whole) = &runs[i % runs.len()];
            latency(input, options, whole.mul_f64(random.unit()))
        })
        .collect();
    let sorted = |of: fn(&Spent) -> Duration| {
        let mut values: Vec<Duration> = latencies.iter().map(of).collect();
        values.sort();
        values
    };
    let (times, works) = (sorted(|spent| spent.time), sorted(|spent| spent.work));
    let at = |share: f64| ((breaks.max(1) - 1) as f64 * share) as usize;
    println!("\n| breaks | median | 90 % | 99 % | longest |\n|---|---|---|---|---|");
    let cells = [0.5, 0.9, 0.99, 1.0].map(|share| both(times[at(share)], works[at(share)]));
    println!("| {breaks} | {} |", cells.join(" | "));
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
        options.solver.time_limit = Some(Duration::from_secs(2));
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

/// Time of a whole run, the longest between two calls of the observer (start and end included), and where that was.
fn calls(input: &Input, options: &Options) -> (Duration, Spent, String) {
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
    segment(input, options, &mut |event| {
        note(match event {
            Event::Read(_) => "read",
            Event::Assembled(_) => "assembled",
            Event::Sweep(_) => "sweep",
            Event::Solved => "solved",
            Event::Working => "working",
        });
        ControlFlow::Continue(())
    })
    .expect("a bundled sample");
    note("end");
    let whole = started.elapsed();
    let last = last.into_inner().unwrap_or_else(PoisonError::into_inner);
    (whole, last.longest, last.place)
}

/// What passes from a break after `delay` to the return.
fn latency(input: &Input, options: &Options, delay: Duration) -> Spent {
    let is_broken = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let breaker = scope.spawn(|| {
            std::thread::sleep(delay);
            is_broken.store(true, Ordering::SeqCst);
            Moment::now()
        });
        let result = segment(input, options, &mut |_| {
            if is_broken.load(Ordering::SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let returned = Moment::now();
        let broken = breaker.join().expect("a clock");
        match result {
            Err(Error::Interrupted) => broken.until(&returned),
            Ok(_) => Spent::default(),
            Err(error) => panic!("{error}"),
        }
    })
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
