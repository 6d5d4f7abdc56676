------------------------------- MODULE Bank -------------------------------
(* Two accounts and transfers of 1 between them, some of which are sent twice. *)
(* BK-1 to BK-4 are the promises of decisions/0001-promises.md.                     *)
EXTENDS Integers

CONSTANTS Transfers

VARIABLES accounts, to, phase, retried
vars == <<accounts, to, phase, retried>>

Accounts == 0..1
Slots == 1..Transfers
Minted == 2

Init ==
    /\ accounts = [a \in Accounts |-> 1]
    /\ to = [i \in Slots |-> 0]
    /\ phase = [i \in Slots |-> "new"]
    /\ retried = [i \in Slots |-> FALSE]

Send(i, a) ==
    /\ phase[i] = "new"
    /\ \A j \in Slots : j < i => phase[j] # "new"
    /\ accounts[1 - a] >= 1
    /\ accounts' = [accounts EXCEPT ![1 - a] = @ - 1]
    /\ to' = [to EXCEPT ![i] = a]
    /\ phase' = [phase EXCEPT ![i] = "sent"]
    /\ UNCHANGED retried

Arrive(i) ==
    /\ phase[i] = "sent"
    /\ accounts' = [accounts EXCEPT ![to[i]] = @ + 1]
    /\ phase' = [phase EXCEPT ![i] = "arrived"]
    /\ UNCHANGED <<to, retried>>

\* The confirmation got lost. The account remembers that it had this one.
Retry(i) ==
    /\ phase[i] = "arrived"
    /\ ~retried[i]
    /\ retried' = [retried EXCEPT ![i] = TRUE]
    /\ UNCHANGED <<accounts, to, phase>>

Confirm(i) ==
    /\ phase[i] = "arrived"
    /\ phase' = [phase EXCEPT ![i] = "done"]
    /\ UNCHANGED <<accounts, to, retried>>

AllDone == \A i \in Slots : phase[i] = "done"

Rest == AllDone /\ UNCHANGED vars

Next ==
    \/ \E i \in Slots : \E a \in Accounts : Send(i, a)
    \/ \E i \in Slots : Arrive(i) \/ Retry(i) \/ Confirm(i)
    \/ Rest

Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

Sent(i) == IF phase[i] = "sent" THEN 1 ELSE 0

BK1_MoneyIsKept == accounts[0] + accounts[1] + Sent(1) + Sent(2) = Minted
BK2_NobodyOwes == \A a \in Accounts : accounts[a] >= 0
BK3_OnlySendingTakes ==
    [][(\E a \in Accounts : accounts'[a] < accounts[a])
        => \E i \in Slots : phase[i] = "new" /\ phase'[i] = "sent"]_vars
BK4_AllArrives == <>AllDone
=============================================================================
