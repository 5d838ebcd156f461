//! The program's answers on tiny random models against the printed formula over all sets, and an independent solver built on it.

use std::path::Path;
use std::process::Command;

use image::{GrayImage, RgbImage};
use ndarray::Array2;
use ndarray_npy::{read_npy, write_npy};
use serde_json::Value;

const THETA: f64 = 1e-5;

/// A small photo with costs, two label maps and perhaps strokes; all from one seed.
struct Model {
    width: usize,
    height: usize,
    rgb: Vec<[u8; 3]>,
    costs: Vec<f64>,
    labels: [Vec<i32>; 2],
    /// What strokes say, if anything.
    strokes: Vec<Option<bool>>,
    beta: f64,
    gamma: f64,
}

impl Model {
    fn random(seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (width, height) = if seed.is_multiple_of(2) { (4, 3) } else { (4, 4) };
        let n = width * height;
        let mut many = |count: usize, scale: f64| -> Vec<f64> { (0..count).map(|_| scale * next()).collect() };
        let rgb = many(3 * n, 255.0).chunks(3).map(|c| [c[0] as u8, c[1] as u8, c[2] as u8]).collect();
        let costs = many(n, 4.0).iter().map(|m| m - 2.0).collect();
        let mut labels = |regions: f64| many(n, regions).iter().map(|l| 7 * *l as i32 - 5).collect();
        let labels = [labels(5.0), labels(2.0)];
        // Every third model has no strokes; the others have about one pixel in five of either class.
        let strokes = many(n, 10.0).iter().map(|&r| (!seed.is_multiple_of(3) && r < 4.0).then_some(r < 2.0)).collect();
        let weights = many(2, 2.0);
        Self { width, height, rgb, costs, labels, strokes, beta: weights[0], gamma: weights[1] }
    }

    /// Writes the model into the folder and runs the program on it, to a tight tolerance, with more arguments.
    fn segment(&self, folder: &Path, more: &[&str]) {
        self.save(folder);
        let (beta, gamma) = (self.beta.to_string(), self.gamma.to_string());
        let run = Command::new(env!("CARGO_BIN_EXE_lfield"))
            .current_dir(folder)
            .args(["-q", "segment", "tiny.png", "--unary", "costs.npy", "--theta", "1e-5", "--tolerance", "1e-12"])
            .args(["--scribble-format", "labels"])
            .args(["--superpixels", "fine.npy", "--superpixels", "coarse.npy", "--emit", "all", "-o", "out"])
            .args(["--beta", &beta, "--gamma", &gamma])
            .args(more)
            .output()
            .unwrap();
        assert!(run.status.success(), "{more:?}: {}", String::from_utf8_lossy(&run.stderr));
    }

    /// F(A) as printed, superpixels weighted by size.
    fn energy(&self, set: &[bool]) -> f64 {
        let mut energy: f64 = (0..set.len()).filter(|&p| set[p]).map(|p| self.costs[p]).sum();
        for p in 0..set.len() {
            for q in p + 1..set.len() {
                let neighbours = q == p + self.width || (q == p + 1 && q % self.width > 0);
                if neighbours && set[p] != set[q] {
                    let apart = |c: usize| (f64::from(self.rgb[p][c]) - f64::from(self.rgb[q][c])).powi(2);
                    energy += self.beta * (-THETA * (apart(0) + apart(1) + apart(2))).exp();
                }
            }
        }
        for labels in &self.labels {
            let mut regions = labels.clone();
            regions.sort_unstable();
            regions.dedup();
            for region in regions {
                let size = labels.iter().filter(|&&l| l == region).count() as f64;
                let share = (0..set.len()).filter(|&p| set[p] && labels[p] == region).count() as f64 / size;
                energy += self.gamma * size * share * (1.0 - share);
            }
        }
        energy
    }

    /// The pixels no stroke decides.
    fn free(&self) -> Vec<usize> {
        (0..self.strokes.len()).filter(|&p| self.strokes[p].is_none()).collect()
    }

    /// F of every set that agrees with the strokes, by the bits of its free pixels.
    fn conditioned(&self) -> Vec<f64> {
        let free = self.free();
        (0..1_usize << free.len())
            .map(|bits| {
                let mut set: Vec<bool> = self.strokes.iter().map(|s| *s == Some(true)).collect();
                for (i, &p) in free.iter().enumerate() {
                    set[p] = bits >> i & 1 == 1;
                }
                self.energy(&set)
            })
            .collect()
    }

    fn save(&self, folder: &Path) {
        let (width, height) = (self.width as u32, self.height as u32);
        let at = |x: u32, y: u32| (y * width + x) as usize;
        RgbImage::from_fn(width, height, |x, y| image::Rgb(self.rgb[at(x, y)])).save(folder.join("tiny.png")).unwrap();
        let shape = (self.height, self.width);
        write_npy(folder.join("costs.npy"), &Array2::from_shape_vec(shape, self.costs.clone()).unwrap()).unwrap();
        for (name, labels) in ["fine.npy", "coarse.npy"].iter().zip(&self.labels) {
            write_npy(folder.join(name), &Array2::from_shape_vec(shape, labels.clone()).unwrap()).unwrap();
        }
        if self.strokes.iter().any(Option::is_some) {
            let level = |stroke: Option<bool>| stroke.map_or(0, |inside| if inside { 255 } else { 128 });
            let strokes = GrayImage::from_fn(width, height, |x, y| image::Luma([level(self.strokes[at(x, y)])]));
            strokes.save(folder.join("tiny.scribbles.png")).unwrap();
        }
    }
}

/// The minimum-norm point of B(G), G(A) = table\[A\] − table\[∅\], by the decomposition algorithm with minimisation over all sets: split V where
/// G(A) − λ|A|, λ = G(V)/|V|, is least, and go on inside (A) and outside (G contracted by A).
fn minimum_norm(table: &[f64], inside: usize, within: &[usize], s: &mut [f64]) {
    let Some(&_) = within.first() else { return };
    let set =
        |bits: usize| within.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).fold(0, |a, (_, v)| a | 1 << v);
    let value = |bits: usize| table[inside | set(bits)] - table[inside];
    let all = (1_usize << within.len()) - 1;
    let mean = value(all) / within.len() as f64;
    let excess = |bits: usize| value(bits) - mean * f64::from(bits.count_ones());
    let least = (0..=all).min_by(|&a, &b| excess(a).total_cmp(&excess(b))).unwrap();
    if excess(least) > -1e-12 || least == 0 || least == all {
        within.iter().for_each(|&v| s[v] = mean);
        return;
    }
    let part = |wanted: bool| -> Vec<usize> {
        within.iter().enumerate().filter(|(i, _)| (least >> i & 1 == 1) == wanted).map(|(_, &v)| v).collect()
    };
    minimum_norm(table, inside, &part(true), s);
    minimum_norm(table, inside | set(least), &part(false), s);
}

/// f(x) = ∫ G({x ≥ t}) dt, from the table of all sets.
fn lovasz(table: &[f64], x: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[b].total_cmp(&x[a]));
    let mut set = 0;
    order
        .iter()
        .map(|&v| {
            let before = table[set];
            set |= 1 << v;
            x[v] * (table[set] - before)
        })
        .sum()
}

fn array(folder: &Path, name: &str) -> Vec<f64> {
    let array: Array2<f64> = read_npy(folder.join("out").join(name)).unwrap();
    array.into_iter().collect()
}

fn report(folder: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("out/tiny.report.json")).unwrap()).unwrap()
}

#[test]
fn the_gap_is_that_of_the_arrays_written_and_the_base_is_feasible() {
    let mut largest = 0.0_f64;
    for seed in 1..=24 {
        let model = Model::random(seed);
        let folder = tempfile::tempdir().unwrap();
        let sweeps = (seed % 4).to_string();
        model.segment(folder.path(), &["--max-iterations", &sweeps]);
        let free = model.free();
        let over_free = |name: &str| -> Vec<f64> {
            let values = array(folder.path(), name);
            free.iter().map(|&pixel| values[pixel]).collect()
        };
        let x: Vec<f64> = over_free("tiny.s.npy").iter().map(|s| -s).collect();
        let base = over_free("tiny.base.npy");

        let table = model.conditioned();
        let all = table.len() - 1;
        let sum = |set: usize| (0..free.len()).filter(|v| set >> v & 1 == 1).map(|v| base[v]).sum::<f64>();
        for (set, value) in table.iter().enumerate() {
            assert!(sum(set) <= value - table[0] + 1e-9, "seed {seed}: outside at set {set:b}");
        }
        assert!((sum(all) - (table[all] - table[0])).abs() < 1e-9, "seed {seed}");

        let half_norm = |values: &[f64]| 0.5 * values.iter().map(|v| v * v).sum::<f64>();
        let gap = lovasz(&table, &x) + half_norm(&x) + half_norm(&base);
        let reported = report(folder.path())["solve"]["gap"].as_f64().unwrap();
        assert!((gap - reported).abs() < 1e-9, "seed {seed}: gap {gap} and {reported}");
        largest = largest.max(reported);
    }
    assert!(largest > 1e-3, "no gap was left to be compared");
}

#[test]
fn answers_on_tiny_models_agree_with_all_sets_and_with_an_independent_solver() {
    for seed in 1..=24 {
        let model = Model::random(seed);
        let folder = tempfile::tempdir().unwrap();
        model.segment(folder.path(), &["--max-iterations", "100000", "--strict"]);
        let p = array(folder.path(), "tiny.marginals.npy");
        let report = report(folder.path());
        let figure = |path: &str| report.pointer(path).and_then(Value::as_f64).unwrap();
        let mask = image::open(folder.path().join("out/tiny.mask.png")).unwrap().into_luma8();
        let mask: Vec<bool> = mask.iter().map(|&level| level == 255).collect();

        let table = model.conditioned();
        let free = model.free();
        let mut exact = vec![0.0; free.len()];
        minimum_norm(&table, 0, &(0..free.len()).collect::<Vec<_>>(), &mut exact);
        for (i, &pixel) in free.iter().enumerate() {
            let expected = 1.0 / (1.0 + exact[i].exp());
            assert!((p[pixel] - expected).abs() < 1e-6, "seed {seed}, pixel {pixel}: {} and {expected}", p[pixel]);
        }
        for (pixel, stroke) in model.strokes.iter().enumerate() {
            if let Some(inside) = stroke {
                assert_eq!(p[pixel], f64::from(u8::from(*inside)), "seed {seed}: a hard stroke is certain");
                assert_eq!(mask[pixel], *inside);
            }
        }

        let log_z = table.iter().map(|f| (-f).exp()).sum::<f64>().ln();
        assert!(figure("/bounds/log_z_lower") <= log_z + 1e-9 && log_z <= figure("/bounds/log_z_upper") + 1e-9);
        let least = table.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((figure("/map/energy") - least).abs() < 1e-9, "seed {seed}: the mask is not optimal");
        assert!((model.energy(&mask) - least).abs() < 1e-9, "seed {seed}: the mask written is not the one reported");
        assert!(figure("/map/lower_bound") <= least + 1e-9);
        assert_eq!(report["map"]["proved_optimal"], true, "seed {seed}");
    }
}
