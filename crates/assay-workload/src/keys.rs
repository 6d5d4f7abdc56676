//! Which object a call addresses.

use crate::config::Distribution;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Objects by number, some hotter than others.
#[derive(Debug)]
pub(crate) struct Keys {
    count: u64,
    /// Of a skewed choice, the share of all keys up to each: a draw is one search in it, exact to
    /// the last key, which formulas that approximate Zipf's law are not.
    cumulative: Vec<f64>,
}

impl Keys {
    pub(crate) fn new(count: u64, distribution: Distribution, skew: f64) -> Keys {
        let mut sum = 0.0;
        let cumulative = match distribution {
            Distribution::Uniform => Vec::new(),
            Distribution::Zipf => (1..=count)
                .map(|rank| {
                    sum += (rank as f64).powf(-skew);
                    sum
                })
                .collect(),
        };
        Keys { count, cumulative }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The number of a key, from 0.
    pub(crate) fn draw(&self, rng: &mut ChaCha8Rng) -> u64 {
        let Some(total) = self.cumulative.last() else { return rng.random_range(0..self.count) };
        let at = rng.random_range(0.0..*total);
        let rank = self.cumulative.partition_point(|share| *share <= at);
        (rank as u64).min(self.count - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// How often each key is drawn.
    fn drawn(count: u64, distribution: Distribution, skew: f64, draws: u32) -> Vec<f64> {
        let keys = Keys::new(count, distribution, skew);
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut counts = vec![0.0; count as usize];
        for _ in 0..draws {
            counts[keys.draw(&mut rng) as usize] += 1.0;
        }
        counts
    }

    #[test]
    fn keys_are_drawn_by_their_law() {
        const DRAWS: u32 = 200_000;
        for (distribution, skew) in
            [(Distribution::Uniform, 0.0), (Distribution::Zipf, 0.99), (Distribution::Zipf, 2.0)]
        {
            let counts = drawn(10, distribution, skew, DRAWS);
            let weights: Vec<f64> = (1..=10).map(|rank| f64::from(rank).powf(-skew)).collect();
            let total: f64 = weights.iter().sum();
            for (count, weight) in counts.iter().zip(weights) {
                let share = weight / total;
                let mean = f64::from(DRAWS) * share;
                // Six standard deviations: one draw in half a billion is out of them.
                let bound = 6.0 * (mean * (1.0 - share)).sqrt();
                assert!((count - mean).abs() <= bound, "{distribution:?}: {counts:?}");
            }
        }
        assert_eq!(drawn(1, Distribution::Zipf, 0.99, 5), [5.0]);
    }
}
