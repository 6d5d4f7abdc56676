//! The matrix and its holes.

use super::documents::{ids, prefix};
use super::rust::{Declaration, Found, Use, is_test, read};
use super::specs::{self, Specs, id_of};
use crate::tree::{Tree, directory, extension, file_name, text};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
pub struct Site {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// One invariant and all places that hold it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// The id.
    pub id: String,
    /// `state`, `action`, `eventually`; empty if it is not declared.
    pub kind: String,
    /// The sentence.
    pub says: String,
    /// Documents that lay it down.
    pub documents: Vec<Site>,
    /// The name of its operator.
    pub operator: String,
    /// Where the operator is defined.
    pub specified: Vec<Site>,
    /// Configurations that check it.
    pub configured: Vec<Site>,
    /// The registry it is declared in.
    pub registry: String,
    /// Where it is declared.
    pub declared: Vec<Site>,
    /// Models that have it as a property.
    pub modelled: Vec<Site>,
    /// Walks and recordings that are judged by it.
    pub simulated: Vec<Site>,
    /// Checks in production.
    pub checked: Vec<Site>,
    /// Tests that name it.
    pub tested: Vec<Site>,
    /// The metric that counts it; empty if none does.
    pub metric: String,
    /// Where its counters are written.
    pub exported: Vec<Site>,
}

/// A place where something is missing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Hole {
    /// The rule.
    pub rule: &'static str,
    /// The invariant.
    pub id: String,
    /// Where to begin.
    pub site: Site,
    /// What is missing, and what to do.
    pub text: String,
}

/// What a repository says about its invariants.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Matrix {
    /// One for each invariant, by id.
    pub rows: Vec<Row>,
    /// What is missing.
    pub holes: Vec<Hole>,
    /// Files that were looked into.
    pub files: usize,
}

/// Reads files and says which invariant is held where.
pub fn scan(tree: &Tree) -> Matrix {
    let specs = specs::read(tree);
    let mut found = Vec::new();
    let mut laid_down: BTreeMap<String, Vec<Site>> = BTreeMap::new();
    let mut files = 0;
    for path in tree.keys() {
        let Some(source) = text(tree, path) else { continue };
        files += 1;
        match extension(path).as_str() {
            "rs" => found.extend(read(path, source)),
            // What changed is no place where something is decided.
            "md" if file_name(path) != "CHANGELOG.md" && !is_test(path) => {
                for (id, site) in ids(path, source) {
                    laid_down.entry(id).or_default().push(site);
                }
            }
            _ => {}
        }
    }
    let mut scanner = Scanner { tree, specs, found, laid_down, holes: Vec::new() };
    let rows = scanner.rows();
    let mut holes = scanner.holes;
    holes.sort();
    Matrix { rows, holes, files }
}

struct Scanner<'t> {
    tree: &'t Tree,
    specs: Specs,
    found: Vec<Found>,
    laid_down: BTreeMap<String, Vec<Site>>,
    holes: Vec<Hole>,
}

impl Scanner<'_> {
    fn rows(&mut self) -> Vec<Row> {
        let all = self.found.iter().flat_map(|found| found.declarations.iter().cloned());
        let mut declared: BTreeMap<String, Declaration> = BTreeMap::new();
        for declaration in all.collect::<Vec<_>>() {
            if let Some(first) = declared.get(&declaration.id) {
                let text = format!(
                    "is declared at {}:{}, too; ids are used once",
                    first.site.file, first.site.line
                );
                self.hole("I09", &declaration.id, &declaration.site, text);
                continue;
            }
            declared.insert(declaration.id.clone(), declaration);
        }
        let mut rows: Vec<Row> = declared.values().map(|one| self.declared(one)).collect();
        rows.extend(self.undeclared(&declared));
        rows.sort_by_key(|row| order(&row.id));
        rows
    }

    fn hole(&mut self, rule: &'static str, id: &str, site: &Site, text: impl Into<String>) {
        let (id, site, text) = (id.to_string(), site.clone(), text.into());
        self.holes.push(Hole { rule, id, site, text });
    }

    /// Where a name is used so.
    fn uses(&self, names: &[&str], wanted: &[Use]) -> Vec<Site> {
        let all = self.found.iter().flat_map(|found| &found.uses);
        let fits = all
            .filter(|used| wanted.contains(&used.usage) && names.contains(&used.name.as_str()))
            .map(|used| used.site.clone());
        fits.collect::<BTreeSet<Site>>().into_iter().collect()
    }

    fn declared(&mut self, one: &Declaration) -> Row {
        let names = [one.name.as_str()];
        let registry = [one.registry.as_str()];
        let model = if one.kind == "action" { Use::StepModel } else { Use::StateModel };
        let operator = match one.tla.is_empty() {
            false => one.tla.clone(),
            true => self.operator_of(&one.id).unwrap_or_default(),
        };
        let mut row = Row {
            id: one.id.clone(),
            kind: one.kind.clone(),
            says: one.says.clone(),
            documents: self.laid_down.get(&one.id).cloned().unwrap_or_default(),
            specified: self.specs.operators.get(&operator).cloned().into_iter().collect(),
            configured: self.specs.listed.get(&operator).cloned().unwrap_or_default(),
            registry: one.registry.clone(),
            declared: vec![one.site.clone()],
            modelled: self.uses(&registry, &[model]),
            simulated: self.uses(&registry, &[Use::Walk]),
            checked: self.uses(&names, &[Use::Check]),
            tested: self.uses(&[&one.name, &one.id, &one.registry], &[Use::Test]),
            metric: String::new(),
            exported: self.uses(&[&one.name, &one.registry], &[Use::Export]),
            operator,
        };
        if !row.exported.is_empty() {
            row.metric = format!("assay_invariant_violations_total{{invariant=\"{}\"}}", one.id);
        }
        self.specification_holes(&row, one);
        self.code_holes(&row, one);
        row
    }

    fn operator_of(&self, id: &str) -> Option<String> {
        let mut names = self.specs.operators.keys();
        names.find(|name| id_of(name).as_deref() == Some(id)).cloned()
    }

    fn specification_holes(&mut self, row: &Row, one: &Declaration) {
        let (id, site) = (&one.id, &one.site);
        let see = self.referred(one);
        match see.as_deref() {
            None => {
                let text = format!("refers to `{}`, which is not there: correct `see`", one.see);
                self.hole("I02", id, site, text);
            }
            Some(file) if !row.documents.iter().any(|document| document.file == file) => {
                let text = format!(
                    "is not laid down in {file}: put it there in bold, in a heading or at the \
                     start of a row of a table"
                );
                self.hole("I02", id, site, text);
            }
            Some(_) => {}
        }
        if self.specs.modules == 0 {
            return;
        }
        if row.specified.is_empty() {
            let text = match one.tla.as_str() {
                "" => "has no operator: specify it and give its name as `tla`".to_string(),
                name => format!("names the operator {name}, which no module defines"),
            };
            self.hole("I03", id, site, text);
        } else if row.configured.is_empty() {
            let place = row.specified[0].clone();
            let text = format!("{} is checked by no configuration: list it in one", row.operator);
            self.hole("I04", id, &place, text);
        }
    }

    fn code_holes(&mut self, row: &Row, one: &Declaration) {
        let (id, site) = (&one.id, &one.site);
        if row.modelled.is_empty() {
            let model = if one.kind == "action" { "Steps" } else { "States" };
            let text = format!(
                "is a property of no model: explore `{model}<_, {}>` in a test",
                one.registry
            );
            self.hole("I05", id, site, text);
        }
        let debug = self.uses(&[one.name.as_str()], &[Use::DebugCheck]);
        // That something comes in the end is nothing a single state can refute.
        if row.checked.is_empty() && one.kind != "eventually" {
            match debug.first() {
                Some(place) => {
                    let text = "is checked in debug builds only: take the condition away";
                    self.hole("I06", id, place, text);
                }
                None => {
                    let text =
                        format!("is checked nowhere in production: `check!({}, …)`", one.name);
                    self.hole("I06", id, site, text);
                }
            }
        }
        if row.tested.is_empty() {
            let text = format!("is named by no test, nor is {}", one.registry);
            self.hole("I07", id, site, text);
        }
        if row.exported.is_empty() {
            let text =
                format!("is counted, but nobody can see it: write {}::prometheus()", one.registry);
            self.hole("I08", id, site, text);
        }
    }

    /// The file that `see` names: from the root, or from a directory above the declaration.
    fn referred(&self, one: &Declaration) -> Option<String> {
        let path = one.see.split('#').next().unwrap_or_default();
        let mut above = directory(&one.site.file);
        loop {
            let candidate = match above {
                "" => path.to_string(),
                above => format!("{above}/{path}"),
            };
            if self.tree.contains_key(&candidate) {
                return Some(candidate);
            }
            if above.is_empty() {
                return None;
            }
            above = directory(above);
        }
    }

    /// Ids that specifications and documents have and no registry.
    fn undeclared(&mut self, declared: &BTreeMap<String, Declaration>) -> Vec<Row> {
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for (operator, site) in self.specs.operators.clone() {
            let Some(id) = id_of(&operator).filter(|id| !declared.contains_key(id)) else {
                continue;
            };
            let text = format!("{operator} is declared in no registry: declare it once, in code");
            self.hole("I01", &id, &site, text);
            let row = rows.entry(id.clone()).or_insert_with(|| Row { id, ..Row::default() });
            row.configured.extend(self.specs.listed.get(&operator).cloned().unwrap_or_default());
            row.operator = operator;
            row.specified.push(site);
        }
        let known: BTreeSet<String> =
            declared.keys().chain(rows.keys()).map(|id| prefix(id).to_string()).collect();
        for (id, sites) in self.laid_down.clone() {
            if declared.contains_key(&id) || !known.contains(prefix(&id)) {
                continue;
            }
            if !rows.contains_key(&id) {
                let text = "is laid down here and declared in no registry: declare it, or drop it";
                self.hole("I10", &id, &sites[0], text);
            }
            let row = rows.entry(id.clone()).or_insert_with(|| Row { id, ..Row::default() });
            row.documents = sites;
        }
        rows.into_values().collect()
    }
}

/// `BK-2` before `BK-10`.
fn order(id: &str) -> (String, u32) {
    let (letters, number) = id.split_once('-').unwrap_or((id, ""));
    (letters.to_string(), number.parse().unwrap_or(u32::MAX))
}
