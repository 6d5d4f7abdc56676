//! A child that does on request what a server does: write, sync, look at the clock.

use assay_kernel::notify::{NotifyError, Tap, Tapped, Watch};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Long enough for a machine that does ten other things; nobody waits it out on a good day.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub const ALL: Watch = Watch { syncs: true, writes: true, clock: true };
pub const SYNCS: Watch = Watch { syncs: true, writes: false, clock: false };
pub const WRITES: Watch = Watch { syncs: false, writes: true, clock: false };
pub const CLOCK: Watch = Watch { syncs: false, writes: false, clock: true };

/// Waits until `done`; looks again and again, never for longer than [`PATIENCE`].
#[track_caller]
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < until, "waited {PATIENCE:?} for: {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Whether calls can be answered here; says so if not.
pub fn can() -> bool {
    match assay_kernel::notify::probe() {
        Ok(()) => true,
        Err(why) => {
            eprintln!("SKIPPED: {why}");
            false
        }
    }
}

/// Answers `ok`, a value, or the name of the error, one line for each line. A line that begins
/// with `later` is done by a thread of its own.
const SCRIPT: &str = r#"
import errno, mmap, os, subprocess, sys, tempfile, threading, time
files = {}
def transfer(how, to):
    with tempfile.TemporaryFile() as source:
        source.write(b"x" * 100)
        source.flush()
        source.seek(0)
        if how == "copy": os.copy_file_range(source.fileno(), to, 100)
        elif how == "sendfile": os.sendfile(to, source.fileno(), 0, 100)
        else:
            out, into = os.pipe()
            os.write(into, b"x" * 100)
            try: os.splice(out, to, 100)
            finally: os.close(out), os.close(into)
def run(words):
    try:
        do, path = words[0], words[1] if len(words) > 1 else None
        result = "ok"
        if do == "open": files[path] = os.open(path, os.O_RDWR | os.O_CREAT)
        elif do == "read": os.close(os.open(path, os.O_RDONLY))
        elif do == "fsync": os.fsync(files[path])
        elif do == "fdatasync": os.fdatasync(files[path])
        elif do == "write": os.write(files[path], b"x" * 100)
        elif do == "pwrite": os.pwrite(files[path], b"x" * 100, 0)
        elif do == "truncate": os.ftruncate(files[path], 8192)
        elif do in ("copy", "sendfile", "splice"): transfer(do, files[path])
        elif do == "sync": os.sync()
        elif do == "allocate": os.posix_fallocate(files[path], 0, 8192)
        elif do == "msync":
            with mmap.mmap(files[path], 4096) as area: area.flush()
        elif do == "time": result = str(time.time_ns())
        elif do == "wait":
            until = time.monotonic() + 0.02
            while time.monotonic() < until: pass
        elif do == "date": result = subprocess.check_output(["date", "+%s%N"], text=True).strip()
    except OSError as error:
        result = errno.errorcode[error.errno]
    print(result, flush=True)
for line in sys.stdin:
    words = line.split()
    if words[0] == "later": threading.Thread(target=run, args=(words[1:],), daemon=True).start()
    else: run(words)
"#;

pub struct Server {
    pub child: Child,
    pub tap: Arc<Tap>,
    requests: ChildStdin,
    answers: Receiver<String>,
}

impl Server {
    pub fn start(watch: Watch) -> Server {
        let mut python = Command::new("/usr/bin/env");
        python.args(["python3", "-c", SCRIPT]);
        Server::tapped(&mut python, watch).expect("python3 can be started under watch")
    }

    /// Any program that answers line by line.
    pub fn tapped(command: &mut Command, watch: Watch) -> Result<Server, NotifyError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let (mut child, tap) = Tapped::spawn(command, watch)?;
        let requests = child.stdin.take().expect("it is piped");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let (to, answers) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| to.send(line)));
        Ok(Server { child, tap, requests, answers })
    }

    pub fn request(&mut self, what: &str) {
        writeln!(self.requests, "{what}").expect("it listens");
    }

    #[track_caller]
    pub fn answer(&self) -> String {
        self.answers.recv_timeout(PATIENCE).expect("an answer")
    }

    /// Asks and gets the answer.
    #[track_caller]
    pub fn ask(&mut self, what: &str) -> String {
        self.request(what);
        self.answer()
    }

    /// Asks for something to be done to a file.
    #[track_caller]
    pub fn to(&mut self, what: &str, file: &Path) -> String {
        self.ask(&format!("{what} {}", file.display()))
    }

    /// A number that it answers with.
    #[track_caller]
    pub fn number(&mut self, what: &str) -> i128 {
        let answer = self.ask(what);
        answer.parse().unwrap_or_else(|_| panic!("a number, not {answer}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}
