//! Operators of TLA+ modules and the configurations that check them.

use super::matrix::Site;
use super::rust::is_test;
use crate::tla::{parse, parse_cfg};
use crate::tree::{Tree, extension, text};
use std::collections::BTreeMap;

/// What specifications say.
#[derive(Clone, Debug, Default)]
pub struct Specs {
    /// Where each operator is defined.
    pub operators: BTreeMap<String, Site>,
    /// Where each is listed to be checked.
    pub listed: BTreeMap<String, Vec<Site>>,
    /// Modules that were read.
    pub modules: usize,
}

/// Reads all modules and configurations.
pub fn read(tree: &Tree) -> Specs {
    let mut specs = Specs::default();
    // What stands in tests is made up.
    for path in tree.keys().filter(|path| !is_test(path)) {
        let Some(source) = text(tree, path) else { continue };
        let site = |line| Site { file: path.clone(), line };
        match extension(path).as_str() {
            "tla" => {
                let Some(module) = parse(source) else { continue };
                specs.modules += 1;
                for operator in module.operators {
                    specs.operators.entry(operator.name).or_insert_with(|| site(operator.line));
                }
            }
            "cfg" => {
                for (name, line) in parse_cfg(source).checked() {
                    specs.listed.entry(name.to_string()).or_default().push(site(line));
                }
            }
            _ => {}
        }
    }
    specs
}

/// The id an operator's name stands for: `BK1_MoneyIsKept` is `BK-1`.
pub fn id_of(operator: &str) -> Option<String> {
    let (head, rest) = operator.split_once('_')?;
    let at = head.find(|c: char| c.is_ascii_digit())?;
    let id = format!("{}-{}", &head[..at], &head[at..]);
    (super::documents::is_id(&id) && !rest.is_empty()).then_some(id)
}
