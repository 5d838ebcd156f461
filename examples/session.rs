//! A photo and strokes from memory, one more stroke, and what each answer proves: `cargo run --release --example session`.

use std::ops::ControlFlow;

use lfield::{Format, Limits, Options, Picture, Seed, Seeds, Session};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (photo, strokes) = (std::fs::read("data/beetle.png")?, std::fs::read("data/beetle.scribbles.png")?);
    let limits = Limits::default();
    let picture = Picture::decode(&photo, &limits)?;
    let seeds = Seeds::decode(&strokes, Format::Auto, &picture, &limits)?;
    let shape = picture.shape();

    let mut session = Session::new(picture, Options::default())?;
    session.set_seeds(seeds.clone())?;
    let first = session.solve(&mut |_| ControlFlow::Continue(()))?;

    // A stroke along the top edge says: background.
    let mut labels = seeds.labels().to_vec();
    labels[..3 * shape.width].fill(Seed::Background);
    session.set_seeds(Seeds::new(shape, labels))?;
    let second = session.solve(&mut |_| ControlFlow::Continue(()))?;

    for (name, answer) in [("cold", &first), ("one stroke more, warm", &second)] {
        let certificate = answer.certificate();
        println!(
            "{name}: {} of {} pixels inside after {} sweeps; gap {:.1e}, log Z between {:.2} and {:.2}",
            answer.mask().area(),
            shape.n_pixels(),
            answer.iterations(),
            certificate.gap,
            certificate.log_z_lower,
            certificate.log_z_upper
        );
    }
    Ok(())
}
