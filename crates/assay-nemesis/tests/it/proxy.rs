//! Every rule does what it says on live connections, and its counter says so.

use super::support::{
    Echo, PATIENCE, ask, connect, on, one_link, reset, silent, try_ask, wait_until,
};
use Direction::{Request, Response};
use assay_nemesis::{Direction, Flow, LinkCounts, Mesh, Probe, Rules};
use std::collections::BTreeSet;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn bytes_pass_in_order_and_are_counted() {
    let (mesh, link, echo) = one_link();
    let mut socket = connect(&mesh, link);
    let question: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
    let mut writer = socket.try_clone().expect("a socket");
    let asked = question.clone();
    let writing = std::thread::spawn(move || {
        writer.write_all(&asked).expect("the proxy reads");
        writer.shutdown(Shutdown::Write).expect("a socket");
    });
    let mut answer = Vec::new();
    std::io::Read::read_to_end(&mut socket, &mut answer).expect("an orderly end");
    writing.join().expect("written");
    assert!(answer == question, "the same bytes come back");
    assert_eq!(echo.received(), question.len() as u64);
    let counts = mesh.counts(link);
    for direction in Direction::BOTH {
        let flow = counts.of(direction);
        assert_eq!(flow.bytes_passed, question.len() as u64, "{direction:?}");
        assert!(flow.chunks_passed > 0 && flow.bytes_dropped == 0, "{flow:?}");
    }
    assert_eq!((counts.connections.opened, counts.connections.dialed), (1, 1));
    assert_eq!(mesh.snapshot(), [counts]);
}

#[test]
fn a_black_hole_for_requests_lets_nothing_through_and_resets_when_lifted() {
    let (mesh, link, echo) = one_link();
    let mut socket = connect(&mesh, link);
    ask(&mut socket, b"before");
    let layer = mesh.impose(&[on(link, Request, Rules::flow(Flow::Drop))]);
    socket.write_all(b"lost").expect("the hole swallows it");
    wait_until("bytes dropped", || mesh.counts(link).request.bytes_dropped == 4);
    silent(&mut socket);
    assert_eq!(echo.received(), 6, "the other side saw nothing");
    mesh.lift(layer);
    reset(&mut socket);
    wait_until("the reset is counted", || mesh.counts(link).connections.reset == 1);
    ask(&mut connect(&mesh, link), b"after");
}

#[test]
fn a_one_way_cut_of_responses_lets_requests_take_effect() {
    let (mesh, link, echo) = one_link();
    let mut old = connect(&mesh, link);
    ask(&mut old, b"12345");
    let layer = mesh.impose(&[on(link, Response, Rules::flow(Flow::Drop))]);
    // Also for a connection that is made while the cut lasts.
    for (socket, received) in [(&mut old, 8), (&mut connect(&mesh, link), 11)] {
        socket.write_all(b"678").expect("the way there is free");
        wait_until("the request arrives", || echo.received() == received);
        silent(socket);
    }
    let counts = mesh.counts(link);
    assert_eq!((counts.response.bytes_dropped, counts.request.bytes_dropped), (6, 0));
    mesh.lift(layer);
    reset(&mut old);
}

#[test]
fn new_connections_do_not_reach_the_other_side_through_a_black_hole() {
    let (mesh, link, echo) = one_link();
    let layer = mesh.impose(&[on(link, Request, Rules::flow(Flow::Drop))]);
    let (mut talker, mut quiet) = (connect(&mesh, link), connect(&mesh, link));
    talker.write_all(b"hello").expect("the hole swallows it");
    wait_until("bytes dropped", || mesh.counts(link).request.bytes_dropped == 5);
    wait_until("both are let in", || mesh.counts(link).connections.opened == 2);
    silent(&mut talker);
    assert_eq!(echo.connections(), 0, "the other side does not even know");
    mesh.lift(layer);
    reset(&mut talker);
    // Whoever had said nothing lost nothing: as if its first packet had been sent again.
    ask(&mut quiet, b"late");
}

#[test]
fn a_hold_keeps_bytes_and_delivers_them_when_lifted() {
    let (mesh, link, echo) = one_link();
    let mut socket = connect(&mesh, link);
    ask(&mut socket, b"before");
    let layer = mesh.impose(&[on(link, Request, Rules::flow(Flow::Hold))]);
    // A byte that was on its way when the hold began may have passed; these come after it.
    socket.write_all(b"waits").expect("buffers take it");
    wait_until("the hold is felt", || mesh.counts(link).request.chunks_held == 1);
    silent(&mut socket);
    assert_eq!(echo.received(), 6);
    let mut new = connect(&mesh, link);
    new.write_all(b"new").expect("buffers take it");
    wait_until("the hold is felt again", || mesh.counts(link).request.chunks_held == 2);
    assert_eq!(echo.connections(), 1);
    mesh.lift(layer);
    let mut answer = [0; 5];
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    std::io::Read::read_exact(&mut socket, &mut answer).expect("it arrives late");
    assert_eq!(&answer, b"waits");
    wait_until("the new one arrives too", || echo.received() == 14);
    assert_eq!(mesh.counts(link).connections.reset, 0, "nothing was lost, nothing is reset");
}

#[test]
fn a_delay_is_at_least_what_the_counter_says() {
    let (mesh, link, _echo) = one_link();
    let mut socket = connect(&mesh, link);
    ask(&mut socket, b"before");
    let (base, jitter) = (Duration::from_millis(20), Duration::from_millis(5));
    let layer = mesh.impose(&[on(link, Response, Rules::delay(base, jitter))]);
    ask(&mut socket, b"delayed");
    let flow = mesh.counts(link).response;
    assert!(flow.chunks_delayed >= 1, "{flow:?}");
    assert!(flow.delay_us >= 20_000 * flow.chunks_delayed, "{flow:?}");
    assert!(flow.delay_us <= 25_000 * flow.chunks_delayed, "{flow:?}");
    mesh.lift(layer);
    ask(&mut socket, b"after");
    assert_eq!(mesh.counts(link).response.chunks_delayed, flow.chunks_delayed);
}

#[test]
fn lifting_a_delay_lets_go_of_what_is_on_its_way() {
    let (mesh, link, _echo) = one_link();
    let mut socket = connect(&mesh, link);
    let long = Rules::delay(Duration::from_secs(500), Duration::ZERO);
    let layer = mesh.impose(&[on(link, Request, long)]);
    socket.write_all(b"stuck").expect("the proxy reads");
    wait_until("it is delayed", || mesh.counts(link).request.chunks_delayed == 1);
    silent(&mut socket);
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    mesh.lift(layer);
    let mut answer = [0; 5];
    std::io::Read::read_exact(&mut socket, &mut answer).expect("it comes now, not in minutes");
    assert_eq!(&answer, b"stuck");
}

#[test]
fn what_is_on_its_way_when_a_cut_begins_is_lost() {
    let (mesh, link, echo) = one_link();
    let mut socket = connect(&mesh, link);
    ask(&mut socket, b"1");
    let long = Rules::delay(Duration::from_secs(500), Duration::ZERO);
    mesh.impose(&[on(link, Request, long)]);
    socket.write_all(b"on its way").expect("the proxy reads");
    wait_until("it is delayed", || mesh.counts(link).request.chunks_delayed == 1);
    mesh.impose(&[on(link, Request, Rules::flow(Flow::Drop))]);
    wait_until("it is lost", || mesh.counts(link).request.bytes_dropped == 10);
    assert_eq!(echo.received(), 1);
}

#[test]
fn a_rate_that_nobody_feels_has_limited_nothing() {
    let (mesh, link, _echo) = one_link();
    let mut socket = connect(&mesh, link);
    let rate = NonZeroU64::new(1_000_000_000).expect("not zero");
    mesh.impose(&[on(link, Request, Rules::rate(rate))]);
    ask(&mut socket, b"1");
    assert_eq!(mesh.counts(link).request.chunks_limited, 0);
}

#[test]
fn a_rate_keeps_bytes_back() {
    let (mesh, link, echo) = one_link();
    let mut socket = connect(&mesh, link);
    let rate = NonZeroU64::new(100_000).expect("not zero");
    let layer = mesh.impose(&[on(link, Request, Rules::rate(rate))]);
    ask(&mut socket, &[7; 4000]);
    assert!(mesh.counts(link).request.chunks_limited >= 2);
    // At one byte per second this would take an hour: lifting the rule sets it free.
    let crawl = mesh.impose(&[on(link, Request, Rules::rate(NonZeroU64::MIN))]);
    socket.write_all(&[7; 4000]).expect("buffers take it");
    silent(&mut socket);
    assert_eq!(echo.received(), 4000, "not a byte before its second is over");
    mesh.lift(crawl);
    mesh.lift(layer);
    wait_until("all has arrived", || echo.received() == 8000);
}

#[test]
fn slices_are_small_writes_and_the_bytes_are_the_same() {
    let (mesh, link, _echo) = one_link();
    let mut socket = connect(&mesh, link);
    let slice = NonZeroU32::new(3).expect("not zero");
    mesh.impose(&[on(link, Request, Rules::slice(slice))]);
    ask(&mut socket, b"sliced bread");
    let flow = mesh.counts(link).request;
    assert_eq!((flow.chunks_sliced, flow.chunks_passed), (4, 4));
}

#[test]
fn a_reset_is_seen_by_both_sides_and_spares_later_connections() {
    let (mesh, link, _echo) = one_link();
    let mut socket = connect(&mesh, link);
    ask(&mut socket, b"before");
    mesh.reset(link);
    reset(&mut socket);
    wait_until("it is counted", || mesh.counts(link).connections.reset == 1);
    ask(&mut connect(&mesh, link), b"after");
}

#[test]
fn refusal_concerns_new_connections_only() {
    let (mesh, link, echo) = one_link();
    let mut old = connect(&mesh, link);
    ask(&mut old, b"before");
    let layer = mesh.impose(&[on(link, Request, Rules::refuse())]);
    let mut refused = TcpStream::connect(mesh.listen(link)).expect("the port is ours");
    assert!(try_ask(&mut refused, b"?", PATIENCE).is_err());
    wait_until("it is counted", || mesh.counts(link).connections.refused == 1);
    assert_eq!(echo.connections(), 1);
    ask(&mut old, b"still here");
    assert_eq!(mesh.probe(link).expect("the port is ours"), Probe::Stuck);
    mesh.lift(layer);
    assert_eq!(mesh.probe(link).expect("the port is ours"), Probe::Passed);
}

#[test]
fn a_rule_off_the_path_of_traffic_counts_nothing() {
    let (mesh, used, echo) = one_link();
    let unused = mesh.add("a", "c", echo.address).expect("a link");
    mesh.impose(&[on(unused, Request, Rules::flow(Flow::Drop))]);
    ask(&mut connect(&mesh, used), b"goes another way");
    assert_eq!(mesh.counts(unused), LinkCounts::default());
}

#[test]
fn layers_of_several_faults_heal_apart() {
    let (mesh, link, _echo) = one_link();
    let cut = mesh.impose(&[on(link, Response, Rules::flow(Flow::Hold))]);
    let slow = mesh.impose(&[on(link, Response, Rules::delay(Duration::ZERO, Duration::ZERO))]);
    mesh.lift(slow);
    assert_eq!(mesh.rules(link, Response).flow, Flow::Hold, "the other fault is still on");
    mesh.lift(slow);
    mesh.lift(cut);
    assert!(!mesh.rules(link, Response).changes_anything());
}

#[test]
fn nobody_behind_a_link_is_told_from_a_link_that_is_cut() {
    let mesh = Mesh::new(1).expect("a mesh");
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("it is bound")
    };
    let link = mesh.add("a", "gone", gone).expect("a link");
    assert_eq!(mesh.probe(link).expect("the port is ours"), Probe::NobodyThere);
    let echo = Echo::start();
    let cut = mesh.add("a", "cut", echo.address).expect("a link");
    mesh.impose(&[on(cut, Request, Rules::refuse())]);
    assert_eq!(mesh.probe(cut).expect("the port is ours"), Probe::Stuck);
}

/// Connections that somebody made who is no probe.
fn made(mesh: &Mesh) -> u64 {
    mesh.snapshot().iter().map(|counts| counts.connections.made).sum()
}

/// Tells that it is over also when something failed: a scope waits for its threads.
struct AtTheEnd<'a>(&'a AtomicBool);

impl Drop for AtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_probe_moves_the_number_of_connections_made_at_no_moment() {
    const ROUNDS: usize = 200;
    let (mesh, link, _echo) = one_link();
    let connections: Vec<_> = (0..3).map(|_| connect(&mesh, link)).collect();
    wait_until("they are counted", || made(&mesh) == 3);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ending = AtTheEnd(&over);
        let watcher = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !over.load(Ordering::SeqCst) {
                seen.insert(made(&mesh));
            }
            seen
        });
        for _ in 0..ROUNDS {
            assert_eq!(mesh.probe(link).expect("the port is ours"), Probe::Passed);
            let layer = mesh.impose(&[on(link, Request, Rules::refuse())]);
            assert_eq!(mesh.probe(link).expect("the port is ours"), Probe::Stuck);
            mesh.lift(layer);
        }
        drop(ending);
        assert_eq!(watcher.join().expect("it only looks"), BTreeSet::from([3]));
    });
    let _one_more = connect(&mesh, link);
    wait_until("it is counted", || made(&mesh) == 4);
    drop(connections);
}
