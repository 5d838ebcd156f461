//! Small photos, strokes, costs and options through the whole program, from files to a report whose numbers are all numbers.
#![no_main]

use std::ops::ControlFlow;
use std::path::PathBuf;

use arbitrary::{Result, Unstructured};
use lfield::assemble::{HopScale, Phi, SeedMode, Theta};
use lfield::read::{EvidenceFile, Format, Input};
use lfield::session::{Method, Options, Output, Session};
use lfield::solver::SolverKind;
use lfield::store;
use lfield::unary::Geodesic;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    lfield_fuzz::alone();
    let u = &mut Unstructured::new(bytes);
    if let (Ok(input), Ok(options)) = (input(u), options(u)) {
        run(&input, &options);
    }
});

fn input(u: &mut Unstructured<'_>) -> Result<Input> {
    let (width, height) = (u.int_in_range(1..=6)?, u.int_in_range(1..=5)?);
    let n = width * height;
    let few = u.arbitrary::<bool>()?;
    let mut photo = format!("P6 {width} {height} 255\n").into_bytes();
    for _ in 0..3 * n {
        let value = u.arbitrary::<u8>()?;
        photo.push(if few { value & 0xc0 } else { value });
    }
    let mut strokes = format!("P5 {width} {height} 255\n").into_bytes();
    for _ in 0..n {
        strokes.push([0, 0, 128, 255][usize::from(u.arbitrary::<u8>()? % 4)]);
    }
    let evidence = match u.arbitrary::<u8>()? % 3 {
        0 => None,
        1 => Some(EvidenceFile::Unary(array("m.npy", width, height, || lfield_fuzz::cost(u))?)),
        _ => {
            let p = || Ok(f64::from(u.arbitrary::<u8>()?) / 255.0);
            Some(EvidenceFile::Prior(array("p.npy", width, height, p)?))
        }
    };
    Ok(Input {
        image: lfield_fuzz::file("a.ppm", &photo),
        scribbles: Some(lfield_fuzz::file("a.scribbles.pgm", &strokes)),
        format: Format::Labels,
        evidence,
        ..Input::default()
    })
}

fn array(name: &str, width: usize, height: usize, mut value: impl FnMut() -> Result<f64>) -> Result<PathBuf> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({height}, {width}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for _ in 0..width * height {
        bytes.extend(value()?.to_le_bytes());
    }
    Ok(lfield_fuzz::file(name, &bytes))
}

fn options(u: &mut Unstructured<'_>) -> Result<Options> {
    let mut options = Options::default();
    if u.arbitrary()? {
        options = options.paper();
    }
    options.method = *u.choose(&[
        Method::Lfield,
        Method::Lfield,
        Method::Lfield,
        Method::Unary,
        Method::MeanField,
        Method::Bp,
        Method::Fbp,
    ])?;
    options.model.alpha = weight(u)?;
    options.model.beta = weight(u)?;
    options.model.gamma = weight(u)?;
    options.model.theta = *u.choose(&[Theta::Auto, Theta::Fixed(0.0), Theta::Fixed(0.001), Theta::Fixed(1e9)])?;
    options.model.phi = *u.choose(&[Phi::Quadratic, Phi::Robust(0.1), Phi::Robust(0.5)])?;
    options.model.hop_scale = *u.choose(&[HopScale::Size, HopScale::Paper])?;
    options.model.seeds = *u.choose(&[SeedMode::Hard, SeedMode::Soft])?;
    options.model.temperature = *u.choose(&[1.0, 1e-6, 1e6, 0.3])?;
    options.unary.geodesic = *u.choose(&[Geodesic::Auto, Geodesic::Fixed(0.0), Geodesic::Fixed(3.0)])?;
    options.unary.outlier = *u.choose(&[0.0, 1e-3, 0.9])?;
    options.solver.solver = *u.choose(&[SolverKind::Accelerated, SolverKind::MinNorm, SolverKind::DivideConquer])?;
    options.solver.max_iterations = u.int_in_range(0..=40)?;
    options.rival.max_iterations = options.solver.max_iterations;
    options.fit_temperature = options.method.is_certified() && u.ratio(1_u8, 8_u8)?;
    options.output.emit = vec![Output::Report, Output::Trace, Output::Mask, Output::Trimap, Output::LogOddsArray];
    Ok(options)
}

/// What `--alpha` and its kind accept: nothing, or a number up to a billion.
fn weight(u: &mut Unstructured<'_>) -> Result<f64> {
    Ok(lfield_fuzz::weight(u)?.min(1e9))
}

fn run(input: &Input, options: &Options) {
    let go_on = || ControlFlow::Continue(());
    let session = Session::read(input, options.clone(), &|| Ok(()));
    let answer = match session.and_then(|session| session.into_answer(&mut |_| go_on())) {
        Ok(answer) => answer,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert!(answer.marginals().as_slice().iter().all(|p| (0.0..=1.0).contains(p)));
    assert!(answer.log_odds().iter().all(|x| !x.is_nan()));
    let folder = lfield_fuzz::folder().join("out");
    let written = store::write(&answer, &folder, &go_on).expect("there is room for a few files");
    for file in &written.files {
        if file.extension().is_some_and(|extension| extension == "json") {
            let text = std::fs::read_to_string(file).expect("the report was written");
            check(&serde_json::from_str(&text).expect("a report is JSON"));
        }
        std::fs::remove_file(file).expect("an output was written");
    }
}

/// What a report may not say, whatever the model.
fn check(report: &Value) {
    let number = |path: &str| report.pointer(path).and_then(Value::as_f64);
    for path in ["/solve/gap", "/map/gap", "/marginals/error_bound"] {
        assert!(number(path).is_none_or(|value| value >= 0.0), "{path}: {report}");
    }
    for path in ["/marginals/min", "/marginals/max", "/marginals/mean"] {
        assert!(number(path).is_some_and(|value| (0.0..=1.0).contains(&value)), "{path}: {report}");
    }
}
