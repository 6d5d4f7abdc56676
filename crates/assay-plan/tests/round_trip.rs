//! Reading and printing again gives the same plan, for plans that make sense and for any text.

use assay_plan::words::Category;
use assay_plan::{lint, parse};
use proptest::prelude::*;

/// Everything the parser found, in a form that can be compared.
fn facts(text: &str) -> String {
    let plan = parse(text);
    format!("{plan:?}{:?}", lint(&plan))
}

/// Words that cannot be mistaken for structure.
fn words() -> impl Strategy<Value = String> {
    "[a-z]{1,8}( [a-zé—]{1,8}){0,4}"
}

/// A made-up plan, and what it says: claims with their categories, hypotheses with their claims,
/// scenarios with both.
#[derive(Clone, Debug)]
struct Made {
    claims: Vec<(String, Category)>,
    hypotheses: Vec<(String, usize)>,
    scenarios: Vec<(String, usize, u64)>,
    noise: Vec<String>,
}

fn made() -> impl Strategy<Value = Made> {
    let claim = (words(), prop::sample::select(Category::ALL));
    let noise = prop::sample::select(vec!["", "<!-- x -->\n", "> quote\n", "* item\n", "---\n"]);
    (
        prop::collection::vec(claim, 1..6),
        prop::collection::vec((words(), 0..6_usize), 0..6),
        prop::collection::vec(("[a-z]{2,6}_[a-z]{2,6}", 0..6_usize, 1..99_u64), 0..5),
        prop::collection::vec(noise.prop_map(str::to_string), 8),
    )
        .prop_map(|(claims, hypotheses, scenarios, noise)| Made {
            claims,
            hypotheses,
            scenarios,
            noise,
        })
}

impl Made {
    fn text(&self) -> String {
        let mut text = format!("# Test Plan: a-plan\n\n- **Status:** draft\n{}\n", self.noise[0]);
        text += "## 1b. Claims under test\n\n| ID | Claim | Category | Source | Inferred? |\n";
        text += "|---|---|---|---|---|\n";
        for (i, (claim, category)) in self.claims.iter().enumerate() {
            text += &format!("| C{} | {claim} | {} | x.md | no |\n", i + 1, category.word());
        }
        text += &format!("\n{}\n## 4. Failure-mode hypotheses\n\n", self.noise[1]);
        for (i, (title, claim)) in self.hypotheses.iter().enumerate() {
            text += &format!("H{}. **{title}** — so\nCould falsify: C{}\n\n", i + 1, claim + 1);
        }
        text += &format!("{}\n## 7. Scenarios\n\n", self.noise[2]);
        for (i, (name, claim, seed)) in self.scenarios.iter().enumerate() {
            let claim = claim % self.claims.len();
            text +=
                &format!("### Scenario S{}: {name}\n\n- **Falsifies:** C{}\n", i + 1, claim + 1);
            text += &format!("\n```toml\nseed = {seed} # first\n```\n\n");
        }
        text
    }
}

proptest! {
    #[test]
    fn a_made_up_plan_is_read_as_it_was_made(made in made()) {
        let text = made.text();
        let plan = parse(&text);
        prop_assert_eq!(plan.print(), &text);
        let claims: Vec<(String, Option<Category>)> =
            plan.claims.iter().map(|c| (c.claim.text.clone(), c.category.value)).collect();
        let wanted: Vec<(String, Option<Category>)> =
            made.claims.iter().map(|(claim, category)| (claim.clone(), Some(*category))).collect();
        prop_assert_eq!(claims, wanted);
        let hypotheses: Vec<usize> =
            plan.hypotheses.iter().map(|h| h.falsifies[0].id.number as usize - 1).collect();
        let wanted: Vec<usize> = made.hypotheses.iter().map(|(_, claim)| *claim).collect();
        prop_assert_eq!(hypotheses, wanted);
        let seeds: Vec<Option<u64>> =
            plan.scenarios.iter().map(|s| s.machine().and_then(|m| m.seed)).collect();
        let wanted: Vec<Option<u64>> =
            made.scenarios.iter().map(|(_, _, seed)| Some(*seed)).collect();
        prop_assert_eq!(seeds, wanted);
        for scenario in &plan.scenarios {
            let claim = &scenario.falsifies[0];
            prop_assert_eq!(claim.span.of(&text), claim.id.to_string());
        }
        prop_assert_eq!(facts(plan.print()), facts(&text));
    }

    #[test]
    fn any_text_is_read_without_panic_and_printed_as_it_was(text in any_text()) {
        let plan = parse(&text);
        prop_assert_eq!(plan.print(), &text);
        for diagnostic in lint(&plan) {
            let span = diagnostic.span;
            prop_assert!(span.start <= span.end && span.end <= text.len(), "{:?}", diagnostic);
            prop_assert!(text.is_char_boundary(span.start), "{:?}", diagnostic);
            prop_assert!(text.is_char_boundary(span.end), "{:?}", diagnostic);
        }
        prop_assert_eq!(facts(plan.print()), facts(&text));
    }
}

/// Any characters, and pieces of plans in any order.
fn any_text() -> impl Strategy<Value = String> {
    #[rustfmt::skip]
    let pieces = prop::sample::select(vec![
        "# Test Plan: ", "## 1b. Claims", "## 4.\n", "## 7. Scenarios\n", "### Scenario S1: a_b\n",
        "#### Arm S1/x: c_d\n", "| ID | Claim |", "|---|", "\n", "\r\n", "C1", "H1. ", "S1/api",
            "{", "}",
        "```toml\n", "```\n", "[budget.smoke]\n", "seeds = 1\n", "- **Oracle:** ", "**", "`", "é",
        "\u{202e}", "<!--", "-->", "(a)", "N/A — ", "> ", "  - ", "7.M.S", "\0", "x 3 seeds", "∞",
    ]);
    let piece = prop_oneof![3 => pieces.prop_map(str::to_string), 1 => any::<String>()];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}
