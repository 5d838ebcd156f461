//! The pipeline as a library.

use std::ops::ControlFlow;

use lfield::Error;
use lfield::pipeline::{Event, Input, Options, segment};

use crate::desk::Desk;

fn input(desk: &Desk) -> Input {
    Input { image: desk.path("disc.png"), ..Input::default() }
}

#[test]
fn an_observer_can_stop_a_run_at_every_event() {
    let desk = Desk::with_strokes();
    let mut heard = 0;
    let whole = segment(&input(&desk), &Options::default(), &mut |event| {
        heard += usize::from(!matches!(event, Event::Working));
        ControlFlow::Continue(())
    });
    assert!(whole.is_ok() && heard >= 4);
    for last in 0..heard {
        let mut n = 0;
        let stopped = segment(&input(&desk), &Options::default(), &mut |event| {
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
    segment(&input(&desk), &Options::default(), &mut |event| {
        let letter = match event {
            Event::Read(_) => 'r',
            Event::Assembled(_) => 'a',
            Event::Sweep(_) => 's',
            Event::Solved => 'd',
            Event::Working => return ControlFlow::Continue(()),
        };
        if !heard.ends_with(letter) {
            heard.push(letter);
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(heard, "rasd");
}

#[test]
fn a_last_word_against_it_leaves_nothing_behind() {
    let desk = Desk::with_strokes();
    let options = Options::default();
    let segmentation = segment(&input(&desk), &options, &mut |_| ControlFlow::Continue(())).unwrap();
    std::fs::create_dir(desk.path("out")).unwrap();
    let out = desk.path("out");
    let refused = segmentation.write(&out, &input(&desk), &options, &|| ControlFlow::Break(()));
    assert!(matches!(refused, Err(Error::Interrupted)));
    assert!(desk.names("out").is_empty());
    let written = segmentation.write(&out, &input(&desk), &options, &|| ControlFlow::Continue(())).unwrap();
    assert_eq!(written.files.len(), 4);
    assert_eq!(desk.names("out").len(), 4);
}
