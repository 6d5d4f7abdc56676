//! Declarations: [`invariants!`](crate::invariants) makes a static, a type and a row of a registry
//! of each.

use crate::counters::{Counted, Counters};
use crate::policy::{Policy, Violation, react};
use std::fmt::Debug;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// When an invariant has to hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// In every state.
    State,
    /// In every step, from the state before to the state after.
    Action,
    /// In some state of every behaviour that goes on to its end.
    Eventually,
}

/// Names and values that explain a violation.
pub type Values = Vec<(&'static str, String)>;

/// The one function that decides, and the one that explains.
#[derive(Debug)]
pub enum Predicate<S> {
    /// About a state.
    State(fn(&S) -> bool, fn(&S) -> Values),
    /// About a step.
    Action(fn(&S, &S) -> bool, fn(&S, &S) -> Values),
    /// About some state to come.
    Eventually(fn(&S) -> bool, fn(&S) -> Values),
}

/// A declared invariant over states `S`.
#[derive(Debug)]
pub struct Invariant<S: 'static> {
    /// The id, `BK-1`: the same in every document and every layer.
    pub id: &'static str,
    /// The operator in the TLA+ module; empty if there is none.
    pub tla: &'static str,
    /// What is promised, in a sentence.
    pub says: &'static str,
    /// Where to read about it.
    pub see: &'static str,
    /// How it is decided and explained.
    pub predicate: Predicate<S>,
    counters: Counters,
    policy: AtomicU8,
}

impl<S> Invariant<S> {
    /// For [`invariants!`](crate::invariants), which has a name for each of these.
    pub const fn new(
        [id, tla, says, see]: [&'static str; 4],
        predicate: Predicate<S>,
        policy: Policy,
    ) -> Invariant<S> {
        let policy = AtomicU8::new(policy.code());
        Invariant { id, tla, says, see, predicate, counters: Counters::new(), policy }
    }

    /// When it has to hold.
    pub fn kind(&self) -> Kind {
        match self.predicate {
            Predicate::State(..) => Kind::State,
            Predicate::Action(..) => Kind::Action,
            Predicate::Eventually(..) => Kind::Eventually,
        }
    }

    /// What a violation does from now on.
    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(policy.code(), Ordering::Relaxed);
    }

    /// What a violation does.
    pub fn policy(&self) -> Policy {
        Policy::of(self.policy.load(Ordering::Relaxed))
    }

    /// Checks that passed. Of something eventual: how often it was seen.
    pub fn passes(&self) -> u64 {
        self.counters.read().0
    }

    /// Checks that did not.
    pub fn violations(&self) -> u64 {
        self.counters.read().1
    }

    /// Checks that sampling left out.
    pub fn skipped(&self) -> u64 {
        self.counters.read().2
    }

    /// Evaluates it without counting; nothing about what a single state cannot refute.
    pub fn judge(&self, before: Option<&S>, after: &S) -> Option<Violation> {
        let values = match (&self.predicate, before) {
            (Predicate::State(holds, shows), _) if !holds(after) => shows(after),
            (Predicate::Action(holds, shows), Some(before)) if !holds(before, after) => {
                shows(before, after)
            }
            _ => return None,
        };
        Some(self.violation(values))
    }

    /// Whether an eventual one holds here; nothing for other kinds.
    pub fn reached(&self, state: &S) -> Option<bool> {
        match self.predicate {
            Predicate::Eventually(holds, _) => Some(holds(state)),
            _ => None,
        }
    }

    /// The violation that is left when a behaviour ended and an eventual one never held.
    pub(crate) fn never(&self, last: &S) -> Violation {
        match self.predicate {
            Predicate::State(_, shows) | Predicate::Eventually(_, shows) => {
                self.violation(shows(last))
            }
            Predicate::Action(_, shows) => self.violation(shows(last, last)),
        }
    }

    fn violation(&self, values: Values) -> Violation {
        Violation { id: self.id, says: self.says, see: self.see, values }
    }

    /// One check in production: counts, and does what the policy says. See [`crate::check!`].
    pub fn check(&self, before: Option<&S>, after: &S) -> Result<(), Violation> {
        match self.judge(before, after) {
            Some(violation) => {
                let count = self.counters.violated();
                react(self.policy(), violation, count)
            }
            // Not yet is neither a pass nor a violation.
            None if self.reached(after) == Some(false) => Ok(()),
            None => {
                self.counters.passed();
                Ok(())
            }
        }
    }

    /// A check of every `every`-th call, beginning with the first.
    pub fn sample(
        &self,
        calls: &AtomicU64,
        every: u64,
        before: Option<&S>,
        after: &S,
    ) -> Result<(), Violation> {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        if !call.is_multiple_of(every.max(1)) {
            self.counters.skipped();
            return Ok(());
        }
        self.check(before, after)
    }
}

impl<S> Counted for Invariant<S> {
    fn id(&self) -> &'static str {
        self.id
    }
    fn passes(&self) -> u64 {
        Invariant::passes(self)
    }
    fn violations(&self) -> u64 {
        Invariant::violations(self)
    }
    fn skipped(&self) -> u64 {
        Invariant::skipped(self)
    }
}

/// An invariant as a type: what has to be a plain function (a property of Stateright captures
/// nothing) can be written once for all of them.
pub trait Declared {
    /// What it is about.
    type State: 'static;
    /// The declaration.
    fn invariant() -> &'static Invariant<Self::State>;
}

/// Is shown each declaration of a registry.
pub trait Visitor<S> {
    /// The next one.
    fn visit<D: Declared<State = S>>(&mut self);
}

/// All invariants of one kind of state, complete by construction.
pub trait Registry {
    /// What they are about.
    type State: 'static;
    /// All of them, in the order they are written.
    const ALL: &'static [&'static Invariant<Self::State>];
    /// Shows each to a visitor, as a type.
    fn each<V: Visitor<Self::State>>(visitor: &mut V);

    /// What all violations do from now on.
    fn set_policy(policy: Policy) {
        Self::ALL.iter().for_each(|invariant| invariant.set_policy(policy));
    }

    /// The invariant of an id.
    fn find(id: &str) -> Option<&'static Invariant<Self::State>> {
        Self::ALL.iter().find(|invariant| invariant.id == id).copied()
    }

    /// The counters as Prometheus reads them. For several registries: [`crate::prometheus`].
    fn prometheus() -> String {
        crate::prometheus(Self::ALL.iter().map(|invariant| *invariant as &dyn Counted))
    }
}

/// The longest explanation made of a state that has no `shows`, in characters.
const DEBUG_CHARS_MAX: usize = 2000;

/// A state as it prints itself.
pub fn debug_values<S: Debug>(state: &S) -> Values {
    let text = format!("{state:?}");
    let cut: String = text.chars().take(DEBUG_CHARS_MAX).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    vec![("state", format!("{cut}{dots}"))]
}

/// Declares the invariants of one kind of state.
///
/// Each has a kind (`state`, `action`, `eventually`), a name, `id`, optionally `tla`, `says`,
/// `see`, `holds` with the predicate, optionally `shows` with the values that explain a violation,
/// and optionally `policy` (`Return` unless given). The name becomes a static, which
/// [`check!`](crate::check) takes, and a type that is [`Declared`]. See the crate for an example.
#[macro_export]
macro_rules! invariants {
    (
        $(#[$registry_meta:meta])*
        $vis:vis registry $registry:ident for $state:ty;
        $(
            $(#[$meta:meta])*
            $kind:ident $name:ident {
                id: $id:literal,
                $(tla: $tla:literal,)?
                says: $says:literal,
                see: $see:literal,
                holds: |$($arg:ident),+| $holds:expr
                $(, shows: |$($shown:ident),+| { $($label:ident : $value:expr),+ $(,)? })?
                $(, policy: $policy:ident)?
                $(,)?
            }
        )+
    ) => {
        $(#[$registry_meta])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $registry;

        $(
            $(#[$meta])*
            #[doc = concat!("\n\n", $id, ": ", $says)]
            $vis static $name: $crate::Invariant<$state> = $crate::Invariant::new(
                [$id, concat!($($tla)?), $says, $see],
                $crate::__predicate!(
                    $kind, $state, [$($arg),+], $holds
                    $(, [$($shown),+], { $($label: $value),+ })?
                ),
                $crate::__policy!($($policy)?),
            );

            #[doc = concat!($id, " as a type.")]
            #[allow(non_camel_case_types)]
            #[derive(Clone, Copy, Debug)]
            $vis enum $name {}

            impl $crate::Declared for $name {
                type State = $state;
                fn invariant() -> &'static $crate::Invariant<$state> {
                    &$name
                }
            }
        )+

        impl $crate::Registry for $registry {
            type State = $state;
            const ALL: &'static [&'static $crate::Invariant<$state>] = &[$(&$name),+];
            fn each<V: $crate::Visitor<$state>>(visitor: &mut V) {
                $(visitor.visit::<$name>();)+
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __policy {
    () => {
        $crate::Policy::Return
    };
    ($policy:ident) => {
        $crate::Policy::$policy
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __predicate {
    (state, $state:ty, [$arg:ident], $holds:expr $(, $shown:tt, $values:tt)?) => {
        $crate::Predicate::State(
            |$arg: &$state| -> bool { $holds },
            $crate::__shows!($state, [$arg] $(, $shown, $values)?),
        )
    };
    (eventually, $state:ty, [$arg:ident], $holds:expr $(, $shown:tt, $values:tt)?) => {
        $crate::Predicate::Eventually(
            |$arg: &$state| -> bool { $holds },
            $crate::__shows!($state, [$arg] $(, $shown, $values)?),
        )
    };
    (action, $state:ty, [$before:ident, $after:ident], $holds:expr $(, $shown:tt, $values:tt)?) => {
        $crate::Predicate::Action(
            |$before: &$state, $after: &$state| -> bool { $holds },
            $crate::__shows!($state, [$before, $after] $(, $shown, $values)?),
        )
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __shows {
    ($state:ty, [$one:ident]) => {
        |$one: &$state| $crate::hidden::debug_values($one)
    };
    ($state:ty, [$before:ident, $after:ident]) => {
        |$before: &$state, $after: &$state| {
            let mut values = $crate::hidden::debug_values($before);
            values[0].0 = "before";
            let mut after = $crate::hidden::debug_values($after);
            after[0].0 = "after";
            values.extend(after);
            values
        }
    };
    ($state:ty, $args:tt, [$($shown:ident),+], { $($label:ident : $value:expr),+ }) => {
        |$($shown: &$state),+| vec![$((stringify!($label), format!("{:?}", $value))),+]
    };
}

/// One check in production: `check!(INV, state)`, for an action `check!(INV, before => after)`.
///
/// With `every 100` the first call of the place and then every hundredth is evaluated; without, all
/// are. Passes and violations are counted whatever the policy says, and the result is `Err` only
/// under [`Policy::Return`](crate::Policy::Return).
#[macro_export]
macro_rules! check {
    ($invariant:expr, $before:expr => $after:expr) => {
        $invariant.check(Some(&$before), &$after)
    };
    ($invariant:expr, $before:expr => $after:expr, every $every:expr) => {{
        static CALLS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        $invariant.sample(&CALLS, $every, Some(&$before), &$after)
    }};
    ($invariant:expr, $state:expr) => {
        $invariant.check(None, &$state)
    };
    ($invariant:expr, $state:expr, every $every:expr) => {{
        static CALLS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        $invariant.sample(&CALLS, $every, None, &$state)
    }};
}
