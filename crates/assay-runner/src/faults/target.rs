//! Whom a fault hits: from the words of a plan to nodes, at the moment it begins.
//!
//! `leader` is whoever leads now, not whoever led when the plan was written. Everything else that
//! has to be chosen (`any`, which minority) is drawn from the seed of the window.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

/// A side of a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Side {
    /// A node by name.
    Node(String),
    /// Who has a role now: leader, follower, or one the system describes.
    Role(String),
    /// One, drawn.
    One,
    /// All of them.
    All,
    /// As many as can be missed, drawn.
    Minority,
    /// As many as are needed, drawn.
    Majority,
    /// Those that are not on the other side.
    Others,
    /// The clients.
    Clients,
    /// Half of them, drawn: processes only, for all clients share their links.
    SomeClients,
    /// All of these: `n1, n2`.
    Several(Vec<Side>),
}

/// Whom a fault hits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// Nodes.
    Nodes(Side),
    /// What one side says to the other.
    OneWay(Side, Side),
    /// What they say to each other.
    BothWays(Side, Side),
}

/// Nodes and clients that were chosen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chosen {
    /// Nodes by number, in order.
    pub nodes: Vec<usize>,
    /// Whether the clients are meant, too.
    pub clients: bool,
}

/// Why nobody was chosen.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TargetError {
    /// Not of the grammar.
    #[error("`{0}` is no target: a role, a node, or two of them with `->` or `<->` between")]
    Unreadable(String),
    /// No such node.
    #[error("there is no node `{0}`")]
    NoNode(String),
    /// Nobody has the role now, or nobody can say.
    #[error("nobody is known to be `{role}`: {why}")]
    NoRole {
        /// The role.
        role: String,
        /// Why.
        why: String,
    },
    /// Clients are told apart by their processes only.
    #[error("`some-clients` are processes: only kill9, term and pause hit them, and nobody beside")]
    SomeClients,
    /// A side without anybody.
    #[error("`{0}` hits nobody in a system of this size")]
    Nobody(String),
}

impl Target {
    /// Reads a target.
    pub fn parse(text: &str) -> Result<Target, TargetError> {
        let unreadable = || TargetError::Unreadable(text.to_string());
        if let Some((left, right)) = text.split_once("<->") {
            return Ok(Target::BothWays(side(left)?, side(right)?));
        }
        if let Some((left, right)) = text.split_once("->") {
            return Ok(Target::OneWay(side(left)?, side(right)?));
        }
        if text.trim().is_empty() { Err(unreadable()) } else { Ok(Target::Nodes(side(text)?)) }
    }
}

fn side(text: &str) -> Result<Side, TargetError> {
    if text.contains(',') {
        return text.split(',').map(side).collect::<Result<_, _>>().map(Side::Several);
    }
    Ok(match text.trim() {
        "" => return Err(TargetError::Unreadable(text.to_string())),
        "any" | "one" => Side::One,
        "all" => Side::All,
        "minority" => Side::Minority,
        "majority" => Side::Majority,
        "others" => Side::Others,
        "clients" => Side::Clients,
        "some-clients" => Side::SomeClients,
        node if node.bytes().any(|b| b.is_ascii_digit()) => Side::Node(node.to_string()),
        role => Side::Role(role.to_string()),
    })
}

impl Side {
    /// What cannot be found in a system with these nodes and roles, whatever happens in it.
    fn unknown(&self, names: &[String], roles: &[&str]) -> Option<TargetError> {
        match self {
            Side::Node(name) if !names.contains(name) => Some(TargetError::NoNode(name.clone())),
            Side::Role(role) => {
                // A follower is any node that does not lead.
                let asked = if role == "follower" { "leader" } else { role };
                (!roles.contains(&asked)).then(|| TargetError::NoRole {
                    role: role.clone(),
                    why: "the description of the system has no such role".to_string(),
                })
            }
            Side::Several(sides) => sides.iter().find_map(|side| side.unknown(names, roles)),
            _ => None,
        }
    }
}

impl Side {
    fn has(&self, wanted: &Side) -> bool {
        match self {
            Side::Several(sides) => sides.iter().any(|side| side.has(wanted)),
            side => side == wanted,
        }
    }
}

impl Target {
    /// Whether a side is named, alone or beside others.
    pub fn has(&self, wanted: &Side) -> bool {
        match self {
            Target::Nodes(side) => side.has(wanted),
            Target::OneWay(a, b) | Target::BothWays(a, b) => a.has(wanted) || b.has(wanted),
        }
    }

    /// What of it cannot be found in a system with these nodes and roles: asked before a run.
    pub fn unknown(&self, names: &[String], roles: &[&str]) -> Option<TargetError> {
        let sides = match self {
            Target::Nodes(side) => vec![side],
            Target::OneWay(left, right) | Target::BothWays(left, right) => vec![left, right],
        };
        sides.into_iter().find_map(|side| side.unknown(names, roles))
    }
}

/// What is asked about the system while a target is resolved.
pub struct Lookup<'l> {
    /// The names of the nodes.
    pub names: &'l [String],
    /// Who has a role now.
    pub role: &'l dyn Fn(&str) -> Result<Vec<usize>, String>,
}

impl Lookup<'_> {
    /// One side alone; `others` of nobody is nobody's.
    pub fn one(&self, side: &Side, rng: &mut ChaCha20Rng) -> Result<Chosen, TargetError> {
        let count = self.names.len();
        let nodes = match side {
            Side::Clients => return Ok(Chosen { nodes: Vec::new(), clients: true }),
            Side::SomeClients => return Err(TargetError::SomeClients),
            Side::Several(sides) => return self.several(sides, rng),
            Side::Others => return Err(TargetError::Nobody("others".to_string())),
            Side::Node(name) => {
                let found = self.names.iter().position(|known| known == name);
                vec![found.ok_or_else(|| TargetError::NoNode(name.clone()))?]
            }
            Side::Role(role) => self.with_role(role, rng)?,
            Side::One => draw(count, 1, rng),
            Side::All => (0..count).collect(),
            Side::Minority => draw(count, count.saturating_sub(1) / 2, rng),
            Side::Majority => draw(count, count / 2 + 1, rng),
        };
        if nodes.is_empty() {
            return Err(TargetError::Nobody(format!("{side:?}").to_lowercase()));
        }
        Ok(Chosen { nodes, clients: false })
    }

    /// All of several, each once.
    fn several(&self, sides: &[Side], rng: &mut ChaCha20Rng) -> Result<Chosen, TargetError> {
        let mut all = Chosen::default();
        for side in sides {
            let chosen = self.one(side, rng)?;
            all.nodes.extend(chosen.nodes);
            all.clients |= chosen.clients;
        }
        all.nodes.sort_unstable();
        all.nodes.dedup();
        Ok(all)
    }

    /// Two sides; `others` are all nodes that are not on the other one.
    pub fn two(
        &self,
        left: &Side,
        right: &Side,
        rng: &mut ChaCha20Rng,
    ) -> Result<(Chosen, Chosen), TargetError> {
        let rest = |of: &Chosen| -> Result<Chosen, TargetError> {
            let nodes = (0..self.names.len()).filter(|node| !of.nodes.contains(node)).collect();
            let chosen = Chosen { nodes, clients: false };
            if chosen.nodes.is_empty() {
                return Err(TargetError::Nobody("others".to_string()));
            }
            Ok(chosen)
        };
        match (left, right) {
            (Side::Others, right) => {
                let right = self.one(right, rng)?;
                Ok((rest(&right)?, right))
            }
            (left, Side::Others) => {
                let left = self.one(left, rng)?;
                let right = rest(&left)?;
                Ok((left, right))
            }
            (left, right) => Ok((self.one(left, rng)?, self.one(right, rng)?)),
        }
    }

    fn with_role(&self, role: &str, rng: &mut ChaCha20Rng) -> Result<Vec<usize>, TargetError> {
        let no_role = |why: String| TargetError::NoRole { role: role.to_string(), why };
        // A follower is any node that does not lead; most systems have no word for it.
        let (asked, others) = if role == "follower" { ("leader", true) } else { (role, false) };
        let having = (self.role)(asked).map_err(no_role)?;
        let nodes: Vec<usize> = match others {
            true => (0..self.names.len()).filter(|node| !having.contains(node)).collect(),
            false => having,
        };
        match nodes.len() {
            0 => Err(no_role("no node says so".to_string())),
            1 => Ok(nodes),
            // Two may believe to lead for a moment: one of them is hit.
            count => Ok(vec![nodes[rng.random_range(0..count)]]),
        }
    }
}

/// So many different numbers below `count`, in order.
pub(super) fn draw(count: usize, wanted: usize, rng: &mut ChaCha20Rng) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    let wanted = wanted.min(count);
    for place in 0..wanted {
        all.swap(place, rng.random_range(place..count));
    }
    let mut drawn = all[..wanted].to_vec();
    drawn.sort_unstable();
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn resolve(text: &str, count: usize, seed: u64) -> Result<(Chosen, Chosen), TargetError> {
        let names: Vec<String> = (1..=count).map(|n| format!("n{n}")).collect();
        let role = |role: &str| match role {
            "leader" => Ok(vec![1]),
            other => Err(format!("the system does not describe `{other}`")),
        };
        let lookup = Lookup { names: &names, role: &role };
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        match Target::parse(text)? {
            Target::Nodes(side) => Ok((lookup.one(&side, &mut rng)?, Chosen::default())),
            Target::OneWay(a, b) | Target::BothWays(a, b) => lookup.two(&a, &b, &mut rng),
        }
    }

    #[test]
    fn targets_become_nodes() {
        let cases: [(&str, &[usize], &[usize]); 10] = [
            ("leader", &[1], &[]),
            ("n3", &[2], &[]),
            ("all", &[0, 1, 2], &[]),
            ("leader -> others", &[1], &[0, 2]),
            ("others -> leader", &[0, 2], &[1]),
            ("n1 <-> n2", &[0], &[1]),
            ("n1, n3", &[0, 2], &[]),
            ("n3, leader, n3", &[1, 2], &[]),
            ("n1, n2 -> others", &[0, 1], &[2]),
            ("n3 <-> n1, leader", &[2], &[0, 1]),
        ];
        for (text, left, right) in cases {
            let (a, b) = resolve(text, 3, 1).expect(text);
            assert_eq!((a.nodes.as_slice(), b.nodes.as_slice()), (left, right), "{text}");
        }
        assert!(resolve("leader -> clients", 3, 1).expect("both").1.clients);
    }

    #[test]
    fn what_is_drawn_has_the_right_size_and_comes_from_the_seed() {
        for seed in 0..50 {
            assert_eq!(resolve("any", 5, seed).expect("one").0.nodes.len(), 1);
            assert_eq!(resolve("minority", 5, seed).expect("two").0.nodes.len(), 2);
            assert_eq!(resolve("majority", 5, seed).expect("three").0.nodes.len(), 3);
            assert_ne!(resolve("follower", 3, seed).expect("one").0.nodes, [1]);
            assert_eq!(resolve("any", 5, seed), resolve("any", 5, seed));
        }
        let different = (0..50).map(|seed| resolve("any", 5, seed).expect("one").0.nodes);
        assert!(different.collect::<std::collections::BTreeSet<_>>().len() > 1);
    }

    #[test]
    fn names_and_roles_that_no_system_has_are_known_before_the_run() {
        let names = ["n1".to_string(), "n2".to_string()];
        let rows = [
            ("n1", true),
            ("n3", false),
            ("n1, n3", false),
            ("n1 -> n3", false),
            ("leader", true),
            ("follower, n2", true),
            ("primary", false),
            ("any <-> others", true),
        ];
        for (text, fine) in rows {
            let unknown = Target::parse(text).expect(text).unknown(&names, &["leader"]);
            assert_eq!(unknown.is_none(), fine, "{text}: {unknown:?}");
        }
    }

    #[test]
    fn targets_that_hit_nobody_are_errors() {
        for (text, count) in [
            ("", 3),
            ("n9", 3),
            ("primary", 3),
            ("minority", 2),
            ("all -> others", 3),
            ("a ->", 3),
            ("n1,", 3),
            ("n1, n9", 3),
            ("n1, others", 3),
        ] {
            assert!(resolve(text, count, 1).is_err(), "{text}");
        }
    }
}
