//! The contracted model against the printed energy, over all sets.

use proptest::prelude::*;

use super::*;
use crate::grid::{Seed, Shape};

/// F(A) straight from the formula in the module comment.
fn printed(picture: &Picture, m: &[f64], partitions: &[Partition], options: &Options, set: &[bool]) -> f64 {
    let shape = picture.shape();
    let contrast = Contrast::new(picture, options.theta);
    let mut energy: f64 = m.iter().zip(set).filter(|(_, a)| **a).map(|(m, _)| options.alpha * m).sum();
    for p in 0..set.len() {
        for q in p + 1..set.len() {
            let (dx, dy) = ((q % shape.width).abs_diff(p % shape.width), q / shape.width - p / shape.width);
            if dx + dy == 1 && set[p] != set[q] {
                energy += options.beta * contrast.weight(p, q);
            }
        }
    }
    for partition in partitions {
        for (label, size) in partition.sizes().into_iter().enumerate() {
            let inside = (0..set.len()).filter(|&p| set[p] && partition.labels()[p] == label as u32).count();
            let z = inside as f64 / size as f64;
            let c = if options.hop_scale == HopScale::Size { size as f64 } else { 1.0 };
            energy += options.gamma
                * c
                * match options.phi {
                    Phi::Quadratic => z * (1.0 - z),
                    Phi::Robust(q) => 0.25 * (z / q).min((1.0 - z) / q).min(1.0),
                };
        }
    }
    energy / options.temperature
}

proptest! {
    #![proptest_config(crate::cases(150))]

    #[test]
    fn contraction_gives_every_free_set_its_printed_energy(
        rgb in prop::collection::vec(any::<[u8; 3]>(), 12),
        m in prop::collection::vec(-3.0..3.0_f64, 12),
        labels in prop::collection::vec(0..4_u8, 12),
        seeds in prop::collection::vec(0..6_u8, 12),
        (alpha, beta, gamma, t) in (0.0..2.0_f64, 0.0..3.0_f64, 0.0..3.0_f64, 0.5..2.0_f64),
        robust in any::<bool>(), paper in any::<bool>(),
    ) {
        let shape = Shape::new(4, 3);
        let picture = Picture::new(shape, rgb);
        let unary = Unary::new(shape, m.clone()).unwrap();
        let partitions = [Partition::from_labels(shape, &labels)];
        let seeds = Seeds::new(shape, seeds.into_iter().map(|s| match s {
            0 => Seed::Foreground,
            1 => Seed::Background,
            _ => Seed::Unlabelled,
        }).collect());
        let options = Options {
            alpha, beta, gamma, temperature: t,
            theta: Theta::Fixed(1e-5),
            phi: if robust { Phi::Robust(0.3) } else { Phi::Quadratic },
            hop_scale: if paper { HopScale::Paper } else { HopScale::Size },
            seeds: SeedMode::Hard,
        };
        let problem = model(&picture, &unary, &partitions, Some(&seeds), &options, &|| Ok(())).unwrap();
        let n = problem.free().len();
        for bits in 0..1_usize << n {
            let set: Vec<bool> = (0..n).map(|i| bits >> i & 1 == 1).collect();
            let all = problem.expand_set(&set);
            let expected = printed(&picture, &m, &partitions, &options, all.as_slice());
            prop_assert!((problem.model.energy(&set) - expected).abs() < 1e-9);
        }
    }
}

#[test]
fn weights_out_of_range_are_refused() {
    for broken in [
        Options { beta: -1.0, ..Options::default() },
        Options { gamma: f64::NAN, ..Options::default() },
        Options { alpha: f64::INFINITY, ..Options::default() },
        Options { theta: Theta::Fixed(-0.1), ..Options::default() },
        Options { phi: Phi::Robust(0.6), ..Options::default() },
        Options { temperature: 0.0, ..Options::default() },
    ] {
        assert!(broken.check().is_err(), "{broken:?}");
    }
}

#[test]
fn phi_has_two_forms() {
    assert_eq!("quadratic".parse::<Phi>().unwrap(), Phi::Quadratic);
    assert_eq!("robust:0.1".parse::<Phi>().unwrap(), Phi::Robust(0.1));
    for text in ["robust", "robust:", "robust:0", "robust:0.6", "cubic"] {
        assert!(text.parse::<Phi>().is_err(), "{text}");
    }
}
