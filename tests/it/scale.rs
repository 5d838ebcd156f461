//! Costs far beyond ordinary through the program: what it writes is what a sane cost of the same meaning gives, or nothing is claimed.

use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;
use image::{GrayImage, RgbImage};
use ndarray::Array2;
use ndarray_npy::{read_npy, write_npy};
use serde_json::Value;
use tempfile::TempDir;

const WIDTH: usize = 60;
const HEIGHT: usize = 40;

/// A folder with a photo of a blob on a busy ground.
struct Bench {
    folder: TempDir,
}

/// What a run wrote.
struct Run {
    mask: Vec<bool>,
    marginals: Vec<f64>,
    s: Vec<f64>,
    report: Value,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        let colour = |x: u32, y: u32| {
            let grain = ((x * 7919 + y * 104_729 + x * y * 31) % 61) as u8;
            if in_blob(x as usize, y as usize) { [150 + grain, 90, 40 + grain] } else { [60, 80 + grain, 90 + grain] }
        };
        RgbImage::from_fn(WIDTH as u32, HEIGHT as u32, |x, y| image::Rgb(colour(x, y)))
            .save(bench.path("blob.png"))
            .unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn save_costs(&self, name: &str, cost: impl Fn(usize, usize) -> f64) {
        write_npy(self.path(name), &Array2::from_shape_fn((HEIGHT, WIDTH), |(y, x)| cost(x, y))).unwrap();
    }

    /// A dot of foreground, a line of background; found by the program beside the photo.
    fn save_strokes(&self) {
        let label = |x: u32, y: u32| match (x, y) {
            (26..=31, 18..=20) => 255,
            (2..=4, _) => 128,
            _ => 0,
        };
        let strokes = GrayImage::from_fn(WIDTH as u32, HEIGHT as u32, |x, y| image::Luma([label(x, y)]));
        strokes.save(self.path("blob.scribbles.png")).unwrap();
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lfield"));
        command.current_dir(self.folder.path()).args(["segment", "blob.png", "--emit", "all"]).args(arguments);
        command.output().unwrap()
    }

    /// A run that must succeed; its files go to a folder of their own.
    fn run(&self, out: &str, arguments: &[&str]) -> Run {
        let output = self.output(&[arguments, &["-o", out]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let file = |kind: &str| self.path(out).join(format!("blob.{kind}"));
        let array = |kind: &str| read_npy::<_, Array2<f64>>(file(kind)).unwrap().into_iter().collect();
        let report: Value = serde_json::from_str(&std::fs::read_to_string(file("report.json")).unwrap()).unwrap();
        if report["map"]["proved_optimal"] == true {
            let gap = report["map"]["gap"].as_f64();
            assert!(gap.is_some_and(|gap| gap <= 1e-6), "{arguments:?}: proved optimal beside a gap of {gap:?}");
        }
        let mask = image::open(file("mask.png")).unwrap().into_luma8().iter().map(|&level| level == 255).collect();
        Run { mask, marginals: array("marginals.npy"), s: array("s.npy"), report }
    }
}

impl Run {
    fn error_bound(&self) -> f64 {
        self.report["marginals"]["error_bound"].as_f64().unwrap_or(f64::INFINITY)
    }

    /// Two runs of one model over the pixels `of`: equal masks, log-odds and marginals as near as both certificates say.
    fn agrees(&self, other: &Self, what: &str, of: impl Fn(usize) -> bool) {
        let pixels: Vec<usize> = (0..WIDTH * HEIGHT).filter(|&v| of(v)).collect();
        let differ = pixels.iter().filter(|&&v| self.mask[v] != other.mask[v]).count();
        assert_eq!(differ, 0, "{what}: pixels of the mask differ");
        let reach = self.error_bound() + other.error_bound();
        let apart = |a: &[f64], b: &[f64]| pixels.iter().map(|&v| (a[v] - b[v]).abs()).fold(0.0, f64::max);
        let (s, p) = (apart(&self.s, &other.s), apart(&self.marginals, &other.marginals));
        assert!(s <= reach, "{what}: log-odds differ by {s}, and bounds say {reach}");
        assert!(p <= 0.25 * reach + 1e-12, "{what}: marginals differ by {p}, and bounds say {}", 0.25 * reach);
    }
}

fn in_blob(x: usize, y: usize) -> bool {
    let (dx, dy) = (x as f64 - 28.5, y as f64 - 19.5);
    dx * dx / 256.0 + dy * dy / 110.0 < 1.0 + 0.2 * (0.7 * dx).sin()
}

fn on_border(x: usize, y: usize) -> bool {
    x == 0 || y == 0 || x + 1 == WIDTH || y + 1 == HEIGHT
}

/// Costs that leave much to the neighbours, and a border that is impossible.
fn with_border(border: f64) -> impl Fn(usize, usize) -> f64 {
    move |x, y| {
        let noise = ((x * 31 + y * 17 + x * y * 7) % 41) as f64 / 10.0 - 2.0;
        if on_border(x, y) { border } else { noise + if in_blob(x, y) { -0.7 } else { 0.7 } }
    }
}

#[test]
fn a_border_of_any_height_gives_the_same_answer() {
    let bench = Bench::new();
    bench.save_costs("sane.npy", with_border(1e3));
    let sane = bench.run("sane", &["--unary", "sane.npy"]);
    assert!(sane.mask.contains(&true) && sane.error_bound() < 1.0);
    for border in ["1e6", "1e8", "1e12", "1e30"] {
        bench.save_costs("high.npy", with_border(border.parse().unwrap()));
        let high = bench.run(border, &["--unary", "high.npy"]);
        high.agrees(&sane, border, |v| !on_border(v % WIDTH, v / WIDTH));
        assert!((0..WIDTH * HEIGHT).all(|v| !on_border(v % WIDTH, v / WIDTH) || !high.mask[v]));
        // It is a usual way to say "impossible": something has to be claimed, and not exactness without a sweep.
        assert!(high.error_bound() < 1.0, "{border}: no s is off by more than {}", high.error_bound());
    }
}

#[test]
fn log_odds_fed_back_as_costs_reproduce_their_run() {
    let bench = Bench::new();
    bench.save_strokes();
    let first = bench.run("first", &[]);
    assert!(first.s.iter().any(|s| s.abs() >= 1e8), "strokes are far out");
    std::fs::remove_file(bench.path("blob.scribbles.png")).unwrap();
    let again = bench.run("again", &["--unary", "first/blob.s.npy", "--beta", "0", "--gamma", "0"]);
    again.agrees(&first, "fed back", |_| true);
    // Smoothed once more, the strokes might as well be 1e3.
    bench.save_costs("capped.npy", |x, y| first.s[y * WIDTH + x].clamp(-1e3, 1e3));
    let capped = bench.run("capped", &["--unary", "capped.npy"]);
    let smoothed = bench.run("smoothed", &["--unary", "first/blob.s.npy"]);
    assert!(smoothed.error_bound() < 1.0, "fed back and smoothed: off by up to {}", smoothed.error_bound());
    smoothed.agrees(&capped, "fed back and smoothed", |v| first.s[v].abs() < 1e3);
}

#[test]
fn ties_go_the_way_they_are_asked_to() {
    let bench = Bench::new();
    bench.save_costs("half.npy", |_, _| 0.5);
    for weights in
        [&[][..], &["--phi", "robust:0.1"], &["--beta", "0"], &["--gamma", "0"], &["--beta", "0", "--gamma", "0"]]
    {
        let area = |choice: &str| {
            let run = bench.run(choice, &[&["--prior", "half.npy", "--map", choice], weights].concat());
            run.mask.iter().filter(|&&inside| inside).count()
        };
        assert_eq!((area("minimal"), area("maximal")), (0, WIDTH * HEIGHT), "{weights:?}");
    }
}

#[test]
fn the_largest_costs_work_or_are_refused_with_a_remedy() {
    let bench = Bench::new();
    for (cost, inside) in [(-1e308, true), (1e308, false), (-1.7e308, true)] {
        bench.save_costs("vast.npy", |_, _| cost);
        let output = bench.output(&["--unary", "vast.npy", "-o", "vast"]);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(!words.contains("NaN"), "{words}");
        if output.status.success() {
            let run = bench.run("vast", &["--unary", "vast.npy"]);
            assert!(run.mask.iter().all(|&pixel| pixel == inside), "{cost}");
        } else {
            assert!(words.contains("vast.npy"), "the file is not named: {words}");
        }
    }
}
