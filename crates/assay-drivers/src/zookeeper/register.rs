//! Registers: one node for each key, its data the JSON text of the value.

use super::session::FOR_EVER;
use serde_json::{Value, json};
use zookeeper_client::{Client, Error};

/// The value; null if nobody has written any.
pub(super) async fn read(client: &Client, path: &str) -> Result<Value, Error> {
    match client.get_data(path).await {
        Ok((data, _)) => json_of(&data),
        Err(Error::NoNode) => Ok(Value::Null),
        Err(error) => Err(error),
    }
}

/// Sets the value, and makes the node if it is missing. What says that there is no node, or that
/// there is one, has done nothing: only then something else is sent.
pub(super) async fn write(client: &Client, path: &str, value: &Value) -> Result<(), Error> {
    let data = value.to_string();
    loop {
        match client.set_data(path, data.as_bytes(), None).await {
            Err(Error::NoNode) => {}
            done => return done.map(|_| ()),
        }
        match client.create(path, data.as_bytes(), &FOR_EVER).await {
            Err(Error::NodeExists) => {}
            done => return done.map(|_| ()),
        }
    }
}

/// Compares and swaps, by the version of what was compared. A server may be behind: before it is
/// believed that the values differ, the leader is asked whether that version is the latest.
pub(super) async fn cas(
    client: &Client,
    path: &str,
    from: &Value,
    to: &Value,
) -> Result<bool, Error> {
    let data = to.to_string();
    loop {
        client.sync(path).await?;
        let found = match client.get_data(path).await {
            Ok((data, stat)) => Some((json_of(&data)?, stat.version)),
            Err(Error::NoNode) => None,
            Err(error) => return Err(error),
        };
        let outcome = match found {
            Some((now, version)) if now == *from => {
                client.set_data(path, data.as_bytes(), Some(version)).await.map(|_| true)
            }
            Some((_, version)) => is_latest(client, path, version).await.map(|()| false),
            None if from.is_null() => {
                client.create(path, data.as_bytes(), &FOR_EVER).await.map(|_| true)
            }
            None => match is_latest(client, path, ANY_VERSION).await {
                Err(Error::NoNode) => Ok(false),
                _there_is_one => Err(Error::NodeExists),
            },
        };
        match outcome {
            // It has changed since it was read, and nothing was done: look again.
            Err(Error::BadVersion | Error::NodeExists | Error::NoNode) => {}
            outcome => return outcome,
        }
    }
}

const ANY_VERSION: i32 = -1;

/// A transaction that changes nothing: when it has been answered, the server has applied whatever
/// was agreed on before it.
pub(super) async fn confirm(client: &Client) -> Result<(), Error> {
    is_latest(client, "/", ANY_VERSION).await
}

/// Asks the leader whether a node has this version.
async fn is_latest(client: &Client, path: &str, version: i32) -> Result<(), Error> {
    let mut writer = client.new_multi_writer();
    writer.add_check_version(path, version)?;
    writer.commit().await?;
    Ok(())
}

fn json_of(data: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(data).map_err(|_| {
        let text = String::from_utf8_lossy(data);
        Error::UnexpectedError(json!(text).to_string())
    })
}
