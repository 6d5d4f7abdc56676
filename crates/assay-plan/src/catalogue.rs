//! What the method brings along: eight techniques and sixteen pitfalls.
//!
//! `assay explain technique NAME` and `assay explain pitfall N` show them.

mod pitfalls;
mod techniques;

pub use pitfalls::{PITFALLS, Pitfall};
pub use techniques::{SELECTOR, TECHNIQUES, Technique};

#[cfg(test)]
mod tests {
    use super::{PITFALLS, SELECTOR, TECHNIQUES, Technique};

    #[test]
    fn there_are_eight_techniques_sixteen_pitfalls_and_eleven_suspicions() {
        assert_eq!((TECHNIQUES.len(), PITFALLS.len(), SELECTOR.len()), (8, 16, 11));
        let named = PITFALLS.iter().flat_map(|pitfall| pitfall.techniques.iter());
        for name in named.chain(SELECTOR.iter().flat_map(|(_, names)| names.iter())) {
            assert!(Technique::named(name).is_some(), "{name}");
        }
        for (i, pitfall) in PITFALLS.iter().enumerate() {
            assert_eq!(pitfall.number, i + 1);
        }
    }
}
