//! docs/gallery.md has a section and a picture for each entry, and plans keep the rules.

use super::{assay, entries, root};
use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};

/// What a section holds.
#[derive(Default)]
struct Section {
    pictures: Vec<String>,
    links: Vec<String>,
}

/// Sections of the second level, by their heading.
fn sections(text: &str) -> BTreeMap<String, Section> {
    let mut sections: BTreeMap<String, Section> = BTreeMap::new();
    let (mut heading, mut current) = (None, String::new());
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) => {
                heading = Some(String::new());
            }
            Event::Text(words) if heading.is_some() => {
                heading.as_mut().expect("it is some").push_str(&words);
            }
            Event::End(TagEnd::Heading(HeadingLevel::H2)) => {
                current = heading.take().unwrap_or_default();
                sections.entry(current.clone()).or_default();
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                sections.entry(current.clone()).or_default().pictures.push(dest_url.to_string());
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                sections.entry(current.clone()).or_default().links.push(dest_url.to_string());
            }
            _ => {}
        }
    }
    sections
}

#[test]
fn every_entry_has_a_section_with_its_picture_and_a_link_to_its_plan() {
    let docs = root().join("docs");
    let text = std::fs::read_to_string(docs.join("gallery.md")).expect("the page");
    let sections = sections(&text);
    for entry in entries() {
        let section = sections.get(&entry).unwrap_or_else(|| panic!("no section `## {entry}`"));
        let picture = format!("gallery/{entry}.svg");
        assert_eq!(
            section.pictures,
            std::slice::from_ref(&picture),
            "{entry} has one picture, its own"
        );
        let svg = std::fs::read_to_string(docs.join(&picture)).expect("the picture");
        assert!(svg.contains("<svg ") && svg.trim_end().ends_with("</svg>"), "{picture}");
        let plan = format!("../examples/gallery/{entry}/plan.md");
        assert!(section.links.contains(&plan), "{entry} has no link to {plan}");
    }
    let pictures = std::fs::read_dir(docs.join("gallery")).expect("pictures").flatten();
    let stray = pictures.map(|file| file.file_name().to_string_lossy().into_owned());
    let known: BTreeSet<String> =
        entries().into_iter().map(|entry| format!("{entry}.svg")).collect();
    let stray: Vec<String> = stray.filter(|file| !known.contains(file)).collect();
    assert!(stray.is_empty(), "pictures of nothing: {stray:?}");
}

#[test]
fn every_plan_of_the_gallery_is_clean() {
    for entry in entries() {
        let plan = format!("examples/gallery/{entry}/plan.md");
        let words = ["plan", "lint", "--deny", "warnings", "--format", "json", &plan];
        let (found, code) = assay(&words, &root());
        assert_eq!(code, Some(0), "{plan}: {found}");
    }
}
