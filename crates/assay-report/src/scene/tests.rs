//! What the geometry promises, on arbitrary timelines: nothing hides anything else.

use proptest::prelude::*;

use super::measure::{FADE, OPEN_ROOM, mono_width, small_width};
use super::*;
use crate::timeline::{Band, Bar, Lane, Mark, Outcome, Role, Timeline};

/// A rectangle with the name it is reported under.
#[derive(Debug)]
struct Area {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    what: String,
}

impl Area {
    fn text(text: &Text, width: i32) -> Self {
        Self::words(text.x, width, text.y, &text.text)
    }

    /// Letters reach about 10 px above their base and 3 px below it.
    fn words(left: i32, width: i32, y: i32, what: &str) -> Self {
        let what = format!("words {what:?} at {left},{y}");
        Self { left, right: left + width, top: y - 10, bottom: y + 3, what }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

fn bars(scene: &Scene) -> Vec<Area> {
    let area = |bar: &BarBox| Area {
        left: bar.left,
        right: if bar.open.is_some() { bar.right - FADE / 3 + OPEN_ROOM } else { bar.right },
        top: bar.y,
        bottom: bar.y + BAR_HEIGHT,
        what: format!("bar {} at {},{}", bar.class, bar.left, bar.y),
    };
    scene.bars.iter().map(area).collect()
}

/// Words inside their own bar, and words that must keep clear of every bar.
fn words(scene: &Scene) -> (Vec<Area>, Vec<Area>) {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for bar in &scene.bars {
        for (piece, y) in &bar.pieces {
            let area = Area::words(piece.left, piece.width, *y, &piece.text);
            if piece.line == Line::Inside { inside.push(area) } else { outside.push(area) }
        }
        inside.extend(bar.open.iter().map(|o| Area::text(&o.word, mono_width(&o.word.text))));
    }
    let bands = scene.bands.iter().filter_map(|band| band.label.as_ref());
    let ticks = scene.ticks.iter().filter_map(|tick| tick.label.as_ref());
    outside.extend(bands.chain(ticks).map(|text| Area::text(text, small_width(&text.text))));
    let lanes = scene.lanes.iter().map(|lane| &lane.name);
    outside.extend(lanes.map(|name| Area::text(name, mono_width(&name.text))));
    (inside, outside)
}

fn check_disjoint<'a>(areas: impl Iterator<Item = &'a Area>) -> Result<(), TestCaseError> {
    let areas: Vec<&Area> = areas.collect();
    for (i, a) in areas.iter().enumerate() {
        for b in &areas[i + 1..] {
            prop_assert!(!a.meets(b), "{} meets {}", a.what, b.what);
        }
    }
    Ok(())
}

fn check(timeline: &Timeline, spacing: Spacing) -> Result<(), TestCaseError> {
    let scene = Scene::new(&Shown::new(timeline), spacing, Setting::Alone);
    prop_assert_eq!(scene.bars.len(), timeline.bars.len());
    let bars = bars(&scene);
    let (inside, outside) = words(&scene);
    check_disjoint(bars.iter())?;
    check_disjoint(inside.iter().chain(&outside))?;
    check_disjoint(bars.iter().chain(&outside))?;
    for area in bars.iter().chain(&inside).chain(&outside) {
        let within = area.left >= 0 && area.right <= scene.width && area.bottom <= scene.height;
        prop_assert!(within, "{} leaves the picture", area.what);
    }
    for bar in scene.bars.iter().filter(|bar| bar.class.ends_with("refuted")).take(1) {
        let said = bar.pieces.iter().any(|(piece, _)| piece.kind == Kind::Refuted);
        prop_assert!(said, "a refuted bar without its words");
    }
    Ok(())
}

fn any_bar() -> impl Strategy<Value = Bar> {
    let outcome = prop_oneof![
        Just(Outcome::Ok),
        Just(Outcome::Ok),
        Just(Outcome::Fail),
        Just(Outcome::Unknown)
    ];
    let role =
        prop_oneof![3 => Just(Role::Core), 2 => Just(Role::Context), 1 => Just(Role::Refuted)];
    let label = prop_oneof!["[a-z]{0,12}", "write [0-9]{1,40}", "[日本語é]{0,20}"];
    let order = proptest::option::of(prop_oneof![1..40u32, any::<u32>()]);
    // Few distinct times, so that many are equal.
    (0..4usize, 0..40i64, proptest::option::weighted(0.9, 0..12i64), label, outcome, role, order)
        .prop_map(|(lane, start, length, label, outcome, role, order)| Bar {
            lane,
            start,
            end: length.map(|length| start + length),
            label,
            detail: String::new(),
            outcome,
            role,
            order,
        })
}

fn any_timeline() -> impl Strategy<Value = Timeline> {
    let band = ("[a-z ]{0,30}", -5..45i64, proptest::option::of(0..30i64)).prop_map(
        |(label, start, length)| Band { label, start, end: length.map(|length| start + length) },
    );
    let mark = ("[a-z ]{0,12}", -5..45i64).prop_map(|(label, at)| Mark { label, at });
    let lists = (
        prop::collection::vec(any_bar(), 0..30),
        prop::collection::vec(band, 0..4),
        prop::collection::vec(mark, 0..4),
    );
    lists.prop_map(|(bars, bands, marks)| Timeline {
        title: "any".into(),
        lanes: (0..4).map(|i| Lane::new(format!("client {i}"))).collect(),
        bars,
        bands,
        marks,
        ..Timeline::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn nothing_hides_anything_with_rank_spacing(timeline in any_timeline()) {
        check(&timeline, Spacing::Rank)?;
    }

    #[test]
    fn nothing_hides_anything_with_real_spacing(timeline in any_timeline()) {
        check(&timeline, Spacing::Real)?;
    }
}

#[test]
fn the_checks_above_can_see_an_overlap() {
    let a = Area::words(0, 20, 10, "a");
    let b = Area::words(19, 20, 12, "b");
    assert!(check_disjoint([&a, &b].into_iter()).is_err());
}

#[test]
fn a_crowded_row_says_how_many_labels_had_no_room() {
    let bar = |i: i64| Bar {
        start: 2 * i,
        end: Some(2 * i + 1),
        label: "a label much longer than its bar".into(),
        ..Bar::default()
    };
    let bars: Vec<Bar> = (0..40).map(bar).collect();
    let timeline = Timeline { lanes: vec![Lane::new("c")], bars, ..Timeline::default() };
    let scene = Scene::new(&Shown::new(&timeline), Spacing::Rank, Setting::Alone);
    assert!(scene.statements.iter().any(|text| text.text.starts_with("No room for ")));
    check(&timeline, Spacing::Rank).expect("nothing hides anything");
}
