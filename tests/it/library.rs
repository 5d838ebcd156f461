//! The session as a library.

use std::ops::ControlFlow;

use lfield::Error;
use lfield::read::Input;
use lfield::session::{Answer, Event, Observer, Options, Session};
use lfield::store;

use crate::desk::Desk;

fn session(desk: &Desk) -> Session {
    let input = Input { image: desk.path("disc.png"), ..Input::default() };
    Session::read(&input, Options::default(), &|| Ok(())).unwrap()
}

fn segment(desk: &Desk, observer: Observer<'_>) -> lfield::Result<Answer> {
    session(desk).into_answer(observer)
}

#[test]
fn an_observer_can_stop_a_run_at_every_event() {
    let desk = Desk::with_strokes();
    let mut heard = 0;
    let whole = segment(&desk, &mut |event| {
        heard += usize::from(!matches!(event, Event::Working));
        ControlFlow::Continue(())
    });
    assert!(whole.is_ok() && heard >= 4);
    for last in 0..heard {
        let mut n = 0;
        let stopped = segment(&desk, &mut |event| {
            n += usize::from(!matches!(event, Event::Working));
            if n > last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(stopped, Err(Error::Interrupted)), "stopped at event {last}");
    }
}

#[test]
fn events_come_in_the_order_of_the_stages() {
    let desk = Desk::with_strokes();
    let mut heard = String::new();
    segment(&desk, &mut |event| {
        let letter = match event {
            Event::Begun(_) => 'b',
            Event::Working => return ControlFlow::Continue(()),
            Event::Assembled(_) => 'a',
            Event::Sweep(_) | Event::Point(_) => 's',
            Event::Solved => 'd',
        };
        if !heard.ends_with(letter) {
            heard.push(letter);
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(heard, "basd");
}

#[test]
fn points_on_the_way_are_as_near_to_the_answer_as_their_gap_says() {
    let desk = Desk::enlarged(3);
    let (mut gap, mut points) = (f64::NAN, Vec::new());
    let mut session = session(&desk);
    let mut options = session.options().clone();
    (options.model.beta, options.solver.tolerance) = (40.0, 1e-9);
    // Points on the way have no bias yet.
    options.bias = lfield::session::Bias::Fixed(0.0);
    session.set_options(options).unwrap();
    let answer = session.into_answer(&mut |event| {
        match event {
            Event::Sweep(progress) => gap = progress.gap,
            Event::Point(iterate) => points.push((gap, iterate.log_odds())),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    let answer = answer.unwrap();
    let last = answer.log_odds();
    assert!(points.len() >= 2, "{}", points.len());
    for (gap, point) in &points {
        let within = (2.0 * gap.max(0.0)).sqrt() + answer.certificate().error_bound + 1e-9;
        assert_eq!(point.len(), last.len());
        assert!(point.iter().zip(&last).all(|(x, y)| (x - y).abs() <= within), "gap {gap}");
    }
}

#[test]
fn a_session_that_was_prepared_gives_the_same_answer() {
    let desk = Desk::with_strokes();
    let mut prepared = session(&desk);
    let refused = prepared.prepare(&mut |_| ControlFlow::Break(()));
    assert!(matches!(refused, Ok(()) | Err(Error::Interrupted)));
    prepared.prepare(&mut |_| ControlFlow::Continue(())).unwrap();
    let answer = prepared.into_answer(&mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(answer.log_odds(), segment(&desk, &mut |_| ControlFlow::Continue(())).unwrap().log_odds());
}

#[test]
fn a_last_word_against_it_leaves_nothing_behind() {
    let desk = Desk::with_strokes();
    let answer = segment(&desk, &mut |_| ControlFlow::Continue(())).unwrap();
    std::fs::create_dir(desk.path("out")).unwrap();
    let out = desk.path("out");
    let refused = store::write(&answer, &out, &|| ControlFlow::Break(()));
    assert!(matches!(refused, Err(Error::Interrupted)));
    assert!(desk.names("out").is_empty());
    let written = store::write(&answer, &out, &|| ControlFlow::Continue(())).unwrap();
    assert_eq!(written.files.len(), 4);
    assert_eq!(desk.names("out").len(), 4);
}
