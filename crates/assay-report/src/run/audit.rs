//! The two audits as lists of boxes.

use super::judged::JudgedArm;
use super::markdown::{Markdown, inline};
use assay_verdict::{Check, Effect, Facts, RedFlag, WeakOracle};

/// A box, ticked if the item is settled in good order.
pub(super) fn tick(what: &str, check: &Check) -> String {
    let mark = match check {
        Check::Clean(_) => "x",
        Check::Raised(_) | Check::Unknown(_) => " ",
        Check::NotApplicable(_) => "-",
    };
    format!("- [{mark}] {}: {} ({})", inline(what), check.word(), inline(check.text()))
}

/// Both audits of an arm, with the evidence for every item.
pub(super) fn audits(page: &mut Markdown, arm: &JudgedArm) {
    let Facts::Ran(run) = &arm.facts else {
        page.line("It did not run, so there is nothing to audit.");
        return;
    };
    let mut open = Vec::new();
    for effect in Effect::ALL {
        let red = run.audits.open_red_flags(*effect, &run.fault);
        open.extend(red.map(|item| format!("red flag {}", item.number())));
        let weak = run.audits.open_weak_oracles(*effect, &run.fault);
        open.extend(weak.map(|item| format!("weak oracle {}", item.number())));
    }
    page.line(&format!("Open: {}.\n", super::cells::list(&open)));
    page.line("Red flags:\n");
    for &item in RedFlag::ALL {
        let what = format!("{}. {}", item.number(), item.question());
        page.line(&tick(&what, run.audits.red_flag(item)));
    }
    page.line("\nWeak oracles:\n");
    for &item in WeakOracle::ALL {
        let what = format!("{}. {}", item.number(), item.question());
        page.line(&tick(&what, run.audits.weak_oracle(item)));
    }
}
