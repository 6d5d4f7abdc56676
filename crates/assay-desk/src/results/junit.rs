//! JUnit XML, which nearly every runner can write.

use super::{Results, Status};
use quick_xml::events::{BytesStart, Event};

/// `classname.name`; a case with `<failure>` or `<error>` failed, with `<skipped>` it was skipped.
pub(super) fn read(text: &str) -> Results {
    let mut results = Results::default();
    let mut reader = quick_xml::Reader::from_str(text);
    let mut open: Option<(String, Status)> = None;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => started(&tag, &mut open),
            Ok(Event::Empty(tag)) => {
                started(&tag, &mut open);
                if tag.local_name().as_ref() == "testcase" {
                    close(&mut open, &mut results);
                }
            }
            Ok(Event::End(tag)) if tag.local_name().as_ref() == "testcase" => {
                close(&mut open, &mut results);
            }
            Ok(Event::Eof) => return results,
            // Half a file: what it says so far may hide a failure.
            Err(_) => {
                results.add("the file ends in the middle", Status::Failed);
                return results;
            }
            Ok(_) => {}
        }
    }
}

fn started(tag: &BytesStart<'_>, open: &mut Option<(String, Status)>) {
    match tag.local_name().as_ref() {
        "testcase" => {
            let attribute = |name: &str| {
                let found = tag.try_get_attribute(name).ok().flatten();
                found.map(|value| value.value.into_owned())
            };
            let name = attribute("name").unwrap_or_default();
            let full = match attribute("classname").filter(|class| !class.is_empty()) {
                Some(class) => format!("{class}.{name}"),
                None => name,
            };
            *open = Some((unescaped(&full), Status::Passed));
        }
        "failure" | "error" => {
            if let Some((_, status)) = open {
                *status = Status::Failed;
            }
        }
        "skipped" => {
            if let Some((_, status)) = open {
                *status = (*status).max(Status::Skipped);
            }
        }
        _ => {}
    }
}

fn unescaped(text: &str) -> String {
    quick_xml::escape::unescape(text).map_or(text.to_string(), |plain| plain.into_owned())
}

fn close(open: &mut Option<(String, Status)>, results: &mut Results) {
    if let Some((name, status)) = open.take() {
        results.add(name, status);
    }
}
