//! A workload: a config that has been understood.

use crate::call::{Call, Reply, Script};
use crate::catalog::{GENERATORS, GeneratorInfo, Resend, generator};
use crate::config::{CLIENTS_MAX, Config, ConfigError, KEYS_MAX};
use crate::finals::Finals;
use crate::generators::{BANK, Client, Habits, Kind, Lists, Oversleep, Pattern, Style, account};
use crate::keys::Keys;
use crate::mix::Mix;
use crate::near::did_you_mean;
use crate::options::Options;
use crate::source::{Source, key};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Micro-operations of one transaction.
const TXN_OPS_MAX: u64 = 64;
/// Keys that one transaction reads at the end.
const FINAL_TXN_KEYS: u64 = 16;
/// Sendings of one call after the first.
const RETRIES_MAX: u64 = 100;
/// The longest lease: a day, in milliseconds.
const TTL_MS_MAX: u64 = 86_400_000;
/// Uses that follow one grant.
const USES_MAX: u64 = 1_000;
/// Amounts of money: sums of them stay far from what 64 bits hold.
const AMOUNT_MAX: u64 = 1_000_000_000;

/// Whether the replicas are dumped at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dumps {
    /// A checker reads them.
    Wanted,
    /// Nobody does.
    NotWanted,
}

/// What clients do, before, during and after a run.
#[derive(Clone, Debug)]
pub struct Workload {
    info: &'static GeneratorInfo,
    kind: Kind,
    mix: Mix,
    keys: Arc<Keys>,
    clients: usize,
    seed: u64,
    retries: u32,
}

impl Workload {
    /// Understands a config.
    ///
    /// # Errors
    /// [`ConfigError`] says what is wrong with it.
    pub fn new(config: &Config) -> Result<Workload, ConfigError> {
        let info = generator(&config.generator).ok_or_else(|| {
            let names = || GENERATORS.iter().map(|info| info.name);
            ConfigError::UnknownGenerator {
                name: config.generator.clone(),
                help: did_you_mean(&config.generator, names()),
                known: names().collect::<Vec<_>>().join(", "),
            }
        })?;
        in_range("the number of clients", config.clients as u64, CLIENTS_MAX as u64)?;
        in_range("the number of keys", config.keys, KEYS_MAX)?;
        let options = Options::new(info, config)?;
        let skew = options.real("skew", 0.0..=10.0)?;
        Ok(Workload {
            info,
            kind: kind(info, config, &options)?,
            mix: Mix::new(info, config)?,
            keys: Arc::new(Keys::new(config.keys, config.distribution, skew)),
            clients: config.clients,
            seed: config.seed,
            retries: options.natural("retries", 0..=RETRIES_MAX)? as u32,
        })
    }

    /// What its generator says about itself.
    pub fn info(&self) -> &'static GeneratorInfo {
        self.info
    }

    /// Whether a client must have the answer to one call before it makes the next: what it does
    /// depends on what it holds, or on what it has seen itself.
    pub fn is_sequential(&self) -> bool {
        matches!(self.info.name, "lock" | "lease" | "session")
    }

    /// What must be done, in this order, before the clients start. Not a part of the history: the
    /// checkers are told what it leaves behind (`total` of a bank).
    pub fn setup(&self) -> Vec<Call> {
        let Kind::Bank { accounts, balance, .. } = self.kind else { return Vec::new() };
        let open = |number| {
            let input = json!({ "account": account(number), "balance": balance });
            let call = Call::new("open", Some(json!(BANK)), input);
            // Opening may have to be tried again: with an id it happens once.
            Call { id: Some(format!("open-{number}")), ..call }
        };
        (0..accounts).map(open).collect()
    }

    /// What client `client` does; endless.
    ///
    /// # Panics
    /// If there is no such client: its values would be those of another one.
    pub fn script(&self, client: usize) -> Box<dyn Script> {
        assert!(client < self.clients, "client {client} of {}", self.clients);
        Box::new(Endless {
            source: Source::new(self.seed, client, self.clients, Arc::clone(&self.keys)),
            mix: self.mix.clone(),
            client: self.kind.client(client, self.clients),
            info: self.info,
            ids: self.retries > 0,
        })
    }

    /// What is read once nothing is under way any more, on a system of `nodes` nodes.
    /// Dumps of the replicas come last, and only for checkers that read them: others do not know
    /// what a dump is.
    pub fn finals(&self, nodes: usize, dumps: Dumps) -> Box<dyn Script> {
        let mut finals = Finals::new();
        let dumped = if dumps == Dumps::Wanted { nodes } else { 0 };
        let read = |op: &str, number| Call::new(op, Some(key(number)), Value::Null);
        let keys = 0..self.keys.count();
        match &self.kind {
            Kind::Registers | Kind::Set | Kind::Log { .. } | Kind::Counter => {
                keys.for_each(|number| finals.once(read("read", number)));
            }
            Kind::Strings => keys.for_each(|number| finals.once(read("get", number))),
            Kind::Ledger { .. } => keys.for_each(|number| finals.once(read("balance", number))),
            Kind::Bank { .. } => {
                finals.once(Call::new("read", Some(json!(BANK)), Value::Null));
            }
            Kind::Txn(style) => read_in_transactions(&mut finals, style, self.keys.count()),
            Kind::Queue { .. } => {
                keys.clone().for_each(|number| finals.drain(read("dequeue", number)));
                // Queues are dumped one by one: their checkers judge each apart, also its dumps.
                keys.for_each(|number| finals.dump(Some(key(number)), dumped));
                return Box::new(finals);
            }
            Kind::Lock | Kind::Lease(_) => {}
            Kind::Membership { .. } => (0..nodes).for_each(|node| {
                let view = Call::new("view", None, Value::Null);
                finals.once(Call { node: Some(node), ..view });
            }),
        }
        // After all reads: replicas are compared while nothing else is under way.
        finals.dump(None, dumped);
        Box::new(finals)
    }

    /// How often a call of unknown outcome is sent again with the same id.
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// Whether a sending after the first is an operation of its own.
    pub fn resend(&self) -> Resend {
        self.info.resend
    }
}

fn in_range(what: &'static str, found: u64, most: u64) -> Result<(), ConfigError> {
    let fits = (1..=most).contains(&found);
    fits.then_some(()).ok_or(ConfigError::OutOfRange { what, least: 1, most, found })
}

fn kind(info: &GeneratorInfo, config: &Config, options: &Options<'_>) -> Result<Kind, ConfigError> {
    let percent = |name| options.natural(name, 0..=100);
    Ok(match info.name {
        "register" | "map" | "session" => Kind::Registers,
        "kv-append" => Kind::Strings,
        "rw-register" | "list-append" => Kind::Txn(Style {
            ops: options.range("txn-ops", 1..=TXN_OPS_MAX)?,
            read_percent: percent("read-percent")?,
            pattern: options
                .one_of("pattern", &[("mixed", Pattern::Mixed), ("updates", Pattern::Updates)])?,
            lists: match info.name {
                "list-append" => Some(Lists {
                    appends_per_key: options.natural("appends-per-key", 1..=1_000_000)?,
                    generation_max: Arc::new(AtomicU64::new(0)),
                }),
                _ => None,
            },
        }),
        "set" => Kind::Set,
        "queue" => Kind::Queue { business_key: options.text("business-key")? },
        "log" => Kind::Log { whole_read_percent: percent("whole-read-percent")? },
        "counter" => Kind::Counter,
        "lock" => Kind::Lock,
        "lease" => Kind::Lease(Habits {
            ttl_ms: options.natural("ttl-ms", 1..=TTL_MS_MAX)?,
            uses: options.natural("uses", 0..=USES_MAX)?,
            oversleep: Oversleep {
                percent: percent("oversleep-percent")?,
                refusals_max: options.natural("refusals-max", 1..=1_000_000)?,
            },
        }),
        "bank" => Kind::Bank {
            accounts: config.keys,
            balance: options.natural("balance", 0..=AMOUNT_MAX)?,
            amount_max: options.natural("amount-max", 1..=AMOUNT_MAX)?,
        },
        "ledger" => Kind::Ledger { amount_max: options.natural("amount-max", 1..=AMOUNT_MAX)? },
        "membership" => Kind::Membership { members: options.texts("members")? },
        other => unreachable!("the catalog has a generator {other} that nobody wrote"),
    })
}

/// All keys that any client has come to, some in each transaction.
fn read_in_transactions(finals: &mut Finals, style: &Style, keys: u64) {
    let generations = style
        .lists
        .as_ref()
        .map_or(1, |lists| lists.generation_max.load(Ordering::Relaxed).saturating_add(1));
    let count = keys.saturating_mul(generations).min(KEYS_MAX);
    for first in (0..count).step_by(FINAL_TXN_KEYS as usize) {
        let keys = first..count.min(first + FINAL_TXN_KEYS);
        let reads = keys.map(|number| json!(["r", key(number), null]));
        finals.once(Call::new("txn", None, Value::Array(reads.collect())));
    }
}

/// A client that never ends.
struct Endless {
    source: Source,
    mix: Mix,
    client: Box<dyn Client>,
    info: &'static GeneratorInfo,
    /// Whether everything that changes something has an id.
    ids: bool,
}

impl Script for Endless {
    fn next(&mut self) -> Option<Call> {
        let op = self.mix.draw(&mut self.source.rng);
        let mut call = self.client.call(op, &mut self.source);
        let changes = |call: &Call| self.info.ops.iter().any(|op| op.name == call.op && op.changes);
        if self.ids && call.id.is_none() && changes(&call) {
            call.id = Some(self.source.id());
        }
        Some(call)
    }

    fn observe(&mut self, call: &Call, reply: &Reply) {
        self.client.hear(call, reply);
    }
}
