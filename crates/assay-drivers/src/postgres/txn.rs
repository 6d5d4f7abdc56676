//! Transactions over registers and lists: the micro-operations one after the other, in one
//! transaction of the isolation that is claimed.

use super::session::{Session, Stop};
use super::{json_at, json_of, not_understood, text_at};
use crate::trouble::key_name;
use serde_json::{Value, json};

const WRITE: &str = "INSERT INTO assay_register VALUES ($1, $2) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";
/// A list is the JSON texts of its elements, with commas between.
const APPEND: &str = "INSERT INTO assay_list VALUES ($1, $2) \
    ON CONFLICT (key) DO UPDATE SET elements = assay_list.elements || ',' || excluded.elements";

/// What keys stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Objects {
    Registers,
    Lists,
}

/// Does the micro-operations; the same come back, with what was read.
pub(super) async fn operate(
    session: &Session,
    objects: Objects,
    isolation: &str,
    micros: &Value,
) -> Result<Value, Stop> {
    let micros = micros.as_array().ok_or_else(|| not_understood("txn without a list"))?;
    let done = session.transaction(isolation, async |session| {
        let mut done = Vec::with_capacity(micros.len());
        for micro in micros {
            done.push(one(session, objects, micro).await?);
        }
        Ok(Value::Array(done))
    });
    done.await
}

/// Whether a transaction only reads.
pub(super) fn only_reads(micros: &Value) -> bool {
    micros.as_array().is_some_and(|micros| micros.iter().all(|micro| micro[0] == "r"))
}

async fn one(session: &Session, objects: Objects, micro: &Value) -> Result<Value, Stop> {
    let (key, value) = (key_name(&micro[1]), micro[2].to_string());
    match (micro[0].as_str(), objects) {
        (Some("r"), _) => Ok(json!(["r", micro[1], read(session, objects, &key).await?])),
        (Some("w"), Objects::Registers) => {
            session.change(WRITE, &[&key, &value]).await?;
            Ok(micro.clone())
        }
        (Some("append"), Objects::Lists) => {
            session.change(APPEND, &[&key, &value]).await?;
            Ok(micro.clone())
        }
        _ => Err(not_understood(&micro.to_string())),
    }
}

async fn read(session: &Session, objects: Objects, key: &str) -> Result<Value, Stop> {
    let query = match objects {
        Objects::Registers => "SELECT value FROM assay_register WHERE key = $1",
        Objects::Lists => "SELECT elements FROM assay_list WHERE key = $1",
    };
    let rows = session.rows(query, &[key]).await?;
    match (rows.first(), objects) {
        (None, _) => Ok(Value::Null),
        (Some(row), Objects::Registers) => json_at(row, 0),
        (Some(row), Objects::Lists) => list(&text_at(row, 0)?),
    }
}

/// The elements of a list.
pub(super) fn list(elements: &str) -> Result<Value, Stop> {
    json_of(&format!("[{elements}]"))
}
