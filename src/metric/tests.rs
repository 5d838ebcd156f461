use proptest::prelude::*;

use super::*;

/// A photo of 6×5 pixels from one draw per pixel: level of p, truth, stroke.
fn photo(draws: &[(u8, u8, u8)]) -> (Marginals, Mask, Truth, Seeds) {
    let shape = Shape::new(6, 5);
    let p: Vec<f64> = draws.iter().map(|&(level, ..)| f64::from(level) / 8.0).collect();
    let mask = Mask::new(shape, p.iter().map(|&p| p > 0.5).collect());
    let truth = draws.iter().map(|&(_, truth, _)| [Some(true), Some(false), Some(false), None][usize::from(truth)]);
    let seed = |&(.., seed): &(u8, u8, u8)| match seed {
        0 => Seed::Foreground,
        1 => Seed::Background,
        _ => Seed::Unlabelled,
    };
    let truth = Truth::new(shape, truth.collect());
    (Marginals::new(shape, p).unwrap(), mask, truth, Seeds::new(shape, draws.iter().map(seed).collect()))
}

fn draws() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    proptest::collection::vec((0_u8..=8, 0_u8..4, 0_u8..6), 30)
}

/// AUC by trying every pair.
fn pairs(p: &[f64], truth: &Truth, counts: impl Fn(usize) -> bool) -> Option<f64> {
    let of = |class| (0..p.len()).filter(|&v| counts(v) && truth.labels()[v] == Some(class)).collect::<Vec<_>>();
    let (foreground, background) = (of(true), of(false));
    let won = foreground.iter().flat_map(|&v| background.iter().map(move |&w| (v, w)));
    let won: f64 = won
        .map(|(v, w)| {
            if p[v] > p[w] {
                1.0
            } else if p[v] == p[w] {
                0.5
            } else {
                0.0
            }
        })
        .sum();
    let all = (foreground.len() * background.len()) as f64;
    (all > 0.0).then(|| won / all)
}

proptest! {
    #[test]
    fn every_area_is_the_rank_statistic_of_its_pixels(draws in draws()) {
        let (marginals, mask, truth, seeds) = photo(&draws);
        let widths = [1, 2, 3];
        let judgement = Judge::new(&truth, Some(&seeds), &widths).judge(marginals.as_slice(), &marginals, &mask);
        let p = marginals.as_slice();
        let free = |v: usize| seeds.labels()[v] == Seed::Unlabelled;
        let Scores { degenerate, unlabelled, all_pixels } = &judgement.scores;
        prop_assert_eq!(unlabelled.figures.auc, pairs(p, &truth, free));
        prop_assert_eq!(all_pixels.figures.auc, pairs(p, &truth, |_| true));
        prop_assert_eq!(*degenerate, unlabelled.figures.auc.is_none());
        let bands = boundary::bands(&truth, &widths);
        for (i, (near, near_all)) in unlabelled.trimap.iter().zip(&all_pixels.trimap).enumerate() {
            let inside = |v: usize| usize::from(bands[v]) <= i;
            prop_assert_eq!(near.auc, pairs(p, &truth, |v| inside(v) && free(v)));
            prop_assert_eq!(near_all.auc, pairs(p, &truth, inside));
        }
    }

    #[test]
    fn strokes_and_open_pixels_do_not_count(draws in draws(), other in draws()) {
        let mixed: Vec<_> = draws.iter().zip(&other).map(|(&(level, truth, seed), &(another, ..))| {
            (if truth == 3 || seed < 2 { another } else { level }, truth, seed)
        }).collect();
        let scores = |draws: &[_]| {
            let (marginals, mask, truth, seeds) = photo(draws);
            let mut figures = Scores::of(&marginals, &mask, &truth, Some(&seeds)).unlabelled;
            // An outline reaches under a stroke: boundary F looks at neighbours.
            figures.figures.boundary_f = None;
            figures
        };
        prop_assert_eq!(scores(&draws), scores(&mixed));
    }

    #[test]
    fn scores_survive_their_file(draws in draws()) {
        let (marginals, mask, truth, seeds) = photo(&draws);
        let judgement = Judge::new(&truth, Some(&seeds), &WIDTHS).judge(marginals.as_slice(), &marginals, &mask);
        let text = serde_json::to_string(&judgement).unwrap();
        prop_assert_eq!(serde_json::from_str::<Judgement>(&text).unwrap(), judgement);
    }
}

#[test]
fn the_truth_itself_scores_full_marks() {
    let draws: Vec<(u8, u8, u8)> = (0..30).map(|v| if v % 6 < 3 { (8, 0, 5) } else { (0, 1, 5) }).collect();
    let (marginals, mask, truth, seeds) = photo(&draws);
    let figures = Scores::of(&marginals, &mask, &truth, Some(&seeds)).unlabelled.figures;
    let Figures { auc, auct, iou, f1, boundary_f, error, brier, ece, entropy, overconfident } = figures;
    assert_eq!([auc, auct, iou, f1, boundary_f], [Some(1.0); 5]);
    assert_eq!([error, brier, ece, entropy], [Some(0.0); 4]);
    assert_eq!(overconfident, None);
}

#[test]
fn figures_keep_their_places() {
    let values: [Option<f64>; Figures::COUNT] = std::array::from_fn(|i| (i % 3 > 0).then_some(i as f64));
    let figures = Figures::from_values(values);
    assert_eq!(figures.values(), values);
    let object = serde_json::to_value(figures).unwrap();
    for (name, value) in Figures::NAMES.into_iter().zip(values) {
        assert_eq!(object[name].as_f64(), value, "{name}");
    }
}

#[test]
fn a_truth_of_one_class_is_reported_and_left_out_of_the_means() {
    let separable: Vec<_> = (0..30).map(|v| if v < 10 { (8, 0, 5) } else { (v % 8, 1, 5) }).collect();
    let half: Vec<_> = (0..30).map(|v| (4, v % 2, 5)).collect();
    let empty: Vec<_> = (0..30).map(|_| (6, 1, 5)).collect();
    let scores: Vec<Scores> = [&separable, &half, &empty]
        .map(|draws| photo(draws))
        .iter()
        .map(|(marginals, mask, truth, seeds)| Scores::of(marginals, mask, truth, Some(seeds)))
        .collect();
    assert_eq!(scores.iter().map(|s| s.degenerate).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(scores[2].unlabelled.figures.auc, None);
    let summary = Summary::of(&scores);
    assert_eq!((summary.photos, summary.degenerate), (2, 1));
    assert_eq!(summary.unlabelled.mean.auc, Some(0.75));
    assert!((summary.unlabelled.sd.auc.unwrap() - 0.125_f64.sqrt()).abs() < 1e-15);
    assert_eq!(Summary::of(&[]).unlabelled.mean, Figures::default());
    assert_eq!(Summary::of(&scores[..1]).unlabelled.sd, Figures::default());
}
