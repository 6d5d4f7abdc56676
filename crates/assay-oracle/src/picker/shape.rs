//! What a history looks like, as far as it matters for choosing a checker.

use assay_history::{History, Outcome, ValueId, Values, View};
use std::collections::BTreeSet;

/// What reads return.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outputs {
    /// No read returned anything.
    #[default]
    None,
    /// Lists.
    Lists,
    /// Maps from keys to values.
    Maps,
    /// Whole numbers.
    Numbers,
    /// Strings.
    Strings,
    /// Other values, or several kinds.
    Mixed,
}

/// What transactions consist of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Transactions {
    /// There are none.
    #[default]
    None,
    /// Appends to lists and reads of lists.
    ListAppend,
    /// Writes and reads of single values.
    RwRegister,
    /// Adds to sets and reads of sets.
    SetAdd,
    /// Increments and reads of counters.
    CounterInc,
    /// Both, or neither.
    Mixed,
}

/// What a history looks like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// The operation types.
    pub verbs: BTreeSet<String>,
    /// What `read` and `get` return.
    pub reads: Outputs,
    /// What transactions consist of.
    pub transactions: Transactions,
    /// How many different keys there are, not counting none.
    pub keys: usize,
    /// How many different nodes answered.
    pub nodes: usize,
    /// Whether operations carry a version of the system.
    pub versions: bool,
    /// Whether acquires return tokens.
    pub tokens: bool,
}

impl Shape {
    /// Looks at a history.
    pub fn of(history: &History) -> Shape {
        let mut shape = Shape { versions: history.has_revisions(), ..Shape::default() };
        let (mut keys, mut nodes) = (BTreeSet::new(), BTreeSet::new());
        let mut micro = Micro::default();
        for op in history.ops() {
            let verb = history.type_name(op.op_type);
            shape.verbs.insert(verb.to_string());
            keys.insert(history.key(op.key));
            nodes.insert(op.node_seen);
            if op.outcome() != Outcome::Ok {
                continue;
            }
            let values = &history.values;
            match verb {
                "read" | "get" => {
                    let kind = outputs(values, op.output);
                    shape.reads = match shape.reads {
                        _ if kind == Outputs::None => shape.reads,
                        Outputs::None => kind,
                        same if same == kind => same,
                        _ => Outputs::Mixed,
                    };
                    shape.versions |= values.field(op.output, "version").is_some();
                }
                "write" | "put" => shape.versions |= values.as_int(op.output).is_some(),
                "acquire" => shape.tokens |= !op.output.is_null() && op.output != ValueId::TRUE,
                "txn" => micro.look(values, op.input, op.output),
                _ => {}
            }
        }
        keys.remove(&ValueId::NULL);
        nodes.remove(&ValueId::NULL);
        (shape.keys, shape.nodes) = (keys.len(), nodes.len());
        shape.transactions = micro.transactions();
        shape
    }

    /// Whether it has all of these operation types.
    pub fn all(&self, verbs: &[&str]) -> bool {
        verbs.iter().all(|verb| self.verbs.contains(*verb))
    }

    /// Whether it has any of these operation types.
    pub fn any(&self, verbs: &[&str]) -> bool {
        verbs.iter().any(|verb| self.verbs.contains(*verb))
    }

    /// Whether a final state was read.
    pub fn has_final(&self) -> bool {
        self.any(&["final", "dump", "final-read"])
    }
}

fn outputs(values: &Values, output: ValueId) -> Outputs {
    // A read with a version beside the value is a read of the value.
    let output = values.field(output, "value").unwrap_or(output);
    match values.view(output) {
        View::Null => Outputs::None,
        View::List(_) => Outputs::Lists,
        View::Map(_) => Outputs::Maps,
        View::Int(_) => Outputs::Numbers,
        View::Str(_) => Outputs::Strings,
        _ => Outputs::Mixed,
    }
}

/// The micro-operations of transactions: `["append", k, v]`, `["w", k, v]`, `["add", k, v]`,
/// `["inc", k, n]`, `["r", k, seen]`. A list that was read may be a set, and a number a counter, so
/// what was written and what was read are kept apart.
#[derive(Default)]
struct Micro {
    written: Transactions,
    read: Transactions,
}

impl Micro {
    fn look(&mut self, values: &Values, input: ValueId, output: ValueId) {
        for list in [input, output].iter().filter_map(|&id| values.as_list(id)) {
            for micro in list.iter().filter_map(|&id| values.as_list(id)) {
                let name = micro.first().and_then(|&id| values.as_str(id)).unwrap_or("");
                let seen = micro.get(2).map(|&id| values.view(id));
                match (name.trim_start_matches(':'), seen) {
                    ("append", _) => note(&mut self.written, Transactions::ListAppend),
                    ("w", _) => note(&mut self.written, Transactions::RwRegister),
                    ("add", _) => note(&mut self.written, Transactions::SetAdd),
                    ("inc", _) => note(&mut self.written, Transactions::CounterInc),
                    ("r", Some(View::List(_))) => note(&mut self.read, Transactions::ListAppend),
                    ("r", Some(View::Null) | None) => {}
                    ("r", Some(_)) => note(&mut self.read, Transactions::RwRegister),
                    _ => note(&mut self.written, Transactions::Mixed),
                }
            }
        }
    }

    fn transactions(self) -> Transactions {
        use Transactions::{CounterInc, ListAppend, Mixed, None, RwRegister, SetAdd};
        match (self.written, self.read) {
            (None, read) => read,
            (written, None) => written,
            (written @ (ListAppend | SetAdd), ListAppend) => written,
            (written @ (RwRegister | CounterInc), RwRegister) => written,
            _ => Mixed,
        }
    }
}

/// One more of a kind; another kind than before makes it mixed.
fn note(kind: &mut Transactions, this: Transactions) {
    *kind = match *kind {
        Transactions::None => this,
        same if same == this => same,
        _ => Transactions::Mixed,
    };
}
