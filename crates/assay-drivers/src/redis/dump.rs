//! What one Redis holds, in the shape of kv/dump.rs, read by one script: nothing can move between
//! two looks.

use super::locks::holder;
use super::request::{Kind, elements, json_of, script};
use crate::trouble::{Trouble, key_name};
use redis::{Cmd, Value};
use serde_json::{Map, Value as Json, json};

/// Every key with a prefix, and what a command says of it.
const DUMP: &str = "\
local dump = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  dump[#dump + 1] = key
  dump[#dump + 1] = redis.call(ARGV[2], key, unpack(ARGV, 3))
end
return dump";

/// The command that dumps all objects of a kind whose keys begin so.
pub(super) fn command(kind: Kind, prefix: String) -> Cmd {
    let words: &[&str] = match kind {
        Kind::Register | Kind::Counter | Kind::Lock | Kind::Lease => &["GET"],
        Kind::Set => &["SMEMBERS"],
        Kind::Queue => &["LRANGE", "0", "-1"],
    };
    let arguments = [prefix].into_iter().chain(words.iter().map(ToString::to_string));
    script(DUMP, &[], &arguments.collect::<Vec<String>>())
}

/// The answer as a map by key, or what it has under `key`.
pub(super) fn shaped(kind: Kind, answer: &Value, key: Option<&Json>) -> Result<Json, Trouble> {
    let objects = objects(kind, answer)
        .ok_or_else(|| Trouble::Fail(format!("a dump that is not understood: {answer:?}")))?;
    let Some(key) = key else { return Ok(Json::Object(objects)) };
    let absent = if matches!(kind, Kind::Set | Kind::Queue) { json!([]) } else { Json::Null };
    Ok(objects.get(&key_name(key)).cloned().unwrap_or(absent))
}

fn objects(kind: Kind, answer: &Value) -> Option<Map<String, Json>> {
    let Value::Array(pairs) = answer else { return None };
    let mut found = Vec::new();
    for pair in pairs.chunks_exact(2) {
        let Value::BulkString(key) = &pair[0] else { return None };
        let key = std::str::from_utf8(key).ok()?.strip_prefix(kind.prefix())?;
        found.push((key, &pair[1]));
    }
    // In this order, what was taken out of a queue comes before what waits in it.
    found.sort_by_key(|(key, _)| *key);
    let mut objects = Map::new();
    for (key, value) in found {
        match kind {
            Kind::Register | Kind::Counter | Kind::Lease => {
                objects.insert(key.to_string(), json_of(value)?)
            }
            Kind::Lock => objects.insert(key.to_string(), holder(&json_of(value)?)),
            Kind::Set => objects.insert(key.to_string(), elements(value)?),
            Kind::Queue => {
                let (_, name) = key.split_once(':')?;
                let Value::Array(texts) = value else { return None };
                let accepted = objects.entry(name).or_insert_with(|| json!([]));
                for text in texts {
                    accepted.as_array_mut()?.push(json_of(text)?);
                }
                None
            }
        };
    }
    Some(objects)
}
