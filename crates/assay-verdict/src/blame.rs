//! Labels of a finding: whose fault it is, what kind of bug, how bad. All are judgements of
//! people; the types keep them from being free text.

use crate::named::named;

named! {
    /// Who broke it. Pick one; where it is not known yet, say so: a wrong guess is worse.
    pub enum Blame {
        /// The system under test, on a workload it accepts.
        Sut = "SUT",
        /// The generator, injector or scheduler.
        Harness = "harness",
        /// The oracle: it flags what the data do not support.
        Checker = "checker",
        /// Kernel, driver, file system, hypervisor.
        Environment = "environment",
        /// Not known yet.
        Unknown = "unknown — pending re-run on alternative harness/host",
    }
}

impl Blame {
    /// Whose queue the finding goes to.
    pub const fn queue(self) -> &'static str {
        match self {
            Blame::Sut => "the team of the system",
            Blame::Harness => "the harness queue",
            Blame::Checker => "the checker queue",
            Blame::Environment => "the infrastructure queue",
            Blame::Unknown => "nobody's yet: run it on another harness or host",
        }
    }
}

named! {
    /// The kind of bug, after TaxDC (Leesatapornwongsa and others, ASPLOS 2016).
    pub enum BugClass {
        /// When things happen.
        Timing = "timing",
        /// In which order messages arrive.
        Ordering = "ordering",
        /// Who can reach whom.
        Partition = "partition",
        /// What is left after a crash.
        CrashRecovery = "crash-recovery",
        /// Old and new versions together.
        Upgrade = "upgrade",
        /// Settings.
        Config = "config",
        /// What is done about errors; the commonest.
        FaultHandling = "fault-handling",
        /// Too slow.
        Performance = "performance",
    }
}

named! {
    /// Further labels of a bug, as many as fit.
    pub enum BugTag {
        /// Copies of data.
        Replication = "replication",
        /// Who leads.
        Leadership = "leadership/election",
        /// Effects that happen twice.
        Idempotency = "idempotency/dedup",
        /// Data that stays.
        Durability = "durability",
        /// Something good happens in the end.
        Liveness = "liveness",
        /// Nothing bad happens.
        Safety = "safety",
    }
}

named! {
    /// How bad it is for users.
    pub enum Severity {
        /// Data lost or corrupted, safety broken.
        P0 = "P0",
        /// Not available until an operator acts.
        P1 = "P1",
        /// Degraded, heals by itself.
        P2 = "P2",
        /// Users notice nothing.
        P3 = "P3",
    }
}

impl Severity {
    /// The severity to start from, if the tags suggest one: safety is P0 unless someone argues.
    pub fn suggested(tags: &[BugTag]) -> Option<Severity> {
        tags.contains(&BugTag::Safety).then_some(Severity::P0)
    }
}
