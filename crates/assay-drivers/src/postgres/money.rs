//! Banks and ledgers.
//!
//! A transfer reads two balances and writes what it has computed: that no update is lost is the
//! promise of the isolation, and the point of the exercise. A booking locks its account instead,
//! because a ledger is about requests that are repeated.

use super::session::{Session, Stop};
use super::{not_understood, number_at, text_at};
use crate::trouble::key_name;
use assay_workload::Call;
use serde_json::{Map, Value, json};

pub(super) async fn bank(session: &Session, isolation: &str, call: &Call) -> Result<Value, Stop> {
    match call.op.as_str() {
        "open" => {
            let (name, balance) = (text(&call.input, "account")?, number(&call.input, "balance")?);
            // Opening is tried again until it is known to have happened.
            let insert = "INSERT INTO assay_account VALUES ($1, $2::bigint) ON CONFLICT DO NOTHING";
            session.commit_change(insert, &[name, &balance.to_string()]).await?;
            Ok(Value::Null)
        }
        "transfer" => {
            let (from, to) = (text(&call.input, "from")?, text(&call.input, "to")?);
            let amount = number(&call.input, "amount")?;
            let transfer = async |session: &Session| transfer(session, from, to, amount).await;
            session.transaction(isolation, transfer).await?;
            Ok(Value::Null)
        }
        "read" => session.transaction(isolation, balances).await,
        op => Err(not_understood(op)),
    }
}

/// All balances by account.
pub(super) async fn balances(session: &Session) -> Result<Value, Stop> {
    let rows = session.rows("SELECT name, balance FROM assay_account", &[]).await?;
    let balance = |row| Ok((text_at(row, 0)?, json!(number_at(row, 1)?)));
    Ok(Value::Object(rows.iter().map(balance).collect::<Result<Map<_, _>, Stop>>()?))
}

async fn transfer(session: &Session, from: &str, to: &str, amount: i64) -> Result<(), Stop> {
    let (source, target) = (balance(session, from).await?, balance(session, to).await?);
    if source < amount {
        return Err(Stop::Refused(format!("account {from} has {source}, not {amount}")));
    }
    if from == to {
        return Ok(());
    }
    let update = "UPDATE assay_account SET balance = $2::bigint WHERE name = $1";
    let more = target.checked_add(amount);
    let more = more.ok_or_else(|| Stop::Refused(format!("account {to} would overflow")))?;
    session.change(update, &[from, &(source - amount).to_string()]).await?;
    session.change(update, &[to, &more.to_string()]).await?;
    Ok(())
}

async fn balance(session: &Session, name: &str) -> Result<i64, Stop> {
    let query = "SELECT balance FROM assay_account WHERE name = $1";
    let rows = session.rows(query, &[name]).await?;
    let row = rows.first().ok_or_else(|| Stop::Refused(format!("there is no account {name}")))?;
    number_at(row, 0)
}

/// Credits, debits and balances. With a table whose ids are unique, a request that was booked is
/// done, however often it comes.
pub(super) async fn ledger(session: &Session, table: &str, call: &Call) -> Result<Value, Stop> {
    let account = &key_name(call.key.as_ref().unwrap_or(&Value::Null));
    let booked = match call.op.as_str() {
        "credit" => number(&call.input, "amount")?,
        "debit" => -number(&call.input, "amount")?,
        "balance" => return Ok(json!(held(session, table, account).await?)),
        op => return Err(not_understood(op)),
    };
    let id = text(&call.input, "id")?;
    // After the lock each statement must see what was committed before it: not a matter of the
    // isolation that is claimed.
    let booking = session.transaction("read committed", async |session| {
        session.rows("SELECT pg_advisory_xact_lock(hashtext($1))", &[account]).await?;
        if table == "assay_entry_once" {
            let known = format!("SELECT 1 FROM {table} WHERE id = $1");
            if !session.rows(&known, &[id]).await?.is_empty() {
                return Ok(());
            }
        }
        let balance = held(session, table, account).await?;
        if balance + booked < 0 {
            return Err(Stop::Refused(format!("account {account} has {balance}")));
        }
        let insert =
            format!("INSERT INTO {table} (account, id, amount) VALUES ($1, $2, $3::bigint)");
        session.change(&insert, &[account, id, &booked.to_string()]).await?;
        Ok(())
    });
    booking.await?;
    Ok(Value::Null)
}

async fn held(session: &Session, table: &str, account: &str) -> Result<i64, Stop> {
    let sum = format!("SELECT coalesce(sum(amount), 0)::bigint FROM {table} WHERE account = $1");
    let rows = session.rows(&sum, &[account]).await?;
    rows.first().map_or(Ok(0), |row| number_at(row, 0))
}

fn text<'a>(input: &'a Value, field: &str) -> Result<&'a str, Stop> {
    input[field].as_str().ok_or_else(|| not_understood(&input.to_string()))
}

fn number(input: &Value, field: &str) -> Result<i64, Stop> {
    input[field].as_i64().ok_or_else(|| not_understood(&input.to_string()))
}
