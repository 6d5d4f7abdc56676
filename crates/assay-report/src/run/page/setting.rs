//! What was there before the first scenario, and what the run left behind.

use super::super::judged::Judged;
use super::super::record::Presence;
use super::grid::{Cell, Grid};

pub(super) struct Setting {
    pub preconditions: Grid,
    pub environment: Grid,
    pub looked: String,
    pub toolbox: Grid,
    pub log: Grid,
    pub artifacts: Grid,
}

pub(super) fn part(judged: &Judged) -> Setting {
    let record = judged.record;
    let looked = match &record.toolbox.discovered_at {
        Some(at) => format!("Looked through at {}.", at.as_str()),
        None => "Nobody looked; no scenario was started.".to_string(),
    };
    let tools = record.toolbox.tools.iter();
    let tools = tools.map(|tool| vec![Cell::of(&tool.path), Cell::of(&tool.role)]);
    let artifacts = record.artifacts.iter();
    let artifacts = artifacts.map(|file| vec![Cell::of(&file.path), Cell::of(&file.what)]);
    Setting {
        preconditions: preconditions(judged),
        environment: environment(judged),
        looked,
        toolbox: Grid::new(&["Path", "Role"], tools, "The system brings no tools for testing."),
        log: log(judged),
        artifacts: Grid::new(&["Path", "What"], artifacts, "No artifacts were kept."),
    }
}

fn preconditions(judged: &Judged) -> Grid {
    let boxes = &judged.record.preconditions;
    let rows = [
        ("The system is up", &boxes.cluster_up),
        ("Logs and metrics arrive", &boxes.observability_live),
        ("A baseline was measured", &boxes.baseline_captured),
        ("The fault injector answers", &boxes.fault_plane_responsive),
    ];
    let rows =
        rows.map(|(what, check)| vec![Cell::of(what), Cell::answer(check), Cell::of(check.text())]);
    Grid::new(&["Precondition", "State", "Evidence"], rows, "")
}

fn environment(judged: &Judged) -> Grid {
    let rows = judged.record.environment.iter().map(|need| {
        let present = match need.presence {
            Presence::Present => Cell::signed("present", "pass", "●"),
            Presence::Missing => Cell::signed("missing", "open", "?"),
        };
        let version = need.version.as_deref().unwrap_or("—");
        vec![Cell::of(&need.requirement), present, Cell::of(version), Cell::of(&need.source)]
    });
    let head = &["Requirement", "Presence", "Version", "How one knows"];
    Grid::new(head, rows, "The plan needs nothing beyond the system itself.")
}

fn log(judged: &Judged) -> Grid {
    let rows = judged.record.timeline.iter().map(|entry| {
        vec![
            Cell::of(entry.at.as_str()),
            Cell::of(entry.scenario.as_deref().unwrap_or("—")),
            Cell::of(&entry.event),
            Cell::of(&entry.notes),
        ]
    });
    Grid::new(&["Time (UTC)", "Scenario", "Event", "Notes"], rows, "Nothing happened.")
}
