//! Secrets at rest: sealed when they come in, opened only where they are used.
//!
//! Every secret has a key of its own, made by chance, which seals it; that key is sealed by one
//! that is derived from the master key. Both say which record they belong to, so that a sealed
//! secret that is moved to another record cannot be opened there. The master key is not in the
//! store: whoever has a copy of the store has no secret.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where the master key is, unless somebody says otherwise.
pub const MASTER_KEY_NAME: &str = "master.key";
/// What keys that seal keys are derived for: another use would have another name.
const PURPOSE: &[u8] = b"assay serve: keys of secrets, 1";
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
/// A file with a key is no longer.
const KEY_FILE_BYTES_MAX: u64 = 1024;

/// Where the master key comes from.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum MasterKeySource {
    /// A file in the data directory, which is made if it is not there.
    #[default]
    DataDirectory,
    /// A file that must be there.
    File(PathBuf),
    /// The key itself, in base64.
    Text(String),
}

impl std::fmt::Debug for MasterKeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MasterKeySource::DataDirectory => f.write_str("DataDirectory"),
            MasterKeySource::File(path) => f.debug_tuple("File").field(path).finish(),
            MasterKeySource::Text(_) => f.write_str("Text(..)"),
        }
    }
}

/// Why there is no master key, or not the right one.
#[derive(Debug, thiserror::Error)]
pub enum MasterKeyError {
    /// A file cannot be read or made.
    #[error("{}: cannot {doing} the master key: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: std::io::Error,
    },
    /// What is there is no key.
    #[error("{place}: a master key is 32 bytes in base64 (43 characters of the URL-safe alphabet)")]
    Text {
        /// Where it was.
        place: String,
    },
    /// The store was sealed with another.
    #[error(
        "the master key ({place}) is not the one that sealed the secrets of this store; give the \
         right one, or restore it from a backup"
    )]
    Wrong {
        /// Where it came from.
        place: String,
    },
    /// The store was sealed with one that is gone.
    #[error(
        "{}: the master key is missing, and this store has secrets that only it opens; restore it",
        path.display()
    )]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The machine gives no randomness.
    #[error("the machine gives no randomness: {0}")]
    Chance(getrandom::Error),
    /// The store says no.
    #[error("cannot look at the store: {0}")]
    Store(String),
}

/// What could not be sealed or opened. It says nothing about what it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a secret could not be sealed or opened")]
pub struct SealError;

/// A secret that can be kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sealed {
    /// How it is sealed.
    v: u32,
    /// Its key, sealed.
    key: String,
    /// The secret, sealed with that key.
    text: String,
}

/// Seals and opens.
pub struct Sealer {
    keys: XChaCha20Poly1305,
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer(..)")
    }
}

impl Sealer {
    /// With a master key.
    pub fn new(master: &[u8; KEY_BYTES]) -> Sealer {
        let mut key = [0; KEY_BYTES];
        let derived = Hkdf::<Sha256>::new(None, master).expand(PURPOSE, &mut key);
        derived.expect("32 bytes are less than 255 hashes");
        Sealer { keys: XChaCha20Poly1305::new(&key.into()) }
    }

    /// Seals a secret of the record that stands at this key of the store.
    ///
    /// # Errors
    /// If the machine gives no randomness.
    pub fn seal(&self, record: &str, secret: &[u8]) -> Result<Sealed, SealError> {
        let own: [u8; KEY_BYTES] = chance()?;
        let text = encrypt(&XChaCha20Poly1305::new(&own.into()), record, secret)?;
        let key = encrypt(&self.keys, record, &own)?;
        Ok(Sealed { v: 1, key, text })
    }

    /// Opens it again.
    ///
    /// # Errors
    /// If it is another record's, another key's, or damaged.
    pub fn open(&self, record: &str, sealed: &Sealed) -> Result<Vec<u8>, SealError> {
        if sealed.v != 1 {
            return Err(SealError);
        }
        let own = decrypt(&self.keys, record, &sealed.key)?;
        let own: [u8; KEY_BYTES] = own.try_into().map_err(|_| SealError)?;
        decrypt(&XChaCha20Poly1305::new(&own.into()), record, &sealed.text)
    }
}

fn chance<const N: usize>() -> Result<[u8; N], SealError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| SealError)?;
    Ok(bytes)
}

/// A nonce by chance is long enough never to come twice.
fn encrypt(cipher: &XChaCha20Poly1305, aad: &str, msg: &[u8]) -> Result<String, SealError> {
    let nonce: [u8; NONCE_BYTES] = chance()?;
    let payload = Payload { msg, aad: aad.as_bytes() };
    let sealed = cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError)?;
    Ok(URL_SAFE_NO_PAD.encode([nonce.as_slice(), &sealed].concat()))
}

fn decrypt(cipher: &XChaCha20Poly1305, aad: &str, text: &str) -> Result<Vec<u8>, SealError> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| SealError)?;
    let (nonce, msg) = bytes.split_at_checked(NONCE_BYTES).ok_or(SealError)?;
    let nonce: [u8; NONCE_BYTES] = nonce.try_into().map_err(|_| SealError)?;
    let payload = Payload { msg, aad: aad.as_bytes() };
    cipher.decrypt(&XNonce::from(nonce), payload).map_err(|_| SealError)
}

/// Finds the master key. One in the data directory is made, unless something was sealed before.
///
/// # Errors
/// If there is none.
pub fn find_master_key(
    source: &MasterKeySource,
    data: &Path,
    is_new: bool,
) -> Result<([u8; KEY_BYTES], String), MasterKeyError> {
    match source {
        MasterKeySource::Text(text) => {
            let place = "ASSAY_MASTER_KEY".to_string();
            Ok((parse_key(text, &place)?, place))
        }
        MasterKeySource::File(path) => read_key(path),
        MasterKeySource::DataDirectory => {
            let path = data.join(MASTER_KEY_NAME);
            match (path.exists(), is_new) {
                (true, _) => read_key(&path),
                (false, true) => make_key(&path),
                (false, false) => Err(MasterKeyError::Missing { path }),
            }
        }
    }
}

fn parse_key(text: &str, place: &str) -> Result<[u8; KEY_BYTES], MasterKeyError> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim().trim_end_matches('=')).ok();
    let key = bytes.and_then(|bytes| bytes.try_into().ok());
    key.ok_or_else(|| MasterKeyError::Text { place: place.to_string() })
}

fn read_key(path: &Path) -> Result<([u8; KEY_BYTES], String), MasterKeyError> {
    let place = path.display().to_string();
    let trouble = |source| MasterKeyError::File { path: path.to_path_buf(), doing: "read", source };
    if std::fs::metadata(path).map_err(trouble)?.len() > KEY_FILE_BYTES_MAX {
        return Err(MasterKeyError::Text { place });
    }
    let text = std::fs::read_to_string(path).map_err(trouble)?;
    Ok((parse_key(&text, &place)?, place))
}

/// For nobody else's eyes, and durable before anything is sealed with it.
fn make_key(path: &Path) -> Result<([u8; KEY_BYTES], String), MasterKeyError> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(MasterKeyError::Chance)?;
    let write = || {
        let temporary = path.with_extension("new");
        let mut options = std::fs::OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        writeln!(file, "{}", URL_SAFE_NO_PAD.encode(key))?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        std::fs::File::open(path.parent().unwrap_or(path))?.sync_all()
    };
    let trouble = |source| MasterKeyError::File { path: path.to_path_buf(), doing: "make", source };
    write().map_err(trouble)?;
    Ok((key, path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_opens_only_with_its_key_in_its_record_and_unharmed() {
        let sealer = Sealer::new(&[7; KEY_BYTES]);
        let sealed = sealer.seal("credentials/w/v/c", b"s3cret").expect("sealed");
        let kept = serde_json::to_string(&sealed).expect("text");
        assert!(!kept.contains("s3cret"));
        let sealed: Sealed = serde_json::from_str(&kept).expect("the same");
        assert_eq!(sealer.open("credentials/w/v/c", &sealed).expect("opened"), b"s3cret");
        sealer.open("credentials/w/v/d", &sealed).expect_err("another record");
        Sealer::new(&[8; KEY_BYTES]).open("credentials/w/v/c", &sealed).expect_err("another key");
        let mut harmed = sealed.clone();
        harmed.text.replace_range(40..41, if &harmed.text[40..41] == "A" { "B" } else { "A" });
        sealer.open("credentials/w/v/c", &harmed).expect_err("harmed");
        let again = sealer.seal("credentials/w/v/c", b"s3cret").expect("sealed");
        assert_ne!(again, sealed, "the same secret twice looks different");
    }

    #[test]
    fn a_master_key_is_made_once_and_never_guessed() {
        let directory = tempfile::tempdir().expect("a directory");
        let find = |source: &MasterKeySource, is_new| {
            find_master_key(source, directory.path(), is_new).map(|(key, _)| key)
        };
        let own = MasterKeySource::DataDirectory;
        assert!(matches!(find(&own, false), Err(MasterKeyError::Missing { .. })));
        let made = find(&own, true).expect("made");
        assert_eq!(find(&own, false).expect("found"), made);
        use std::os::unix::fs::PermissionsExt;
        let path = directory.path().join(MASTER_KEY_NAME);
        let mode = std::fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).expect("text");
        assert_eq!(find(&MasterKeySource::Text(text), true).expect("the same"), made);
        assert_eq!(find(&MasterKeySource::File(path), true).expect("the same"), made);
        for bad in ["", "short", &"A".repeat(44)] {
            let found = find(&MasterKeySource::Text(bad.to_string()), true);
            assert!(matches!(found, Err(MasterKeyError::Text { .. })), "{bad}");
        }
        let nowhere = MasterKeySource::File(directory.path().join("none"));
        assert!(matches!(find(&nowhere, true), Err(MasterKeyError::File { .. })));
    }
}
