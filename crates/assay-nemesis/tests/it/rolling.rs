//! Nodes are restarted one after the other, in an order that is known before.

use super::support::{PATIENCE, Sleeper, injector};
use assay_nemesis::rolling::{Order, Owner, Pace, Rolling, RollingError, Step, Stop, steps};
use assay_nemesis::{Contents, Entry, FaultId, Process, ProcessState, Victim, heal_journal};
use assay_verdict::LandingState;
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn steps_follow_order_and_pace() {
    let shown = |order, pace| {
        let steps = steps(&["a", "b"], Rolling { order, stop: Stop::Kill, pace }).expect("nodes");
        let word = |step: &Step| match step {
            Step::Stop(node) => format!("-{node}"),
            Step::Start(node) => format!("+{node}"),
            Step::AwaitReady(node) => format!("={node}"),
        };
        steps.iter().map(word).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown(Order::Given, Pace::WhenReady), "-a +a =a -b +b =b");
    assert_eq!(shown(Order::Reversed, Pace::WhenReady), "-b +b =b -a +a =a");
    assert_eq!(shown(Order::Given, Pace::AtOnce), "-a +a -b +b =a =b");
    let plain = Rolling { order: Order::Given, stop: Stop::Kill, pace: Pace::AtOnce };
    assert!(matches!(steps(&[], plain), Err(RollingError::NoNodes)));
    assert!(matches!(steps(&["a", "b", "a"], plain), Err(RollingError::Twice(_))));
}

/// A system of nodes that sleep, and are ready when they are looked at for the third time.
struct Sleepers {
    nodes: BTreeMap<String, (Sleeper, u32)>,
    log: Vec<String>,
    ready_after: u32,
}

impl Sleepers {
    fn start(names: &[&str]) -> Sleepers {
        let nodes = names.iter().map(|name| (name.to_string(), (Sleeper::start(), 0)));
        Sleepers { nodes: nodes.collect(), log: Vec::new(), ready_after: 3 }
    }

    fn processes(&self) -> Vec<Process> {
        self.nodes.values().map(|(sleeper, _)| sleeper.process()).collect()
    }
}

impl Owner for Sleepers {
    fn process(&mut self, node: &str) -> Result<Process, String> {
        let others = self.nodes.iter().filter(|(name, _)| *name != node);
        for (name, (sleeper, _)) in others {
            let state = sleeper.process().state().expect("readable");
            assert_eq!(state, ProcessState::Alive, "{name} is down while {node} is stopped");
        }
        let (sleeper, _) = self.nodes.get(node).ok_or("there is no such node")?;
        Ok(sleeper.process())
    }

    fn start(&mut self, node: &str) -> Result<Process, String> {
        let (old, looks) = self.nodes.get_mut(node).ok_or("there is no such node")?;
        assert_eq!(old.process().state().expect("readable"), ProcessState::Gone, "{node}");
        (*old, *looks) = (Sleeper::start(), 0);
        self.log.push(node.to_string());
        Ok(old.process())
    }

    fn is_ready(&mut self, node: &str) -> bool {
        let (_, looks) = self.nodes.get_mut(node).expect("it was started");
        *looks += 1;
        *looks >= self.ready_after
    }
}

fn id() -> FaultId {
    FaultId::named("roll-wrong").expect("an id of the catalogue")
}

#[test]
fn every_node_is_restarted_once_and_each_stop_stands_in_the_journal() {
    for (stop, pace) in [(Stop::Kill, Pace::WhenReady), (Stop::Terminate, Pace::AtOnce)] {
        let (_directory, journal, injector) = injector(None);
        let mut owner = Sleepers::start(&["n1", "n2", "n3"]);
        let before = owner.processes();
        let rolling = Rolling { order: Order::Reversed, stop, pace };
        let mut moves = 0;
        let leaders = Victim::new("leaders", move || {
            moves += 1;
            Some(moves)
        });
        let nodes = ["n1", "n2", "n3"];
        let rolled = injector.roll(id(), &nodes, rolling, &mut owner, leaders, PATIENCE);
        let rolled = rolled.expect("all are restarted");
        assert_eq!(owner.log, ["n3", "n2", "n1"], "the wrong order");
        assert_eq!(rolled.landing.state(), LandingState::Landed, "{}", rolled.landing.evidence());
        assert_eq!(rolled.landing.injector.numbers(), "processes gone 0 → 3 → 3");
        assert_eq!(rolled.landing.injector.moves_by_min, 3);
        assert!(rolled.nodes.iter().all(|(_, healed)| healed.proof.len() == 2), "{rolled:?}");
        assert!(owner.processes().iter().all(|process| !before.contains(process)), "new ones");
        drop(injector);
        let contents = Contents::parse(&std::fs::read(&journal).expect("a file"));
        let injected = contents.entries.iter().filter(|e| matches!(e, Entry::Inject { .. }));
        assert_eq!(injected.count(), 3);
        assert!(heal_journal(&journal).expect("readable").faults.is_empty());
    }
}

#[test]
fn a_node_that_does_not_come_back_ends_it() {
    let (_directory, _, injector) = injector(None);
    let mut owner = Sleepers::start(&["n1", "n2"]);
    owner.ready_after = u32::MAX;
    let rolling = Rolling { order: Order::Given, stop: Stop::Kill, pace: Pace::WhenReady };
    let time_max = Duration::from_millis(30);
    let mut roll = |nodes: &[&str]| {
        let rolled = injector.roll(id(), nodes, rolling, &mut owner, Victim::unasked(), time_max);
        rolled.expect_err("it does not go well").to_string()
    };
    assert_eq!(roll(&["n1", "n2"]), "n1: is not ready after 30ms");
    assert_eq!(roll(&["n7"]), "n7: there is no such node");
    assert_eq!(owner.log, ["n1"], "the second was left alone");
}
