//! What a turn leaves behind on purpose.

use crate::Test;
use crate::rig::Rig;
use assay_sandbox::{OutputsError, collect_outputs};
use std::io::Read;

pub const TESTS: &[Test] = &[
    ("outputs_are_collected_from_their_directory", &[], collected),
    ("outputs_beyond_the_limits_are_not_collected_at_all", &[], limited),
];

fn collected(rig: &Rig) {
    let place = rig.place();
    place.sh("cd $ASSAY_OUTPUTS; echo a > b.txt; mkdir -p d/e; echo c > d/e/c.txt; \
              ln -s /etc/passwd link; ln -s b.txt inner; mkfifo pipe; echo no > $HOME/not");
    let found = collect_outputs(&place.workspace).expect("within limits");
    let names: Vec<&str> = found.iter().map(|output| output.name.as_str()).collect();
    assert_eq!(names, ["b.txt", "c.txt"]);
    for mut output in found {
        let mut text = String::new();
        output.file.read_to_string(&mut text).expect("readable");
        assert_eq!(text.len() as u64, output.bytes);
    }
}

fn limited(rig: &Rig) {
    type Expected = fn(&OutputsError) -> bool;
    let cases: [(&str, Expected); 5] = [
        ("i=0; while [ $i -le 100 ]; do : > $i; i=$((i+1)); done", |error| {
            matches!(error, OutputsError::TooMany(100))
        }),
        ("truncate -s 26214401 large", |error| {
            matches!(error, OutputsError::TooLarge { bytes: 26_214_401, .. })
        }),
        ("for i in 1 2 3 4 5; do truncate -s 26214400 $i; done", |error| {
            matches!(error, OutputsError::TooLargeTogether)
        }),
        ("mkdir a b; : > a/same; : > b/same", |error| {
            matches!(error, OutputsError::SameName { .. })
        }),
        ("for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8; do mkdir d; cd d; done", |error| {
            matches!(error, OutputsError::TooDeep)
        }),
    ];
    for (script, expected) in cases {
        let place = rig.place();
        place.sh(&format!("cd $ASSAY_OUTPUTS; {script}"));
        let error = collect_outputs(&place.workspace).expect_err(script);
        assert!(expected(&error), "{script}: {error}");
    }
    let place = rig.place();
    place.sh("cd $ASSAY_OUTPUTS; for i in 1 2 3 4; do truncate -s 26214400 $i; done; \
              i=0; while [ $i -lt 96 ]; do : > f$i; i=$((i+1)); done");
    let most = collect_outputs(&place.workspace).expect("exactly at the limits");
    assert_eq!(most.len(), 100);
}
