use proptest::prelude::*;

use super::*;
use crate::grid::{Seed, Shape};
use crate::unary::gmm;

const SHAPE: Shape = Shape { width: 60, height: 40 };

/// A reddish rectangle on green, both with some noise.
fn photo() -> Picture {
    let colour = |pixel: usize| {
        let noise = (pixel * 2_654_435_761 % 31) as u8;
        if is_object(pixel) { [150 + noise, 60, 50 + noise / 2] } else { [60, 130 + noise, 70 - noise / 2] }
    };
    Picture::new(SHAPE, (0..SHAPE.n_pixels()).map(colour).collect())
}

fn is_object(pixel: usize) -> bool {
    let (x, y) = (pixel % SHAPE.width, pixel / SHAPE.width);
    (15..45).contains(&x) && (10..30).contains(&y)
}

/// Costs of a network that says `logit` inside a set and minus that elsewhere.
fn network(logit: f64, inside: impl Fn(usize) -> bool) -> Unary {
    let cost = |pixel: usize| if inside(pixel) { -logit } else { logit };
    Unary::new(SHAPE, (0..SHAPE.n_pixels()).map(cost).collect()).unwrap()
}

fn weighed(network: &Unary, options: &Options) -> (Unary, Fit) {
    weigh(&photo(), network, options, 0, &|| Ok(())).unwrap()
}

/// The object moved right and down by so many pixels.
fn moved(by: usize) -> impl Fn(usize) -> bool {
    move |pixel| {
        let (x, y) = (pixel % SHAPE.width, pixel / SHAPE.width);
        x >= by && y >= by && is_object((y - by) * SHAPE.width + x - by)
    }
}

#[test]
fn switched_off_the_costs_are_the_networks_own() {
    let given = network(3.7, moved(4));
    let (costs, fit) = weighed(&given, &Options::OFF);
    assert_eq!(costs, given);
    assert_eq!(fit, Fit { clip: 0.0, temperature: 1.0, colour: 0.0, trust: 1.0 });
}

#[test]
fn the_cost_is_the_printed_formula() {
    let given = network(5.0, moved(3));
    let options = Options { clip: Setting::Fixed(0.1), temperature: Setting::Fixed(2.0), colour: Setting::Fixed(0.25) };
    let (costs, fit) = weighed(&given, &options);
    assert_eq!(fit, Fit { clip: 0.1, temperature: 2.0, colour: 0.25, trust: 1.0 });
    let colours = learn(&photo(), &given, 0, &|| Ok(())).unwrap().unwrap();
    let photo = photo();
    for (pixel, &m) in costs.as_slice().iter().enumerate() {
        let logit = (-given.as_slice()[pixel] / 2.0).clamp(-(9.0_f64.ln()), 9.0_f64.ln());
        let rgb = gmm::unit(photo.rgb()[pixel]);
        let density = |class: &crate::unary::Mixture| class.log_density_with_outliers(rgb, OUTLIER);
        let expected = -logit - 0.25 * (density(&colours.foreground) - density(&colours.background));
        assert!((m - expected).abs() < 1e-12, "{m} {expected}");
    }
}

#[test]
fn a_network_that_is_wrong_is_trusted_less_than_one_that_is_right() {
    let (_, right) = weighed(&network(30.0, is_object), &Options::default());
    let (_, wrong) = weighed(&network(30.0, moved(8)), &Options::default());
    assert!(right.clip < wrong.clip, "{right:?} {wrong:?}");
    assert!(right.trust > 10.0 && wrong.trust < right.trust, "{right:?} {wrong:?}");
    // Timid and right: the logits grow.
    let (_, timid) = weighed(&network(0.3, is_object), &Options::default());
    assert!(timid.temperature < 0.5, "{timid:?}");
}

#[test]
fn colours_put_a_misplaced_mask_right() {
    let (costs, fit) =
        weighed(&network(30.0, moved(4)), &Options { colour: Setting::Fixed(1.0), ..Options::default() });
    assert_eq!(fit.colour, 1.0);
    let n_wrong = (0..SHAPE.n_pixels()).filter(|&pixel| (costs.as_slice()[pixel] < 0.0) != is_object(pixel)).count();
    let before = (0..SHAPE.n_pixels()).filter(|&pixel| moved(4)(pixel) != is_object(pixel)).count();
    assert!(2 * n_wrong < before, "{n_wrong} of {before} are left");
}

#[test]
fn a_network_that_sees_one_class_only_is_left_alone() {
    for logit in [-2.0, 2.0, 0.0] {
        let given = network(logit, |_| true);
        let (costs, fit) = weighed(&given, &Options::default());
        assert_eq!(costs, given);
        assert_eq!(fit, Fit { clip: 0.0, temperature: 1.0, colour: 0.0, trust: 1.0 });
    }
}

#[test]
fn the_examples_are_the_inside_of_a_mask() {
    let examples = example::surest(&network(30.0, moved(3)), &|| Ok(())).unwrap().unwrap();
    let of = |class| (0..SHAPE.n_pixels()).filter(|&pixel| examples.labels()[pixel] == class).collect::<Vec<_>>();
    let (foreground, background) = (of(Seed::Foreground), of(Seed::Background));
    let n_object = (0..SHAPE.n_pixels()).filter(|&pixel| is_object(pixel)).count();
    assert!((n_object / 2..=n_object).contains(&foreground.len()), "{} of {n_object}", foreground.len());
    assert!(background.len() >= (SHAPE.n_pixels() - n_object) / 2);
    // Three rows and three columns are green under the mask, all at its border.
    let n_green = n_object - (0..SHAPE.n_pixels()).filter(|&pixel| is_object(pixel) && moved(3)(pixel)).count();
    let taken = foreground.iter().filter(|&&pixel| !is_object(pixel)).count();
    assert!(2 * taken * n_object < n_green * foreground.len(), "{taken} of {}", foreground.len());
}

/// Σ log(q p_fg + (1−q) p_bg), pixel by pixel.
fn likelihood_reference(photo: &Picture, network: &Unary, colours: &Mixtures, temperature: f64, clip: f64) -> f64 {
    let pixels = photo.rgb().iter().zip(network.as_slice());
    let term = |(&rgb, m): (&[u8; 3], &f64)| {
        let colour = gmm::unit(rgb);
        let q = (1.0 / (1.0 + (m / temperature).exp())).max(clip).min(1.0 - clip);
        let density = |class: &crate::unary::Mixture| (1.0 - OUTLIER) * class.log_density(colour).exp() + OUTLIER;
        (q * density(&colours.foreground) + (1.0 - q) * density(&colours.background)).ln()
    };
    pixels.map(term).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn no_other_setting_makes_the_colours_likelier(logit in 0.2..20.0, by in 0_usize..10) {
        let (photo, given) = (photo(), network(logit, moved(by)));
        let colours = learn(&photo, &given, 0, &|| Ok(())).unwrap().unwrap();
        let (temperature, clip) = likelihood::fit(&photo, &given, &colours, &Options::default());
        let found = likelihood_reference(&photo, &given, &colours, temperature, clip);
        for other in likelihood::TEMPERATURES {
            for slip in likelihood::CLIPS {
                let likelihood = likelihood_reference(&photo, &given, &colours, other, slip);
                prop_assert!(likelihood <= found + 1e-9 * found.abs(), "{other} {slip} against {temperature} {clip}");
            }
        }
    }

    #[test]
    fn the_outline_is_measured_as_printed(by in 0_usize..8, logit in prop_oneof![Just(-1.0), Just(4.0)]) {
        let (photo, given) = (photo(), network(logit, moved(by)));
        let difference = |p: usize, q: usize| {
            (0..3).map(|i| (f64::from(photo.rgb()[p][i]) - f64::from(photo.rgb()[q][i])).powi(2)).sum::<f64>().sqrt()
        };
        let (width, height) = (SHAPE.width, SHAPE.height);
        let at = |x: usize, y: usize| {
            let mut values = Vec::new();
            if x + 1 < width { values.push(difference(y * width + x, y * width + x + 1)); }
            if y + 1 < height { values.push(difference(y * width + x, (y + 1) * width + x)); }
            if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
        };
        let around = |x: usize, y: usize| {
            let (mut sum, mut count) = (0.0, 0.0);
            for v in y.saturating_sub(4)..(y + 5).min(height) {
                for u in x.saturating_sub(4)..(x + 5).min(width) {
                    sum += at(u, v);
                    count += 1.0;
                }
            }
            sum / count
        };
        let inside = |pixel: usize| given.as_slice()[pixel] < 0.0;
        let mut ratios = Vec::new();
        for y in 0..height {
            for x in 0..width {
                let pixel = y * width + x;
                for other in [(x + 1 < width).then_some(pixel + 1), (y + 1 < height).then_some(pixel + width)].into_iter().flatten() {
                    if inside(pixel) != inside(other) {
                        ratios.push((difference(pixel, other) + 1.0) / (around(x, y) + 1.0));
                    }
                }
            }
        }
        let expected = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let found = outline::following(&photo, &given, &|| Ok(())).unwrap();
        prop_assert!((found - expected).abs() < 1e-4 * expected, "{found} {expected}");
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let given = network(4.0, moved(5));
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| weighed(&given, &Options::default()))
    };
    assert_eq!(with_threads(1), with_threads(3));
}

#[test]
fn settings_are_read_and_refused() {
    assert_eq!("auto".parse::<Setting>().unwrap(), Setting::Auto);
    assert_eq!("0.25".parse::<Setting>().unwrap(), Setting::Fixed(0.25));
    assert!("much".parse::<Setting>().is_err());
    let (auto, with) = (Options::default(), Setting::Fixed);
    for (options, name) in [
        (Options { clip: with(0.5), ..auto }, "prior-clip"),
        (Options { clip: with(f64::NAN), ..auto }, "prior-clip"),
        (Options { temperature: with(0.0), ..auto }, "prior-temperature"),
        (Options { temperature: with(f64::INFINITY), ..auto }, "prior-temperature"),
        (Options { colour: with(-1.0), ..auto }, "prior-colour"),
    ] {
        let message = options.check().unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
    assert!(auto.check().is_ok() && Options::OFF.check().is_ok());
}
