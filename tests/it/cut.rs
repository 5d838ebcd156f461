//! The cut model's mask on whole photos: proved optimal by its report, and the minimum cut of the whole graph.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use lfield::assemble;
use lfield::grid::Picture;
use lfield::kernel::max_flow::{Edge, Graph, Side, Unit};
use lfield::model::Model;
use lfield::read::{Format, Limits, Strokes};
use lfield::solver::{self, MapChoice};
use lfield::unary;

/// The smallest and the largest minimum cut, in one go over the whole graph, whatever the marginals say.
fn minimum_cuts(model: &Model) -> (Vec<bool>, Vec<bool>) {
    let mut weights = Vec::new();
    for layer in model.layers() {
        for (factor, range) in layer.factors().iter().zip(layer.starts().windows(2)) {
            let chain = factor.as_chain().expect("a cut model is made of chains").weights();
            weights.extend((range[0]..).zip(chain).map(|(at, &w)| (layer.variable(at), layer.variable(at + 1), w)));
        }
    }
    let mut load: Vec<f64> = model.unary().iter().map(|m| m.abs()).collect();
    for &(p, q, w) in &weights {
        load[p] += w;
        load[q] += w;
    }
    let unit = Unit::for_largest(2.0 * load.into_iter().fold(0.0, f64::max));
    let edges: Vec<Edge> = weights
        .iter()
        .map(|&(p, q, w)| Edge { from: p as u32, to: q as u32, capacity: unit.nearest(w), reverse: unit.nearest(w) })
        .collect();
    let mut graph = Graph::new(model.n_variables(), &edges);
    for (v, m) in model.unary().iter().enumerate() {
        graph.set_excess(v, unit.nearest(-m));
    }
    graph.solve();
    (0..model.n_variables()).map(|v| (graph.side(v) == Side::Source, graph.side(v) != Side::Sink)).unzip()
}

fn check(image: &Path, strokes: &Path, beta: f64) {
    let limits = Limits::default();
    let picture = Picture::read(image, &limits).unwrap().value;
    let seeds = Strokes::read(strokes, &picture, Format::Auto, &limits).unwrap().seeds;
    let evidence = unary::log_odds(&picture, &seeds, &unary::Options::default(), &|| Ok(())).unwrap();
    let options = assemble::Options { beta, gamma: 0.0, ..assemble::Options::default() };
    let model = assemble::model(&picture, &evidence.unary, &[], Some(&seeds), &options, &|| Ok(())).unwrap().model;
    let (smallest, largest) = minimum_cuts(&model);
    for (map, cut) in [(MapChoice::Minimal, smallest), (MapChoice::Maximal, largest)] {
        // A rough point is enough: the undecided pixels are finished by a cut of their own.
        let options = solver::Options { tolerance: 1e-3, map, ..solver::Options::default() };
        let solution = solver::solve(&model, &options, &mut |_| ControlFlow::Continue(())).unwrap();
        let certificate = &solution.certificate;
        assert!(certificate.map_proved_optimal, "{}: off by {}", image.display(), certificate.map_gap);
        let differ = solution.set.iter().zip(&cut).filter(|(a, b)| a != b).count();
        assert_eq!(differ, 0, "{} {map:?}: pixels on another side than the minimum cut's", image.display());
    }
}

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

#[test]
fn the_mask_of_every_sample_is_the_minimum_cut() {
    for name in ["beetle", "lamp", "poppy", "tree"] {
        let image = samples().join(name).with_extension("png");
        check(&image, &image.with_extension("scribbles.png"), 10.0);
    }
}

#[test]
#[ignore = "needs ../shared/data/coopcut beside the project"]
fn so_is_that_of_the_photos_of_the_paper() {
    let folder = samples().join("../../shared/data/coopcut");
    let images = std::fs::read_dir(folder.join("images")).expect("the photos beside the project");
    for image in images.map(|entry| entry.unwrap().path()) {
        let strokes = folder.join("scribbles").join(image.file_stem().unwrap()).with_extension("png");
        check(&image, &strokes, 10.0);
    }
}
