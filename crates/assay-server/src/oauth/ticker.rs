//! The clock by which credentials are renewed that nobody asks for.

use super::renewer::Renewer;
use crate::api::Credential;
use crate::log::log;
use crate::names::now_ms;
use crate::store::folder;
use assay_ledger::keyed::{KeyRange, Order};
use futures_util::StreamExt;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Credentials that are read at once.
const PAGE: usize = 100;
/// Requests at once.
const AT_ONCE: usize = 8;
/// How long one that failed rests: each time twice as long, up to the longest.
const REST_FIRST: Duration = Duration::from_secs(60);
const REST_MAX: Duration = Duration::from_secs(3600);
/// Credentials that failed and are remembered; others are tried at the next look.
const FAILED_MAX: usize = 10_000;

/// One that failed.
struct Failed {
    rest: Duration,
    until: Instant,
}

impl Renewer {
    /// Renews what is about to end, for ever.
    pub async fn tick(self: Arc<Renewer>) {
        let mut failed: HashMap<String, Failed> = HashMap::new();
        loop {
            self.look(&mut failed).await;
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn look(self: &Arc<Renewer>, failed: &mut HashMap<String, Failed>) {
        let (mut last, now) = (None, Instant::now());
        loop {
            let page = self.page(last.take()).await;
            let Some((key, _)) = page.last() else { return };
            last = Some(key.clone());
            let is_due = |(at, found): &(String, Credential)| {
                found.is_due(now_ms()) && failed.get(at).is_none_or(|one| one.until <= now)
            };
            let due: Vec<(String, Credential)> = page.into_iter().filter(is_due).collect();
            let renewed = futures_util::stream::iter(due).map(|(at, found)| async move {
                let Some(sealed) = found.sealed else { return (at, true) };
                let renewed = self.renew(&at, sealed).await;
                if let Err(error) = &renewed {
                    log(format_args!("{at}: not renewed: {error}"));
                }
                let is_fine = renewed.is_ok();
                (at, is_fine)
            });
            let renewed: Vec<(String, bool)> = renewed.buffer_unordered(AT_ONCE).collect().await;
            for (at, is_fine) in renewed {
                remember(failed, at, is_fine, now);
            }
        }
    }

    /// The next credentials, of all workspaces; none if there are none, or none can be read.
    async fn page(&self, last: Option<String>) -> Vec<(String, Credential)> {
        let read = self.reader.ask(move |store| {
            let mut range = KeyRange::below(folder::CREDENTIALS, Order::Ascending);
            if let Some(last) = last {
                range = range.after(&last);
            }
            let pairs = store.scan(&range, PAGE)?;
            let read = |(at, value): (String, Vec<u8>)| Ok((at, serde_json::from_slice(&value)?));
            pairs.into_iter().map(read).collect()
        });
        read.await.unwrap_or_default()
    }
}

fn remember(failed: &mut HashMap<String, Failed>, at: String, is_fine: bool, now: Instant) {
    if is_fine {
        failed.remove(&at);
        return;
    }
    let rest = failed.get(&at).map_or(REST_FIRST, |one| (one.rest * 2).min(REST_MAX));
    if failed.len() < FAILED_MAX || failed.contains_key(&at) {
        failed.insert(at, Failed { rest, until: now + rest });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_rests_longer_each_time_and_not_for_ever() {
        let (mut failed, now) = (HashMap::new(), Instant::now());
        let mut rests = Vec::new();
        for _ in 0..8 {
            remember(&mut failed, "c".into(), false, now);
            rests.push((failed["c"].until - now).as_secs());
        }
        assert_eq!(rests, [60, 120, 240, 480, 960, 1920, 3600, 3600]);
        remember(&mut failed, "c".into(), true, now);
        assert!(failed.is_empty());
    }
}
