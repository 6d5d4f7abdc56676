//! Values as clients sent and received them, each stored once.
//!
//! A history of ten million operations mentions few *different* values, or many small integers. So
//! a value is a 32-bit [`ValueId`]: small integers live inside the id itself, everything else lives
//! once in a [`Values`] pool. Two ids of one pool are equal exactly when the values are equal,
//! which turns every comparison a checker makes into an integer comparison.
//!
//! ```
//! use assay_history::{Values, View};
//! let mut values = Values::new();
//! let four = values.int(4);
//! let pair = values.list(&[four, values.null()]);
//! assert_eq!(values.list(&[four, values.null()]), pair);
//! assert_eq!(values.show(pair).to_string(), "[4,null]");
//! assert!(matches!(values.view(four), View::Int(4)));
//! ```

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The name of a value in one [`Values`] pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(u32);

const INLINE_BIT: u32 = 1 << 31;
const INLINE_BIAS: i64 = 1 << 30;
const POOL_ENTRIES_MAX: usize = INLINE_BIT as usize;

impl ValueId {
    /// JSON `null`, EDN `nil`: nothing was sent or received.
    pub const NULL: ValueId = ValueId(0);
    /// `false`.
    pub const FALSE: ValueId = ValueId(1);
    /// `true`.
    pub const TRUE: ValueId = ValueId(2);

    /// The id of a small integer, which needs no pool; `None` when it does not fit the id.
    pub fn inline_int(value: i64) -> Option<ValueId> {
        let biased = value.checked_add(INLINE_BIAS)?;
        ((0..2 * INLINE_BIAS).contains(&biased)).then_some(ValueId(INLINE_BIT | biased as u32))
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        self == ValueId::NULL
    }

    /// The integer stored in the id itself, if it is one of the small ones.
    #[inline]
    pub fn as_inline_int(self) -> Option<i64> {
        (self.0 & INLINE_BIT != 0).then(|| i64::from(self.0 & !INLINE_BIT) - INLINE_BIAS)
    }

    /// A stable 32-bit number for hashing and dense tables.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The opposite of [`ValueId::bits`].
    pub(crate) fn from_bits(bits: u32) -> ValueId {
        ValueId(bits)
    }
}

impl std::fmt::Debug for ValueId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.as_inline_int() {
            Some(int) => write!(f, "{int}"),
            None => write!(f, "#{}", self.0),
        }
    }
}

/// What a [`ValueId`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View<'a> {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// Any other number, as canonical text.
    Number(&'a str),
    /// A string. EDN keywords and symbols outside the fixed fields keep their spelling
    /// (`":timed-out"`).
    Str(&'a str),
    /// A list.
    List(&'a [ValueId]),
    /// A map as alternating keys and values, sorted by key id.
    Map(&'a [ValueId]),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Null,
    Bool,
    Int,
    Number,
    Str,
    List,
    Map,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: Kind,
    len: u32,
    start: u64,
}

/// The pool that gives each different value one id.
#[derive(Clone, Debug)]
pub struct Values {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    children: Vec<ValueId>,
    index: HashTable<u32>,
}

impl Default for Values {
    fn default() -> Self {
        Values::new()
    }
}

impl Values {
    /// A pool that knows `null`, `false` and `true`.
    pub fn new() -> Values {
        let entry = |kind, start| Entry { kind, len: 0, start };
        Values {
            entries: vec![entry(Kind::Null, 0), entry(Kind::Bool, 0), entry(Kind::Bool, 1)],
            bytes: Vec::new(),
            children: Vec::new(),
            index: HashTable::new(),
        }
    }

    /// `null`.
    pub fn null(&self) -> ValueId {
        ValueId::NULL
    }

    /// A truth value.
    pub fn bool(&self, value: bool) -> ValueId {
        if value { ValueId::TRUE } else { ValueId::FALSE }
    }

    /// An integer.
    pub fn int(&mut self, value: i64) -> ValueId {
        match ValueId::inline_int(value) {
            Some(id) => id,
            None => self.intern_bytes(Kind::Int, &value.to_le_bytes()),
        }
    }

    /// A string.
    pub fn str(&mut self, value: &str) -> ValueId {
        self.intern_bytes(Kind::Str, value.as_bytes())
    }

    /// A number given as text in JSON syntax, brought to one canonical form: integers that fit 64
    /// bits become integers, whole floats too, so that `1`, `1.0` and `1e0` are the same value.
    pub fn number(&mut self, text: &str) -> ValueId {
        if let Ok(int) = text.parse::<i64>() {
            return self.int(int);
        }
        let looks_whole = !text.contains(['.', 'e', 'E']);
        let canonical = match text.parse::<f64>() {
            // Written out in full, so that what is written to a file reads back as the same value.
            Ok(float) if !looks_whole && float.is_finite() => float.to_string(),
            _ => text.to_string(),
        };
        match canonical.parse::<i64>() {
            Ok(int) => self.int(int),
            Err(_) => self.intern_bytes(Kind::Number, canonical.as_bytes()),
        }
    }

    /// A list of values of this pool.
    pub fn list(&mut self, items: &[ValueId]) -> ValueId {
        self.intern_children(Kind::List, items)
    }

    /// A map from its keys and values; of a repeated key the last one counts.
    pub fn map(&mut self, pairs: &[(ValueId, ValueId)]) -> ValueId {
        let mut sorted: Vec<(ValueId, ValueId)> = pairs.to_vec();
        sorted.sort_by_key(|&(key, _)| key);
        sorted.reverse();
        sorted.dedup_by_key(|&mut (key, _)| key);
        sorted.reverse();
        let flat: Vec<ValueId> = sorted.iter().flat_map(|&(k, v)| [k, v]).collect();
        self.intern_children(Kind::Map, &flat)
    }

    /// What an id stands for.
    #[inline]
    pub fn view(&self, id: ValueId) -> View<'_> {
        if let Some(int) = id.as_inline_int() {
            return View::Int(int);
        }
        let entry = self.entries[id.0 as usize];
        match entry.kind {
            Kind::Null => View::Null,
            Kind::Bool => View::Bool(entry.start == 1),
            Kind::Int => {
                let bytes = self.entry_bytes(entry).try_into().expect("integers are 8 bytes");
                View::Int(i64::from_le_bytes(bytes))
            }
            Kind::Number => View::Number(self.entry_str(entry)),
            Kind::Str => View::Str(self.entry_str(entry)),
            Kind::List => View::List(self.entry_children(entry)),
            Kind::Map => View::Map(self.entry_children(entry)),
        }
    }

    /// The integer an id stands for, if it is one.
    pub fn as_int(&self, id: ValueId) -> Option<i64> {
        match self.view(id) {
            View::Int(int) => Some(int),
            _ => None,
        }
    }

    /// The string an id stands for, if it is one.
    pub fn as_str(&self, id: ValueId) -> Option<&str> {
        match self.view(id) {
            View::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The items an id stands for, if it is a list.
    #[inline]
    pub fn as_list(&self, id: ValueId) -> Option<&[ValueId]> {
        match self.view(id) {
            View::List(items) => Some(items),
            _ => None,
        }
    }

    /// The value under a string key of a map.
    pub fn field(&self, id: ValueId, name: &str) -> Option<ValueId> {
        let View::Map(pairs) = self.view(id) else { return None };
        pairs.chunks_exact(2).find(|pair| self.as_str(pair[0]) == Some(name)).map(|pair| pair[1])
    }

    /// How many bytes the pool holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.bytes.capacity()
            + self.children.capacity() * size_of::<ValueId>()
            + self.index.capacity() * (size_of::<u32>() + 1)
    }

    fn entry_bytes(&self, entry: Entry) -> &[u8] {
        &self.bytes[entry.start as usize..entry.start as usize + entry.len as usize]
    }

    fn entry_str(&self, entry: Entry) -> &str {
        std::str::from_utf8(self.entry_bytes(entry)).expect("text enters the pool as str")
    }

    fn entry_children(&self, entry: Entry) -> &[ValueId] {
        &self.children[entry.start as usize..entry.start as usize + entry.len as usize]
    }

    fn intern_bytes(&mut self, kind: Kind, content: &[u8]) -> ValueId {
        let hash = hash_of(kind, content);
        let found = self.index.find(hash, |&id| {
            let entry = self.entries[id as usize];
            entry.kind == kind && self.entry_bytes(entry) == content
        });
        if let Some(&id) = found {
            return ValueId(id);
        }
        let start = self.bytes.len() as u64;
        self.bytes.extend_from_slice(content);
        self.add(hash, Entry { kind, len: content.len() as u32, start })
    }

    fn intern_children(&mut self, kind: Kind, content: &[ValueId]) -> ValueId {
        let hash = hash_of(kind, content);
        let found = self.index.find(hash, |&id| {
            let entry = self.entries[id as usize];
            entry.kind == kind && self.entry_children(entry) == content
        });
        if let Some(&id) = found {
            return ValueId(id);
        }
        let start = self.children.len() as u64;
        self.children.extend_from_slice(content);
        self.add(hash, Entry { kind, len: content.len() as u32, start })
    }

    fn add(&mut self, hash: u64, entry: Entry) -> ValueId {
        let id = self.entries.len();
        assert!(id < POOL_ENTRIES_MAX, "a value pool holds fewer than 2^31 values");
        self.entries.push(entry);
        let Values { entries, bytes, children, index } = self;
        index.insert_unique(hash, id as u32, |&other| {
            let entry = entries[other as usize];
            let range = entry.start as usize..entry.start as usize + entry.len as usize;
            match entry.kind {
                Kind::List | Kind::Map => hash_of(entry.kind, &children[range]),
                _ => hash_of(entry.kind, &bytes[range]),
            }
        });
        ValueId(id as u32)
    }
}

fn hash_of<T: Hash + ?Sized>(kind: Kind, content: &T) -> u64 {
    let mut hasher = FxHasher::default();
    kind.hash(&mut hasher);
    content.hash(&mut hasher);
    hasher.finish()
}
