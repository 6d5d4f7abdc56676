//! What the bank promises: the only place where it is written as code.

use crate::bank::{Bank, Phase};

assay_invariant::invariants! {
    /// What the bank promises.
    pub registry BankPromises for Bank;

    /// Money.
    state BK1 {
        id: "BK-1",
        tla: "BK1_MoneyIsKept",
        says: "Money is neither made nor lost.",
        see: "decisions/0001-promises.md",
        holds: |bank| bank.accounts.iter().sum::<i64>() + bank.on_its_way() == bank.minted,
        shows: |bank| {
            accounts: bank.accounts,
            on_its_way: bank.on_its_way(),
            minted: bank.minted,
        },
        policy: Log,
    }

    /// Debt.
    state BK2 {
        id: "BK-2",
        tla: "BK2_NobodyOwes",
        says: "No account is below zero.",
        see: "decisions/0001-promises.md",
        holds: |bank| bank.accounts.iter().all(|account| *account >= 0),
    }

    /// Consent.
    action BK3 {
        id: "BK-3",
        tla: "BK3_OnlySendingTakes",
        says: "An account gets less only when a transfer is sent.",
        see: "decisions/0001-promises.md",
        holds: |before, after| {
            let less = before.accounts.iter().zip(&after.accounts).any(|(old, new)| new < old);
            !less || after.transfers.len() == before.transfers.len() + 1
        },
        shows: |before, after| { before: before.accounts, after: after.accounts },
    }

    /// Delivery.
    eventually BK4 {
        id: "BK-4",
        tla: "BK4_AllArrives",
        says: "In the end every transfer is done.",
        see: "decisions/0001-promises.md",
        holds: |bank| {
            let done = |transfer: &crate::Transfer| transfer.phase == Phase::Done;
            bank.transfers.len() == bank.planned && bank.transfers.iter().all(done)
        },
    }
}
