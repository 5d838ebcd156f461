//! Squared Euclidean distance of every pixel to the nearest marked one, exactly, in whole numbers.
//!
//! Meijster, Roerdink and Hesselink (2000): the distance within each column first, then the lower envelope of the parabolas
//! (x − i)² + g(i)² along each row. Linear in the pixels.

use super::Shape;

/// Squared distances, row by row; `None` everywhere when nothing is marked.
pub(crate) fn squared_distances(shape: Shape, marked: &[bool]) -> Option<Vec<u64>> {
    if !marked.contains(&true) {
        return None;
    }
    let Shape { width, height } = shape;
    let far = (width + height) as u64;
    let mut columns = vec![far; marked.len()];
    for x in 0..width {
        let mut nearest = far;
        for y in (0..height).chain((0..height).rev()) {
            let pixel = y * width + x;
            nearest = if marked[pixel] { 0 } else { (nearest + 1).min(far) };
            columns[pixel] = columns[pixel].min(nearest);
        }
    }
    let mut squared = Vec::with_capacity(marked.len());
    let (mut centres, mut starts) = (Vec::new(), Vec::new());
    for row in columns.chunks(width) {
        envelope(row, &mut centres, &mut starts);
        let mut piece = 0;
        for x in 0..width {
            while piece + 1 < centres.len() && starts[piece + 1] <= x as i64 {
                piece += 1;
            }
            squared.push(parabola(row, centres[piece], x as i64) as u64);
        }
    }
    Some(squared)
}

/// The centres of the parabolas that are lowest somewhere, from left to right, and where each begins to be.
fn envelope(row: &[u64], centres: &mut Vec<usize>, starts: &mut Vec<i64>) {
    centres.clear();
    starts.clear();
    for u in 0..row.len() {
        while let (Some(&centre), Some(&start)) = (centres.last(), starts.last()) {
            if parabola(row, centre, start) <= parabola(row, u, start) {
                break;
            }
            centres.pop();
            starts.pop();
        }
        let start = centres.last().map_or(0, |&centre| takes_over(row, centre, u));
        if start < row.len() as i64 {
            centres.push(u);
            starts.push(start);
        }
    }
}

fn parabola(row: &[u64], centre: usize, x: i64) -> i64 {
    (x - centre as i64).pow(2) + (row[centre] as i64).pow(2)
}

/// The first place where the parabola at `right` is strictly below the one at `left`.
fn takes_over(row: &[u64], left: usize, right: usize) -> i64 {
    let (l, r) = (left as i64, right as i64);
    let (gl, gr) = (row[left] as i64, row[right] as i64);
    (r * r - l * l + gr * gr - gl * gl).div_euclid(2 * (r - l)) + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slow(shape: Shape, marked: &[bool]) -> Option<Vec<u64>> {
        let place = |pixel: usize| ((pixel % shape.width) as i64, (pixel / shape.width) as i64);
        let squared = |a: usize, b: usize| {
            let ((ax, ay), (bx, by)) = (place(a), place(b));
            ((ax - bx).pow(2) + (ay - by).pow(2)) as u64
        };
        let all = || 0..marked.len();
        all().map(|a| all().filter(|&b| marked[b]).map(|b| squared(a, b)).min()).collect()
    }

    proptest! {
        #[test]
        fn distances_are_those_of_trying_every_pair(
            (width, height, marked) in (1_usize..12, 1_usize..12, 1_u32..20).prop_flat_map(|(width, height, rarity)| {
                let mark = (0..rarity).prop_map(|draw| draw == 0);
                (Just(width), Just(height), proptest::collection::vec(mark, width * height))
            })
        ) {
            let shape = Shape::new(width, height);
            prop_assert_eq!(squared_distances(shape, &marked), slow(shape, &marked));
        }
    }
}
