//! How long a run takes to stop: `cargo bench --bench interrupt -- [breaks]`, 300 breaks unless told otherwise.
//!
//! Each method runs once to its end on each bundled sample, for the longest time between two calls of the observer. Then runs are
//! broken at random moments, spread evenly over the time a whole run takes, and the time from the break to the return is printed
//! as a distribution. Fails when a call of the observer, or a return, took longer than the limit.

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
    println!("| method | sample | whole run | longest between two calls | in stage |\n|---|---|---|---|---|");
    let mut runs = Vec::new();
    for (name, options) in methods() {
        for sample in ["beetle", "lamp", "poppy", "tree"] {
            let input = input(sample);
            let (whole, longest, stage) = calls(&input, &options);
            println!("| {name} | {sample} | {whole:.2?} | {longest:.1?} | {stage} |");
            runs.push((input, options.clone(), whole, longest));
            if name != "lfield" {
                break;
            }
        }
    }
    let mut random = Random(1);
    let mut latencies: Vec<Duration> = (0..breaks)
        .map(|i| {
            let (input, options, whole, _) = &runs[i % runs.len()];
            latency(input, options, whole.mul_f64(random.unit()))
        })
        .collect();
    latencies.sort();
    let share = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    println!("\n| breaks | median | 90 % | 99 % | longest |\n|---|---|---|---|---|");
    println!("| {breaks} | {:.1?} | {:.1?} | {:.1?} | {:.1?} |", share(0.5), share(0.9), share(0.99), share(1.0));
    let longest = runs.iter().map(|run| run.3).max().expect("runs");
    println!("\nlongest between two calls {longest:.1?}, longest to return {:.1?}, limit {LIMIT:.0?}", share(1.0));
    assert!(longest < LIMIT && share(1.0) < LIMIT, "too slow to stop");
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
fn calls(input: &Input, options: &Options) -> (Duration, Duration, String) {
    let started = Instant::now();
    let last = Mutex::new((started, "start".to_string(), Duration::ZERO, String::new()));
    let note = |now: &str, working: bool| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = last.0.elapsed();
        if passed > last.2 {
            (last.2, last.3) = (passed, format!("{} → {now}, {:.2?}", last.1, started.elapsed()));
        }
        last.0 = Instant::now();
        if !working {
            last.1 = now.to_string();
        }
    };
    segment(input, options, &mut |event| {
        match event {
            Event::Read(_) => note("read", false),
            Event::Assembled(_) => note("assembled", false),
            Event::Sweep(_) => note("sweep", false),
            Event::Solved => note("solved", false),
            Event::Working => note("working", true),
        }
        ControlFlow::Continue(())
    })
    .expect("a bundled sample");
    note("end", false);
    let whole = started.elapsed();
    let (_, _, longest, stage) = last.into_inner().unwrap_or_else(PoisonError::into_inner);
    (whole, longest, stage)
}

/// Time from a break after `delay` to the return.
fn latency(input: &Input, options: &Options, delay: Duration) -> Duration {
    let is_broken = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let breaker = scope.spawn(|| {
            std::thread::sleep(delay);
            is_broken.store(true, Ordering::SeqCst);
            Instant::now()
        });
        let result = segment(input, options, &mut |_| {
            if is_broken.load(Ordering::SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let returned = Instant::now();
        let broken = breaker.join().expect("a clock");
        match result {
            Err(Error::Interrupted) => returned.saturating_duration_since(broken),
            // The run was faster than the first one.
            Ok(_) => Duration::ZERO,
            Err(error) => panic!("{error}"),
        }
    })
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
