//! Operations that are one statement: registers and sets.

use super::session::{Session, Stop};
use super::{json_at, not_understood};
use crate::trouble::key_name;
use assay_workload::Call;
use serde_json::{Value, json};

const WRITE: &str = "INSERT INTO assay_register VALUES ($1, $2) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";
const CAS: &str = "UPDATE assay_register SET value = $2 WHERE key = $1 AND value = $3";
/// A register that nobody has written has no row.
const CAS_FROM_NULL: &str = "INSERT INTO assay_register VALUES ($1, $2) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE assay_register.value = 'null'";

pub(super) async fn register(session: &Session, call: &Call) -> Result<Value, Stop> {
    let key = &key_name(call.key.as_ref().unwrap_or(&Value::Null));
    match call.op.as_str() {
        "read" => {
            let query = "SELECT value FROM assay_register WHERE key = $1";
            let rows = session.rows(query, &[key]).await?;
            rows.first().map_or(Ok(Value::Null), |row| json_at(row, 0))
        }
        "write" => {
            session.commit_change(WRITE, &[key, &call.input.to_string()]).await?;
            Ok(Value::Null)
        }
        "cas" => {
            let (from, to) = (&call.input[0], call.input[1].to_string());
            let changed = if from.is_null() {
                session.commit_change(CAS_FROM_NULL, &[key, &to]).await?
            } else {
                session.commit_change(CAS, &[key, &to, &from.to_string()]).await?
            };
            Ok(json!(changed == 1))
        }
        op => Err(not_understood(op)),
    }
}

pub(super) async fn set(session: &Session, call: &Call) -> Result<Value, Stop> {
    let key = &key_name(call.key.as_ref().unwrap_or(&Value::Null));
    let element = &call.input.to_string();
    match call.op.as_str() {
        "add" => {
            let insert = "INSERT INTO assay_set VALUES ($1, $2)";
            session.commit_change(insert, &[key, element]).await?;
            Ok(Value::Null)
        }
        "remove" => {
            let delete = "DELETE FROM assay_set WHERE key = $1 AND element = $2";
            Ok(json!(session.commit_change(delete, &[key, element]).await? > 0))
        }
        "contains" => {
            let query = "SELECT 1 FROM assay_set WHERE key = $1 AND element = $2 LIMIT 1";
            Ok(json!(!session.rows(query, &[key, element]).await?.is_empty()))
        }
        "read" => {
            let query = "SELECT DISTINCT element FROM assay_set WHERE key = $1 ORDER BY element";
            session.rows(query, &[key]).await?.iter().map(|row| json_at(row, 0)).collect()
        }
        op => Err(not_understood(op)),
    }
}
