//! Decision records under whatever a file may hold.

use assay_adr::{Config, Files, Graph, Input, Records, lint};

/// Lints two records and an index cut from the bytes (zero bytes part them), now and as if one had
/// become the other: no panic, no hang, every finding has a line, and every picture an end.
pub fn lint_records(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let parts: Vec<&str> = text.splitn(3, '\0').collect();
    let part = |at: usize| parts.get(at).copied().unwrap_or(parts[0]).to_string();
    let config = Config::default();
    let path = |name: &str| format!("{}/{name}", config.directory);
    let first = [(path("0001-first.md"), part(0)), (path("README.md"), part(2))];
    let others = ["gaps/0001-a.md", "deviations/0001-b.md", "supplements/0001-first-c.md"];
    let files: Files = first.into_iter().chain(others.map(|name| (path(name), part(1)))).collect();
    let before: Files = [(path("0001-first.md"), part(1))].into();
    for before in [None, Some(&before)] {
        let report = lint(&Input { before, ..Input::of(&files) }, &config);
        for rated in &report.findings {
            let finding = &rated.finding;
            assert!(finding.line >= 1 && !finding.message.is_empty(), "{finding}");
        }
    }
    let graph = Graph::of(&Records::read(&files, &config), &config);
    assert!(graph.svg().ends_with("</svg>\n") && graph.dot().ends_with("}\n"));
}
