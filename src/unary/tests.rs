use proptest::prelude::*;

use super::*;
use crate::grid::Shape;

/// Two noisy halves, left reddish and right greenish, with a vertical stroke in each.
fn two_halves(width: usize, height: usize) -> (Picture, Seeds) {
    let shape = Shape::new(width, height);
    let mut colours = Vec::new();
    let mut labels = Vec::new();
    for pixel in 0..shape.n_pixels() {
        let (x, y) = (pixel % width, pixel / width);
        let noise = ((x * 31 + y * 17) * 2_654_435_761 % 41) as u8;
        colours.push(if 2 * x < width { [160 + noise, 60, 40 + noise / 2] } else { [60, 140 + noise, 50 + noise / 3] });
        labels.push(match x {
            x if x == width / 4 && y > 1 => Seed::Foreground,
            x if x == 3 * width / 4 && y > 1 => Seed::Background,
            _ => Seed::Unlabelled,
        });
    }
    (Picture::new(shape, colours), Seeds::new(shape, labels))
}

fn fixed(weight: f64) -> Options {
    Options { geodesic: Geodesic::Fixed(weight), ..Options::default() }
}

#[test]
fn costs_are_negative_on_the_foreground_side() {
    let (picture, seeds) = two_halves(40, 30);
    for options in [fixed(0.0), fixed(2.0), Options::default(), Options { outlier: 0.0, ..fixed(1.0) }] {
        let evidence = log_odds(&picture, &seeds, &options, &|| Ok(())).unwrap();
        for (pixel, &m) in evidence.unary.as_slice().iter().enumerate() {
            assert_eq!(m < 0.0, pixel % 40 < 20, "pixel {pixel} costs {m} with {options:?}");
        }
    }
}

#[test]
fn the_cost_is_the_printed_formula() {
    let (picture, seeds) = two_halves(24, 16);
    let options = Options { outlier: 0.01, context: 0.7, ..fixed(1.5) };
    let evidence = log_odds(&picture, &seeds, &options, &|| Ok(())).unwrap();
    let distance = stroke_distance(&picture, &seeds, &|| Ok(())).unwrap();
    let Mixtures { foreground, background } = &evidence.mixtures;
    let alone = log_odds(&picture, &seeds, &Options { context: 0.0, ..options }, &|| Ok(())).unwrap().unary;
    let negated: Vec<f64> = alone.as_slice().iter().map(|m| -m).collect();
    let guide = context::Guide::new(&picture, &|| Ok(())).unwrap();
    let around = guide.log_odds(&negated, &|| Ok(())).unwrap();
    let then: Vec<f64> = negated.iter().zip(&around).map(|(own, around)| own + 0.7 * around).collect();
    let again = guide.log_odds(&then, &|| Ok(())).unwrap();
    for (pixel, &m) in evidence.unary.as_slice().iter().enumerate() {
        assert!((m - (alone.as_slice()[pixel] - 0.7 * around[pixel] - 0.7 * again[pixel]) / 2.4).abs() < 1e-9);
        let m = alone.as_slice()[pixel];
        let colour = picture.rgb()[pixel].map(|c| f64::from(c) / 255.0);
        let density = |mixture: &Mixture| 0.99 * mixture.log_density(colour).exp() + 0.01;
        let expected = density(background).ln() - density(foreground).ln() - 1.5 * distance[pixel];
        assert!((m - expected).abs() < 1e-9, "pixel {pixel}: {m} {expected}");
    }
    assert_eq!(evidence.geodesic, 1.5);
}

#[test]
fn a_missing_class_is_named() {
    let (picture, seeds) = two_halves(12, 12);
    for (missing, class) in [(Seed::Foreground, "foreground"), (Seed::Background, "background")] {
        let labels = seeds.labels().iter().map(|&s| if s == missing { Seed::Unlabelled } else { s }).collect();
        let seeds = Seeds::new(seeds.shape(), labels);
        let error = log_odds(&picture, &seeds, &Options::default(), &|| Ok(())).unwrap_err();
        assert!(matches!(error, Error::MissingStroke { class: named, .. } if named == class), "{error}");
        assert!(stroke_distance(&picture, &seeds, &|| Ok(())).is_err());
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    let (picture, seeds) = two_halves(12, 12);
    let refused = |options: Options| {
        assert!(
            matches!(log_odds(&picture, &seeds, &options, &|| Ok(())), Err(Error::Parameter { .. })),
            "{options:?}"
        );
    };
    refused(Options { components: 0, ..Options::default() });
    for outlier in [-0.1, 1.0, f64::NAN] {
        refused(Options { outlier, ..Options::default() });
    }
    for weight in [-1.0, f64::INFINITY, f64::NAN] {
        refused(fixed(weight));
    }
    let other = Seeds::new(Shape::new(9, 16), vec![Seed::Foreground; 144]);
    assert!(matches!(log_odds(&picture, &other, &fixed(0.0), &|| Ok(())), Err(Error::SizeMismatch { .. })));
}

#[test]
fn geodesic_reads_and_prints_what_the_option_says() {
    for text in ["auto", "0", "2.5"] {
        assert_eq!(text.parse::<Geodesic>().unwrap().to_string(), text);
    }
    for text in ["", "Auto ", "-1", "NaN", "inf", "2,5"] {
        let message = text.parse::<Geodesic>().unwrap_err().to_string();
        assert!(message.ends_with("or auto"), "{message}");
    }
}

#[test]
fn one_pixel_strokes_are_enough() {
    let (picture, _) = two_halves(12, 10);
    let mut labels = vec![Seed::Unlabelled; 120];
    labels[2] = Seed::Foreground;
    labels[9] = Seed::Background;
    let seeds = Seeds::new(picture.shape(), labels);
    for options in [Options::default(), fixed(0.0), Options { outlier: 0.0, ..Options::default() }] {
        let evidence = log_odds(&picture, &seeds, &options, &|| Ok(())).unwrap();
        assert!(evidence.unary.as_slice()[2] < 0.0 && evidence.unary.as_slice()[9] > 0.0);
        assert_eq!(evidence.mixtures.foreground.components(), 1);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (picture, seeds) = two_halves(90, 70);
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| log_odds(&picture, &seeds, &Options::default(), &|| Ok(())).unwrap())
    };
    let one = with_threads(1);
    assert_eq!(one, with_threads(2));
    assert_eq!(one, with_threads(7));
}

/// Small pictures of few colours (often grey) with strokes anywhere: all that makes a fit degenerate.
fn awkward_scene() -> impl Strategy<Value = (Picture, Seeds)> {
    (1_usize..12, 2_usize..12, prop::collection::vec(any::<[u8; 3]>(), 1..4), any::<bool>()).prop_flat_map(
        |(width, height, palette, grey)| {
            let shape = Shape::new(width, height);
            let palette: Vec<_> = palette.iter().map(|&c| if grey { [c[0]; 3] } else { c }).collect();
            let colours = prop::collection::vec(prop::sample::select(palette), shape.n_pixels());
            let seed = prop::sample::select(vec![Seed::Unlabelled, Seed::Background, Seed::Foreground]);
            (colours, prop::collection::vec(seed, shape.n_pixels())).prop_map(move |(colours, mut labels)| {
                labels[0] = Seed::Foreground;
                labels[1] = Seed::Background;
                (Picture::new(shape, colours), Seeds::new(shape, labels))
            })
        },
    )
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn degenerate_strokes_never_fail((picture, seeds) in awkward_scene(), outlier in prop_oneof![Just(0.0), Just(1e-3)]) {
        for geodesic in [Geodesic::Auto, Geodesic::Fixed(0.0)] {
            let options = Options { outlier, geodesic, ..Options::default() };
            let evidence = log_odds(&picture, &seeds, &options, &|| Ok(())).unwrap();
            prop_assert!(evidence.unary.as_slice().iter().all(|m| m.is_finite()));
            prop_assert!(evidence.geodesic.is_finite() && evidence.geodesic >= 0.0);
        }
    }
}
