//! How a cost grows with a size: the exponent of the power that fits.

/// A cost below this many times what the smallest session costs says more of the start than of the session.
const OVER_BASE: f64 = 1.5;

/// The fewest points that make a line worth believing.
const FEWEST: usize = 3;

/// The exponent with which costs grow, by least squares over the logarithms of the last points; none where too few of them
/// stand out from what the smallest session costs by `floor` or more.
pub(super) fn exponent(points: &[(f64, f64)], floor: f64) -> Option<f64> {
    let base = points.iter().map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
    let telling = |&&(_, cost): &&(f64, f64)| cost - base >= floor && cost >= base * OVER_BASE;
    let telling: Vec<(f64, f64)> =
        points.iter().filter(telling).map(|(size, cost)| (size.ln(), (cost - base).ln())).collect();
    // What a size costs beyond a cache or a buffer is what counts, so the largest decide.
    let last = &telling[telling.len().saturating_sub(2 * FEWEST)..];
    if last.len() < FEWEST {
        return None;
    }
    let count = last.len() as f64;
    let (x, y) = last.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let (mut above, mut below) = (0.0, 0.0);
    for point in last {
        above += (point.0 - x) * (point.1 - y);
        below += (point.0 - x) * (point.0 - x);
    }
    (below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::exponent;

    fn grown(power: f64, base: f64) -> Vec<(f64, f64)> {
        (0..14).map(|step| f64::from(1 << step)).map(|size| (size, base + 0.001 * size.powf(power))).collect()
    }

    #[test]
    fn a_power_is_found_beside_the_cost_of_a_start() {
        for power in [1.0, 1.5, 2.0] {
            let found = exponent(&grown(power, 0.3), 0.02).unwrap();
            assert!((found - power).abs() < 0.1, "{found} for {power}");
        }
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(exponent(&[], 0.02), None);
        assert_eq!(exponent(&grown(1.0, 0.3)[..6], 0.02), None);
        assert_eq!(exponent(&[(1.0, 0.1); 9], 0.02), None);
    }
}
