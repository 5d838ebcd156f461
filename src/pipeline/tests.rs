//! Stopping: a checkpoint that fails ends every stage of every method, and nothing is computed after it.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::Error;
use crate::solver::SolverKind;

/// A disc in front of noise, with a stroke on each.
fn folder() -> (tempfile::TempDir, Input) {
    let folder = tempfile::tempdir().unwrap();
    let (width, height) = (96, 80);
    let is_disc = |x: u32, y: u32| x.abs_diff(48).pow(2) + y.abs_diff(40).pow(2) < 24 * 24;
    let noise = |x: u32, y: u32| (x * 7919 + y * 104_729) as u8 % 64;
    let photo = image::RgbImage::from_fn(width, height, |x, y| match is_disc(x, y) {
        true => image::Rgb([180, 60 + noise(x, y), 40]),
        false => image::Rgb([60, 90 + noise(y, x), 120]),
    });
    let strokes = image::RgbaImage::from_fn(width, height, |x, y| match (x, y) {
        (40..56, 38..42) => image::Rgba([255, 0, 0, 255]),
        (4..92, 4..8) | (4..92, 72..76) => image::Rgba([0, 0, 255, 255]),
        _ => image::Rgba([0, 0, 0, 0]),
    });
    photo.save(folder.path().join("disc.png")).unwrap();
    strokes.save(folder.path().join("disc.scribbles.png")).unwrap();
    let input = Input { image: folder.path().join("disc.png"), ..Input::default() };
    (folder, input)
}

/// Runs until the checkpoint has been asked `last` times; how often it was asked, and whether the run was stopped.
fn run(input: &Input, options: &Options, last: usize) -> (usize, bool) {
    let asked = AtomicUsize::new(0);
    let checkpoint = || match asked.fetch_add(1, Ordering::Relaxed) {
        count if count < last => Ok(()),
        _ => Err(Error::Interrupted),
    };
    let tell = |_: Event<'_>| {
        assert!(asked.load(Ordering::Relaxed) <= last, "a stage has ended after the checkpoint failed");
        Ok(())
    };
    let result = segment_until(input, options, &tell, &checkpoint);
    let is_stopped = matches!(result, Err(Error::Interrupted));
    assert!(is_stopped || result.is_ok());
    (asked.into_inner(), is_stopped)
}

#[test]
fn every_stage_of_every_method_stops_at_the_checkpoint_that_fails() {
    let (_folder, input) = folder();
    let method = |method| Options { method, ..Options::default() };
    let mut divide = Options::default();
    divide.model.phi = assemble::Phi::Robust(0.2);
    divide.solver.solver = SolverKind::DivideConquer;
    let cases = [
        method(Method::Lfield),
        Options { fit_temperature: true, ..Options::default() },
        divide,
        method(Method::MeanField),
        method(Method::Bp),
    ];
    // One thread, so that the same checkpoint is always the same place.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for options in cases {
        let (whole, is_stopped) = pool.install(|| run(&input, &options, usize::MAX));
        assert!(!is_stopped && whole > 300, "{whole}");
        let mut n_stopped = 0;
        let places: Vec<usize> = (0..whole).step_by(whole / 40).chain([1, whole / 2, whole - 1]).collect();
        for &last in &places {
            let (asked, is_stopped) = pool.install(|| run(&input, &options, last));
            // While a fit of colours runs the clock decides how often it asks, so a late checkpoint may not come up again.
            assert_eq!(is_stopped, asked > last, "asked {asked} times, to fail at {last} of {whole}");
            // The stage beside it, and a neighbouring piece of work each, are told so themselves.
            assert!(asked <= last + 4, "asked {asked} times, failed at {last} of {whole}");
            n_stopped += usize::from(is_stopped);
        }
        assert!(4 * n_stopped > places.len(), "{n_stopped} of {}", places.len());
    }
}

#[test]
fn an_observer_that_breaks_is_asked_no_more() {
    let (_folder, input) = folder();
    for last in [0, 1, 2, 5] {
        let mut heard = 0;
        let result = segment(&input, &Options::default(), &mut |_| {
            heard += 1;
            if heard > last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(result, Err(Error::Interrupted)));
        assert_eq!(heard, last + 1);
    }
}
