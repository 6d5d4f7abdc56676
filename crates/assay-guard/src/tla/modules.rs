//! Pairs of modules: which old one became which new one, and what the rules say about each.

use super::cfg::{Cfg, parse_cfg};
use super::parse::{Module, parse};
use super::{actions, cfg_rules, properties};
use crate::config::Config;
use crate::finding::{Finding, Side, Verdict, finding};
use crate::rules::id;
use crate::tree::{Tree, directory, extension, file_name, text};
use std::collections::{BTreeMap, BTreeSet};

/// A module with where it stands and how it is checked.
pub struct Checked<'t> {
    /// The file.
    pub file: &'t str,
    /// What is in it.
    pub module: Module,
    /// Its configurations, by file.
    pub cfgs: Vec<(&'t str, Cfg)>,
}

impl Checked<'_> {
    /// `Bank!Inv`.
    pub fn object(&self, name: &str) -> String {
        let module = match self.module.name.is_empty() {
            true => file_name(self.file).trim_end_matches(".tla"),
            false => &self.module.name,
        };
        format!("{module}!{name}")
    }

    /// The names that some configuration checks.
    pub fn listed(&self) -> BTreeSet<&str> {
        self.cfgs.iter().flat_map(|(_, cfg)| cfg.checked().map(|entry| entry.0)).collect()
    }
}

/// What got weaker in modules and configurations.
pub fn compare(before: &Tree, after: &Tree, config: &Config) -> Vec<Finding> {
    let (old, new) = (read(before), read(after));
    let mut findings = Vec::new();
    for module in &new {
        let unreadable =
            module.module.error.filter(|_| before.get(module.file) != after.get(module.file));
        if let Some(line) = unreadable {
            let side = Side { file: module.file, line, text: "" };
            findings.push(finding(
                id("G01"),
                module.file,
                Verdict::Suspect,
                (None, Some(side)),
                "is not TLA+ from this line on; what stands there was not compared: correct it",
            ));
        }
    }
    let mut taken = BTreeSet::new();
    for one in &old {
        let same_file = new.iter().position(|other| other.file == one.file);
        let moved = || new.iter().position(|other| other.module.name == one.module.name);
        let partner = same_file.or_else(moved).filter(|at| taken.insert(*at));
        match partner.map(|at| &new[at]) {
            Some(other) => {
                let found = properties::compare(one, other);
                findings.extend(actions::compare(one, other));
                findings.extend(found);
            }
            None => findings.extend(properties::gone(one)),
        }
    }
    findings.extend(cfg_rules::compare(before, after, &old, &new, config));
    findings
}

fn read(tree: &Tree) -> Vec<Checked<'_>> {
    let mut cfgs: BTreeMap<&str, Vec<(&str, Cfg)>> = BTreeMap::new();
    let files = |wanted: &'static str| {
        tree.keys().filter(move |path| extension(path) == wanted).map(String::as_str)
    };
    let modules: Vec<&str> = files("tla").collect();
    for path in files("cfg") {
        let Some(source) = text(tree, path) else { continue };
        let module = module_of(path, &modules);
        if let Some(module) = module {
            cfgs.entry(module).or_default().push((path, parse_cfg(source)));
        }
    }
    modules
        .into_iter()
        .filter_map(|file| {
            let module = parse(text(tree, file)?)?;
            Some(Checked { file, module, cfgs: cfgs.remove(file).unwrap_or_default() })
        })
        .collect()
}

/// The module a configuration belongs to: of the same name, else without its last `_suffix`.
pub fn module_of<'t>(path: &str, modules: &[&'t str]) -> Option<&'t str> {
    let base = file_name(path).trim_end_matches(".cfg");
    let shorter = base.rsplit_once(['_', '.', '-']).map(|(start, _)| start);
    let named = |base: &str| {
        let wanted = format!("{base}.tla");
        let beside = |module: &&&str| directory(module) == directory(path);
        let fits = |module: &&&str| file_name(module) == wanted;
        let found = modules.iter().filter(fits);
        let beside = found.clone().find(beside);
        beside.or_else(|| found.clone().next()).copied()
    };
    let only = || match modules {
        [only] if directory(only) == directory(path) => Some(*only),
        _ => None,
    };
    named(base).or_else(|| shorter.and_then(named)).or_else(only)
}
