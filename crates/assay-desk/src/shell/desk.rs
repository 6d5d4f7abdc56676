//! Where things are: `.assay/desk/SLUG` in the user's repository.

use super::git::{Git, GitError};
use std::path::{Path, PathBuf};

/// The desk of one campaign.
#[derive(Clone, Debug)]
pub struct Desk {
    /// The user's repository.
    pub git: Git,
    /// The campaign's name.
    pub slug: String,
    home: PathBuf,
}

/// Why there is no desk.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// Not in a repository.
    #[error("a campaign needs a git repository with a commit: {0}")]
    Git(#[from] GitError),
    /// A name that cannot be a directory.
    #[error("`{0}` is no name for a campaign: lower-case words joined by dashes, please")]
    Slug(String),
    /// A file or directory cannot be made.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Desk {
    /// The desk of a campaign in the repository around a directory.
    pub fn find(directory: &Path, slug: &str) -> Result<Desk, DeskError> {
        if !crate::contract::is_slug(slug) {
            return Err(DeskError::Slug(slug.chars().take(80).collect()));
        }
        let git = Git::find(directory)?;
        let home = git.root().join(".assay/desk").join(slug);
        Ok(Desk { git, slug: slug.to_string(), home })
    }

    /// Names of all campaigns in a repository.
    pub fn all(git: &Git) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(git.root().join(".assay/desk")) else {
            return Vec::new();
        };
        let names = entries.flatten().filter(|entry| entry.path().join("contract.md").exists());
        let mut names: Vec<String> =
            names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Makes the directory, which git does not see.
    pub fn make(&self) -> Result<(), DeskError> {
        let error = |path: &Path| {
            let path = path.to_path_buf();
            move |source| DeskError::File { path, source }
        };
        std::fs::create_dir_all(&self.home).map_err(error(&self.home))?;
        let ignore = self.git.root().join(".assay/.gitignore");
        if !ignore.exists() {
            std::fs::write(&ignore, "*\n").map_err(error(&ignore))?;
        }
        Ok(())
    }

    /// Everything of this campaign.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The contract.
    pub fn contract(&self) -> PathBuf {
        self.home.join("contract.md")
    }

    /// The record.
    pub fn ledger(&self) -> PathBuf {
        self.home.join("ledger")
    }

    /// The lock of the repository: one Leader at a time, in whichever of its working trees.
    pub fn lock(&self) -> PathBuf {
        self.git.directory().join("assay-desk.lock")
    }

    /// A working tree.
    pub fn tree(&self, name: &str) -> PathBuf {
        self.home.join("trees").join(name)
    }

    /// What belongs to one dispatch.
    pub fn run(&self, run: u32, role: &str) -> PathBuf {
        self.home.join("runs").join(format!("{run:04}-{role}"))
    }

    /// The branch with verified work.
    pub fn branch(&self) -> String {
        format!("refs/heads/desk/{}", self.slug)
    }

    /// The reference that keeps what a dispatch claimed.
    pub fn claim(&self, run: u32) -> String {
        format!("refs/assay/desk/{}/{run:04}", self.slug)
    }

    /// Where all claims are.
    pub fn claims(&self) -> String {
        format!("refs/assay/desk/{}/", self.slug)
    }
}
