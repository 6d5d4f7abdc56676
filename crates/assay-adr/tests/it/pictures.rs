//! The graph of records in all its forms.

use super::good;
use assay_adr::{Config, Files, Graph, Records};

fn graph(files: &Files) -> Graph {
    let config = Config::default();
    Graph::of(&Records::read(files, &config), &config)
}

#[test]
fn relations_are_those_that_records_name() {
    let text = graph(&good()).text();
    let expected = "\
ADR-0001  Superseded  Keep rows
ADR-0002  Accepted  Keep columns
    supersedes ADR-0001 (Keep rows)
GAP-0001  Closed  Full disks go unnoticed
    led to ADR-0002 (Keep columns)
GAP-0002  Open  Reads are slow
DEV-0001  Accepted  Rows in tests
    deviates from ADR-0002 (Keep columns)
SUP-0002-keep-columns-roadmap  In Progress  Roadmap
    supplements ADR-0002 (Keep columns)
";
    assert_eq!(text, expected);
}

#[test]
fn a_mention_is_shown_where_there_is_nothing_closer() {
    let mut files = good();
    let rows = files.get_mut("docs/adr/0001-keep-rows.md").expect("there");
    *rows = rows.replace("Histories are", "See [GAP-0002](gaps/0002-slow-reads.md). They are");
    let text = graph(&files).text();
    assert!(text.contains("    mentions GAP-0002 (Reads are slow)\n"), "{text}");
}

#[test]
fn pictures_have_every_record_and_keep_titles_from_breaking_out() {
    let mut files = good();
    let rows = files.get_mut("docs/adr/0001-keep-rows.md").expect("there");
    *rows = rows.replace("# ADR-0001: Keep rows", "# ADR-0001: A \"quote\" \\<script> & more");
    let graph = graph(&files);
    let dot = graph.dot();
    assert_eq!(dot.matches(" [label=\"").count(), graph.nodes.len() + graph.edges.len());
    assert!(dot.contains("A \\\"quote\\\""), "{dot}");
    let svg = graph.svg();
    assert_eq!(svg.matches("<g><title>").count(), graph.nodes.len());
    assert_eq!(svg.matches("marker-end").count(), graph.edges.len());
    assert!(!svg.contains("<script>") && svg.contains("&lt;script&gt;"), "{svg}");
    assert_eq!(graph.json()["edges"].as_array().map(Vec::len), Some(graph.edges.len()));
}

#[test]
fn nothing_is_drawn_of_nothing() {
    let graph = graph(&Files::new());
    assert!(graph.text().is_empty() && graph.nodes.is_empty());
    assert!(graph.svg().ends_with("</svg>\n") && graph.dot().ends_with("}\n"));
}
