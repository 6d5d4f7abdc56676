//! The states of sessions, remembered by the one thread that writes them.
//!
//! Every event asks for the state of its session, mostly several times, and each question to a
//! store goes to another thread or another machine and back. Nobody else writes states: a store has
//! one server, and its guests write keys of the API only. What was written last is what is there.

use super::records::folder;
use assay_ledger::keyed::{KeyRange, Pair, Store, StoreError, Writes};
use std::collections::{BTreeSet, HashMap};

/// What is remembered at most, in bytes of keys and values. Then it begins anew.
const BYTES_MAX: usize = 32 << 20;

/// A store beside what is known of it.
pub(super) struct Remembering {
    store: Box<dyn Store>,
    known: HashMap<String, Vec<u8>>,
    bytes: usize,
    /// What was asked for ahead, for the next commit alone.
    ahead: HashMap<String, Option<Vec<u8>>>,
    /// Why nothing more can be had of the store: the others of a commit need not wait for the same.
    lost: Option<StoreError>,
}

impl Remembering {
    /// With nothing known.
    pub(super) fn new(store: Box<dyn Store>) -> Remembering {
        Remembering { store, known: HashMap::new(), bytes: 0, ahead: HashMap::new(), lost: None }
    }

    /// Asks for what the requests of a commit will want to know, all at once. Only for keys that
    /// nobody else writes.
    pub(super) fn look_ahead(&mut self, wanted: impl Iterator<Item = String>) {
        let is_new = |key: &String| !self.known.contains_key(key) && !self.ahead.contains_key(key);
        // Several may be about the same session.
        let wanted: BTreeSet<String> = wanted.filter(is_new).collect();
        let wanted: Vec<String> = wanted.into_iter().collect();
        if wanted.is_empty() {
            return;
        }
        // Who cannot be asked now will be asked again, one by one, and say why not.
        let Ok(found) = self.ask(|store| store.get_many(&wanted)) else { return };
        self.ahead.extend(wanted.into_iter().zip(found));
    }

    /// Asks the store, unless it was lost since the last commit.
    fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut dyn Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Some(error) = self.lost.as_ref().and_then(StoreError::echo) {
            return Err(error);
        }
        let answer = question(self.store.as_mut());
        self.lost = answer.as_ref().err().and_then(StoreError::echo);
        answer
    }

    fn remember(&mut self, key: &str, value: &[u8]) {
        self.forget(key);
        if self.bytes + key.len() + value.len() > BYTES_MAX {
            self.forget_all();
        }
        self.bytes += key.len() + value.len();
        self.known.insert(key.to_string(), value.to_vec());
    }

    fn forget(&mut self, key: &str) {
        if let Some(value) = self.known.remove(key) {
            self.bytes -= key.len() + value.len();
        }
    }

    fn forget_all(&mut self) {
        self.known.clear();
        self.bytes = 0;
    }
}

fn is_state(key: &str) -> bool {
    key.strip_prefix(folder::STATES).is_some_and(|rest| rest.starts_with('/'))
}

impl Store for Remembering {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        if let Some(value) = self.known.get(key) {
            return Ok(Some(value.clone()));
        }
        let value = match self.ahead.get(key) {
            Some(value) => value.clone(),
            None => self.ask(|store| store.get(key))?,
        };
        if let Some(value) = value.as_ref().filter(|_| is_state(key)) {
            self.remember(key, value);
        }
        Ok(value)
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
        self.ask(|store| store.scan(range, limit))
    }

    fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
        self.ahead.clear();
        let committed = match self.lost.take() {
            Some(error) => Err(error),
            None => self.store.commit(writes),
        };
        if committed.is_err() {
            // What is there now is for the store to say.
            self.forget_all();
            return committed;
        }
        for (key, value) in writes.iter().filter(|(key, _)| is_state(key)) {
            match value {
                Some(value) => self.remember(key, value),
                None => self.forget(key),
            }
        }
        committed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    /// A store that counts questions, and refuses to write when it is told to.
    #[derive(Clone, Default)]
    struct Counting(Arc<Mutex<Inner>>);

    #[derive(Default)]
    struct Inner {
        pairs: BTreeMap<String, Vec<u8>>,
        asked: usize,
        refuses: bool,
        is_lost: bool,
    }

    impl Store for Counting {
        fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
            let mut inner = self.0.lock().expect("no panic");
            inner.asked += 1;
            match inner.is_lost {
                true => Err(StoreError::Fenced { place: "here".into() }),
                false => Ok(inner.pairs.get(key).cloned()),
            }
        }

        fn scan(&mut self, _: &KeyRange, _: usize) -> Result<Vec<Pair>, StoreError> {
            Ok(Vec::new())
        }

        fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
            let mut inner = self.0.lock().expect("no panic");
            inner.asked += usize::from(inner.is_lost);
            if inner.refuses {
                return Err(StoreError::Size { key: "any".into(), bytes: 0 });
            }
            for (key, value) in writes {
                match value {
                    Some(value) => drop(inner.pairs.insert(key.clone(), value.clone())),
                    None => drop(inner.pairs.remove(key)),
                }
            }
            Ok(())
        }
    }

    #[test]
    fn states_are_asked_for_once_and_are_what_was_written_last() {
        let below = Counting::default();
        let mut store = Remembering::new(Box::new(below.clone()));
        let asked = || below.0.lock().expect("no panic").asked;
        let put = |key: &str, value: Option<&[u8]>| {
            Writes::from([(key.to_string(), value.map(<[u8]>::to_vec))])
        };
        assert_eq!(store.get("states/w/s").expect("read"), None);
        assert_eq!(store.get("states/w/s").expect("read"), None, "absence is not remembered");
        assert_eq!(asked(), 2);
        store.commit(&put("states/w/s", Some(b"1"))).expect("written");
        assert_eq!(store.get("states/w/s").expect("read"), Some(b"1".to_vec()));
        assert_eq!(asked(), 2, "it is known");
        store.commit(&put("states/w/s", Some(b"22"))).expect("written");
        assert_eq!(store.get("states/w/s").expect("read"), Some(b"22".to_vec()));
        below.0.lock().expect("no panic").refuses = true;
        assert!(store.commit(&put("states/w/s", Some(b"3"))).is_err());
        assert_eq!(store.get("states/w/s").expect("read"), Some(b"22".to_vec()));
        assert_eq!(asked(), 3, "after an error the store is asked");
        below.0.lock().expect("no panic").refuses = false;
        store.commit(&put("states/w/s", None)).expect("written");
        assert_eq!(store.get("states/w/s").expect("read"), None);
        // What others may write is never remembered.
        for key in ["keys/k", "statesmen/x", "requests/r"] {
            store.commit(&put(key, Some(b"1"))).expect("written");
            let before = asked();
            assert_eq!(store.get(key).expect("read"), Some(b"1".to_vec()));
            assert_eq!(asked(), before + 1, "{key}");
        }
    }

    #[test]
    fn what_is_looked_for_ahead_counts_until_the_commit() {
        let below = Counting::default();
        let mut store = Remembering::new(Box::new(below.clone()));
        let asked = || below.0.lock().expect("no panic").asked;
        let put = |value: &[u8]| Writes::from([("requests/1".into(), Some(value.to_vec()))]);
        store.commit(&put(b"old")).expect("written");
        store.look_ahead(["requests/1", "requests/2"].into_iter().map(str::to_string));
        let before = asked();
        assert_eq!(store.get("requests/1").expect("read"), Some(b"old".to_vec()));
        assert_eq!(store.get("requests/2").expect("read"), None);
        assert_eq!(asked(), before, "absence is known, too");
        store.commit(&put(b"new")).expect("written");
        assert_eq!(store.get("requests/1").expect("read"), Some(b"new".to_vec()));
        assert_eq!(asked(), before + 1);
    }

    #[test]
    fn a_store_that_is_lost_is_asked_once_in_a_commit() {
        let below = Counting::default();
        let mut store = Remembering::new(Box::new(below.clone()));
        store.commit(&Writes::from([("states/w/s".into(), Some(b"1".to_vec()))])).expect("written");
        below.0.lock().expect("no panic").is_lost = true;
        store.look_ahead(["requests/1", "requests/2"].into_iter().map(str::to_string));
        for key in ["requests/1", "requests/2", "requests/3"] {
            assert!(store.get(key).expect_err("nobody is there").is_final());
        }
        assert_eq!(store.get("states/w/s").expect("it is known"), Some(b"1".to_vec()));
        let error = store.commit(&Writes::new()).expect_err("nobody is there");
        assert!(error.is_final(), "{error}");
        assert_eq!(below.0.lock().expect("no panic").asked, 1);
    }

    #[test]
    fn what_is_remembered_has_an_end() {
        let mut store = Remembering::new(Box::new(Counting::default()));
        let large = vec![0; 1 << 20];
        for number in 0..100 {
            let key = format!("states/w/{number}");
            store.commit(&Writes::from([(key, Some(large.clone()))])).expect("written");
            assert!(store.bytes <= BYTES_MAX, "{number}");
            let there: usize = store.known.iter().map(|(k, v)| k.len() + v.len()).sum();
            assert_eq!(there, store.bytes);
        }
    }
}
