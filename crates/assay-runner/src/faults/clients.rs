//! Faults on clients, which are processes of their own then.

use super::action::{Maker, PrepareError, Prepared};
use super::target::{Side, Target, draw};
use assay_nemesis::{Action, Process};
use rand_chacha::ChaCha20Rng;

impl Maker<'_> {
    /// Clients that are processes of their own: whoever uses them starts them again.
    pub(super) fn clients(&self, rng: &mut ChaCha20Rng) -> Result<Prepared, PrepareError> {
        let all = (self.scene.clients)();
        let wanted = match self.target {
            Target::Nodes(Side::SomeClients) => all.len().div_ceil(2),
            _ => all.len(),
        };
        let chosen = draw(all.len(), wanted, rng);
        // Whoever is asked to end tells its children itself.
        let hit = |group: &[Process]| match self.id.name() {
            "term" => group[..1].to_vec(),
            _ => group.to_vec(),
        };
        let processes: Vec<Process> = chosen.iter().flat_map(|&one| hit(&all[one])).collect();
        if processes.is_empty() {
            return Err(PrepareError::NoClients);
        }
        let action = match self.id.name() {
            "pause" => Action::Pause(processes),
            "term" => Action::Terminate(processes),
            _ => Action::Kill(processes),
        };
        Ok(self.prepared(&format!("{} of {}", chosen.len(), all.len()), action))
    }
}
