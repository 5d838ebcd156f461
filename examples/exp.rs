//! experiment
use lfield::{annotation::*, assemble, field::*, picture::Picture, solver};
use ndarray::{Array2, Array3};
use std::ops::ControlFlow;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let f = &args[1];
    let beta: f64 = args[2].parse().unwrap();
    let gamma: f64 = args[3].parse().unwrap();
    let tol: f64 = args[4].parse().unwrap();
    let hard = args.get(5).map_or(true, |a| a != "soft");
    let rgb: Array3<u8> = ndarray_npy::read_npy(format!("/tmp/models/{f}.rgb.npy")).unwrap();
    let (h, w, _) = rgb.dim();
    let shape = Shape::new(w, h);
    let v: Vec<u8> = rgb.iter().copied().collect();
    let picture = Picture::new(shape, v.chunks(3).map(|c| [c[0], c[1], c[2]]).collect());
    let m: Array2<f64> = ndarray_npy::read_npy(format!("/tmp/models/{f}.unary.npy")).unwrap();
    let unary = Unary::new(shape, m.iter().copied().collect()).unwrap();
    let sc: Array2<u8> = ndarray_npy::read_npy(format!("/tmp/models/{f}.seeds.npy")).unwrap();
    let seeds = Seeds::new(
        shape,
        sc.iter()
            .map(|s| match s {
                255 => Seed::Foreground,
                128 => Seed::Background,
                _ => Seed::Unlabelled,
            })
            .collect(),
    );
    let mut parts = vec![];
    if gamma > 0.0 {
        for k in 1..3 {
            let l: Array2<i32> = ndarray_npy::read_npy(format!("/tmp/models/{f}.sp{k}.npy")).unwrap();
            parts.push(Partition::from_labels(shape, &l.iter().copied().collect::<Vec<_>>()));
        }
    }
    let options = assemble::Options {
        beta,
        gamma,
        seeds: if hard { assemble::SeedMode::Hard } else { assemble::SeedMode::Soft },
        ..Default::default()
    };
    let t = std::time::Instant::now();
    let problem = assemble::model(&picture, &unary, &parts, Some(&seeds), &options).unwrap();
    println!("assemble {:.1} ms, free {}", t.elapsed().as_secs_f64() * 1e3, problem.free().len());
    let o = solver::Options { tolerance: tol, max_iterations: 500, ..Default::default() };
    let mut marks = vec![1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10];
    let sol = solver::solve(&problem.model, &o, &mut |p| {
        if std::env::var("V").is_ok() {
            println!("  {:4} {:.3}s gap/px {:.3e}", p.iteration, p.seconds, p.gap_per_pixel);
        }
        while marks.first().is_some_and(|&m| p.gap_per_pixel <= m) {
            println!("  {:e}: it {} {:.3}s", marks[0], p.iteration, p.seconds);
            marks.remove(0);
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    let c = &sol.certificate;
    println!(
        "{:?} it {} {:.3}s gap/px {:.2e} err {:.3} map {:.4} lb {:.4} repaired {} certified {}",
        sol.status,
        sol.iterations,
        sol.seconds,
        c.gap_per_pixel,
        c.error_bound,
        c.map_energy,
        c.map_lower_bound,
        c.repaired_pixels,
        c.certified.iter().filter(|c| **c).count()
    );
}
