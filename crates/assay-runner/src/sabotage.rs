//! Breaking the harness on purpose.
//!
//! A harness that says PASS may be one that cannot say anything else. Each of these makes one of
//! the mistakes that make a green run worthless, and the verdict has to go down for it. `assay
//! run --sabotage NAME` does it; the tests do it for all of them.

/// A mistake the harness makes on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sabotage {
    /// Nodes talk to each other without the proxies.
    ProxyBypassed,
    /// Fault windows never open.
    WindowNeverOpens,
    /// Faults hit a decoy: rules on links nobody uses, signals to a bystander.
    InjectorMisses,
    /// The checker says upheld, whatever it is given.
    CheckerAlwaysPasses,
    /// Operations that time out are not recorded.
    RecorderDropsTimeouts,
    /// The generator stops after a third of the time.
    GeneratorStopsEarly,
    /// The clock of the recorder jumps ahead and back.
    ClockJumps,
}

impl Sabotage {
    /// All of them, with their names and what they do.
    pub const ALL: [(Sabotage, &'static str, &'static str); 7] = [
        (Sabotage::ProxyBypassed, "proxy-bypassed", "nodes talk without the proxies"),
        (Sabotage::WindowNeverOpens, "window-never-opens", "fault windows never open"),
        (Sabotage::InjectorMisses, "injector-misses", "faults hit a decoy instead of nodes"),
        (Sabotage::CheckerAlwaysPasses, "checker-always-passes", "the checker upholds anything"),
        (Sabotage::RecorderDropsTimeouts, "recorder-drops-timeouts", "timeouts are not recorded"),
        (Sabotage::GeneratorStopsEarly, "generator-stops-early", "the workload ends early"),
        (Sabotage::ClockJumps, "clock-jumps", "the recorder's clock jumps ahead and back"),
    ];

    /// The mistake with this name.
    pub fn named(name: &str) -> Option<Sabotage> {
        Sabotage::ALL.iter().find(|(_, known, _)| *known == name).map(|(sabotage, ..)| *sabotage)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let row = Sabotage::ALL.iter().find(|(sabotage, ..)| *sabotage == self);
        row.map(|(_, name, _)| *name).expect("every mistake is in the table")
    }
}
