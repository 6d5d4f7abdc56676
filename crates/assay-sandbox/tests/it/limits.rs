//! Limits: what exceeds them is ended or refused, and works where they are higher.

use crate::Test;
use crate::rig::{PATIENCE, Place, Rig, settings, wait_until};
use assay_sandbox::{Capability, End, Interrupt, Limits, Program, Settings};
use serde_json::json;
use std::time::Duration;

pub const TESTS: &[Test] = &[
    ("memory_is_limited", &[Capability::MemoryOfProcess], memory),
    ("memory_of_all_processes_is_limited", &[Capability::MemoryTotal], memory_of_all),
    ("processes_are_limited", &[Capability::Processes], processes),
    ("files_are_limited", &[Capability::FileSize], files),
    ("time_is_limited", &[Capability::Time], time),
    ("processor_time_is_limited", &[Capability::Cpu], cpu),
    ("output_is_limited", &[Capability::Output], output),
    ("scratch_is_limited_and_gone_afterwards", &[Capability::PrivateRoot], scratch),
    ("a_call_can_be_interrupted", &[], interrupt),
];

/// It fails with the low limits, and works with the high ones: so it is the limit that counts.
fn must_need_more(rig: &Rig, low: Limits, attempt: fn(&Place) -> bool) {
    let low = Settings { limits: low, ..settings() };
    assert!(!attempt(&rig.with(low)), "the limit was exceeded");
    assert!(attempt(&rig.place()), "it does not work without the limit either");
}

fn limits() -> Limits {
    settings().limits
}

fn memory(rig: &Rig) {
    must_need_more(rig, Limits { memory_bytes: 150 << 20, ..limits() }, |place| {
        let text = place.sh("head -c 400000000 /dev/zero | tail -c 300000000 | wc -c");
        text.contains("300000000")
    });
}

/// Four that each hold 80 MB until all four do, or one was killed: a `tail` that has begun to write
/// has read everything.
fn memory_of_all(rig: &Rig) {
    must_need_more(rig, Limits { memory_bytes: 150 << 20, ..limits() }, |place| {
        place.sh("hold() {
               head -c 100000000 /dev/zero | tail -c 80000000 | {
                 dd bs=1 count=1 of=first$1 2>/dev/null
                 if [ -s first$1 ]; then : > ready$1; else : > failed; fi
                 until [ -e failed ] || [ \"$(echo ready?)\" = 'ready1 ready2 ready3 ready4' ]
                 do sleep 0.05; done
                 cat > /dev/null
               }
             }
             hold 1 & hold 2 & hold 3 & hold 4 & wait");
        let is_ready = |number| place.workspace.files().join(format!("ready{number}")).exists();
        (1..=4).all(is_ready) && !place.workspace.files().join("failed").exists()
    });
}

fn processes(rig: &Rig) {
    must_need_more(
        rig,
        Limits { processes: 20, wall: Duration::from_secs(20), ..limits() },
        |place| {
            let script =
                "i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done; echo started-$i";
            place.run(&["/bin/sh", "-c", script]).1.contains("started-60")
        },
    );
}

fn files(rig: &Rig) {
    must_need_more(rig, Limits { file_bytes: 4 << 20, ..limits() }, |place| {
        place.sh("head -c 20000000 /dev/zero > big");
        let size = std::fs::metadata(place.workspace.files().join("big")).map_or(0, |f| f.len());
        assert!(size > 0, "it was begun");
        size == 20_000_000
    });
}

fn time(rig: &Rig) {
    must_need_more(rig, Limits { wall: Duration::from_secs(1), ..limits() }, |place| {
        let (ran, text) = place.run(&["/bin/sh", "-c", "sleep 3; echo survived"]);
        assert!(matches!(ran.end, End::TimeLimit | End::Exited(0)), "{:?}", ran.end);
        text.contains("survived")
    });
    let slow =
        rig.place().call("bash", json!({ "command": "echo half; sleep 60", "timeout_ms": 500 }));
    assert!(slow.is_error && slow.text.contains("longer than 500 ms"), "{}", slow.text);
    assert!(!slow.text.contains("half"), "half of an output is not shown");
}

fn cpu(rig: &Rig) {
    let limits = Limits { cpu: Duration::from_secs(1), ..limits() };
    let end = rig.with(Settings { limits, ..settings() }).end("while :; do :; done");
    assert!(matches!(end, End::Signalled(9 | 24)), "{end:?}");
}

fn output(rig: &Rig) {
    let low = Limits { output_bytes: 1 << 20, ..limits() };
    must_need_more(rig, low, |place| {
        let (ran, text) = place.run(&["/bin/sh", "-c", "head -c 3000000 /dev/zero; echo whole"]);
        assert!(text.len() >= 1 << 20, "what is allowed is heard");
        assert!(ran.end == End::Exited(0) || text.len() == 1 << 20, "no more than that");
        text.ends_with("whole\n")
    });
    let place = rig.with(Settings { limits: low, ..settings() });
    assert_eq!(place.end("yes"), End::OutputLimit, "an endless one is ended");
    assert_eq!(place.end("yes >&2"), End::OutputLimit, "on either stream");
}

fn scratch(rig: &Rig) {
    let low = Limits { scratch_bytes: 4 << 20, ..limits() };
    must_need_more(rig, low, |place| {
        place.sh("head -c 8000000 /dev/zero > /tmp/big && echo filled").contains("filled")
    });
    let place = rig.place();
    place.sh("echo x > /tmp/file; echo y > /dev/shm/file; echo z > file");
    let left = place.sh("ls /tmp/file /dev/shm/file; cat file");
    assert!(left.contains("z\n") && !left.contains("\n/tmp/file"), "{left}");
}

fn interrupt(rig: &Rig) {
    let place = rig.place();
    let interrupt = Interrupt::new().expect("a descriptor");
    let marker = place.workspace.files().join("started");
    let program = Program::new(&["/bin/sh", "-c", "touch started; sleep 600"]);
    let ran = std::thread::scope(|scope| {
        let call = || place.tools.sandbox().run(&program, &interrupt, &mut |_, _| {});
        let call = scope.spawn(call);
        wait_until("the program to run", || marker.exists());
        interrupt.interrupt();
        call.join().expect("it does not panic")
    });
    assert_eq!(ran.expect("it took place").end, End::Interrupted);
    let again = place.tools.call("bash", &json!({ "command": "true" }), &interrupt);
    assert!(again.expect("it takes place").text.contains("interrupted"), "it stays so");
    assert!(PATIENCE > Duration::ZERO && place.sh("echo goes on").contains("goes on"));
}
