//! New plans ask their author for nothing but thinking.

use assay_plan::models::MODELS;
use assay_plan::template::{Request, new_plan};
use assay_plan::words::Mode;
use assay_plan::{Severity, lint, parse};

#[test]
fn a_fresh_plan_has_only_placeholders_left() {
    for mode in Mode::ALL {
        for model in MODELS {
            let text = new_plan(&Request {
                slug: "append-survives-leader-loss",
                sut: "Orders API 2.3",
                mode: *mode,
                model: model.name,
                date: "2026-11-16",
            });
            let plan = parse(&text);
            let found = lint(&plan);
            let others: Vec<String> = found
                .iter()
                .filter(|d| d.code.to_string() != "P010")
                .map(|d| format!("{} {}: {}", d.code, plan.line(d.span.start), d.message))
                .collect();
            assert_eq!(others, [""; 0], "{} {}", mode.word(), model.name);
            assert!(found.iter().any(|d| d.severity() == Severity::Error));
            assert!(!text.contains('@'), "{text}");
            assert_eq!(plan.scenarios[0].trials().len(), 1, "{}", model.name);
            assert_eq!(plan.pitfalls.len(), 16);
        }
    }
}

#[test]
fn hostile_names_stay_in_their_line() {
    let text = new_plan(&Request {
        slug: "a-b\n## 9. Open",
        sut: "x\n```\n\u{1b}[31m\"",
        mode: Mode::ChangeScoped,
        model: "no such model",
        date: "2026-11-16",
    });
    assert!(!text.contains('\u{1b}'));
    assert!(text.starts_with("# Test Plan: a-b ## 9. Open\n"));
    assert_eq!(parse(&text).scenarios.len(), 1);
}
