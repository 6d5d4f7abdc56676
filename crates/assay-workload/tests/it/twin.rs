//! A system that does everything right, one call at a time; or one thing wrong.

use assay_workload::{Call, Reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What the twin does wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    None,
    /// Every so-manieth change is acknowledged and forgotten.
    Forgets(u64),
    /// Every so-manieth read is of the state some changes ago.
    Stale(u64),
    /// Every so-manieth change is applied twice.
    Doubles(u64),
    /// Every token that was ever granted works.
    Unfenced,
}

/// Objects by key.
type Objects = BTreeMap<String, Value>;

/// The system.
pub struct Twin {
    generator: &'static str,
    flaw: Flaw,
    now: Objects,
    /// Earlier states with their versions, oldest first; only the last few.
    before: Vec<(i64, Objects)>,
    /// How many changes there were.
    version: i64,
    count: u64,
    /// A lease ends after so many calls of anybody.
    lease_calls: u64,
}

const BEFORE_MAX: usize = 8;

impl Twin {
    pub fn new(generator: &'static str, flaw: Flaw) -> Twin {
        let (now, before) = (Objects::new(), Vec::new());
        Twin { generator, flaw, now, before, version: 0, count: 0, lease_calls: 6 }
    }

    /// Does a call. `dump` and `view` are answered by the node that was asked.
    pub fn call(&mut self, call: &Call) -> Reply {
        self.count += 1;
        let nth = |n: u64| self.count.is_multiple_of(n);
        let (stale, twice, forget) = match self.flaw {
            Flaw::Stale(n) => (nth(n), false, false),
            Flaw::Doubles(n) => (false, nth(n), false),
            Flaw::Forgets(n) => (false, false, nth(n)),
            Flaw::None | Flaw::Unfenced => (false, false, false),
        };
        let state = self.now.clone();
        let mut shown = None;
        let outcome = if stale && is_read(call) && !self.before.is_empty() {
            let (version, old) = self.before[0].clone();
            let current = std::mem::replace(&mut self.now, old);
            let outcome = self.apply(call);
            self.now = current;
            shown = Some(version);
            outcome
        } else {
            self.apply(call)
        };
        if twice && outcome.is_ok() {
            let _same = self.apply(call);
        }
        if forget && !is_read(call) {
            self.now = state.clone();
        }
        if self.now != state {
            self.before.push((self.version, state));
            self.version += 1;
            if self.before.len() > BEFORE_MAX {
                self.before.remove(0);
            }
        }
        let node = Some(format!("n{}", call.node.unwrap_or(0) + 1));
        match outcome {
            // Only sessions are told versions: the others must be judged without.
            Ok(output) => {
                let revision = shown.or(Some(self.version)).filter(|_| self.generator == "session");
                Reply::Ok { output, node, revision }
            }
            Err(error) => Reply::Fail { error, node },
        }
    }

    fn apply(&mut self, call: &Call) -> Result<Value, String> {
        let input = &call.input;
        if call.op == "dump" {
            return Ok(self.dump(call.key.as_ref()));
        }
        if call.op == "txn" {
            let micros = input.as_array().ok_or("a txn is a list")?;
            return Ok(micros.iter().map(|micro| self.micro(micro)).collect());
        }
        let key = call.key.as_ref().and_then(Value::as_str).unwrap_or("").to_string();
        let fenced = self.flaw != Flaw::Unfenced;
        let (count, lease_calls) = (self.count, self.lease_calls);
        let object = self.now.entry(key).or_insert(Value::Null);
        match (self.generator, call.op.as_str()) {
            ("register" | "map" | "session", "read") => Ok(object.clone()),
            ("register" | "map" | "session", "write") => {
                *object = input.clone();
                Ok(Value::Null)
            }
            ("register", "cas") => {
                let swaps = *object == input[0];
                if swaps {
                    *object = input[1].clone();
                }
                Ok(json!(swaps))
            }
            ("kv-append", "get") => Ok(json!(object.as_str().unwrap_or(""))),
            ("kv-append", op) => {
                let before = if op == "append" { object.as_str().unwrap_or("") } else { "" };
                *object = json!(format!("{before}{}", input.as_str().unwrap_or("")));
                Ok(Value::Null)
            }
            ("session", "reconnect") => Ok(Value::Null),
            ("counter", "read") => Ok(json!(object.as_i64().unwrap_or(0))),
            ("counter", op) => {
                let by = input.as_i64().unwrap_or(1) * if op == "dec" { -1 } else { 1 };
                *object = json!(object.as_i64().unwrap_or(0) + by);
                Ok(Value::Null)
            }
            ("set" | "queue" | "log", op) => Ok(collection(object, op, input)),
            ("lock", op) => lock(object, op, input),
            ("lease", op) => lease(object, op, input, (count, lease_calls, fenced)),
            ("bank", op) => bank(object, op, input),
            ("ledger", op) => ledger(object, op, input),
            ("membership", _) => Ok(json!(["n1", "n2", "n3"])),
            (generator, op) => Err(format!("the twin has no {op} of {generator}")),
        }
    }

    fn micro(&mut self, micro: &Value) -> Value {
        let key = micro[1].as_str().unwrap_or("").to_string();
        let object = self.now.entry(key).or_insert(Value::Null);
        match micro[0].as_str() {
            Some("r") => json!(["r", micro[1], object.clone()]),
            Some("w") => {
                *object = micro[2].clone();
                micro.clone()
            }
            _ => {
                list(object).push(micro[2].clone());
                micro.clone()
            }
        }
    }

    fn dump(&self, key: Option<&Value>) -> Value {
        let part = |object: &Value| match self.generator {
            "queue" => joined(&object["taken"], &object["waiting"]),
            _ => object.clone(),
        };
        match (key.and_then(Value::as_str), self.generator) {
            (Some(key), _) => self.now.get(key).map_or_else(|| json!([]), part),
            (None, "bank") => self.now.get("bank").cloned().unwrap_or_default(),
            (None, "membership") => json!(["n1", "n2", "n3"]),
            (None, _) => self.now.iter().map(|(k, object)| (k.clone(), part(object))).collect(),
        }
    }
}

fn is_read(call: &Call) -> bool {
    let reads = ["read", "get", "contains", "balance", "view", "reconnect", "dump"];
    reads.contains(&call.op.as_str())
        || call.input.as_array().is_some_and(|micros| micros.iter().all(|m| m[0] == "r"))
}

fn list(object: &mut Value) -> &mut Vec<Value> {
    if object.is_null() {
        *object = json!([]);
    }
    object.as_array_mut().expect("lists stay lists")
}

fn joined(a: &Value, b: &Value) -> Value {
    [a, b].into_iter().flat_map(|part| part.as_array().into_iter().flatten()).cloned().collect()
}

fn collection(object: &mut Value, op: &str, input: &Value) -> Value {
    if ["enqueue", "dequeue"].contains(&op) {
        if object.is_null() {
            *object = json!({ "taken": [], "waiting": [] });
        }
        let waiting = list(&mut object["waiting"]);
        if op == "enqueue" {
            waiting.push(input.clone());
            return Value::Null;
        }
        let taken = (!waiting.is_empty()).then(|| waiting.remove(0));
        if let Some(element) = &taken {
            list(&mut object["taken"]).push(element.clone());
        }
        return taken.unwrap_or_default();
    }
    let items = list(object);
    match op {
        "add" if items.contains(input) => json!(false),
        "add" => {
            items.push(input.clone());
            json!(true)
        }
        "contains" => json!(items.contains(input)),
        "append" => {
            items.push(input.clone());
            json!(items.len() - 1)
        }
        _ => match input.as_u64() {
            Some(offset) => items.get(offset as usize).cloned().unwrap_or_default(),
            None => json!(items),
        },
    }
}

fn lock(object: &mut Value, op: &str, holder: &Value) -> Result<Value, String> {
    let free = object.is_null();
    match op {
        "acquire" if free => *object = holder.clone(),
        "release" if object == holder => *object = Value::Null,
        _ => return Err(format!("held by {object}")),
    }
    Ok(Value::Null)
}

/// A lease runs for some calls instead of milliseconds.
fn lease(
    object: &mut Value,
    op: &str,
    input: &Value,
    (now, calls, fenced): (u64, u64, bool),
) -> Result<Value, String> {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let (granted, used) = (number(&object["granted"]), number(&object["used"]));
    let running = now < number(&object["until"]);
    let (mut granted, mut used, mut until) = (granted, used, number(&object["until"]));
    let token = input.as_u64();
    let output = match op {
        "acquire" if !running => {
            (granted, until) = (granted + 1, now + calls);
            json!(granted)
        }
        "renew" if running && token == Some(granted) => {
            until = now + calls;
            Value::Null
        }
        "release" if running && token == Some(granted) => {
            until = 0;
            Value::Null
        }
        "use" if token <= Some(granted) && (!fenced || token >= Some(used)) => {
            used = token.unwrap_or(used);
            Value::Null
        }
        _ => return Err(format!("refused: {object}")),
    };
    *object = json!({ "granted": granted, "used": used, "until": until });
    Ok(output)
}

fn bank(object: &mut Value, op: &str, input: &Value) -> Result<Value, String> {
    if object.is_null() {
        *object = json!({});
    }
    let name = |field: &str| input[field].as_str().unwrap_or("").to_string();
    let balance = |object: &Value, account: &str| object[account].as_i64().unwrap_or(0);
    match op {
        "open" => object[name("account")] = input["balance"].clone(),
        "transfer" => {
            let (from, to, amount) = (name("from"), name("to"), input["amount"].as_i64());
            let amount = amount.ok_or("an amount")?;
            if balance(object, &from) < amount {
                return Err("too little".to_string());
            }
            object[&from] = json!(balance(object, &from) - amount);
            object[&to] = json!(balance(object, &to) + amount);
        }
        _ => return Ok(object.clone()),
    }
    Ok(Value::Null)
}

fn ledger(object: &mut Value, op: &str, input: &Value) -> Result<Value, String> {
    let entries = list(object);
    let balance: i64 = entries.iter().filter_map(|entry| entry["amount"].as_i64()).sum();
    if op == "balance" {
        return Ok(json!(balance));
    }
    let amount = input["amount"].as_i64().ok_or("an amount")? * if op == "debit" { -1 } else { 1 };
    if balance + amount < 0 {
        return Err(format!("has {balance}"));
    }
    entries.push(json!({ "id": input["id"], "amount": amount }));
    Ok(Value::Null)
}
