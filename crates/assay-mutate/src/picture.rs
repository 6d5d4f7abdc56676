//! A kill matrix as a picture: one HTML file that needs no network.

use crate::campaign::Matrix;
use crate::show::{cells, explored};
use std::fmt::Write;

const CELL_PX: usize = 34;
const LEFT_PX: usize = 230;
const TOP_PX: usize = 210;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The matrix as a page: actions by properties, darker where more is noticed, numbers in all.
pub fn html(matrix: &Matrix) -> String {
    let title = format!("{} with {}", escaped(&matrix.module), escaped(&matrix.configuration));
    let tried = explored(matrix).count();
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}: what notices \
         what</title><style>body{{font:14px/1.5 system-ui,sans-serif;margin:2rem;color:#222;\
         background:#fff}}table{{border-collapse:collapse}}td,th{{padding:.2rem .8rem .2rem 0;\
         text-align:left;vertical-align:top}}code{{font-size:12px}}</style><h1>{title}</h1>\
         <p>{tried} of {} mutants explored by {}; {} states. A number is how many mutants of the \
         action the property notices.</p>",
        matrix.mutants_total,
        escaped(&matrix.engine),
        matrix.base.distinct
    );
    page.push_str(&heat(matrix));
    page.push_str("<h2>Mutants</h2><table><tr><th>mutant<th>was<th>becomes<th>noticed by</tr>");
    for row in explored(matrix) {
        let by: Vec<&str> = row.killed_by().into_iter().collect();
        let by = if by.is_empty() { "nothing".to_string() } else { by.join(", ") };
        let mutant = &row.mutant;
        let _ = write!(
            page,
            "<tr><td>{}<br>line {}<td><code>{}</code><td><code>{}</code><td>{}</tr>",
            escaped(&mutant.id),
            mutant.line,
            escaped(&mutant.was),
            escaped(&mutant.becomes),
            escaped(&by)
        );
    }
    page.push_str("</table></html>\n");
    page
}

fn heat(matrix: &Matrix) -> String {
    let cells = cells(matrix);
    let width = LEFT_PX + matrix.properties.len() * CELL_PX + TOP_PX;
    let height = TOP_PX + cells.len() * CELL_PX + 10;
    let mut svg = format!(
        "<svg role=\"img\" aria-label=\"actions by properties\" width=\"{width}\" \
         height=\"{height}\" font-size=\"12\">"
    );
    for (at, property) in matrix.properties.iter().enumerate() {
        let x = LEFT_PX + at * CELL_PX + CELL_PX / 2;
        let y = TOP_PX - 8;
        let _ = write!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" transform=\"rotate(-50 {x} {y})\">{}</text>",
            escaped(property)
        );
    }
    for (line, (action, tried, noticed)) in cells.iter().enumerate() {
        let y = TOP_PX + line * CELL_PX;
        let middle = y + CELL_PX / 2 + 4;
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{} ({tried})</text>",
            LEFT_PX - 8,
            escaped(action)
        );
        for (at, count) in noticed.iter().enumerate() {
            let x = LEFT_PX + at * CELL_PX;
            let share = if *tried == 0 { 0 } else { count * 100 / tried };
            let opacity = if *count == 0 { 0 } else { 20 + share * 8 / 10 };
            let _ = write!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL_PX}\" height=\"{CELL_PX}\" \
                 fill=\"#6DB6FE\" fill-opacity=\"{opacity}%\" stroke=\"#ccc\"/>\
                 <text x=\"{}\" y=\"{middle}\" text-anchor=\"middle\">{}</text>",
                x + CELL_PX / 2,
                if *count == 0 { String::new() } else { count.to_string() }
            );
        }
    }
    svg.push_str("</svg>");
    svg
}
