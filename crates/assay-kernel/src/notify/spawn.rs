//! Starting a process under watch.
#![allow(unsafe_code)] // Runs our code in the new process before it becomes the program.

use super::error::NotifyError;
use super::handover::{Handed, hand_over, pair, receive};
use super::listener::Listener;
use super::rules::Watch;
use super::serve::Server;
use super::tap::{State, Tap};
use super::vdso;
use rustix::net::{Shutdown, shutdown};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long a process may take to become its program, once the kernel has begun with it.
const START_TIME_MAX: Duration = Duration::from_secs(20);

/// Starts processes whose system calls can be answered by us.
#[derive(Debug)]
pub struct Tapped;

impl Tapped {
    /// Starts the command with its calls watched. The process can gain no privileges any more
    /// (`no_new_privs`): programs such as `sudo` do not work in it.
    ///
    /// # Errors
    /// [`NotifyError::Start`] if the program cannot be started; others if it cannot be watched.
    pub fn spawn(command: &mut Command, watch: Watch) -> Result<(Child, Arc<Tap>), NotifyError> {
        let failed = |doing| move |source| NotifyError::Resources { doing, source };
        let (ours, theirs) = pair().map_err(failed("make a pair of sockets"))?;
        let ours = Arc::new(ours);
        let state = Arc::new(State::new(watch).map_err(failed("make an event descriptor"))?);
        let program = super::filter::program(watch);
        // The command keeps what runs in the new process. Should it be started again, that must
        // not be under a filter whose calls nobody answers.
        let armed = Arc::new(AtomicBool::new(true));
        let is_armed = Arc::clone(&armed);
        let before_exec = move || match is_armed.load(Ordering::SeqCst) {
            true => hand_over(theirs.as_fd(), &program, watch.clock),
            false => Ok(()),
        };
        // SAFETY: between fork and exec it only makes system calls, with memory that was
        // allocated before: it takes no lock that another thread might have held at the fork.
        unsafe { command.pre_exec(before_exec) };
        let (handed_to, handed) = channel();
        let (first_to, first) = channel();
        let server = Start { socket: Arc::clone(&ours), state: Arc::clone(&state) };
        std::thread::Builder::new()
            .name("assay-notify".into())
            .spawn(move || server.run(&handed_to, first_to))
            .map_err(failed("start a thread"))?;
        let spawned = command.spawn();
        armed.store(false, Ordering::SeqCst);
        // What was sent can still be read; who waits for more waits in vain.
        let _closed_already = shutdown(&ours, Shutdown::Both);
        let program = command.get_program().to_string_lossy().into_owned();
        let child = match (spawned, handed.recv()) {
            (Err(_), Ok(Some(refused))) => return Err(refused),
            (Err(source), _) => return Err(NotifyError::Start { program, source }),
            (Ok(child), Ok(None)) => child,
            (Ok(child), handed) => {
                end(child);
                let source = std::io::Error::other("the new process sent no listener");
                let unheard = failed("watch the new process")(source);
                return Err(handed.ok().flatten().unwrap_or(unheard));
            }
        };
        let tap = Arc::new(Tap { state, pid: child.id() });
        if watch.clock {
            match started(&first) {
                Ok(()) => {}
                Err(why) => {
                    end(child);
                    return Err(NotifyError::Clock { program, why });
                }
            }
        }
        Ok((child, tap))
    }
}

fn started(first: &Receiver<Result<(), String>>) -> Result<(), String> {
    let late = |_| "it was not seen to become the program".to_string();
    first.recv_timeout(START_TIME_MAX).map_err(late)?
}

/// Ends a process that is of no use.
fn end(mut child: Child) {
    let _gone_already = child.kill();
    let _reaped = child.wait();
}

/// What the thread that answers starts with.
struct Start {
    socket: Arc<OwnedFd>,
    state: Arc<State>,
}

impl Start {
    /// Waits for the listener, says that it is there, and answers.
    fn run(self, handed: &Sender<Option<NotifyError>>, first: Sender<Result<(), String>>) {
        let listener = match receive(&self.socket) {
            Handed::Listener(descriptor) => Arc::new(Listener::new(descriptor)),
            Handed::Refused(error) => {
                let _not_heard = handed.send(Some(error));
                return;
            }
            Handed::Nothing => return,
        };
        let tracer = self.state.watch.clock.then(|| {
            let (execs_to, execs) = channel();
            let (listener, state) = (Arc::clone(&listener), Arc::clone(&self.state));
            let run = move || vdso::run(&execs, &listener, &state, &first);
            let thread = std::thread::Builder::new().name("assay-notify-exec".into()).spawn(run);
            thread.map(|_detached| execs_to)
        });
        // Without the tracer every exec is let go, nothing is reported about the first, and the
        // start fails for that.
        let tracer = tracer.and_then(Result::ok);
        let _not_heard = handed.send(None);
        Server::new(listener, self.state, tracer).run();
    }
}
