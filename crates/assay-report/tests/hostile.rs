//! Input nobody wishes for: markup, control characters, endless labels, absurd times, crowds.

mod samples;

use assay_report::{
    BARS_MAX, Band, Bar, Fact, Glyphs, LANES_MAX, Lane, Mark, Order, Outcome, Page, Role, Spacing,
    Step, Stuck, Table, TimeUnit, Timeline, html, svg, svg_spaced, text,
};
use roxmltree::Document;

/// Strings that have broken renderers before.
fn hostile() -> Vec<String> {
    let mut strings: Vec<String> = [
        "",
        " ",
        "<script>alert(1)</script>",
        "</text></svg><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onload='alert(1)",
        "]]><!--",
        "--></style></title></desc>",
        "&lt;&amp;&#x41;",
        "{{ 7 * 7 }}{% raw %}",
        "line one\nline two\r\n\ttab",
        "\u{0}\u{1}\u{8}\u{b}\u{c}\u{1b}[31mred\u{1b}[0m\u{7f}\u{85}",
        "\u{fffe}\u{ffff}\u{1fffe}",
        "\u{202e}drawkcab\u{2066}x\u{2069}\u{200f}",
        "שלום עולם",
        "مرحبا بالعالم",
        "日本語のラベル",
        "👩‍👩‍👧‍👦 ❤️",
        "e\u{301}\u{301}\u{301}",
    ]
    .map(String::from)
    .to_vec();
    strings.push("x".repeat(10_000));
    strings.push("<".repeat(10_000));
    strings.push("é ".repeat(10_000));
    strings.push(format!("a{}", "\u{301}".repeat(10_000)));
    strings
}

fn timeline_of(s: &str) -> Timeline {
    let bar = |start, end, role| Bar {
        lane: 0,
        start,
        end,
        label: s.into(),
        detail: s.into(),
        role,
        order: Some(u32::MAX),
        ..Bar::default()
    };
    Timeline {
        title: s.into(),
        subtitle: s.into(),
        lanes: vec![Lane::new(s), Lane::new(s)],
        bars: vec![bar(0, Some(5), Role::Refuted), bar(7, None, Role::Core)],
        bands: vec![Band { label: s.into(), start: 1, end: Some(6) }],
        marks: vec![Mark { label: s.into(), at: 2 }],
        time_unit: TimeUnit::Steps(s.into()),
    }
}

fn page_of(s: &str) -> Page {
    let all = || vec![s.to_owned()];
    Page {
        headline: s.into(),
        explanation: all(),
        timelines: vec![timeline_of(s)],
        orders: vec![Order {
            title: s.into(),
            placed: vec![Step::new(s, s)],
            stuck: Some(Stuck { label: s.into(), reason: s.into() }),
        }],
        facts: vec![Fact::new(s, s)],
        tables: vec![Table { title: s.into(), head: all(), rows: vec![all(), vec![]] }],
        reproduce: all(),
        notes: all(),
        certificate: format!("{{{s}}}"),
        ..Page::default()
    }
}

/// Parses as XML, with only the elements and attributes a picture has.
fn check_picture(picture: &str) {
    let document = Document::parse(picture).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
    assert_eq!(root.attribute("role"), Some("img"));
    assert!(
        root.children().any(|child| child.has_tag_name(("http://www.w3.org/2000/svg", "desc")))
    );
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        let known = ["svg", "desc", "style", "g", "title", "rect", "path", "text"];
        assert!(known.contains(&name), "unexpected element {name}");
        let event = node.attributes().find(|attribute| attribute.name().starts_with("on"));
        assert!(event.is_none(), "unexpected attribute {event:?}");
    }
}

/// Pages are written so that an XML reader can follow them too: every element is closed, and
/// only those are there that the template has.
fn check_page(page: &str) {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = Document::parse_with_options(page, options).expect("well-formed page");
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        assert!(!["script", "img", "iframe", "a", "link"].contains(&name), "element {name}");
        let event = node.attributes().find(|attribute| attribute.name().starts_with("on"));
        assert!(event.is_none(), "unexpected attribute {event:?}");
    }
    let count = |name| document.descendants().filter(|n| n.tag_name().name() == name).count();
    assert_eq!((count("body"), count("svg"), count("details")), (1, 2, 1));
}

/// No character reaches a terminal that could move its cursor or turn its direction.
fn check_terminal(drawn: &str, width: usize) {
    for line in drawn.lines() {
        assert!(!line.chars().any(char::is_control), "control character in {line:?}");
        assert!(!line.contains('\u{202e}'), "direction override in {line:?}");
        let cells = unicode_width::UnicodeWidthStr::width(line);
        assert!(cells <= width, "{cells} cells in {line:?}");
    }
}

fn check_all(timeline: &Timeline) {
    check_picture(&svg(timeline));
    check_picture(&svg_spaced(timeline, Spacing::Real));
    for width in [0, 40, 80, 120, usize::MAX] {
        let bound = width.clamp(40, 400);
        check_terminal(&text(timeline, width, Glyphs::Unicode), bound);
        let ascii = text(timeline, width, Glyphs::Ascii);
        assert!(ascii.is_ascii(), "not ASCII: {ascii}");
        check_terminal(&ascii, bound);
    }
}

#[test]
fn untrusted_strings_stay_text_in_every_format() {
    for s in hostile() {
        check_all(&timeline_of(&s));
        let page = html(&page_of(&s));
        check_page(&page);
        assert!(!page.contains(['\u{0}', '\u{202e}']), "unsafe character from {s:?}");
    }
}

#[test]
fn endless_strings_do_not_make_endless_pictures() {
    for s in hostile().iter().filter(|s| s.len() >= 10_000) {
        let document = svg(&timeline_of(s));
        let document = Document::parse(&document).expect("well-formed XML");
        let width: i32 = document.root_element().attribute("width").unwrap().parse().unwrap();
        assert!(width < 2_000, "{width} px");
    }
}

#[test]
fn a_page_asks_the_network_for_nothing() {
    let page = html(&samples::page());
    for reference in ["src=", "href=", "url(", "@import", "<script", "<link"] {
        assert!(!page.contains(reference), "{reference} in the page");
    }
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"));
}

#[test]
fn the_first_words_of_a_page_are_the_answer() {
    let page = html(&samples::page());
    let body = &page[page.find("<body").unwrap()..];
    let words: Vec<&str> = body.split('>').map(|part| part.split('<').next().unwrap()).collect();
    let first: Vec<&&str> = words.iter().filter(|word| !word.trim().is_empty()).take(2).collect();
    assert_eq!(*first[0], "refuted");
    assert!(first[1].starts_with("orders.jsonl is not linearizable"));
}

#[test]
fn the_ends_of_time_do_not_overflow() {
    let times = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
    let mut bars = Vec::new();
    for start in times {
        for end in times.map(Some).into_iter().chain([None]) {
            let outcome = if end == Some(0) { Outcome::Unknown } else { Outcome::Ok };
            bars.push(Bar { lane: usize::MAX, start, end, outcome, ..Bar::default() });
        }
    }
    let bands = times.map(|start| Band { label: "f".into(), start, end: Some(i64::MIN) }).to_vec();
    let marks = times.map(|at| Mark { label: "m".into(), at }).to_vec();
    let units = [TimeUnit::Nanoseconds, TimeUnit::Seconds, TimeUnit::Steps("line".into())];
    for time_unit in units {
        let (bars, bands, marks) = (bars.clone(), bands.clone(), marks.clone());
        check_all(&Timeline { bars, bands, marks, time_unit, ..Timeline::default() });
    }
}

#[test]
fn a_crowd_is_cut_visibly_and_the_contradiction_stays() {
    let bar = |i: usize| Bar {
        lane: i,
        start: i as i64,
        end: Some(i as i64 + 3),
        label: format!("write {i}"),
        role: if i == 999 { Role::Refuted } else { Role::Context },
        ..Bar::default()
    };
    let lanes: Vec<Lane> = (0..1_000).map(|i| Lane::new(format!("client {i}"))).collect();
    let bars: Vec<Bar> = (0..1_000).map(bar).collect();
    let clients = Timeline { lanes: lanes.clone(), bars: bars.clone(), ..Timeline::default() };
    check_all(&clients);
    let picture = svg(&clients);
    assert!(picture.contains(&format!("Only {LANES_MAX} of 1000 clients are shown")));
    assert!(picture.contains("client 999") && picture.contains("cannot be placed"));

    let in_one = bars.into_iter().map(|bar| Bar { lane: 0, ..bar }).collect();
    let one = Timeline { lanes: lanes[..1].to_vec(), bars: in_one, ..Timeline::default() };
    check_all(&one);
    let picture = svg(&one);
    assert!(picture.contains(&format!("Only {BARS_MAX} of 1000 operations are shown")));
    assert_eq!(picture.matches("<g class=\"op ").count(), BARS_MAX);
    assert!(picture.contains("write 999"));
}

#[test]
fn equal_times_are_drawn_side_by_side() {
    let bar = |i: u32| Bar { end: Some(0), label: format!("read {i}"), ..Bar::default() };
    let bars: Vec<Bar> = (0..5).map(bar).collect();
    let timeline = Timeline { lanes: vec![Lane::new("c")], bars, ..Timeline::default() };
    check_all(&timeline);
    let drawn = text(&timeline, 80, Glyphs::Unicode);
    assert!((0..5).all(|i| drawn.contains(&format!("read {i}"))));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for (_, timeline) in samples::all() {
        check_all(&timeline);
        assert_eq!(svg(&timeline), svg(&timeline.clone()));
    }
    assert_eq!(html(&samples::page()), html(&samples::page()));
}
