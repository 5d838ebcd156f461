//! A submodular function in whole units of a power of two, and its minimum-norm point as fractions.
//!
//! Decomposition (Fujishige 1980, Groenevelt 1991): on n variables with mean α = F(V)/n, minimise F(A) − α|A|. s* < α in the smallest
//! minimiser, s* > α outside the largest, s* = α between; the two outer parts go on by themselves, F on A and F contracted by A.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::flow::Network;

/// F(A) = constant + m(A) + Σ w [p ∈ A ≠ q ∈ A] + Σ h(|A ∩ scope|), in units of 2^`exponent`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) exponent: isize,
    pub(crate) constant: IBig,
    pub(crate) unary: Vec<IBig>,
    pub(crate) edges: Vec<(usize, usize, IBig)>,
    /// A scope, and the gains h(i) − h(i−1), falling.
    pub(crate) tables: Vec<(Vec<usize>, Vec<IBig>)>,
}

/// s* is total/size on each piece.
pub(crate) struct Optimum {
    /// The piece of each variable.
    piece: Vec<usize>,
    /// Size and F(lower pieces ∪ piece) − F(lower pieces).
    pieces: Vec<(usize, IBig)>,
    exponent: isize,
    constant: IBig,
}

/// `whole`·2^`exponent`
pub(crate) fn fraction(whole: IBig, exponent: isize) -> RBig {
    match usize::try_from(exponent) {
        Ok(up) => RBig::from(whole << up),
        Err(_) => RBig::from_parts(whole, UBig::ONE << exponent.unsigned_abs()),
    }
}

/// Mantissa and exponent of a finite double.
pub(crate) fn parts(value: f64) -> (i64, isize) {
    let bits = value.to_bits();
    let raw = (bits >> 52 & 0x7ff) as isize;
    let digits = (bits & ((1 << 52) - 1)) as i64;
    let (mantissa, exponent) = if raw == 0 { (digits, -1074) } else { (digits | 1 << 52, raw - 1075) };
    let spare = if mantissa == 0 { 0 } else { mantissa.trailing_zeros() };
    let sign = if value.is_sign_negative() { -1 } else { 1 };
    (sign * (mantissa >> spare), if mantissa == 0 { 0 } else { exponent + spare as isize })
}

/// Doubles as whole multiples of 2^exponent, the largest exponent that does for all of them but at most 0.
pub(crate) fn whole(values: &[f64]) -> (Vec<IBig>, isize) {
    let exponent = values.iter().map(|&value| parts(value).1).min().unwrap_or(0).min(0);
    let unit = |&value: &f64| {
        let (mantissa, own) = parts(value);
        IBig::from(mantissa) << (own - exponent) as usize
    };
    (values.iter().map(unit).collect(), exponent)
}

impl Function {
    /// F(A)
    pub(crate) fn energy(&self, set: &[bool]) -> IBig {
        let mut energy = self.constant.clone();
        self.terms(set, |term| energy += term);
        energy
    }

    /// The sum of the sizes of what F(A) is the sum of.
    pub(crate) fn magnitude(&self, set: &[bool]) -> IBig {
        let mut magnitude = size(&self.constant);
        self.terms(set, |term| magnitude += size(term));
        magnitude
    }

    /// The sum of the sizes of all numbers of the model.
    pub(crate) fn weight(&self) -> RBig {
        let edges = self.edges.iter().map(|(.., w)| w);
        let gains = self.tables.iter().flat_map(|(_, gains)| gains);
        fraction(self.unary.iter().chain(edges).chain(gains).map(size).sum(), self.exponent)
    }

    fn terms(&self, set: &[bool], mut hear: impl FnMut(&IBig)) {
        (0..set.len()).filter(|&v| set[v]).for_each(|v| hear(&self.unary[v]));
        self.edges.iter().filter(|(p, q, _)| set[*p] != set[*q]).for_each(|(.., w)| hear(w));
        for (scope, gains) in &self.tables {
            let count = scope.iter().filter(|&&v| set[v]).count();
            gains[..count].iter().for_each(&mut hear);
        }
    }

    /// The Lovász extension without the constant, in units of 2^(exponent + exponent of x).
    pub(crate) fn lovasz(&self, x: &[IBig]) -> IBig {
        let mut sum = IBig::ZERO;
        for (x, m) in x.iter().zip(&self.unary) {
            sum += x * m;
        }
        for (p, q, w) in &self.edges {
            sum += size(&(&x[*p] - &x[*q])) * w;
        }
        for (scope, gains) in &self.tables {
            let mut values: Vec<&IBig> = scope.iter().map(|&v| &x[v]).collect();
            values.sort_unstable_by(|a, b| b.cmp(a));
            for (x, gain) in values.into_iter().zip(gains) {
                sum += x * gain;
            }
        }
        sum
    }

    /// s*
    pub(crate) fn minimum_norm(&self) -> Optimum {
        let n = self.unary.len();
        let mut optimum =
            Optimum { piece: vec![0; n], pieces: Vec::new(), exponent: self.exponent, constant: self.constant.clone() };
        let mut open = vec![((0..n).collect::<Vec<_>>(), self.clone())];
        while let Some((variables, function)) = open.pop() {
            if variables.is_empty() {
                continue;
            }
            let total = function.total();
            let (lower, upper) = function.minimisers_below_mean(&total);
            let part = |wanted: &dyn Fn(usize) -> bool| (0..variables.len()).filter(|&i| wanted(i)).collect::<Vec<_>>();
            let level = part(&|i| !lower[i] && upper[i]);
            if !level.is_empty() {
                let (size, all) = (level.len(), variables.len());
                level.iter().for_each(|&i| optimum.piece[variables[i]] = optimum.pieces.len());
                optimum.pieces.push((size, &total * IBig::from(size) / IBig::from(all)));
            }
            // With nothing between, the two outer parts are all there is; with everything between, there are none.
            for (kept, inside) in
                [(part(&|i| lower[i]), vec![false; lower.len()]), (part(&|i| !upper[i]), upper.clone())]
            {
                let names = kept.iter().map(|&i| variables[i]).collect();
                open.push((names, function.conditioned(&kept, &inside)));
            }
        }
        optimum
    }

    /// F(V) − F(∅)
    pub(crate) fn total(&self) -> IBig {
        let tables = self.tables.iter().flat_map(|(_, gains)| gains);
        self.unary.iter().chain(tables).sum()
    }

    /// The smallest and the largest minimiser of F(A) − α|A|, α·n = `total`.
    fn minimisers_below_mean(&self, total: &IBig) -> (Vec<bool>, Vec<bool>) {
        let n = self.unary.len();
        // Twice, for the halves of complete graphs.
        let factor = IBig::from(2 * n);
        let mut network = Network::new();
        let nodes: Vec<usize> = (0..n).map(|_| network.node()).collect();
        let mut costs: Vec<IBig> = self.unary.iter().map(|m| m * &factor - IBig::from(2) * total).collect();
        for (p, q, w) in &self.edges {
            network.arc(nodes[*p], nodes[*q], w * &factor, w * &factor);
        }
        for (scope, gains) in &self.tables {
            let Some((first, last)) = gains.first().zip(gains.last()) else { continue };
            let drops: Vec<IBig> = gains.windows(2).map(|d| &d[0] - &d[1]).collect();
            if drops.windows(2).all(|d| d[0] == d[1]) {
                // h(k) = k (d₁ + d_n)/2 + ½ drop k (n − k)
                scope.iter().for_each(|&v| costs[v] += (first + last) * IBig::from(n));
                for (i, &p) in scope.iter().enumerate().filter(|_| drops.first().is_some_and(|d| *d > IBig::ZERO)) {
                    let weight = &drops[0] * IBig::from(n);
                    scope[i + 1..]
                        .iter()
                        .for_each(|&q| network.arc(nodes[p], nodes[q], weight.clone(), weight.clone()));
                }
                continue;
            }
            // h(k) = k d_n + Σ_j drop_j min(k, j), and min(k, j) is the cheaper side of one more node.
            scope.iter().for_each(|&v| costs[v] += last * &factor);
            for (j, drop) in (1..).zip(&drops).filter(|(_, drop)| **drop > IBig::ZERO) {
                let extra = network.node();
                let weight = drop * &factor;
                network.cost(extra, &weight * IBig::from(j));
                scope.iter().for_each(|&v| network.arc(nodes[v], extra, weight.clone(), IBig::ZERO));
            }
        }
        nodes.iter().zip(costs).for_each(|(&node, cost)| network.cost(node, cost));
        let (smallest, largest) = network.minimum_cuts();
        let of_variables = |side: Vec<bool>| nodes.iter().map(|&node| side[node]).collect();
        (of_variables(smallest), of_variables(largest))
    }

    /// F of the kept variables with the others where `inside` says; the constant goes along.
    pub(crate) fn conditioned(&self, kept: &[usize], inside: &[bool]) -> Self {
        let mut place = vec![None; self.unary.len()];
        kept.iter().enumerate().for_each(|(i, &v)| place[v] = Some(i));
        let inside = |v: usize| place[v].is_none() && inside[v];
        let mut constant = self.constant.clone();
        (0..self.unary.len()).filter(|&v| inside(v)).for_each(|v| constant += &self.unary[v]);
        let mut unary: Vec<IBig> = kept.iter().map(|&v| self.unary[v].clone()).collect();
        let mut edges = Vec::new();
        for (p, q, w) in &self.edges {
            match (place[*p], place[*q]) {
                (Some(p), Some(q)) => edges.push((p, q, w.clone())),
                (Some(free), None) | (None, Some(free)) => {
                    let other = if place[*p].is_none() { *p } else { *q };
                    if inside(other) {
                        unary[free] -= w;
                        constant += w;
                    } else {
                        unary[free] += w;
                    }
                }
                (None, None) if inside(*p) != inside(*q) => constant += w,
                (None, None) => {}
            }
        }
        let mut tables = Vec::new();
        for (scope, gains) in &self.tables {
            let known = scope.iter().filter(|&&v| inside(v)).count();
            gains[..known].iter().for_each(|gain| constant += gain);
            let scope: Vec<usize> = scope.iter().filter_map(|&v| place[v]).collect();
            if !scope.is_empty() {
                let gains = gains[known..known + scope.len()].to_vec();
                tables.push((scope, gains));
            }
        }
        Self { exponent: self.exponent, constant, unary, edges, tables }
    }
}

impl Optimum {
    /// s*
    pub(crate) fn point(&self) -> Vec<RBig> {
        let values: Vec<RBig> = self
            .pieces
            .iter()
            .map(|(size, total)| fraction(total.clone(), self.exponent) / RBig::from(IBig::from(*size)))
            .collect();
        self.piece.iter().map(|&piece| values[piece].clone()).collect()
    }

    /// The sign of s* at a variable.
    pub(crate) fn sign(&self, variable: usize) -> std::cmp::Ordering {
        self.pieces[self.piece[variable]].1.cmp(&IBig::ZERO)
    }

    /// ‖s*‖²
    pub(crate) fn norm(&self) -> RBig {
        let square =
            |(size, total): &(usize, IBig)| fraction(total * total, 2 * self.exponent) / RBig::from(IBig::from(*size));
        self.pieces.iter().map(square).fold(RBig::ZERO, |sum, term| sum + term)
    }

    /// min F in units, = F(∅) + Σ min(s*, 0).
    pub(crate) fn least(&self) -> IBig {
        self.pieces
            .iter()
            .filter(|(_, total)| *total < IBig::ZERO)
            .fold(self.constant.clone(), |sum, (_, total)| sum + total)
    }
}

pub(crate) fn size(value: &IBig) -> IBig {
    if *value < IBig::ZERO { -value } else { value.clone() }
}
