//! A model with no image at all: which towns should get a shop?
//!
//!     cargo run --release --example without_image
//!
//! Variables are towns. A town has a profit of its own (the modular term, negative when the shop pays), pays for every
//! road between a town with a shop and one without (supply lines: cut edges), and every county charges a licence that grows
//! with the number of shops but ever more slowly (a concave table). All of this is submodular, so the answer is a most
//! probable set, a probability for every town, and a proof.

use std::ops::ControlFlow;

use lfield::factor::{Cardinality, Edge, Factor};
use lfield::model::{Layer, Model};
use lfield::solver::{self, Options, SolverKind};

const TOWNS: [(&str, f64); 7] = [
    ("Ashford", -3.0),
    ("Birch", -0.5),
    ("Calder", 1.2),
    ("Dunmore", -1.5),
    ("Elm", 0.8),
    ("Foxhole", -0.2),
    ("Grange", 2.0),
];

/// Roads and what an interrupted supply line on them costs.
const ROADS: [(u32, u32, f64); 7] =
    [(0, 1, 1.0), (1, 2, 0.6), (2, 3, 0.4), (3, 4, 0.9), (4, 5, 0.7), (5, 6, 0.3), (6, 0, 0.2)];

/// Towns of each county, and the price of its first, second, … licence.
const COUNTIES: [(&[u32], &[f64]); 2] = [(&[0, 1, 2], &[1.0, 0.3, 0.1]), (&[3, 4, 5, 6], &[0.8, 0.4, 0.1, 0.1])];

fn main() -> anyhow::Result<()> {
    let n = TOWNS.len();
    let mut layers = Vec::new();
    // Factors of a layer must be disjoint: each road goes into the first layer where both its ends are still free.
    let mut roads: Vec<(u32, u32, f64)> = ROADS.to_vec();
    while !roads.is_empty() {
        let mut taken = vec![false; n];
        let (mut here, mut later) = (Vec::new(), Vec::new());
        for (a, b, weight) in roads {
            if taken[a as usize] || taken[b as usize] {
                later.push((a, b, weight));
            } else {
                taken[a as usize] = true;
                taken[b as usize] = true;
                here.push((vec![a, b], Box::new(Edge::new(weight)?) as Box<dyn Factor>));
            }
        }
        layers.push(Layer::new(n, here));
        roads = later;
    }
    let mut counties = Vec::new();
    for (towns, licences) in COUNTIES {
        let table = Cardinality::from_gains(licences.to_vec())?;
        counties.push((towns.to_vec(), Box::new(table) as Box<dyn Factor>));
    }
    layers.push(Layer::new(n, counties));
    let model = Model::new(TOWNS.iter().map(|(_, m)| *m).collect(), layers)?;

    // Few variables: the exact solver is the right one.
    let options = Options { solver: SolverKind::MinNorm, tolerance: 1e-12, ..Options::default() };
    let solution = solver::solve(&model, &options, &mut |_| ControlFlow::Continue(()))?;
    for ((name, _), (s, shop)) in TOWNS.iter().zip(solution.s.iter().zip(&solution.set)) {
        println!("{name:8} {:.3} {}", 1.0 / (1.0 + s.exp()), if *shop { "shop" } else { "-" });
    }
    let proof = &solution.certificate;
    println!("cost {:.3}, at least {:.3} for any choice", proof.map_energy, proof.map_lower_bound);
    println!("{:.3} ≤ log Z ≤ {:.3}", proof.log_z_lower, proof.log_z_upper);
    Ok(())
}
