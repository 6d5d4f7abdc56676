------------------------------- MODULE Desk -------------------------------
(***************************************************************************)
(* A campaign of the desk: agents are sent out, what they claim is checked *)
(* and judged, and the end is computed from what was written down.         *)
(* The code is crates/assay-desk: `step` and `State::next` are the actions *)
(* here, `Facts` are the variables checked and agreed. README.md beside    *)
(* this file has the table of names and says what is left out.             *)
(*                                                                         *)
(*   DK-1  COMPLETE is said only of what was shown, at one tree.           *)
(*   DK-2  A verified story was agreed on where it is verified.            *)
(*   DK-3  Work is done on the first story that is not verified.           *)
(*   DK-4  The campaign's branch stands at the base or where a Verifier    *)
(*         agreed.                                                         *)
(*   DK-5  Nobody is asked before the checks passed, and votes are on      *)
(*         record.                                                         *)
(*   DK-6  No agent is sent out beyond the budget.                         *)
(*   DK-7  After the end nothing happens.                                  *)
(*   DK-8  The branch moves only when a story is accepted, to its tree.    *)
(*   DK-9  Every campaign ends.                                            *)
(***************************************************************************)
EXTENDS Naturals

CONSTANTS
    Stories,        \* how many stories the contract has
    MaxTree,        \* trees are 0..MaxTree; the campaign begins at 0
    NeedStory,      \* Verifiers that must agree on a story
    NeedFinal,      \* Verifiers that must agree on the whole
    MaxIterations,  \* Workers that may be sent out
    MaxFailures,    \* failures in a row that end it
    MaxMishaps,     \* agents in a row that could not be run
    MaxLost,        \* Leaders that may die while an agent is out
    MaxVoids,       \* verdicts in a row that did not count
    MaxQuestions,   \* questions that people answer
    MaxAmends       \* changes of the contract by a person

VARIABLES
    phase,      \* what is going on
    scope,      \* what it is about: a story, or 0 for the whole
    at,         \* the tree it is about
    votes,      \* Verifiers that agreed in this gate
    why,        \* how it ends
    verified,   \* where each story is verified, or Nowhere
    tip,        \* where the campaign's branch stands
    checked,    \* where all checks of a scope last passed, or Nowhere
    agreed,     \* which Verifier agreed on what, where
    iteration, failures, mishaps, lost, voids, questions, amends

counters == <<iteration, failures, mishaps, lost, voids, questions, amends>>
vars == <<phase, scope, at, votes, why, verified, tip, checked, agreed, counters>>

Nowhere == MaxTree + 1
Trees == 0..MaxTree
Names == 1..Stories
Scopes == 0..Stories
Roles == 1..2
Phases == {"idle", "working", "checking", "judging", "verifying", "citing",
           "fixing", "accepting", "waiting", "ending", "ended"}
Ends == {"none", "complete", "blocked", "timeout", "aborted"}

Needed(s) == IF s = 0 THEN NeedFinal ELSE NeedStory
AllVerified(v) == \A s \in Names : v[s] # Nowhere
IsCurrent(s) == /\ verified[s] = Nowhere
                /\ \A r \in Names : r < s => verified[r] # Nowhere

Init ==
    /\ phase = "idle" /\ scope = 0 /\ at = 0 /\ votes = 0 /\ why = "none"
    /\ verified = [s \in Names |-> Nowhere]
    /\ tip = 0
    /\ checked = [s \in Scopes |-> Nowhere]
    /\ agreed = {}
    /\ iteration = 0 /\ failures = 0 /\ mishaps = 0 /\ lost = 0
    /\ voids = 0 /\ questions = 0 /\ amends = 0

----------------------------------------------------------------------------
\* How things go on. Each of these says phase', scope', at', votes' and why'.

Goes(p, s, t, n, w) ==
    /\ phase' = p /\ scope' = s /\ at' = t /\ votes' = n /\ why' = w

Block == Goes("ending", 0, 0, 0, "blocked")

\* Between two things: the whole is checked when every story is verified; the next Worker is
\* sent out while there is a budget; time and tokens can be used up at any moment.
Settle(v, t, c, i) ==
    \/ /\ AllVerified(v)
       /\ Goes("checking", 0, t, 0, "none")
       /\ checked' = [c EXCEPT ![0] = Nowhere]
    \/ /\ ~AllVerified(v)
       /\ i < MaxIterations
       /\ Goes("idle", 0, 0, 0, "none")
       /\ checked' = c
    \/ /\ Goes("ending", 0, 0, 0, "timeout")
       /\ checked' = c

Again(p) == Goes(p, scope, at, votes, "none")

\* A claim about a story did not hold: it is mended, unless a breaker trips.
Fail(s) ==
    /\ failures' = failures + 1
    /\ \/ /\ failures + 1 < MaxFailures
          /\ Goes("fixing", s, 0, 0, "none")
       \/ Block

\* What fails at the end is the work on some story, which is not verified any more.
FailGate ==
    \/ /\ scope # 0
       /\ Fail(scope)
       /\ UNCHANGED verified
    \/ /\ scope = 0
       /\ \E s \in Names :
            /\ Fail(s)
            /\ verified' = [verified EXCEPT ![s] = Nowhere]

\* With n votes: another Verifier, acceptance, or the end.
Advance(n) ==
    \/ /\ n < Needed(scope)
       /\ Goes("judging", scope, at, n, "none")
    \/ /\ n >= Needed(scope) /\ scope # 0
       /\ Goes("accepting", scope, at, n, "none")
    \/ /\ n >= Needed(scope) /\ scope = 0
       /\ Goes("ending", 0, at, 0, "complete")

----------------------------------------------------------------------------
\* Workers.

SendWorker(s) ==
    /\ phase = "idle"
    /\ IsCurrent(s)
    /\ iteration' = iteration + 1
    /\ Goes("working", s, 0, 0, "none")
    /\ UNCHANGED <<verified, tip, checked, agreed>>
    /\ UNCHANGED <<failures, mishaps, lost, voids, questions, amends>>

Claim(t) ==
    /\ phase = "working"
    /\ mishaps' = 0
    /\ Goes("checking", scope, t, 0, "none")
    /\ checked' = [checked EXCEPT ![scope] = Nowhere]
    /\ UNCHANGED <<verified, tip, agreed>>
    /\ UNCHANGED <<iteration, failures, lost, voids, questions, amends>>

Unfinished ==
    /\ phase = "working"
    /\ mishaps' = 0
    /\ Settle(verified, tip, checked, iteration)
    /\ UNCHANGED <<verified, tip, agreed>>
    /\ UNCHANGED <<iteration, failures, lost, voids, questions, amends>>

\* It wrote what is no signal.
Rejected ==
    /\ phase = "working"
    /\ mishaps' = 0
    /\ Fail(scope)
    /\ UNCHANGED <<verified, tip, checked, agreed>>
    /\ UNCHANGED <<iteration, lost, voids, questions, amends>>

\* It says that it is blocked, or changes nothing, too often.
GiveUp ==
    /\ phase = "working"
    /\ mishaps' = 0
    /\ Block
    /\ UNCHANGED <<verified, tip, checked, agreed>>
    /\ UNCHANGED <<iteration, failures, lost, voids, questions, amends>>

----------------------------------------------------------------------------
\* What happens to any agent.

Tamper ==
    /\ phase \in {"working", "verifying"}
    /\ Block
    /\ UNCHANGED <<verified, tip, checked, agreed, counters>>

\* A command that the Leader runs changed what it must not, or left what cannot be moved away.
Spoil ==
    /\ phase \in {"checking", "citing"}
    /\ Block
    /\ UNCHANGED <<verified, tip, checked, agreed, counters>>

\* An agent came back without a result: the Worker's turn is over, a Verifier is sent again.
\* i is how many Workers count against the budget.
NoResult(i) ==
    \/ /\ phase = "working"
       /\ Settle(verified, tip, checked, i)
    \/ /\ phase = "verifying"
       /\ Again("judging")
       /\ UNCHANGED checked

Mishap ==
    /\ phase \in {"working", "verifying"}
    /\ mishaps' = mishaps + 1
    /\ \/ /\ mishaps + 1 < MaxMishaps
          /\ NoResult(iteration)
       \/ /\ mishaps + 1 >= MaxMishaps
          /\ Block
          /\ UNCHANGED checked
    /\ UNCHANGED <<verified, tip, agreed>>
    /\ UNCHANGED <<iteration, failures, lost, voids, questions, amends>>

\* The Leader dies while an agent is out; what the agent did does not count, not even against the
\* budget of Workers.
LeaderDies ==
    /\ phase \in {"working", "verifying"}
    /\ lost' = lost + 1
    /\ iteration' = IF phase = "working" THEN iteration - 1 ELSE iteration
    /\ \/ /\ lost + 1 < MaxLost
          /\ NoResult(iteration')
       \/ /\ lost + 1 >= MaxLost
          /\ Block
          /\ UNCHANGED checked
    /\ UNCHANGED <<verified, tip, agreed>>
    /\ UNCHANGED <<failures, mishaps, voids, questions, amends>>

----------------------------------------------------------------------------
\* The gate. That some of its checks are done is no step here: only the last one counts.

PassChecks ==
    /\ phase = "checking"
    /\ checked' = [checked EXCEPT ![scope] = at]
    /\ Advance(0)
    /\ UNCHANGED <<verified, tip, agreed, counters>>

FailChecks ==
    /\ phase = "checking"
    /\ checked' = [checked EXCEPT ![scope] = Nowhere]
    /\ FailGate
    /\ UNCHANGED <<tip, agreed>>
    /\ UNCHANGED <<iteration, mishaps, lost, voids, questions, amends>>

SendVerifier ==
    /\ phase = "judging"
    /\ Again("verifying")
    /\ UNCHANGED <<verified, tip, checked, agreed, counters>>

\* A verdict that does not count: nothing was written, or it has no evidence.
VoidVerdict ==
    /\ phase = "verifying"
    /\ mishaps' = 0
    /\ voids' = voids + 1
    /\ \/ voids + 1 < MaxVoids /\ Again("judging")
       \/ voids + 1 >= MaxVoids /\ Block
    /\ UNCHANGED <<verified, tip, checked, agreed>>
    /\ UNCHANGED <<iteration, failures, lost, questions, amends>>

Unmet ==
    /\ phase = "verifying"
    /\ mishaps' = 0
    /\ voids' = 0
    /\ FailGate
    /\ UNCHANGED <<tip, checked, agreed>>
    /\ UNCHANGED <<iteration, lost, questions, amends>>

Ask ==
    /\ phase = "verifying"
    /\ mishaps' = 0
    /\ questions' = questions + 1
    /\ \/ questions + 1 <= MaxQuestions /\ Again("waiting")
       \/ questions + 1 > MaxQuestions /\ Block
    /\ UNCHANGED <<verified, tip, checked, agreed>>
    /\ UNCHANGED <<iteration, failures, lost, voids, amends>>

Answer ==
    /\ phase = "waiting"
    /\ Again("judging")
    /\ UNCHANGED <<verified, tip, checked, agreed, counters>>

Met ==
    /\ phase = "verifying"
    /\ mishaps' = 0
    /\ Again("citing")
    /\ UNCHANGED <<verified, tip, checked, agreed>>
    /\ UNCHANGED <<iteration, failures, lost, voids, questions, amends>>

\* The commands of a verdict are run again, and say what it says.
CitationsHold ==
    /\ phase = "citing"
    /\ voids' = 0
    /\ agreed' = agreed \cup {<<scope, at, votes + 1>>}
    /\ Advance(votes + 1)
    /\ UNCHANGED <<verified, tip, checked>>
    /\ UNCHANGED <<iteration, failures, mishaps, lost, questions, amends>>

CitationsRefuted ==
    /\ phase = "citing"
    /\ voids' = voids + 1
    /\ \/ voids + 1 < MaxVoids /\ Again("judging")
       \/ voids + 1 >= MaxVoids /\ Block
    /\ UNCHANGED <<verified, tip, checked, agreed>>
    /\ UNCHANGED <<iteration, failures, mishaps, lost, questions, amends>>

CitationsFail ==
    /\ phase = "citing"
    /\ voids' = 0
    /\ FailGate
    /\ UNCHANGED <<tip, checked, agreed>>
    /\ UNCHANGED <<iteration, mishaps, lost, questions, amends>>

----------------------------------------------------------------------------
\* What the Leader writes down, and what people do.

Accept ==
    /\ phase = "accepting"
    /\ verified' = [verified EXCEPT ![scope] = at]
    /\ tip' = at
    /\ failures' = 0
    /\ Settle(verified', at, checked, iteration)
    /\ UNCHANGED agreed
    /\ UNCHANGED <<iteration, mishaps, lost, voids, questions, amends>>

IssueFix ==
    /\ phase = "fixing"
    /\ Settle(verified, tip, checked, iteration)
    /\ UNCHANGED <<verified, tip, agreed, counters>>

\* A person changes a story: what was shown of it and of the whole is to be shown again.
\* A failure that was computed stays one.
Amend(s) ==
    /\ phase \notin {"working", "verifying", "ended"}
    /\ ~(phase = "ending" /\ why # "complete")
    /\ amends < MaxAmends
    /\ amends' = amends + 1
    /\ verified' = [verified EXCEPT ![s] = Nowhere]
    /\ agreed' = {a \in agreed : a[1] # 0}
    /\ Settle(verified', tip, [checked EXCEPT ![s] = Nowhere, ![0] = Nowhere], iteration)
    /\ UNCHANGED tip
    /\ UNCHANGED <<iteration, failures, mishaps, lost, voids, questions>>

\* A person ends it. What was checked half does not count.
Abort ==
    /\ phase \notin {"working", "verifying", "ended"}
    /\ Goes("ended", 0, 0, 0, "aborted")
    /\ checked' = [s \in Scopes |-> Nowhere]
    /\ UNCHANGED <<verified, tip, agreed, counters>>

End ==
    /\ phase = "ending"
    /\ Goes("ended", scope, at, votes, why)
    /\ UNCHANGED <<verified, tip, checked, agreed, counters>>

\* The end is no deadlock.
Rest ==
    /\ phase = "ended"
    /\ UNCHANGED vars

\* What happens without a person's doing.
Lead ==
    \/ \E s \in Names : SendWorker(s)
    \/ \E t \in Trees : Claim(t)
    \/ Unfinished
    \/ Rejected
    \/ GiveUp
    \/ Tamper
    \/ Spoil
    \/ Mishap
    \/ LeaderDies
    \/ PassChecks
    \/ FailChecks
    \/ SendVerifier
    \/ VoidVerdict
    \/ Unmet
    \/ Ask
    \/ Met
    \/ CitationsHold
    \/ CitationsRefuted
    \/ CitationsFail
    \/ Accept
    \/ IssueFix
    \/ End

Next ==
    \/ Lead
    \/ Answer
    \/ \E s \in Names : Amend(s)
    \/ Abort
    \/ Rest

\* The Leader goes on, and people answer; nobody has to amend or to abort.
Spec == Init /\ [][Next]_vars /\ WF_vars(Lead \/ Answer)

----------------------------------------------------------------------------
\* What is promised.

TypeInvariant ==
    /\ phase \in Phases
    /\ scope \in Scopes
    /\ at \in Trees
    /\ votes \in 0..2
    /\ why \in Ends
    /\ \A s \in Names : verified[s] \in 0..Nowhere
    /\ tip \in Trees
    /\ \A s \in Scopes : checked[s] \in 0..Nowhere
    /\ \A a \in agreed : a[1] \in Scopes /\ a[2] \in Trees /\ a[3] \in Roles
    /\ iteration \in 0..MaxIterations
    /\ failures \in 0..MaxFailures
    /\ mishaps \in 0..MaxMishaps
    /\ lost \in 0..MaxLost
    /\ voids \in 0..MaxVoids
    /\ questions \in 0..(MaxQuestions + 1)
    /\ amends \in 0..MaxAmends

DK1_CompleteIsShown ==
    why = "complete" =>
        /\ AllVerified(verified)
        /\ at = tip
        /\ checked[0] = at
        /\ \A r \in Roles : r <= NeedFinal => <<0, at, r>> \in agreed

DK2_VerifiedIsAgreed ==
    \A s \in Names :
        verified[s] # Nowhere =>
            \A r \in Roles : r <= NeedStory => <<s, verified[s], r>> \in agreed

DK3_FirstStoryFirst ==
    /\ phase \in {"working", "fixing", "accepting"} => scope # 0
    /\ scope # 0 => IsCurrent(scope)
    /\ (phase \in {"checking", "judging", "verifying", "citing", "waiting"} /\ scope = 0)
            => AllVerified(verified)

DK4_BranchIsAgreed ==
    tip # 0 => \E s \in Names : <<s, tip, 1>> \in agreed

DK5_ChecksBeforeVerdicts ==
    phase \in {"judging", "verifying", "citing", "waiting", "accepting"} =>
        /\ checked[scope] = at
        /\ \A r \in Roles : r <= votes => <<scope, at, r>> \in agreed

DK6_BudgetIsKept ==
    /\ phase = "idle" => iteration < MaxIterations
    /\ phase = "working" => iteration <= MaxIterations
    /\ phase = "fixing" => failures < MaxFailures

DK7_EndIsFinal == [][phase = "ended" => UNCHANGED vars]_vars

DK8_BranchMovesByAcceptance ==
    [][tip' # tip => phase = "accepting" /\ tip' = at /\ verified'[scope] = at]_vars

DK9_CampaignEnds == <>(phase = "ended")

=============================================================================
