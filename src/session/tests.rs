//! Stopping: whichever call of the observer breaks, nothing is computed after it, and the session is as good as new.

use std::ops::ControlFlow;

use super::observe::N_CHECKPOINTS;
use super::*;
use crate::grid::Seed;
use crate::solver::SolverKind;

/// A disc in front of noise, with a stroke on it and two around it.
fn session(options: &Options) -> Session {
    let shape = Shape::new(96, 80);
    let is_disc = |x: usize, y: usize| x.abs_diff(48).pow(2) + y.abs_diff(40).pow(2) < 24 * 24;
    let noise = |x: usize, y: usize| ((x * 7919 + y * 104_729) % 64) as u8;
    let colour = |(x, y)| if is_disc(x, y) { [180, 60 + noise(x, y), 40] } else { [60, 90 + noise(y, x), 120] };
    let stroke = |place| match place {
        (40..56, 38..42) => Seed::Foreground,
        (4..92, 4..8) | (4..92, 72..76) => Seed::Background,
        _ => Seed::Unlabelled,
    };
    let places = || (0..shape.n_pixels()).map(|pixel| (pixel % shape.width, pixel / shape.width));
    let picture = Picture::new(shape, places().map(colour).collect());
    let mut session = Session::new(picture, options.clone()).unwrap();
    session.set_seeds(Seeds::new(shape, places().map(stroke).collect())).unwrap();
    session
}

/// Solves until the observer has been called `last` times, and breaks at the next call. How often it was called, and how many
/// checkpoints there were after the break.
fn run(session: &mut Session, last: usize) -> (Result<Answer>, usize, usize) {
    let (mut n_calls, mut at_break) = (0, None);
    let result = session.solve(&mut |_| {
        n_calls += 1;
        if n_calls <= last {
            return ControlFlow::Continue(());
        }
        assert!(at_break.replace(N_CHECKPOINTS.get()).is_none(), "called again after the break");
        ControlFlow::Break(())
    });
    assert_eq!(matches!(result, Err(Error::Interrupted)), at_break.is_some());
    let after = at_break.map_or(0, |at_break| N_CHECKPOINTS.get() - at_break);
    (result, n_calls, after)
}

#[test]
fn every_call_can_stop_every_method_and_the_next_solve_is_that_of_a_fresh_session() {
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
    // One thread, so that the same call is always at the same place, and every checkpoint on the thread that counts them.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for options in cases {
        let (whole, n_calls, _) = pool.install(|| run(&mut session(&options), usize::MAX));
        let whole = whole.unwrap();
        assert!(n_calls > 100, "{n_calls}");
        let mut n_stopped = 0;
        let places: Vec<usize> = (0..n_calls).step_by(n_calls / 24).chain([1, n_calls / 2, n_calls - 1]).collect();
        for &last in &places {
            let mut session = session(&options);
            let (result, _, after) = pool.install(|| run(&mut session, last));
            // The stage beside it, and a neighbouring piece of work each, are told so themselves.
            assert!(after <= 4, "{after} checkpoints after the break at {last} of {n_calls}");
            // While a fit of colours runs the clock decides how often it asks, so a late call may not come up again.
            n_stopped += usize::from(result.is_err());
            let (next, ..) = pool.install(|| run(&mut session, usize::MAX));
            let next = next.unwrap();
            assert!(next.log_odds() == whole.log_odds() && next.mask() == whole.mask(), "broken at {last}");
        }
        assert!(4 * n_stopped > places.len(), "{n_stopped} of {}", places.len());
    }
}
