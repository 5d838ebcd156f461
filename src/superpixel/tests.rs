//! Mean shift against a slow textbook twin, and what every partition must keep.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::luv::{Luv, from_rgb};
use super::*;
use crate::grid::Shape;

/// Mean shift as the textbook has it: every window looks at every pixel, nothing is shared, all in f64.
mod textbook {
    use super::*;

    /// The pixels as points (x, y, L, u, v).
    pub(super) fn points(picture: &Picture) -> Vec<[f64; 5]> {
        let width = picture.shape().width;
        let point = |(pixel, &rgb): (usize, &[u8; 3])| {
            let [l, u, v] = from_rgb(rgb).map(f64::from);
            [(pixel % width) as f64, (pixel / width) as f64, l, u, v]
        };
        picture.rgb().iter().enumerate().map(point).collect()
    }

    /// Where the windows that begin at `starts` come to rest.
    pub(super) fn modes(picture: &Picture, starts: &[[f64; 5]], layer: &Layer) -> Vec<[f64; 5]> {
        let points = points(picture);
        let climb = |start: &[f64; 5]| {
            let mut centre = *start;
            for _ in 0..100 {
                let inside: Vec<&[f64; 5]> = points.iter().filter(|point| in_window(&centre, point, layer)).collect();
                let mean: [f64; 5] =
                    std::array::from_fn(|c| inside.iter().map(|point| point[c]).sum::<f64>() / inside.len() as f64);
                let length: f64 = (0..5).map(|c| (mean[c] - centre[c]).powi(2)).sum();
                centre = mean;
                if length < 0.01 {
                    break;
                }
            }
            centre
        };
        starts.iter().map(climb).collect()
    }

    fn in_window(centre: &[f64; 5], point: &[f64; 5], layer: &Layer) -> bool {
        let d: [f64; 5] = std::array::from_fn(|c| point[c] - centre[c]);
        let weight = if centre[2] > 80.0 { 4.0 } else { 1.0 };
        d[0] * d[0] + d[1] * d[1] < layer.spatial().powi(2)
            && weight * d[2] * d[2] + d[3] * d[3] + d[4] * d[4] < layer.range().powi(2)
    }

    /// Labels by flood fill, then everything anew from the pixels for every round of fusion and absorption.
    pub(super) fn mean_shift(picture: &Picture, layer: &Layer) -> Partition {
        let shape = picture.shape();
        let modes =
            modes(picture, &points(picture), layer).iter().map(|&[_, _, l, u, v]| [l, u, v]).collect::<Vec<_>>();
        let mut labels = flood(shape, |p, q| (0..3).all(|c| (modes[p][c] - modes[q][c]).abs() < 1.0));
        for fusing in [true, false] {
            loop {
                let count = labels.iter().max().unwrap() + 1;
                let size = |a: usize| labels.iter().filter(|&&label| label == a).count();
                let mean = |a: usize, c: usize| {
                    let members = modes.iter().zip(&labels).filter(|&(_, &label)| label == a);
                    members.map(|(mode, _)| mode[c]).sum::<f64>() / size(a) as f64
                };
                let distance = |a: usize, b: usize| {
                    let weight = if mean(a, 0).max(mean(b, 0)) > 80.0 { 4.0 } else { 1.0 };
                    (0..3).map(|c| (mean(a, c) - mean(b, c)).powi(2) * if c == 0 { weight } else { 1.0 }).sum::<f64>()
                };
                let mut touches = vec![vec![false; count]; count];
                for (p, q) in neighbours(shape) {
                    touches[labels[p]][labels[q]] = true;
                    touches[labels[q]][labels[p]] = true;
                }
                let mut joined = vec![vec![false; count]; count];
                for a in 0..count {
                    let around = (0..count).filter(|&b| a != b && touches[a][b]);
                    if fusing {
                        let near = around.filter(|&b| distance(a, b) < layer.range().powi(2) / 4.0);
                        near.for_each(|b| joined[a][b] = true);
                    } else if size(a) < layer.min_size()
                        && let Some(b) = around.min_by(|&b, &c| distance(a, b).total_cmp(&distance(a, c)))
                    {
                        joined[a][b] = true;
                    }
                }
                if joined.iter().flatten().all(|&joined| !joined) {
                    break;
                }
                let same = |p: usize, q: usize| {
                    let (a, b) = (labels[p], labels[q]);
                    a == b || joined[a][b] || joined[b][a]
                };
                labels = flood(shape, same);
            }
        }
        Partition::from_labels(shape, &labels)
    }
}

/// Every pair of a pixel and its right or lower neighbour.
fn neighbours(shape: Shape) -> Vec<(usize, usize)> {
    let Shape { width, height } = shape;
    let right = (0..shape.n_pixels()).filter(|p| p % width + 1 < width).map(|p| (p, p + 1));
    let below = (0..shape.n_pixels()).filter(|p| p / width + 1 < height).map(|p| (p, p + width));
    right.chain(below).collect()
}

/// Labels of the connected sets of pixels that `same` joins, in scan order.
fn flood(shape: Shape, same: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut joined = vec![Vec::new(); shape.n_pixels()];
    for (p, q) in neighbours(shape) {
        if same(p, q) {
            joined[p].push(q);
            joined[q].push(p);
        }
    }
    let mut labels = vec![usize::MAX; shape.n_pixels()];
    let mut count = 0;
    for start in 0..shape.n_pixels() {
        if labels[start] != usize::MAX {
            continue;
        }
        labels[start] = count;
        let mut queue = VecDeque::from([start]);
        while let Some(p) = queue.pop_front() {
            for &q in &joined[p] {
                if labels[q] == usize::MAX {
                    labels[q] = count;
                    queue.push_back(q);
                }
            }
        }
        count += 1;
    }
    labels
}

/// A stream of numbers below n that is the same everywhere (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// A picture whose regions have one colour each, plus noise of ±`noise` grey levels; and the regions' colours.
fn painted(shape: Shape, region: impl Fn(usize, usize) -> usize, noise: i64, seed: u64) -> (Picture, Vec<usize>) {
    let palette = [[200, 40, 40], [40, 120, 60], [50, 60, 180], [210, 200, 190], [30, 30, 30], [220, 170, 40]];
    let mut dice = Dice(seed);
    let labels: Vec<usize> = (0..shape.n_pixels()).map(|p| region(p % shape.width, p / shape.width)).collect();
    let rgb = labels.iter().map(|&label| {
        palette[label].map(|value: i64| (value - noise + dice.below(2 * noise as u64 + 1) as i64).clamp(0, 255) as u8)
    });
    (Picture::new(shape, rgb.collect()), labels)
}

fn noise(shape: Shape, seed: u64) -> Picture {
    let mut dice = Dice(seed);
    Picture::new(shape, (0..shape.n_pixels()).map(|_| [0; 3].map(|_: u8| dice.below(256) as u8)).collect())
}

/// A smooth picture with some noise: colours drift, so windows travel far and cross tiles.
fn drifting(shape: Shape, seed: u64) -> Picture {
    let mut dice = Dice(seed);
    let rgb = (0..shape.n_pixels()).map(|p| {
        let (x, y) = ((p % shape.width) as f64, (p / shape.width) as f64);
        let wave = [(x / 9.0).sin() + (y / 13.0).cos(), (x / 17.0 - y / 7.0).sin(), (y / 11.0).sin() - (x / 5.0).cos()];
        wave.map(|w| (128.0 + 40.0 * w + dice.below(12) as f64) as u8)
    });
    Picture::new(shape, rgb.collect())
}

fn assert_partition(picture: &Picture, layer: &Layer, partition: &Partition) {
    let shape = picture.shape();
    let labels = partition.labels();
    let components = flood(shape, |p, q| labels[p] == labels[q]);
    let expected = Partition::from_labels(shape, &components);
    assert!(*partition == expected, "regions are connected and numbered in scan order");
    let least = layer.min_size().min(shape.n_pixels());
    assert!(partition.sizes().iter().all(|&size| size >= least), "{:?}", partition.sizes());
}

/// The modes when nothing is shared.
fn alone(luv: &Luv, layer: &Layer, start: Option<&Modes>) -> Modes {
    Modes::climb(luv, layer, start, false, &|| Ok(()), &|_| {}).unwrap()
}

fn assert_modes(ours: &Modes, theirs: &[[f64; 5]], layer: &Layer) {
    for (pixel, theirs) in theirs.iter().enumerate() {
        let ours = ours.point(pixel);
        let worst = ours.iter().zip(theirs).map(|(&a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-3, "{layer}: {ours:?} against {theirs:?}");
    }
}

#[test]
fn modes_are_those_of_the_textbook_when_nothing_is_shared() {
    // Radii that no pixel is at exactly: f32 and f64 must not be asked to break ties.
    for (seed, text) in (0..).zip(["3.1416,8,1", "4.5678,12,1", "7.0711,6.5,20", "40.123,30,1"]) {
        let layer: Layer = text.parse().unwrap();
        for picture in [drifting(Shape::new(29, 23), seed), painted(Shape::new(21, 18), |x, _| x / 7, 6, seed).0] {
            let luv = Luv::new(&picture, 41);
            let ours = alone(&luv, &layer, None);
            assert_modes(&ours, &textbook::modes(&picture, &textbook::points(&picture), &layer), &layer);
            // A coarser layer goes on from there; from our own modes, because a window beside a tie may go either way.
            let start: Vec<[f64; 5]> =
                (0..luv.shape().n_pixels()).map(|pixel| ours.point(pixel).map(f64::from)).collect();
            let coarser = Layer::new(layer.spatial() * 1.3, layer.range() * 1.4, 1).unwrap();
            let luv = Luv::new(&picture, 53);
            let theirs = textbook::modes(&picture, &start, &coarser);
            assert_modes(&alone(&luv, &coarser, Some(&ours)), &theirs, &coarser);
        }
    }
}

#[test]
fn linking_fusing_and_absorbing_are_those_of_the_textbook() {
    for (seed, text) in (0..).zip(["2.2361,7,4", "3.1416,10,9", "4.1231,9,30", "1.4567,4,2"]) {
        let layer: Layer = text.parse().unwrap();
        let picture = drifting(Shape::new(19, 17), seed);
        let modes = alone(&Luv::new(&picture, 5), &layer, None);
        let ours = region::regions(picture.shape(), &modes, &layer, &|| Ok(())).unwrap();
        assert!(ours == textbook::mean_shift(&picture, &layer), "{layer}");
        assert!(ours.count() > 1, "{layer}");
    }
}

#[test]
fn shared_modes_give_nearly_the_regions_of_the_textbook() {
    for (seed, text) in (0..).zip(["3,8,5", "5,12,20", "7,6.5,20"]) {
        let layer: Layer = text.parse().unwrap();
        let picture = drifting(Shape::new(48, 40), seed);
        let (ours, theirs) =
            (mean_shift(&picture, &layer, &|| Ok(())).unwrap(), textbook::mean_shift(&picture, &layer));
        let (a, b) = (ours.labels(), theirs.labels());
        let pairs = (0..a.len()).flat_map(|p| (0..p).map(move |q| (p, q)));
        let agree = pairs.clone().filter(|&(p, q)| (a[p] == a[q]) == (b[p] == b[q])).count();
        let rand_index = agree as f64 / pairs.count() as f64;
        assert!(rand_index > 0.9, "{layer}: {rand_index}");
    }
}

#[test]
fn noisy_regions_are_recovered_exactly_as_by_the_textbook() {
    let shape = Shape::new(36, 30);
    let checks = |x: usize, y: usize| (x / 12) % 2 * 3 + y / 10;
    let disc = |x: usize, y: usize| usize::from((x as i64 - 16).pow(2) + (y as i64 - 14).pow(2) < 90) * 5;
    for seed in 0..4 {
        for (picture, colours) in [painted(shape, checks, 3, seed), painted(shape, disc, 3, seed)] {
            let truth = Partition::from_labels(shape, &flood(shape, |p, q| colours[p] == colours[q]));
            for layer in [Layer::FINE, Layer::COARSE] {
                assert!(mean_shift(&picture, &layer, &|| Ok(())).unwrap() == truth, "{layer}, seed {seed}");
            }
            assert!(textbook::mean_shift(&picture, &Layer::FINE) == truth, "seed {seed}");
        }
    }
}

#[test]
fn one_pixel_one_row_one_column_one_colour_and_noise() {
    let one_colour = |width, height| Picture::new(Shape::new(width, height), vec![[90, 140, 20]; width * height]);
    let extreme = [Layer::new(100.0, 1e30, 1).unwrap(), Layer::new(1e-3, 1e-30, 1).unwrap()];
    for picture in [one_colour(1, 1), one_colour(50, 1), one_colour(1, 50), one_colour(130, 70)] {
        for layer in [Layer::FINE, Layer::COARSE].iter().chain(&extreme) {
            assert_eq!(mean_shift(&picture, layer, &|| Ok(())).unwrap().count(), 1);
        }
    }
    for shape in [Shape::new(300, 1), Shape::new(1, 300), Shape::new(90, 70), Shape::new(4, 4), Shape::new(3, 5)] {
        let picture = noise(shape, 7);
        for layer in [Layer::FINE, Layer::COARSE].iter().chain(&extreme) {
            assert_partition(&picture, layer, &mean_shift(&picture, layer, &|| Ok(())).unwrap());
        }
    }
}

#[test]
fn labels_are_the_same_for_1_2_and_7_threads() {
    let picture = drifting(Shape::new(300, 170), 3);
    for list in [&[Layer::FINE, Layer::COARSE][..], &[Layer::COARSE]] {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| layers(&picture, list, &|| Ok(())).unwrap())
        };
        let one = run(1);
        assert!(one.iter().all(|partition| partition.count() > 1) && run(2) == one && run(7) == one);
    }
}

#[test]
fn a_layer_starts_from_a_finer_one_and_from_nothing_else() {
    let picture = drifting(Shape::new(150, 90), 5);
    let cut = |list: &[Layer]| layers(&picture, list, &|| Ok(())).unwrap();
    let (fine, coarse) = (mean_shift(&picture, &Layer::FINE, &|| Ok(())).unwrap(), cut(&[Layer::COARSE]).remove(0));
    let (up, down) = (cut(&[Layer::FINE, Layer::COARSE]), cut(&[Layer::COARSE, Layer::FINE]));
    assert!(up[0] == fine && up[1] != coarse, "finer first");
    assert!(down[0] == coarse && down[1] == fine, "coarser first");
    assert_partition(&picture, &Layer::COARSE, &up[1]);
    let mut series = Series::new(&picture, &[Layer::FINE, Layer::COARSE]).unwrap();
    for (layer, expected) in [Layer::FINE, Layer::COARSE].iter().zip(&up) {
        assert!(series.next(layer, &|| Ok(()), &|_| {}).unwrap() == *expected, "{layer}, one at a time");
    }
}

#[test]
fn the_coarse_layer_has_fewer_regions() {
    for picture in [drifting(Shape::new(200, 150), 1), noise(Shape::new(120, 90), 2)] {
        let count = |layer| mean_shift(&picture, &layer, &|| Ok(())).unwrap().count();
        assert!(count(Layer::COARSE) < count(Layer::FINE));
    }
}

#[test]
fn progress_ends_at_the_whole() {
    let heard = std::sync::Mutex::new(Vec::new());
    let observe = |share| heard.lock().unwrap().push(share);
    let mut series = Series::new(&noise(Shape::new(200, 80), 1), &[Layer::FINE]).unwrap();
    series.next(&Layer::FINE, &|| Ok(()), &observe).unwrap();
    let heard = heard.into_inner().unwrap();
    assert!(heard.contains(&1.0) && heard.iter().all(|share| (0.0..=1.0).contains(share)));
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn every_layer_is_a_partition_into_connected_regions_of_at_least_m_pixels(
        width in 1_usize..40, height in 1_usize..40, seed in 0_u64..1000, smooth in any::<bool>(),
        hs in 0.3_f64..12.0, hr in 0.5_f64..60.0, m in 1_usize..60,
    ) {
        let shape = Shape::new(width, height);
        let picture = if smooth { drifting(shape, seed) } else { noise(shape, seed) };
        let layer = Layer::new(hs, hr, m).unwrap();
        assert_partition(&picture, &layer, &mean_shift(&picture, &layer, &|| Ok(())).unwrap());
    }
}
