//! Small photos with levels forced on them: what is decided stays, what is open is the band, and what is proved is the conditional model.

use std::ops::ControlFlow;

use super::*;
use crate::grid::{Partition, Picture, Unary};

/// A disc in front of noise, with a stroke on it and two around it.
fn session(options: Options) -> Session {
    let shape = Shape::new(95, 80);
    let is_disc = |x: usize, y: usize| x.abs_diff(48).pow(2) + y.abs_diff(40).pow(2) < 24 * 24;
    let noise = |x: usize, y: usize| ((x * 7919 + y * 104_729) % 64) as u8;
    let colour = |(x, y)| if is_disc(x, y) { [180, 60 + noise(x, y), 40] } else { [60, 90 + noise(y, x), 120] };
    let stroke = |place| match place {
        (40..56, 38..42) => Seed::Foreground,
        (4..92, 4..8) | (4..92, 72..76) => Seed::Background,
        _ => Seed::Unlabelled,
    };
    let places = || (0..shape.n_pixels()).map(|pixel| (pixel % shape.width, pixel / shape.width));
    let mut session = Session::new(Picture::new(shape, places().map(colour).collect()), options).unwrap();
    session.set_seeds(Seeds::new(shape, places().map(stroke).collect())).unwrap();
    session
}

fn forced(megapixels: f64) -> Options {
    Options { detail: Detail::Megapixels(megapixels), ..Options::default() }
}

fn solve(session: &mut Session) -> Answer {
    session.solve(&mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn photos_up_to_two_megapixels_are_solved_at_once() {
    for detail in [Detail::Auto, Detail::Full] {
        assert_eq!(detail.ratio(2000 * 1000), None);
        assert_eq!(detail.ratio(2001 * 1000), Some(2));
        assert_eq!(detail.ratio(4000 * 3000), Some(3));
        assert_eq!(detail.ratio(16000 * 12000), Some(4));
    }
    let answers = [Detail::Auto, Detail::Full, Detail::Megapixels(1.0)]
        .map(|detail| solve(&mut session(Options { detail, ..Options::default() })));
    for answer in &answers {
        assert_eq!(answer.scales().len(), 1);
        assert_eq!((answer.log_odds(), answer.mask()), (answers[0].log_odds(), answers[0].mask()));
    }
}

#[test]
fn every_decided_pixel_keeps_its_decision_and_the_others_are_the_band() {
    for (megapixels, n_levels) in [(0.001, 2), (0.0002, 3)] {
        for strokes in [crate::assemble::SeedMode::Hard, crate::assemble::SeedMode::Soft] {
            let mut options = forced(megapixels);
            options.model.seeds = strokes;
            let mut session = session(options);
            let answer = solve(&mut session);
            let coarse = session.coarse.as_mut().unwrap();
            let (below, blocks) = (solve(&mut coarse.session), coarse.blocks);
            let open = band::open(blocks.coarse(), below.mask().as_slice(), &below.solved.s);
            let is_hard = strokes == crate::assemble::SeedMode::Hard;
            let label = |seeds: &Seeds, pixel: usize| seeds.labels()[pixel] != Seed::Unlabelled && is_hard;
            let (mut n_free, mut n_decided) = (0, 0);
            for pixel in 0..blocks.fine().n_pixels() {
                let block = blocks.block(pixel);
                if label(session.seeds().unwrap(), pixel) {
                    assert_eq!(answer.solved.s[pixel].abs(), 1e9);
                } else if open[block] || label(below.seeds().unwrap(), block) {
                    n_free += 1;
                } else {
                    n_decided += 1;
                    assert_eq!(answer.mask().as_slice()[pixel], below.mask().as_slice()[block]);
                    assert_eq!(answer.solved.s[pixel], below.solved.s[block]);
                    assert_eq!(answer.solved.certified[pixel], below.solved.certified[block]);
                }
            }
            let scales = answer.scales();
            assert_eq!(scales.len(), n_levels);
            assert_eq!((scales[n_levels - 1].free_pixels, scales[n_levels - 1].decided_pixels), (n_free, n_decided));
            assert!(n_free > 0 && n_decided > n_free, "{n_free} open, {n_decided} decided");
            let report = answer.report();
            assert!(report.detail.conditional && report.detail.free_pixels == n_free);
        }
    }
}

#[test]
fn levels_and_no_levels_find_the_same_disc() {
    let [levels, whole] = [forced(0.001), Options::default()].map(|options| solve(&mut session(options)));
    let (a, b) = (levels.mask().as_slice(), whole.mask().as_slice());
    let count = |f: fn(bool, bool) -> bool| a.iter().zip(b).filter(|(a, b)| f(**a, **b)).count() as f64;
    let overlap = count(|a, b| a && b) / count(|a, b| a || b);
    assert!(overlap > 0.985, "{overlap}");
}

#[test]
fn a_solve_started_from_the_level_below_agrees_within_the_certificates() {
    // The solver's own log-odds, which no bias moves.
    let mut session = session(Options { bias: Bias::Fixed(0.0), ..Options::default() });
    let cold = solve(&mut session);
    let mut coarse = Coarse::new(&session, 3);
    assert!(coarse.follow(&session).unwrap());
    solve(&mut coarse.session);
    let problem = session.problem.last().unwrap();
    let start = coarse.start(&problem, 1.0).unwrap();
    let mut observe = |_: &crate::solver::Progress, _: Option<&[f64]>| ControlFlow::Continue(());
    let solver = &session.options.solver;
    let warm = crate::solver::solve_until(&problem.model, solver, Some(&start), &mut observe, &|| Ok(())).unwrap();
    let bound = warm.certificate.error_bound + cold.certificate().error_bound;
    for (&pixel, s) in problem.free().iter().zip(&warm.s) {
        let other = cold.solved.s[pixel as usize];
        assert!((s - other).abs() <= bound, "{s} {other}: {bound}");
    }
}

#[test]
fn costs_and_superpixels_that_are_given_stay_as_they_are() {
    let mut session = session(forced(0.001));
    let shape = session.picture().shape();
    let stripes: Vec<usize> = (0..shape.n_pixels()).map(|pixel| pixel % shape.width / 5).collect();
    let partition = Partition::from_labels(shape, &stripes);
    session.set_partitions(vec![partition.clone()]).unwrap();
    let costs: Vec<f64> = stripes.iter().map(|stripe| if (6..14).contains(stripe) { -3.0 } else { 3.0 }).collect();
    session.set_unary(Unary::new(shape, costs.clone()).unwrap()).unwrap();
    let answer = solve(&mut session);
    assert_eq!(answer.scales().len(), 2);
    assert_eq!(answer.partitions(), [partition]);
    assert_eq!(session.evidence.last().unwrap().unary.as_slice(), costs);
}

#[test]
fn a_smaller_level_that_stops_early_is_said_and_makes_the_status() {
    let mut options = forced(0.001);
    options.solver.max_iterations = 0;
    options.solver.tolerance = 1e-9;
    let answer = solve(&mut session(options));
    assert_ne!(answer.status(), Status::Converged);
    assert!(answer.warnings().iter().any(|warning| matches!(warning, super::super::Warning::EarlierLevel { .. })));
}

#[test]
fn another_stroke_goes_through_all_levels() {
    let mut session = session(forced(0.0002));
    let before = solve(&mut session);
    let inside = |answer: &Answer| answer.mask().as_slice()[40 * 95 + 68];
    assert!(inside(&before));
    let mut labels = session.seeds().unwrap().labels().to_vec();
    (30..50).for_each(|row| labels[row * 95 + 62..row * 95 + 80].fill(Seed::Background));
    session.set_seeds(Seeds::new(session.picture().shape(), labels)).unwrap();
    assert!(!inside(&solve(&mut session)));
}

/// F of a mask of the whole photo by its definition, at T = 1 with hard strokes.
fn energy(
    picture: &Picture,
    m: &[f64],
    partitions: &[Partition],
    options: &crate::assemble::Options,
    mask: &[bool],
) -> f64 {
    let width = picture.shape().width;
    let inside = |pixel: usize| f64::from(u8::from(mask[pixel]));
    let mut sum: f64 = (0..m.len()).map(|pixel| options.alpha * m[pixel] * inside(pixel)).sum();
    let crate::assemble::Theta::Fixed(theta) = options.theta else { panic!("a fixed θ") };
    for p in 0..m.len() {
        let right = (p % width + 1 < width).then_some(p + 1);
        for q in right.into_iter().chain(Some(p + width).filter(|&q| q < m.len())) {
            let apart: f64 =
                (0..3).map(|c| (f64::from(picture.rgb()[p][c]) - f64::from(picture.rgb()[q][c])).powi(2)).sum();
            sum += options.beta * (-theta * apart).exp() * (inside(p) - inside(q)).abs();
        }
    }
    for partition in partitions {
        for region in 0..partition.count() as u32 {
            let members = || (0..m.len()).filter(|&pixel| partition.labels()[pixel] == region);
            let (size, share) = (members().count() as f64, members().map(inside).sum::<f64>());
            sum += options.gamma * size * (share / size) * (1.0 - share / size);
        }
    }
    sum
}

#[test]
fn the_certificate_is_that_of_the_model_given_what_was_decided() {
    // Two rows: blocks of 2 × 2 make a line of seven, of which the outer ones are decided.
    let shape = Shape::new(14, 2);
    let grey = |pixel: usize| if pixel % 14 < 7 { 180 - 4 * (pixel % 3) as u8 } else { 70 + 5 * (pixel % 4) as u8 };
    let picture = Picture::new(shape, (0..28).map(|pixel| [grey(pixel), 90, 255 - grey(pixel)]).collect());
    let mut labels = vec![Seed::Unlabelled; 28];
    for row in [0, 14] {
        labels[row..row + 2].fill(Seed::Foreground);
        labels[row + 12..row + 14].fill(Seed::Background);
    }
    let mut options = forced(7e-6);
    options.bias = Bias::Fixed(0.0);
    options.model.beta = 0.4;
    options.model.theta = crate::assemble::Theta::Fixed(1e-4);
    options.solver.tolerance = 1e-10;
    let mut session = Session::new(picture.clone(), options.clone()).unwrap();
    session.set_seeds(Seeds::new(shape, labels.clone())).unwrap();
    let answer = solve(&mut session);
    let scale = answer.scales()[1];
    assert!(scale.decided_pixels > 0 && scale.free_pixels <= 16, "{scale:?}");
    let evidence = session.evidence.last().unwrap();
    let below = solve(&mut session.coarse.take().unwrap().session);
    let facts = decided(Blocks::new(shape, 2), &below.solved, below.seeds(), session.seeds());
    let free: Vec<usize> = (0..28).filter(|&pixel| facts[pixel] == Seed::Unlabelled).collect();
    assert_eq!(free.len(), scale.free_pixels);
    let mut mask: Vec<bool> = facts.iter().map(|&fact| fact == Seed::Foreground).collect();
    let mut energies = Vec::with_capacity(1 << free.len());
    for set in 0_u32..1 << free.len() {
        free.iter().enumerate().for_each(|(bit, &pixel)| mask[pixel] = set >> bit & 1 == 1);
        energies.push(energy(&picture, evidence.unary.as_slice(), answer.partitions(), &options.model, &mask));
    }
    let least = energies.iter().copied().fold(f64::INFINITY, f64::min);
    let log_z = energies.iter().map(|energy| (least - energy).exp()).sum::<f64>().ln() - least;
    let certificate = answer.certificate();
    assert!((certificate.map_energy - least).abs() < 1e-6, "{} {least}", certificate.map_energy);
    assert!(
        certificate.log_z_lower <= log_z + 1e-6 && log_z <= certificate.log_z_upper + 1e-6,
        "{certificate:?} {log_z}"
    );
}
