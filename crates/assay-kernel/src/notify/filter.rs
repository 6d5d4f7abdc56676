//! Which system calls are stopped for an answer, as a program the kernel runs at each call.
//!
//! The program is the whole cost of what is not watched, so it holds nothing but the calls that
//! are. It looks at numbers and at arguments that are numbers: what is behind a pointer or a
//! descriptor it cannot see, and that is left to whoever answers.

use super::rules::Watch;
use libc::{c_long, sock_filter};

/// A call that can be watched, told apart by where it says what it is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    /// Brings a file, named by a descriptor, to disk.
    Sync,
    /// Brings a mapped file, named by an address, to disk.
    SyncMapping,
    /// Brings everything to disk, and tells nobody whether that went well.
    SyncAll,
    /// Changes what is in the file of a descriptor, and may need space for it.
    Write,
    /// Writes to the file of its third argument what it reads from that of the first.
    CopyTo,
    /// Changes how long the file of a descriptor is.
    Truncate,
    /// `openat` for writing.
    OpenAt,
    /// `open` for writing.
    #[cfg(target_arch = "x86_64")]
    Open,
    /// `creat`.
    #[cfg(target_arch = "x86_64")]
    Create,
    /// `clock_gettime` of the time of day.
    ClockGetTime,
    /// `gettimeofday`.
    GetTimeOfDay,
    /// `time`.
    #[cfg(target_arch = "x86_64")]
    Time,
    /// The process becomes another program.
    Exec,
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the numbers of system calls are known for x86_64 and aarch64 only");

/// Open flags with which a file may be written or made.
const OPEN_FOR_WRITING: u32 =
    (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u32;

const SYNCS: &[(c_long, Call)] = &[
    (libc::SYS_fsync, Call::Sync),
    (libc::SYS_fdatasync, Call::Sync),
    (libc::SYS_sync_file_range, Call::Sync),
    (libc::SYS_syncfs, Call::Sync),
    (libc::SYS_msync, Call::SyncMapping),
    (libc::SYS_sync, Call::SyncAll),
];

const WRITES: &[(c_long, Call)] = &[
    (libc::SYS_write, Call::Write),
    (libc::SYS_pwrite64, Call::Write),
    (libc::SYS_writev, Call::Write),
    (libc::SYS_pwritev, Call::Write),
    (libc::SYS_pwritev2, Call::Write),
    (libc::SYS_fallocate, Call::Write),
    // To the file of its first argument, as those.
    (libc::SYS_sendfile, Call::Write),
    (libc::SYS_copy_file_range, Call::CopyTo),
    (libc::SYS_splice, Call::CopyTo),
    (libc::SYS_ftruncate, Call::Truncate),
    (libc::SYS_openat, Call::OpenAt),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, Call::Open),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, Call::Create),
];

const CLOCK: &[(c_long, Call)] = &[
    (libc::SYS_clock_gettime, Call::ClockGetTime),
    (libc::SYS_gettimeofday, Call::GetTimeOfDay),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_time, Call::Time),
    // A new program gets the way around the kernel back, see `vdso`.
    (libc::SYS_execve, Call::Exec),
    (libc::SYS_execveat, Call::Exec),
];

impl Call {
    /// The call with this number, if it is one that can be watched.
    pub(super) fn numbered(number: i32) -> Option<Call> {
        let mut all = SYNCS.iter().chain(WRITES).chain(CLOCK);
        all.find(|(known, _)| *known == c_long::from(number)).map(|(_, call)| *call)
    }
}

/// Where `struct seccomp_data` has its fields.
const AT_NUMBER: u32 = 0;
const AT_ARCHITECTURE: u32 = 4;
/// The lower half of an argument: both architectures are little-endian.
const fn at_argument(index: u32) -> u32 {
    16 + 8 * index
}

const fn load(at: u32) -> sock_filter {
    let code = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    sock_filter { code, jt: 0, jf: 0, k: at }
}

const fn answer(action: u32) -> sock_filter {
    sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: action }
}

const fn skip_unless_equal(value: u32, skip: u8) -> sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    sock_filter { code, jt: 0, jf: skip, k: value }
}

const fn skip_if_equal(value: u32, skip: u8) -> sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    sock_filter { code, jt: skip, jf: 0, k: value }
}

const fn skip_unless_any_bit(bits: u32, skip: u8) -> sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
    sock_filter { code, jt: 0, jf: skip, k: bits }
}

const ALLOW: sock_filter = answer(libc::SECCOMP_RET_ALLOW);
const NOTIFY: sock_filter = answer(libc::SECCOMP_RET_USER_NOTIF);

/// The program for what is watched.
pub(super) fn program(watch: Watch) -> Vec<sock_filter> {
    // Numbers mean other calls in programs of another architecture: those are let alone.
    let mut program =
        vec![load(AT_ARCHITECTURE), skip_if_equal(ARCHITECTURE, 1), ALLOW, load(AT_NUMBER)];
    let groups = [(watch.syncs, SYNCS), (watch.writes, WRITES), (watch.clock, CLOCK)];
    for (_, calls) in groups.into_iter().filter(|(watched, _)| *watched) {
        for (number, call) in calls {
            stop_at(&mut program, *number, *call);
        }
    }
    if watch.syncs || watch.writes {
        // What is written through io_uring is no system call and would pass unseen. A kernel
        // without it is common, so programs know how to do without.
        let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
        program.push(skip_unless_equal(libc::SYS_io_uring_setup as u32, 1));
        program.push(answer(absent));
    }
    program.push(ALLOW);
    program
}

/// Adds the stop at one call. The number of the call is loaded before and, if it is another,
/// after.
fn stop_at(program: &mut Vec<sock_filter>, number: c_long, call: Call) {
    let condition: &[sock_filter] = match call {
        Call::OpenAt => &[load(at_argument(2)), skip_unless_any_bit(OPEN_FOR_WRITING, 1)],
        #[cfg(target_arch = "x86_64")]
        Call::Open => &[load(at_argument(1)), skip_unless_any_bit(OPEN_FOR_WRITING, 1)],
        Call::ClockGetTime => &[
            load(at_argument(0)),
            skip_if_equal(libc::CLOCK_REALTIME as u32, 1),
            skip_unless_equal(libc::CLOCK_REALTIME_COARSE as u32, 1),
        ],
        _ => &[],
    };
    // With a condition the loaded number is lost, so the program ends here either way.
    let end: &[sock_filter] = if condition.is_empty() { &[NOTIFY] } else { &[NOTIFY, ALLOW] };
    let skip = u8::try_from(condition.len() + end.len()).expect("a handful of instructions");
    program.push(skip_unless_equal(number as u32, skip));
    program.extend_from_slice(condition);
    program.extend_from_slice(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a program as the kernel would.
    fn run(program: &[sock_filter], architecture: u32, number: c_long, arguments: [u32; 3]) -> u32 {
        let (mut at, mut loaded) = (0, 0);
        loop {
            let step = program[at];
            at += 1;
            let code = u32::from(step.code);
            let jump = |taken: bool| usize::from(if taken { step.jt } else { step.jf });
            match (code & 0x07, code & 0xf0) {
                (libc::BPF_LD, _) => {
                    loaded = match step.k {
                        AT_NUMBER => number as u32,
                        AT_ARCHITECTURE => architecture,
                        k => arguments[(k as usize - 16) / 8],
                    };
                }
                (libc::BPF_JMP, libc::BPF_JEQ) => at += jump(loaded == step.k),
                (libc::BPF_JMP, libc::BPF_JSET) => at += jump(loaded & step.k != 0),
                (libc::BPF_RET, _) => return step.k,
                other => panic!("an instruction the kernel does not have here: {other:?}"),
            }
        }
    }

    #[test]
    fn exactly_what_is_watched_is_stopped() {
        const STOP: u32 = libc::SECCOMP_RET_USER_NOTIF;
        const PASS: u32 = libc::SECCOMP_RET_ALLOW;
        const ABSENT: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
        let none = Watch::default();
        let syncs = Watch { syncs: true, ..none };
        let writes = Watch { writes: true, ..none };
        let clock = Watch { clock: true, ..none };
        let all = Watch { syncs: true, writes: true, clock: true };
        let write_mode = [0, 0, libc::O_RDWR as u32];
        let cases = [
            (none, libc::SYS_fsync, [0; 3], PASS),
            (none, libc::SYS_io_uring_setup, [0; 3], PASS),
            (syncs, libc::SYS_fsync, [0; 3], STOP),
            (syncs, libc::SYS_msync, [0; 3], STOP),
            (syncs, libc::SYS_sync, [0; 3], STOP),
            (syncs, libc::SYS_splice, [0; 3], PASS),
            (writes, libc::SYS_sync, [0; 3], PASS),
            (writes, libc::SYS_splice, [0; 3], STOP),
            (writes, libc::SYS_sendfile, [0; 3], STOP),
            (writes, libc::SYS_copy_file_range, [0; 3], STOP),
            (syncs, libc::SYS_write, [0; 3], PASS),
            (syncs, libc::SYS_io_uring_setup, [0; 3], ABSENT),
            (writes, libc::SYS_fsync, [0; 3], PASS),
            (writes, libc::SYS_ftruncate, [0; 3], STOP),
            (writes, libc::SYS_openat, [0; 3], PASS),
            (writes, libc::SYS_openat, write_mode, STOP),
            (writes, libc::SYS_read, write_mode, PASS),
            (clock, libc::SYS_clock_gettime, [0; 3], STOP),
            (clock, libc::SYS_clock_gettime, [1, 0, 0], PASS),
            (clock, libc::SYS_clock_gettime, [5, 0, 0], STOP),
            (clock, libc::SYS_gettimeofday, [0; 3], STOP),
            (clock, libc::SYS_execve, [0; 3], STOP),
            (clock, libc::SYS_io_uring_setup, [0; 3], PASS),
            (all, libc::SYS_fdatasync, [0; 3], STOP),
            (all, libc::SYS_execveat, [0; 3], STOP),
            (all, libc::SYS_getpid, [0; 3], PASS),
        ];
        for (watch, number, arguments, expected) in cases {
            let program = program(watch);
            let is = run(&program, ARCHITECTURE, number, arguments);
            assert_eq!(is, expected, "{watch:?}, call {number} with {arguments:?}");
            let elsewhere = run(&program, ARCHITECTURE + 1, number, arguments);
            assert_eq!(elsewhere, PASS, "numbers mean other calls there");
        }
    }
}
