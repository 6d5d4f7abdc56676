mod support;
use assay_check::*;
use assay_history::{OpIndex, ValueId};
use support::*;
fn op(process: i64, f: &'static str, input: V, output: V, start: i64, end: i64) -> Op {
    Op { process, f, key: V::Int(7), input, output, start, end, how: End::Ok }
}
fn run(name: &str, model: ModelKind, ops: Vec<Op>, core: Vec<usize>) {
    let n = ops.len();
    let case = Case { model, initial: V::Null, ops, by_position: false, revisions: vec![] };
    let (h, _) = case.history();
    let key = h.key(h.op(OpIndex(0)).key);
    let c = Certificate {
        model,
        initial: ValueId::NULL,
        key,
        part: Relaxation::none(),
        core: core.into_iter().map(|i| OpIndex(i as u32)).collect(),
    };
    let t = std::time::Instant::now();
    let r = verify(&h, &c);
    let r = format!("{r:?}");
    println!("{name} n={n}: {} in {:?}", &r[..r.len().min(200)], t.elapsed());
}
#[test]
fn scale() {
    let n = 20_000i64;
    let w: Vec<Op> =
        (0..n).map(|i| op(i % 5, "write", V::Int(i), V::Null, i * 10, i * 10 + 30)).collect();
    let mut ops = w.clone();
    ops.push(op(9, "read", V::Null, V::Int(5), n * 10 + 100, n * 10 + 200));
    run("register", ModelKind::Register, ops.clone(), vec![5, 100, n as usize]);
    ops.push(op(
        9,
        "cas",
        V::List(vec![V::Int(5), V::Int(6)]),
        V::Bool(false),
        n * 10 + 300,
        n * 10 + 400,
    ));
    run("register unequal", ModelKind::Register, ops, vec![5, 100, n as usize, n as usize + 1]);
    let a: Vec<Op> =
        (0..n).map(|i| op(i % 5, "add", V::Int(i), V::Null, i * 10, i * 10 + 30)).collect();
    let mut ops = a;
    ops.push(op(
        9,
        "read",
        V::Null,
        V::List((0..n).filter(|i| *i != 77).map(V::Int).collect()),
        n * 10 + 100,
        n * 10 + 200,
    ));
    run("set", ModelKind::Set, ops, vec![77, n as usize]);
    for m in [500i64, 2000] {
        let mut ops: Vec<Op> = (0..m)
            .map(|i| op(i % 5, "append", V::Str(format!(" {i}")), V::Null, i * 10, i * 10 + 30))
            .collect();
        let t: String = (0..m).filter(|i| *i != 77).map(|i| format!(" {i}")).collect();
        ops.push(op(9, "get", V::Null, V::Str(t), m * 10 + 100, m * 10 + 200));
        run("kv", ModelKind::Kv, ops, vec![77, m as usize]);
        let mut ops: Vec<Op> =
            (0..m).map(|i| op(i % 5, "append", V::Int(i), V::Null, i * 10, i * 10 + 30)).collect();
        ops.push(op(
            9,
            "read",
            V::Null,
            V::List((0..m).filter(|i| *i != 77).map(V::Int).collect()),
            m * 10 + 100,
            m * 10 + 200,
        ));
        run("log", ModelKind::Log, ops, vec![77, m as usize]);
    }
    let mut ops: Vec<Op> = Vec::new();
    for i in 0..n / 2 {
        ops.push(op(0, "enqueue", V::Int(i), V::Null, i * 10, i * 10 + 30));
        ops.push(op(
            1,
            "dequeue",
            V::Null,
            V::Int(if i == 500 { 499 } else { i }),
            i * 10 + 5,
            i * 10 + 40,
        ));
    }
    run("queue dup", ModelKind::Queue, ops, vec![999, 1001]);
    let mut ops: Vec<Op> =
        (0..n).map(|i| op(i % 5, "add", V::Int(1 + i % 5), V::Null, i * 10, i * 10 + 30)).collect();
    ops.push(op(9, "read", V::Null, V::Int(6), n * 10 + 100, n * 10 + 200));
    run("counter low", ModelKind::Counter, ops.clone(), vec![3, 4, n as usize]);
    for k in [20, 60] {
        let mut ops: Vec<Op> = (0..k)
            .map(|i| op(i % 5, "add", V::Int(1 + i % 5), V::Null, i * 10, i * 10 + 30))
            .collect();
        ops.push(op(9, "read", V::Null, V::Int(600), k * 10 + 100, k * 10 + 200));
        run("counter high", ModelKind::Counter, ops.clone(), vec![k as usize]);
    }
    let mut ops: Vec<Op> =
        (0..2000).map(|i| op(0, "add", V::Null, V::Null, i * 10, i * 10 + 9)).collect();
    ops.push(op(9, "read", V::Null, V::Int(1999), 30000, 30010));
    run("counter lost", ModelKind::Counter, ops.clone(), (0..=2000).collect());
    let mut ops: Vec<Op> = Vec::new();
    for i in 0..500 {
        ops.push(op(i % 3, "acquire", V::Null, V::Null, i * 10, i * 10 + 3));
        ops.push(op(i % 3, "release", V::Null, V::Null, i * 10 + 4, i * 10 + 8));
    }
    ops.push(op(1, "acquire", V::Null, V::Null, 6000, 6001));
    ops.push(op(2, "acquire", V::Null, V::Null, 6003, 6004));
    run("mutex", ModelKind::Mutex, ops.clone(), (0..1002).collect());
    let mut ops: Vec<Op> =
        (0..n).map(|i| op(i % 5, "acquire", V::Null, V::Int(i), i * 10, i * 10 + 30)).collect();
    ops.push(op(9, "use", V::Int(n - 5), V::Null, n * 10 + 100, n * 10 + 200));
    ops.push(op(9, "use", V::Int(5), V::Null, n * 10 + 300, n * 10 + 400));
    run("lease", ModelKind::Lease, ops.clone(), vec![n as usize, n as usize + 1]);
}
