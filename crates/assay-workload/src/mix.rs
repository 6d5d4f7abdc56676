//! Which operation comes next.

use crate::catalog::GeneratorInfo;
use crate::config::{Config, ConfigError};
use crate::near::did_you_mean;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Operation types with their shares; never empty.
#[derive(Clone, Debug)]
pub(crate) struct Mix {
    shares: Vec<(&'static str, u64)>,
    total: u64,
}

impl Mix {
    /// The mix of the config, or the generator's own.
    pub(crate) fn new(info: &'static GeneratorInfo, config: &Config) -> Result<Mix, ConfigError> {
        let names = || info.ops.iter().map(|op| op.name);
        for op in config.mix.keys() {
            if !names().any(|name| name == op) {
                let (generator, op) = (info.name.to_string(), op.clone());
                let help = did_you_mean(&op, names());
                let known = names().collect::<Vec<_>>().join(", ");
                return Err(ConfigError::UnknownOp { generator, op, help, known });
            }
        }
        let own = config.mix.is_empty();
        let share = |name: &str| config.mix.get(name).copied().unwrap_or(0);
        let shares =
            info.ops.iter().map(|op| (op.name, if own { op.share } else { share(op.name) }));
        let shares: Vec<(&'static str, u64)> = shares.filter(|(_, share)| *share > 0).collect();
        // A sum beyond 64 bits is as good as the largest: shares are compared, not counted.
        let total = shares.iter().fold(0u64, |sum, (_, share)| sum.saturating_add(*share));
        if total == 0 {
            return Err(ConfigError::EmptyMix { generator: info.name.to_string() });
        }
        Ok(Mix { shares, total })
    }

    pub(crate) fn draw(&self, rng: &mut ChaCha8Rng) -> &'static str {
        let mut at = rng.random_range(0..self.total);
        for (name, share) in &self.shares {
            if at < *share {
                return name;
            }
            at -= share;
        }
        // Only a sum that was cut off gets here.
        self.shares[0].0
    }
}
