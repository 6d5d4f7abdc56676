//! Taking away the way around the kernel.
//!
//! A program that asks for the time does not ask the kernel: the kernel has mapped code into it
//! (the vDSO) that knows the time, and that no filter sees. Where that code lies a program is told
//! once, when it starts, by an entry of the auxiliary vector on its stack. Without the entry it
//! makes a system call. So the process is stopped between becoming a program and its first
//! instruction, the entry is crossed out, and it goes on: nothing stays attached to it.
//!
//! Becoming a program is itself a call that is stopped for an answer. That is the moment to
//! attach, and it comes for every child and grandchild, however it was forked.
#![allow(unsafe_code)] // Tracing, which no safe crate does.

use super::listener::{Answer, Listener};
use super::memory;
use super::tap::{State, lock};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// Entries of the auxiliary vector: its end, one without meaning, and where the vDSO lies.
const ENTRY_END: u64 = 0;
const ENTRY_IGNORE: u64 = 1;
const ENTRY_VDSO: u64 = 33;
/// Arguments, environment and vector: the kernel takes no more than a quarter of the stack.
const START_WORDS_MAX: u64 = 1 << 20;
/// How many words are read at a time.
const CHUNK_WORDS: usize = 512;
/// How often to look whether a process has stopped, at first and at most.
const LOOK_STEP_MIN: Duration = Duration::from_micros(50);
const LOOK_STEP_MAX: Duration = Duration::from_millis(2);
/// The parts of a stop's status: a signal, and what happened.
const SIGNAL_BITS: i32 = 0xff;

/// A thread that is about to become another program, and waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExecSeen {
    pub(super) id: u64,
    pub(super) thread: u32,
}

/// Follows threads into their new programs, one after the other. What became of the first, which
/// is that of the process itself, is reported.
pub(super) fn run(
    execs: &Receiver<ExecSeen>,
    listener: &Listener,
    state: &Arc<State>,
    first: &Sender<Result<(), String>>,
) {
    let mut child = None;
    for exec in execs {
        let child = *child.get_or_insert(exec.thread);
        let _no_wait_meanwhile = lock(&state.tracing);
        let followed = follow(exec, listener, child);
        let counters = &state.counters;
        let result = match followed {
            // It is still the same program.
            Ok(Followed::NoProgram) => continue,
            Ok(Followed::Crossed) => Ok(()),
            Err(error) => {
                counters.execs_missed.fetch_add(1, Ordering::SeqCst);
                Err(error.to_string())
            }
        };
        counters.execs.fetch_add(1, Ordering::SeqCst);
        // Only whoever starts the process listens, and only once.
        let _heard = first.send(result);
    }
}

enum Followed {
    /// The entry is crossed out.
    Crossed,
    /// There is no such program, or the thread has ended.
    NoProgram,
}

/// What a traced thread does.
enum Seen {
    Stopped { pid: u32, status: i32 },
    Gone,
}

/// Attaches to a thread, lets it become a program, crosses the entry out and detaches.
fn follow(exec: ExecSeen, listener: &Listener, child: u32) -> io::Result<Followed> {
    // If the exec fails, the request to stop makes it stop on its way back, so that it stops
    // exactly once either way.
    if !listener.is_valid(exec.id) {
        return Ok(Followed::NoProgram);
    }
    let process = process_of(exec.thread).unwrap_or(exec.thread);
    let attached = seize(exec.thread).and_then(|()| interrupt(exec.thread));
    listener.reply(exec.id, Answer::Continue);
    attached?;
    let Seen::Stopped { pid, status } = stop_of([exec.thread, process], child)? else {
        return Ok(Followed::NoProgram);
    };
    let (signal, event) = (status & SIGNAL_BITS, status >> 8);
    let result = if event == libc::PTRACE_EVENT_EXEC {
        cross_out(pid).map(|()| Followed::Crossed)
    } else {
        Ok(Followed::NoProgram)
    };
    // What came with an event was made up by the tracing, and is not handed on.
    detach(pid, if event == 0 { signal } else { 0 })?;
    result
}

/// Waits until it stops or ends. A thread that becomes a program takes the number of its process.
fn stop_of(numbers: [u32; 2], child: u32) -> io::Result<Seen> {
    let mut step = LOOK_STEP_MIN;
    loop {
        let mut there = false;
        for pid in numbers {
            match look(pid)? {
                Look::Stopped(status) => return Ok(Seen::Stopped { pid, status }),
                Look::Ended => {
                    // Our own child is left to whoever started it; others are traced by us, and
                    // their parents hear of their end only after us.
                    if pid != child {
                        reap(pid);
                    }
                    return Ok(Seen::Gone);
                }
                Look::Running => there = true,
                Look::NotOurs => {}
            }
        }
        if !there {
            return Ok(Seen::Gone);
        }
        std::thread::sleep(step);
        step = (step * 2).min(LOOK_STEP_MAX);
    }
}

fn process_of(thread: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok()
}

enum Look {
    Running,
    Stopped(i32),
    Ended,
    NotOurs,
}

/// Looks without waiting. A stop is consumed, an end is left where it is.
fn look(pid: u32) -> io::Result<Look> {
    let flags = libc::WNOHANG | libc::__WALL;
    match wait(pid, flags | libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT)? {
        None => Ok(Look::NotOurs),
        Some((0, ..)) => Ok(Look::Running),
        Some((_, libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED, _)) => Ok(Look::Ended),
        Some((_, _, status)) => {
            let _consumed = wait(pid, flags | libc::WSTOPPED);
            Ok(Look::Stopped(status))
        }
    }
}

fn reap(pid: u32) {
    let _gone = wait(pid, libc::WNOHANG | libc::__WALL | libc::WEXITED);
}

/// `waitid`: the process, what happened and its status; `None` if it is neither child nor traced.
fn wait(pid: u32, flags: i32) -> io::Result<Option<(i32, i32, i32)>> {
    // SAFETY: all fields are numbers, for which zero is a value.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `siginfo_t`, which `info` is.
    let result = unsafe { libc::waitid(libc::P_PID, pid, &raw mut info, flags) };
    if result != 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::ECHILD) => Ok(None),
            Some(libc::EINTR) => Ok(Some((0, 0, 0))),
            _ => Err(error),
        };
    }
    // SAFETY: `waitid` fills in these fields, or leaves the zeros if there is nothing to tell.
    Ok(Some(unsafe { (info.si_pid(), info.si_code, info.si_status()) }))
}

fn checked(result: libc::c_long) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn seize(thread: u32) -> io::Result<()> {
    let (none, options) = (0_usize, libc::PTRACE_O_TRACEEXEC as usize);
    // SAFETY: the request takes numbers, no pointers.
    checked(unsafe { libc::ptrace(libc::PTRACE_SEIZE, thread as libc::pid_t, none, options) })
}

fn interrupt(thread: u32) -> io::Result<()> {
    // SAFETY: the request takes numbers, no pointers.
    checked(unsafe {
        libc::ptrace(libc::PTRACE_INTERRUPT, thread as libc::pid_t, 0_usize, 0_usize)
    })
}

fn detach(thread: u32, signal: i32) -> io::Result<()> {
    let signal = signal as usize;
    // SAFETY: the request takes numbers, no pointers.
    let result = checked(unsafe {
        libc::ptrace(libc::PTRACE_DETACH, thread as libc::pid_t, 0_usize, signal)
    });
    match result {
        // It was killed meanwhile.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        result => result,
    }
}

/// Where the stack of a stopped program begins.
fn stack_of(thread: u32) -> io::Result<u64> {
    // SAFETY: all fields are numbers, for which zero is a value.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    let length = size_of_val(&registers);
    let mut place = libc::iovec { iov_base: (&raw mut registers).cast(), iov_len: length };
    /// The general registers (`NT_PRSTATUS`).
    const GENERAL: usize = 1;
    // SAFETY: the kernel writes at most `iov_len` bytes to `registers`, and how many to `place`.
    checked(unsafe {
        libc::ptrace(libc::PTRACE_GETREGSET, thread as libc::pid_t, GENERAL, &raw mut place)
    })?;
    if place.iov_len != length {
        return Err(io::Error::other("it is a program for another architecture"));
    }
    #[cfg(target_arch = "x86_64")]
    return Ok(registers.rsp);
    #[cfg(target_arch = "aarch64")]
    return Ok(registers.sp);
}

/// Crosses the entry out on the stack of a program that has not begun.
fn cross_out(thread: u32) -> io::Result<()> {
    let mut words = Words { thread, next: stack_of(thread)?, read: 0, chunk: Vec::new(), at: 0 };
    let arguments = words.next()?;
    if arguments >= START_WORDS_MAX {
        return Err(too_long());
    }
    for _ in 0..=arguments {
        words.next()?;
    }
    while words.next()? != 0 {}
    loop {
        let address = words.next;
        match (words.next()?, words.next()?) {
            // A kernel without a vDSO has no entry to cross out.
            (ENTRY_END, _) => return Ok(()),
            (ENTRY_VDSO, _) => return memory::write(thread, address, &ENTRY_IGNORE.to_ne_bytes()),
            _ => {}
        }
    }
}

fn too_long() -> io::Error {
    io::Error::other("its arguments and environment have no end")
}

/// The words of another process's stack, one after the other.
struct Words {
    thread: u32,
    next: u64,
    read: u64,
    chunk: Vec<u8>,
    at: usize,
}

impl Words {
    fn next(&mut self) -> io::Result<u64> {
        if self.read >= START_WORDS_MAX {
            return Err(too_long());
        }
        if self.at + 8 > self.chunk.len() {
            self.chunk.resize(CHUNK_WORDS * 8, 0);
            let count = memory::read(self.thread, self.next, &mut self.chunk)?;
            self.chunk.truncate(count);
            self.at = 0;
        }
        let word = self.chunk.get(self.at..self.at + 8).ok_or_else(too_long)?;
        let word = u64::from_ne_bytes(word.try_into().expect("eight bytes"));
        self.at += 8;
        self.read += 1;
        self.next += 8;
        Ok(word)
    }
}
