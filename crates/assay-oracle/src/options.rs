//! What the user decides before the run: thresholds, windows, which field is the business key.

use assay_history::History;
use std::sync::Arc;

/// Settings of all oracles; each reads the ones its `needs` names.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many anomalies a report shows.
    pub anomalies_max: usize,
    /// Where the business (idempotency) key stands inside an input: field names and list places
    /// joined by dots, `request.id` or `0`. The empty path is the input itself.
    pub business_key: Option<String>,
    /// Where the number of a delivery stands inside an effect, as a path of the same kind: no
    /// delivery may have two effects.
    pub delivery_key: Option<String>,
    /// How many places a consumer may see an element late.
    pub reorder_window: usize,
    /// Whether a consumer may see an element again.
    pub redelivery_allowed: bool,
    /// Whether a set may miss an element for a while and show it again.
    pub stale_reads_allowed: bool,
    /// Fields, by name and at any depth, that may differ between two states.
    pub ignore_fields: Vec<String>,
    /// The declared convergence window: so long after the last operation a state is final, and an
    /// operation of unknown outcome will not take effect any more. Nanoseconds.
    pub settle_ns: Option<i64>,
    /// The invariant, in the language of [`crate::expr`].
    pub invariant: Option<String>,
    /// Shown apart from the history: nothing was at work in the background at the dump.
    pub background_idle: bool,
    /// Shown apart from the history: replicas had converged at the dump.
    pub replicas_converged: bool,
    /// What all accounts hold together.
    pub total: Option<i64>,
    /// Whether accounts may be overdrawn.
    pub negative_allowed: bool,
    /// What each account of a ledger holds at first.
    pub opening_balance: i64,
    /// How long a lease lasts. Nanoseconds.
    pub lease_ttl_ns: Option<i64>,
    /// How far clocks of different processes may differ. Nanoseconds. Needed for wall clocks.
    pub clock_skew_ns: Option<i64>,
    /// Members that were there before the first `join`, as JSON text or plain names.
    pub members_at_start: Vec<String>,
    /// What fairness is between.
    pub group: Group,
    /// Groups that must show up, as JSON text or plain names.
    pub groups_expected: Vec<String>,
    /// The limits of the fairness formulas.
    pub fairness: FairnessLimits,
    /// The limits of the service level.
    pub slo: SloLimits,
    /// How candidate and baseline are compared.
    pub baseline: BaselineLimits,
    /// The history of the reference implementation.
    pub reference: Option<Arc<History>>,
    /// Assertions that must fire, by key, as JSON text or plain names.
    pub assertions_expected: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            anomalies_max: 20,
            business_key: None,
            reorder_window: 0,
            delivery_key: None,
            redelivery_allowed: false,
            stale_reads_allowed: false,
            ignore_fields: Vec::new(),
            settle_ns: None,
            invariant: None,
            background_idle: false,
            replicas_converged: false,
            total: None,
            negative_allowed: false,
            opening_balance: 0,
            lease_ttl_ns: None,
            clock_skew_ns: None,
            members_at_start: Vec::new(),
            group: Group::Key,
            groups_expected: Vec::new(),
            fairness: FairnessLimits::default(),
            slo: SloLimits::default(),
            baseline: BaselineLimits::default(),
            reference: None,
            assertions_expected: Vec::new(),
        }
    }
}

/// What fairness is between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Group {
    /// The objects: tenants, shards, queues.
    Key,
    /// The clients.
    Process,
    /// The nodes that answered.
    Node,
    /// A field of the input, by path.
    Input(String),
}

/// Where a threshold comes from.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Origin {
    /// Nobody said.
    #[default]
    Unstated,
    /// It was fixed before the run.
    FixedBefore,
    /// It was taken from the run it is to judge: no answer can rest on that.
    ThisRun,
}

/// Limits of the four fairness formulas; those that are `None` are not judged.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct FairnessLimits {
    /// The worst group's 99th percentile of latency over that of all operations.
    pub p99_ratio_max: Option<f64>,
    /// Successful operations per second that every group must reach.
    pub throughput_min: Option<f64>,
    /// The share of failed operations no group may exceed; the pattern asks for 0.
    pub error_rate_max: Option<f64>,
    /// For each group, the largest over the smallest 99th percentile among repeats.
    pub repeat_spread_max: Option<f64>,
    /// Into how many equal spans of time the run is cut for the repeat spread.
    pub repeats: usize,
    /// Where the limits come from.
    pub origin: Origin,
}

/// Limits of a service level; those that are `None` are not judged.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct SloLimits {
    /// Median latency. Nanoseconds.
    pub p50_ns_max: Option<i64>,
    /// 99th percentile. Nanoseconds.
    pub p99_ns_max: Option<i64>,
    /// 99.9th percentile. Nanoseconds.
    pub p999_ns_max: Option<i64>,
    /// Share of operations that may fail.
    pub error_rate_max: Option<f64>,
    /// Successful operations per second.
    pub throughput_min: Option<f64>,
    /// Share of operations that must succeed.
    pub availability_min: Option<f64>,
    /// The length of the windows each judged apart; `None` is the whole run. Nanoseconds.
    pub window_ns: Option<i64>,
    /// Where the limits come from.
    pub origin: Origin,
}

/// How candidate and baseline are compared.
#[derive(Clone, PartialEq, Debug)]
pub struct BaselineLimits {
    /// How much larger the candidate's mean may be, as a share of the baseline's: 0.05 is 5 %.
    pub tolerance: f64,
    /// The confidence of the interval.
    pub confidence: f64,
    /// How often the runs are drawn again.
    pub resamples: u32,
    /// What the draws start from.
    pub seed: u64,
}

impl Default for BaselineLimits {
    fn default() -> BaselineLimits {
        BaselineLimits { tolerance: 0.05, confidence: 0.95, resamples: 2_000, seed: 1 }
    }
}
