//! Clocks that are moved while a program runs: of C and Go, with libraries and without.

use super::support::{CLOCK, PATIENCE, Server, can, wait_until};
use assay_kernel::notify::{ClockRule, OFFSET_MS_MAX, RATE_PPM_MAX, RATE_PPM_MIN, Tapped};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

const HOUR_MS: i64 = 3_600_000;
const NS_PER_MS: i128 = 1_000_000;

fn now_ns() -> i128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i128::try_from(since.as_nanos()).expect("before the end of time")
}

/// By how many milliseconds a program is off, rounded to whole minutes: asking takes its time.
fn minutes_off(shown_ns: i128) -> i128 {
    (shown_ns - now_ns() + 30_000 * NS_PER_MS).div_euclid(60_000 * NS_PER_MS)
}

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _gone_already = self.0.kill();
        let _reaped = self.0.wait();
    }
}

#[test]
fn a_clock_moves_and_comes_back_for_the_program_and_those_it_starts() {
    if !can() {
        return;
    }
    let mut server = Server::start(CLOCK);
    for what in ["time", "date"] {
        assert_eq!(minutes_off(server.number(what)), 0, "{what} without a rule");
    }
    for offset_ms in [HOUR_MS, -2 * HOUR_MS] {
        let rule = ClockRule { offset_ms, rate_ppm: 0 };
        let rule = server.tap.impose_clock(rule).expect("watched");
        for what in ["time", "date"] {
            let off = minutes_off(server.number(what));
            assert_eq!(off, i128::from(offset_ms / 60_000), "{what}");
        }
        assert!(rule.hits() >= 2);
        server.tap.lift_clock(&rule);
        assert_eq!(minutes_off(server.number("time")), 0);
    }
    let counts = server.tap.counts();
    assert!(counts.clock_moved < counts.clock_reads, "{counts:?}");
    assert_eq!((counts.clock_missed, counts.execs_missed), (0, 0), "{counts:?}");
    // env, python3, and date three times; more where python3 is a script that looks for it.
    assert!(counts.execs >= 5, "{counts:?}");
}

#[test]
fn a_rate_does_not_make_the_clock_jump_and_rules_add_up() {
    if !can() {
        return;
    }
    let mut server = Server::start(CLOCK);
    let before = now_ns();
    let still = ClockRule { offset_ms: 0, rate_ppm: RATE_PPM_MIN };
    let still = server.tap.impose_clock(still).expect("watched");
    let after = now_ns();
    let shown = server.number("time");
    assert!(before <= shown && shown <= after, "it stands where it was: {before} {shown} {after}");
    assert_eq!(server.ask("wait"), "ok");
    assert_eq!(server.number("time"), shown, "it stands still");
    let hour = ClockRule { offset_ms: HOUR_MS, rate_ppm: 0 };
    let hour = server.tap.impose_clock(hour).expect("watched");
    assert_eq!(server.number("time"), shown + i128::from(HOUR_MS) * NS_PER_MS);
    server.tap.lift_clock(&hour);
    server.tap.lift_clock(&still);
    let [first, second] = [(); 2].map(|()| server.number("time"));
    assert!(after < first && first < second, "it runs again, and is right");
    let double = ClockRule { offset_ms: 0, rate_ppm: 1_000_000 };
    let _on = server.tap.impose_clock(double).expect("watched");
    let first = server.number("time");
    assert_eq!(server.ask("wait"), "ok");
    // The wait is one of 20 ms of a clock that is not moved.
    assert!(server.number("time") - first >= 40 * NS_PER_MS);
}

#[test]
fn clocks_are_not_moved_out_of_reason() {
    if !can() {
        return;
    }
    let server = Server::start(CLOCK);
    let cases = [
        (OFFSET_MS_MAX, 0, true),
        (OFFSET_MS_MAX + 1, 0, false),
        (-OFFSET_MS_MAX - 1, 0, false),
        (i64::MIN, 0, false),
        (0, RATE_PPM_MAX, true),
        (0, RATE_PPM_MAX + 1, false),
        (0, RATE_PPM_MIN - 1, false),
    ];
    for (offset_ms, rate_ppm, taken) in cases {
        let imposed = server.tap.impose_clock(ClockRule { offset_ms, rate_ppm });
        assert_eq!(imposed.is_ok(), taken, "{offset_ms} {rate_ppm}");
    }
}

/// Looks at the clock in all ways there are, without a library between.
const STATIC: &str = r#"
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
int main(void) {
    char line[16];
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        struct timespec fine, coarse;
        struct timeval day;
        clock_gettime(CLOCK_REALTIME, &fine);
        clock_gettime(CLOCK_REALTIME_COARSE, &coarse);
        gettimeofday(&day, NULL);
        time_t plain, returned = time(&plain);
        printf("%lld %lld %lld %lld %lld\n", (long long)fine.tv_sec, (long long)coarse.tv_sec,
               (long long)day.tv_sec, (long long)plain, (long long)returned);
    }
}
"#;

#[test]
fn a_static_program_sees_the_moved_clock_whichever_way_it_looks() {
    if !can() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [source, program] = ["clock.c", "clock"].map(|name| directory.path().join(name));
    std::fs::write(&source, STATIC).expect("a file");
    let built = Command::new("cc").args(["-static", "-o"]).args([&program, &source]).status();
    if !built.as_ref().is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: there is no C compiler that links statically: {built:?}");
        return;
    }
    let mut server = Server::tapped(&mut Command::new(&program), CLOCK).expect("it starts");
    let mut looks = |expected: i128| {
        let line = server.ask("look");
        let seconds: Vec<i128> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert_eq!(seconds.len(), 5, "{line}");
        let minutes = seconds.iter().map(|seconds| minutes_off(seconds * 1000 * NS_PER_MS));
        assert!(minutes.into_iter().all(|minutes| minutes == expected), "{line}: {expected}");
        server.tap.clone()
    };
    let tap = looks(0);
    let hour = tap.impose_clock(ClockRule { offset_ms: HOUR_MS, rate_ppm: 0 }).expect("watched");
    looks(60);
    tap.lift_clock(&hour);
    looks(0);
}

#[test]
fn redis_sees_its_clock_move_and_come_back() {
    if !can() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let socket = directory.path().join("redis.sock");
    let mut redis = Command::new("redis-server");
    redis.args(["--port", "0", "--save", "", "--unixsocket"]).arg(&socket);
    redis.current_dir(directory.path()).stdin(Stdio::null()).stdout(Stdio::null());
    let (child, tap) = match Tapped::spawn(&mut redis, CLOCK) {
        Ok(started) => started,
        Err(error) => return eprintln!("SKIPPED: {error}"),
    };
    let _ended = Ended(child);
    wait_until("redis listens", || UnixStream::connect(&socket).is_ok());
    let off = || minutes_off(i128::from(redis_time(&socket)) * 1000 * NS_PER_MS);
    assert_eq!(off(), 0);
    let hour = tap.impose_clock(ClockRule { offset_ms: HOUR_MS, rate_ppm: 0 }).expect("watched");
    // It looks at the clock now and then and answers with what it saw last.
    wait_until("redis is an hour ahead", || off() == 60);
    tap.lift_clock(&hour);
    wait_until("redis is back", || off() == 0);
    let counts = tap.counts();
    assert!(counts.clock_moved > 0 && counts.clock_missed == 0, "{counts:?}");
}

/// The seconds of `TIME`, the second line of its answer but one.
fn redis_time(socket: &Path) -> i64 {
    let mut stream = UnixStream::connect(socket).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream.write_all(b"TIME\r\n").expect("it listens");
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("an answer"));
    lines.nth(2).expect("*2, $10, seconds").parse().expect("a number")
}

/// NATS is written in Go: its server is static and makes its system calls itself.
fn nats_server() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    places.map(|directory| directory.join("nats-server")).find(|path| path.is_file())
}

/// Two ports that were free a moment ago.
fn free_ports() -> [u16; 2] {
    let bound = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    bound.map(|listener| listener.local_addr().expect("it is bound").port())
}

#[test]
fn a_server_written_in_go_dates_its_answers_by_the_moved_clock() {
    if !can() {
        return;
    }
    let server = nats_server().expect("nats-server is installed by scripts/install-deps.sh");
    let [clients, monitor] = free_ports();
    let mut command = Command::new(server);
    command.args(["-a", "127.0.0.1", "-p", &clients.to_string(), "-m", &monitor.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (child, tap) = Tapped::spawn(&mut command, CLOCK).expect("it starts under watch");
    let _ended = Ended(child);
    wait_until("it listens", || http_hour(monitor).is_some());
    let right = || http_hour(monitor).expect("it answers");
    let before = right();
    let ahead = ClockRule { offset_ms: 6 * HOUR_MS, rate_ppm: 0 };
    let ahead = tap.impose_clock(ahead).expect("watched");
    let moved = right();
    // The hour may be full between two answers.
    assert!([6, 7].contains(&((moved + 24 - before) % 24)), "{before} -> {moved}");
    tap.lift_clock(&ahead);
    assert!([0, 1].contains(&((right() + 24 - before) % 24)));
    assert!(tap.counts().clock_moved > 0);
}

/// The hour in the header `Date: Mon, 16 Nov 2026 21:12:36 GMT`.
fn http_hour(port: u16) -> Option<u32> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    // Before anybody listens on a port, a connection to it may get that very port as its own end.
    if stream.local_addr().ok()? == stream.peer_addr().ok()? {
        return None;
    }
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let request = b"GET /varz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).ok()?;
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let date = lines.find_map(|line| line.strip_prefix("Date: ").map(str::to_string))?;
    date.split(' ').nth(4)?.split(':').next()?.parse().ok()
}
