//! What one PostgreSQL holds, in the shape of kv/dump.rs: one query, so one moment.

use super::session::{Session, Stop};
use super::tables::table;
use super::{Kind, json_of, number_at, text_at};
use crate::trouble::key_name;
use serde_json::{Map, Value, json};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

/// The objects of a kind, by key, or the one under `key`.
pub(super) async fn dump(
    session: &Session,
    kind: Kind,
    key: Option<&Value>,
) -> Result<Value, Stop> {
    let (name, _) = table(kind);
    let query = match kind {
        Kind::Ledger { .. } => format!("SELECT account, id, amount FROM {name} ORDER BY place"),
        Kind::Set => format!("SELECT DISTINCT key, element FROM {name} ORDER BY 1, 2"),
        _ => format!("SELECT * FROM {name} ORDER BY 1"),
    };
    let rows = match session.rows(&query, &[]).await {
        // A replica that has not heard of the table yet, or nobody has written anything.
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Vec::new(),
        rows => rows?,
    };
    let mut objects = Map::new();
    for row in &rows {
        add(&mut objects, kind, row)?;
    }
    let Some(key) = key else { return Ok(Value::Object(objects)) };
    let is_list = matches!(kind, Kind::Set | Kind::Ledger { .. });
    let absent = if is_list { json!([]) } else { Value::Null };
    Ok(objects.remove(&key_name(key)).unwrap_or(absent))
}

fn add(objects: &mut Map<String, Value>, kind: Kind, row: &Row) -> Result<(), Stop> {
    let key = text_at(row, 0)?;
    let element = match kind {
        Kind::Register | Kind::Registers => {
            objects.insert(key, json_of(&text_at(row, 1)?)?);
            return Ok(());
        }
        Kind::Lists => {
            objects.insert(key, super::txn::list(&text_at(row, 1)?)?);
            return Ok(());
        }
        Kind::Bank => {
            objects.insert(key, json!(number_at(row, 1)?));
            return Ok(());
        }
        Kind::Set => json_of(&text_at(row, 1)?)?,
        Kind::Ledger { .. } => json!({ "id": text_at(row, 1)?, "amount": number_at(row, 2)? }),
    };
    let elements = objects.entry(key).or_insert_with(|| json!([]));
    elements.as_array_mut().expect("it was made a list").push(element);
    Ok(())
}
