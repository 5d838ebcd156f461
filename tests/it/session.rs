//! The session: whatever is set in whatever order, its answer is that of a fresh one.

use std::ops::ControlFlow;

use lfield::assemble::{Phi, SeedMode, Theta};
use lfield::session::{Bias, Reach};
use lfield::superpixel::Layer;
use lfield::{Answer, Error, Method, Options, Partition, Picture, Seed, Seeds, Session, Shape, Unary};
use proptest::prelude::*;

const SHAPE: Shape = Shape { width: 12, height: 9 };

/// A disc on a slope.
fn picture() -> Picture {
    let colour = |pixel: usize| {
        let (x, y) = ((pixel % SHAPE.width) as f64, (pixel / SHAPE.width) as f64);
        let noise = (pixel * 37 % 19) as u8;
        if (x - 5.0).hypot(y - 4.0) < 3.0 { [200 - noise, 60, 40] } else { [40 + noise, 90, 140 + 5 * y as u8] }
    };
    Picture::from_rgb(SHAPE, (0..SHAPE.n_pixels()).map(colour).collect()).unwrap()
}

fn seeds(strokes: &[(usize, bool)]) -> Seeds {
    let mut labels = vec![Seed::Unlabelled; SHAPE.n_pixels()];
    for &(pixel, is_foreground) in strokes {
        labels[pixel % SHAPE.n_pixels()] = if is_foreground { Seed::Foreground } else { Seed::Background };
    }
    Seeds::new(SHAPE, labels)
}

fn solve(session: &mut Session) -> lfield::Result<Answer> {
    session.solve(&mut |_| ControlFlow::Continue(()))
}

#[derive(Clone, Debug)]
enum Change {
    Seeds(Vec<(usize, bool)>),
    Unary(u64),
    Partitions(usize),
    Beta(f64),
    Gamma(f64),
    Theta(f64),
    Phi(bool),
    Soft(bool),
    Temperature(f64),
    Bias(f64),
    Area(f64),
    Layers(bool),
    Method(Method),
    Refit(usize),
    Iterations(usize),
    Solve,
    Break(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let strokes = prop::collection::vec((0..108_usize, any::<bool>()), 0..12);
    prop_oneof![
        4 => strokes.prop_map(Change::Seeds),
        1 => any::<u64>().prop_map(Change::Unary),
        1 => (0..3_usize).prop_map(Change::Partitions),
        1 => (0.0..20.0_f64).prop_map(Change::Beta),
        1 => (0.0..5.0_f64).prop_map(Change::Gamma),
        1 => (0.0..0.01_f64).prop_map(Change::Theta),
        1 => any::<bool>().prop_map(Change::Phi),
        1 => any::<bool>().prop_map(Change::Soft),
        1 => (0.2..5.0_f64).prop_map(Change::Temperature),
        1 => (-3.0..3.0_f64).prop_map(Change::Bias),
        1 => (0.0..=1.0_f64).prop_map(Change::Area),
        1 => any::<bool>().prop_map(Change::Layers),
        1 => prop::sample::select(vec![Method::Lfield, Method::Lfield, Method::Unary, Method::MeanField, Method::Fbp])
            .prop_map(Change::Method),
        1 => (0..2_usize).prop_map(Change::Refit),
        1 => prop::sample::select(vec![1, 2000]).prop_map(Change::Iterations),
        6 => Just(Change::Solve),
        1 => (0..20_usize).prop_map(Change::Break),
    ]
}

/// What a fresh session has to be told.
#[derive(Default)]
struct State {
    options: Options,
    seeds: Option<Seeds>,
    unary: Option<Unary>,
    partitions: Vec<Partition>,
}

impl State {
    fn fresh(&self) -> lfield::Result<Answer> {
        let mut session = Session::new(picture(), self.options.clone())?;
        if let Some(seeds) = &self.seeds {
            session.set_seeds(seeds.clone())?;
        }
        if let Some(unary) = &self.unary {
            session.set_unary(unary.clone())?;
        }
        session.set_partitions(self.partitions.clone())?;
        solve(&mut session)
    }

    fn apply(&mut self, session: &mut Session, change: &Change) -> lfield::Result<()> {
        let mut options = self.options.clone();
        match change {
            Change::Seeds(strokes) => {
                self.seeds = Some(seeds(strokes));
                session.set_seeds(seeds(strokes))?;
            }
            Change::Unary(seed) => {
                let cost = |i: u64| ((seed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / 2e6 - 4.0;
                let unary = Unary::new(SHAPE, (0..SHAPE.n_pixels() as u64).map(cost).collect())?;
                self.unary = Some(unary.clone());
                session.set_unary(unary)?;
            }
            Change::Partitions(n) => {
                let stripes = |n: usize| (0..SHAPE.n_pixels()).map(|p| p % SHAPE.width / (n + 2)).collect::<Vec<_>>();
                self.partitions = (0..*n).map(|n| Partition::from_labels(SHAPE, &stripes(n))).collect();
                session.set_partitions(self.partitions.clone())?;
            }
            Change::Beta(beta) => options.model.beta = *beta,
            Change::Gamma(gamma) => options.model.gamma = *gamma,
            Change::Theta(theta) => options.model.theta = Theta::Fixed(*theta),
            Change::Phi(robust) => options.model.phi = if *robust { Phi::Robust(0.3) } else { Phi::Quadratic },
            Change::Soft(soft) => options.model.seeds = if *soft { SeedMode::Soft } else { SeedMode::Hard },
            Change::Temperature(temperature) => options.model.temperature = *temperature,
            Change::Bias(bias) => options.bias = Bias::Fixed(*bias),
            // A rival has no levels to choose from.
            Change::Area(share) if options.method.is_certified() => options.bias = Bias::Area(*share),
            Change::Area(_) => {}
            Change::Layers(one) => {
                options.layers = if *one { vec![Layer::new(3.0, 9.0, 4)?] } else { Options::default().layers };
            }
            Change::Method(method) => {
                options.method = *method;
                if !method.is_certified() && matches!(options.bias, Bias::Area(_)) {
                    options.bias = Bias::Fixed(0.0);
                }
            }
            Change::Refit(rounds) => options.refit = *rounds,
            Change::Iterations(most) => options.solver.max_iterations = *most,
            Change::Solve | Change::Break(_) => {}
        }
        self.options = options.clone();
        session.set_options(options)
    }
}

/// Warm and cold are both within their own bound of the optimum.
fn agree(warm: &Answer, cold: &Answer) -> Result<(), TestCaseError> {
    let (a, b) = (warm.certificate(), cold.certificate());
    if !warm.options().method.is_certified() {
        prop_assert_eq!(warm.log_odds(), cold.log_odds());
        return Ok(());
    }
    // An area is met by any bias between two levels, so they may differ by another constant.
    let apart = if matches!(warm.options().bias, Bias::Area(_)) { (warm.bias() - cold.bias()).abs() } else { 0.0 };
    let most = (a.error_bound + b.error_bound) * (1.0 + 1e-9) + 1e-9 + apart;
    for (x, y) in warm.log_odds().iter().zip(cold.log_odds()) {
        prop_assert!((x - y).abs() <= most, "{} and {}, bounds {} and {}", x, y, a.error_bound, b.error_bound);
    }
    if apart > 0.0 {
        return Ok(());
    }
    prop_assert!(a.log_z_lower <= b.log_z_upper + 1e-6 && b.log_z_lower <= a.log_z_upper + 1e-6);
    prop_assert!(a.map_lower_bound <= b.map_energy + 1e-6 && b.map_lower_bound <= a.map_energy + 1e-6);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_changes_and_solves_agrees_with_a_fresh_session(changes in prop::collection::vec(change(), 1..14)) {
        let mut state = State::default();
        let mut session = Session::new(picture(), Options::default()).unwrap();
        for change in &changes {
            state.apply(&mut session, change).unwrap();
            match change {
                Change::Solve => match (solve(&mut session), state.fresh()) {
                    (Ok(warm), Ok(cold)) => agree(&warm, &cold)?,
                    (warm, cold) => prop_assert_eq!(warm.is_err(), cold.is_err()),
                },
                Change::Break(last) => {
                    let mut n = 0;
                    let answer = session.solve(&mut |_| {
                        n += 1;
                        if n > *last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    });
                    prop_assert!(n <= last + 1, "no event after the break");
                    prop_assert!(n <= *last || matches!(answer, Err(Error::Interrupted)));
                }
                _ => {}
            }
        }
    }
}

#[test]
fn what_did_not_change_is_not_done_again() {
    let mut session = Session::new(picture(), Options::default()).unwrap();
    let strokes = [(52, true), (53, true), (0, false), (11, false), (100, false)];
    session.set_seeds(seeds(&strokes)).unwrap();
    let first = solve(&mut session).unwrap();
    let again = solve(&mut session).unwrap();
    assert_eq!(first.log_odds(), again.log_odds());
    assert_eq!(first.report().solve.seconds, again.report().solve.seconds, "the very same solve");

    let mut options = Options::default();
    options.output.matte = lfield::Matte::Soft;
    session.set_options(options.clone()).unwrap();
    assert_eq!(solve(&mut session).unwrap().report().solve.seconds, first.report().solve.seconds);

    options.model.temperature = 2.0;
    session.set_options(options).unwrap();
    let halved = solve(&mut session).unwrap();
    assert_eq!(halved.iterations(), 0, "the warm start is the solution");
    for (x, y) in first.log_odds().iter().zip(halved.log_odds()).filter(|(x, _)| x.abs() < 1e8) {
        let most = first.certificate().error_bound / 2.0 + halved.certificate().error_bound;
        assert!((x / 2.0 - y).abs() <= most + 1e-12, "{x} {y}");
    }
}

#[test]
fn a_bias_moves_the_solution_and_solves_nothing_again() {
    // What is dropped after the optimum is another matter.
    let plain = || Options { reach: Reach::Off, bias: Bias::Fixed(0.0), ..Options::default() };
    let mut session = Session::new(picture(), plain()).unwrap();
    session.set_seeds(seeds(&[(52, true), (53, true), (0, false), (11, false), (100, false)])).unwrap();
    let first = solve(&mut session).unwrap();
    for bias in [1.5, -2.0] {
        session.set_options(Options { bias: Bias::Fixed(bias), ..plain() }).unwrap();
        let moved = solve(&mut session).unwrap();
        assert_eq!(moved.report().solve.seconds, first.report().solve.seconds, "the very same solve");
        assert!(moved.certificate().map_proved_optimal);
        let free = first.log_odds().into_iter().zip(moved.log_odds()).filter(|(x, _)| x.abs() < 1e8);
        for (x, y) in free {
            let most = first.certificate().error_bound + moved.certificate().error_bound;
            assert!((x - bias - y).abs() <= most, "{x} {y}");
        }
        let sides = moved.mask().as_slice().iter().zip(moved.marginals().as_slice());
        assert!(sides.into_iter().all(|(&inside, &p)| inside == (p > 0.5)));
    }
    // Every level of the path is what its own bias gives.
    let mut options = plain();
    options.output.emit.push(lfield::Output::Path);
    session.set_options(options).unwrap();
    let path = solve(&mut session).unwrap().path().to_vec();
    assert!(path.len() > 3 && path.windows(2).all(|pair| pair[0].area < pair[1].area && pair[0].bias > pair[1].bias));
    for level in path {
        session.set_options(Options { bias: Bias::Fixed(level.bias), ..plain() }).unwrap();
        let answer = solve(&mut session).unwrap();
        let energy = answer.certificate().map_energy - level.bias * level.area as f64;
        assert_eq!((answer.mask().area(), answer.mask().boundary()), (level.area, level.boundary));
        assert!(level.gap < 1e-6 && (energy - level.energy).abs() < 1e-6, "{energy} and {}", level.energy);
        let share = level.area as f64 / SHAPE.n_pixels() as f64;
        session.set_options(Options { bias: Bias::Area(share), ..plain() }).unwrap();
        assert_eq!(solve(&mut session).unwrap().mask().area(), level.area);
    }
}

#[test]
fn the_bias_that_fits_is_a_bias_like_any_other() {
    let mut session = Session::new(picture(), Options::default()).unwrap();
    session.set_seeds(seeds(&[(52, true), (53, true), (0, false), (11, false), (100, false)])).unwrap();
    let fitted = solve(&mut session).unwrap();
    assert_eq!(fitted.fitting_bias(), Some(fitted.bias()));
    session.set_options(Options { bias: Bias::Fixed(fitted.bias()), ..Options::default() }).unwrap();
    let typed = solve(&mut session).unwrap();
    assert_eq!((fitted.mask(), fitted.log_odds()), (typed.mask(), typed.log_odds()));
    assert_eq!(typed.fitting_bias(), Some(fitted.bias()));
    // Another temperature divides the log-odds and leaves the bias as it is.
    let mut options = Options::default();
    options.model.temperature = 4.0;
    session.set_options(options).unwrap();
    let hot = solve(&mut session).unwrap();
    assert_eq!((hot.bias(), hot.mask()), (fitted.bias(), fitted.mask()));
    // Pixels taken alone, and the printed model, have none.
    for options in [Options { method: Method::Unary, ..Options::default() }, Options::default().paper()] {
        session.set_options(options).unwrap();
        assert_eq!(solve(&mut session).unwrap().bias(), 0.0);
    }
}

#[test]
fn a_box_or_clicks_take_the_place_of_strokes() {
    let pixel = |x: usize, y: usize| y * SHAPE.width + x;
    let mut options = Options::default();
    options.marks.frame = Some("1,0,9,8".parse().unwrap());
    let mut session = Session::new(picture(), options.clone()).unwrap();
    let boxed = solve(&mut session).unwrap();
    let inside = |answer: &Answer, x: usize, y: usize| answer.mask().as_slice()[pixel(x, y)];
    assert!(inside(&boxed, 5, 4) && inside(&boxed, 4, 3), "the object is found");
    assert!((0..9).all(|y| !inside(&boxed, 0, y) && !inside(&boxed, 10, y)), "outside the box is background");
    assert_eq!(boxed.report().parameters.frame.as_deref(), Some("1,0,9,8"));

    options.marks.frame = None;
    options.marks.foreground = "5,4".parse().unwrap();
    options.marks.background = "1,1;10,7".parse().unwrap();
    session.set_options(options.clone()).unwrap();
    let clicked = solve(&mut session).unwrap();
    assert!(inside(&clicked, 5, 4) && inside(&clicked, 4, 3) && !inside(&clicked, 10, 7));
    // They come on top of strokes, and go again.
    session.set_seeds(seeds(&[(pixel(5, 4), true), (0, false)])).unwrap();
    assert_eq!(solve(&mut session).unwrap().report().scribbles.background, 1 + 2 * 5);
    session.set_options(Options::default()).unwrap();
    assert_eq!(solve(&mut session).unwrap().report().scribbles.background, 1);
    options.marks.foreground = "12,0".parse().unwrap();
    assert!(session.set_options(options).is_err(), "a click beside the photo");
}

#[test]
fn inputs_of_another_size_are_refused_and_change_nothing() {
    let mut session = Session::new(picture(), Options::default()).unwrap();
    let other = Shape::new(3, 3);
    assert!(matches!(session.set_seeds(Seeds::new(other, vec![Seed::Foreground; 9])), Err(Error::SizeMismatch { .. })));
    assert!(session.set_unary(Unary::new(other, vec![0.0; 9]).unwrap()).is_err());
    assert!(session.set_partitions(vec![Partition::from_labels(other, &[0; 9])]).is_err());
    assert!(matches!(solve(&mut session), Err(Error::MissingStroke { .. })));
    let mut bad = Options::default();
    bad.model.beta = -1.0;
    assert!(session.set_options(bad).is_err());
    session.set_seeds(seeds(&[(52, true), (0, false)])).unwrap();
    assert!(solve(&mut session).is_ok());
}
