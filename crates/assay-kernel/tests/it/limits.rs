//! No more descriptors.

use assay_kernel::limits::{
    descriptor_limit, exhaust_descriptors, open_descriptors, set_soft_limit,
};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// Tries to open a file for each line it is sent, and says what came of it.
const OPENER: &str = "
import errno, os, sys
for line in sys.stdin:
    try:
        os.close(os.open('/dev/null', os.O_RDONLY))
        print('opened', flush=True)
    except OSError as error:
        print(errno.errorcode[error.errno], flush=True)
";

#[test]
fn a_process_without_descriptors_gets_emfile_until_it_has_its_limit_back() {
    let mut child = Command::new("python3")
        .args(["-c", OPENER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 can be started");
    let (pid, mut lines) = (child.id(), child.stdin.take().expect("stdin is piped"));
    let mut answers = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let mut ask = || {
        lines.write_all(b"open\n").expect("it reads");
        answers.next().expect("it answers").expect("a line")
    };
    assert_eq!(ask(), "opened");
    let before = exhaust_descriptors(pid).expect("our child");
    let lowered = descriptor_limit(pid).expect("our child");
    let open = open_descriptors(pid).expect("our child");
    assert!(lowered.soft.is_some_and(|soft| (3..=open).contains(&soft)), "{lowered:?} {open}");
    assert_eq!(lowered.hard, before.hard, "the hard limit could not be raised again");
    assert_eq!(ask(), "EMFILE");
    set_soft_limit(pid, before.soft).expect("our child");
    assert_eq!(descriptor_limit(pid).expect("our child"), before);
    assert_eq!(ask(), "opened");
    drop(lines);
    assert!(child.wait().expect("our child").success());
}
