//! What a program does with its tools in one turn: when it is told, who is asked, what came of it.
//!
//! A program speaks of a call before it has said all about it, and an event does not change. So a
//! call of which nothing is known is held back until more is said, or for a moment. Where somebody
//! is to be asked it is held back until it asks, begins or ends: its event says which it was.

use assay_agent::{CallFacts, Decision, Piece, Questions};
use assay_session::{Body, Event, EventId, Permission, Said};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A call that has no name.
const UNNAMED: &str = "a tool";

/// A call, as far as it is known.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Deed {
    /// What the program calls it.
    pub id: Option<String>,
    /// What people call it.
    pub name: String,
    /// What was told of it.
    pub facts: CallFacts,
}

impl Deed {
    /// Whether there is something to show.
    fn is_known(&self) -> bool {
        let has_input = match &self.facts.input {
            Some(Value::Object(fields)) => !fields.is_empty(),
            Some(value) => !value.is_null(),
            None => false,
        };
        self.facts.has_begun || has_input || !self.facts.content.is_empty()
    }

    /// What goes in, and what it would change: whoever is asked has to see both.
    pub fn input(&self) -> Map<String, Value> {
        let mut input = match &self.facts.input {
            Some(Value::Object(fields)) => fields.clone(),
            Some(Value::Null) | None => Map::new(),
            Some(other) => Map::from_iter([("input".to_string(), other.clone())]),
        };
        if input.is_empty() {
            input.extend(self.facts.kind.iter().map(|kind| ("kind".to_string(), json!(kind))));
            if !self.facts.locations.is_empty() {
                input.insert("locations".to_string(), json!(self.facts.locations));
            }
        }
        let diffs = self.facts.content.iter().filter_map(|piece| match piece {
            Piece::Diff { diff, .. } => Some(diff.as_str()),
            Piece::Text { .. } => None,
        });
        let diffs: String = diffs.collect();
        if !diffs.is_empty() && !input.contains_key("diff") {
            input.insert("diff".to_string(), Value::String(diffs));
        }
        input
    }

    /// What came out: what there is to show, or what the tool gave, or how it ended.
    pub fn result(&self, ok: bool) -> Vec<Value> {
        let block = |text: &str| json!({"type": "text", "text": text});
        let texts = self.facts.content.iter().map(|piece| match piece {
            Piece::Text { text } | Piece::Diff { diff: text, .. } => text,
        });
        let blocks: Vec<Value> =
            texts.filter(|text| !text.is_empty()).map(|text| block(text)).collect();
        match (&self.facts.output, ok) {
            _ if !blocks.is_empty() => blocks,
            (Some(Value::String(text)), _) if !text.is_empty() => vec![block(text)],
            (Some(value @ (Value::Object(_) | Value::Array(_))), _) => {
                vec![block(&value.to_string())]
            }
            (_, true) => vec![block("done")],
            (_, false) => vec![block("failed")],
        }
    }

    /// A call that needs no leave.
    pub fn used(&self) -> Said {
        Said::ToolUse { server: None, name: self.name.clone(), input: self.input() }
    }

    fn learn(&mut self, name: Option<String>, facts: Option<Box<CallFacts>>) {
        self.name = name.filter(|name| !name.is_empty()).unwrap_or(std::mem::take(&mut self.name));
        self.facts.learn(facts.map(|facts| *facts).unwrap_or_default());
    }
}

/// The calls of a turn that are not over.
#[derive(Default)]
pub(super) struct Deeds {
    /// By which the program is answered, if somebody is asked.
    questions: Option<Questions>,
    /// Those that nobody was told of.
    held: Vec<Deed>,
    /// Those that have no result, oldest first.
    open: Vec<(Deed, EventId)>,
    /// Those that wait for an answer, with the number of the question.
    asked: BTreeMap<EventId, (u64, Deed)>,
}

impl Deeds {
    /// Those of a turn in which somebody is asked, or nobody.
    pub fn new(questions: Option<Questions>) -> Deeds {
        Deeds { questions, ..Deeds::default() }
    }

    /// A call is told, for the first time or again.
    pub fn begin(&mut self, id: Option<String>, name: String, facts: Option<Box<CallFacts>>) {
        let is_there = id.is_some() && self.find(&id).is_some();
        if !is_there {
            let (id, name, facts) = (id.clone(), String::new(), CallFacts::default());
            self.held.push(Deed { id, name, facts });
        }
        self.learn(&id, Some(name), facts);
    }

    /// More is said about one.
    pub fn learn(
        &mut self,
        id: &Option<String>,
        name: Option<String>,
        facts: Option<Box<CallFacts>>,
    ) {
        if let Some(deed) = self.find(id) {
            deed.learn(name, facts);
        }
    }

    /// The latest of those without a name, or the one of this name.
    fn find(&mut self, id: &Option<String>) -> Option<&mut Deed> {
        let asked = self.asked.values_mut().map(|(_, deed)| deed);
        let open = self.open.iter_mut().map(|(deed, _)| deed);
        asked.chain(open).chain(&mut self.held).filter(|deed| deed.id == *id).last()
    }

    /// Those to tell of now.
    pub fn ready(&mut self) -> Vec<Deed> {
        if self.questions.is_some() {
            return self.held.extract_if(.., |deed| deed.facts.has_begun).collect();
        }
        // Their order is that in which they were told.
        let known = self.held.iter().rposition(Deed::is_known).map_or(0, |last| last + 1);
        self.held.drain(..known).collect()
    }

    /// Whether something is held back that need not be for long.
    pub fn holds_for_a_moment(&self) -> bool {
        self.questions.is_none() && !self.held.is_empty()
    }

    /// Those that were held back for long enough.
    pub fn let_go(&mut self) -> Vec<Deed> {
        if self.questions.is_none() { self.rest() } else { Vec::new() }
    }

    /// All that nobody was told of.
    pub fn rest(&mut self) -> Vec<Deed> {
        std::mem::take(&mut self.held)
    }

    /// Calls were told of, and these are their events.
    pub fn told(&mut self, deeds: Vec<Deed>, events: &[Event]) {
        self.open.extend(deeds.into_iter().zip(ids(events, Permission::Allow)));
    }

    /// The call that has ended: the oldest of those with this name, or without any if it has none.
    pub fn ended(&mut self, id: &Option<String>) -> Option<(Deed, EventId)> {
        let index = self.open.iter().position(|(deed, _)| deed.id == *id)?;
        Some(self.open.remove(index))
    }

    /// The call that somebody is asked for, and its event if it was told as one that needs no
    /// leave.
    pub fn questioned(
        &mut self,
        id: Option<String>,
        name: Option<String>,
        facts: Option<Box<CallFacts>>,
    ) -> (Deed, Option<EventId>) {
        let held = self.held.iter().position(|deed| id.is_some() && deed.id == id);
        let (mut deed, event) = match held.map(|index| self.held.remove(index)) {
            Some(deed) => (deed, None),
            None => match self.ended(&id).filter(|_| id.is_some()) {
                Some((deed, event)) => (deed, Some(event)),
                None => {
                    let facts = CallFacts::default();
                    (Deed { id, name: UNNAMED.to_string(), facts }, None)
                }
            },
        };
        deed.learn(name, facts);
        (deed, event)
    }

    /// Somebody was asked for a call, by these events.
    pub fn wait(&mut self, question: u64, deed: Deed, events: &[Event]) {
        self.asked.extend(ids(events, Permission::Ask).map(|id| (id, (question, deed.clone()))));
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.asked.len()
    }

    /// Takes an answer; gives what tells the program.
    pub fn answered(&mut self, call: &EventId, decision: Decision) -> Option<u64> {
        let (question, deed) = self.asked.remove(call)?;
        // The result of what is denied is there already.
        if decision == Decision::Allow {
            self.open.push((deed, call.clone()));
        }
        Some(question)
    }

    /// Tells the program what was decided.
    pub fn answer(&self, question: u64, decision: Decision) {
        if let Some(questions) = &self.questions {
            questions.answer(question, decision);
        }
    }
}

fn ids(events: &[Event], permission: Permission) -> impl Iterator<Item = EventId> + '_ {
    let is_it = move |body: &Body| {
        matches!(body, Body::ToolUse { evaluated_permission, .. }
            if *evaluated_permission == permission)
    };
    events.iter().filter(move |event| is_it(&event.body)).map(|event| event.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(value: Value) -> Option<Box<CallFacts>> {
        Some(serde_json::from_value(value).expect("facts"))
    }

    fn names(deeds: &[Deed]) -> Vec<&str> {
        deeds.iter().map(|deed| deed.name.as_str()).collect()
    }

    #[test]
    fn what_goes_in_and_what_comes_out_is_what_the_program_says() {
        let diff = json!({"type": "diff", "path": "f", "diff": "--- f\n+++ f\n"});
        let text = json!({"type": "text", "text": "so"});
        let at = json!([{"path": "f", "line": 1}]);
        for (told, input, result) in [
            (json!({}), json!({}), "done"),
            (json!({"input": {"a": 1}, "output": {"b": 2}}), json!({"a": 1}), r#"{"b":2}"#),
            (json!({"input": [1], "output": "x"}), json!({"input": [1]}), "x"),
            (
                json!({"kind": "edit", "locations": at, "output": ""}),
                json!({"kind": "edit", "locations": at}),
                "done",
            ),
            (
                json!({"input": {"a": 1}, "content": [text, diff], "output": "x"}),
                json!({"a": 1, "diff": "--- f\n+++ f\n"}),
                "so|--- f\n+++ f\n",
            ),
        ] {
            let facts = *facts(told.clone()).expect("facts");
            let deed = Deed { id: None, name: "n".into(), facts };
            assert_eq!(Value::Object(deed.input()), input, "{told}");
            let texts = deed.result(true);
            let texts: Vec<&str> = texts.iter().filter_map(|b| b["text"].as_str()).collect();
            assert_eq!(texts.join("|"), result, "{told}");
        }
    }

    #[test]
    fn calls_are_told_in_their_order_once_something_is_known_of_them() {
        let id = |name: &str| Some(name.to_string());
        let mut deeds = Deeds::default();
        deeds.begin(id("1"), "one".into(), facts(json!({"input": {}})));
        deeds.begin(id("2"), "two".into(), None);
        assert!(deeds.ready().is_empty() && deeds.holds_for_a_moment());
        deeds.begin(id("1"), "again".into(), None);
        deeds.learn(&id("2"), None, facts(json!({"input": {"a": 1}})));
        deeds.begin(id("3"), "three".into(), None);
        assert_eq!(names(&deeds.ready()), ["again", "two"]);
        assert_eq!(names(&deeds.let_go()), ["three"]);
        assert!(!deeds.holds_for_a_moment());
    }

    #[test]
    fn where_somebody_is_asked_a_call_is_held_back_until_it_asks_or_begins() {
        let id = |name: &str| Some(name.to_string());
        let mut deeds = Deeds::new(Some(Questions::default()));
        for name in ["1", "2", "3"] {
            deeds.begin(id(name), name.into(), facts(json!({"input": {"a": 1}})));
        }
        assert!(deeds.ready().is_empty() && deeds.let_go().is_empty());
        deeds.learn(&id("2"), None, facts(json!({"has_begun": true})));
        assert_eq!(names(&deeds.ready()), ["2"]);
        let (deed, earlier) = deeds.questioned(id("3"), Some("x".into()), None);
        assert_eq!((deed.name.as_str(), deed.input(), earlier), ("x", deed.input(), None));
        assert_eq!(Value::Object(deed.input()), json!({"a": 1}));
        assert_eq!(deeds.questioned(id("9"), None, None).0.name, UNNAMED);
        assert_eq!(names(&deeds.rest()), ["1"]);
    }
}
