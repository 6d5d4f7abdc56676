//! The fault suite. Eight clients send messages, interrupts and answers with idempotency keys,
//! begin sessions with files in them and listen to streams, while the server is killed in the
//! middle of things, again and again; on PostgreSQL the database is killed as well. Clients try
//! again, and streams go on behind the last event they saw. What everybody sent and saw is judged
//! twice: event by event by `judge` and `begun`, and as histories in Assay's own format by Assay's
//! own checkers.
//!
//! `ASSAY_SERVE_KILLS` and `ASSAY_SERVE_KILLS_POSTGRES` say how often, `ASSAY_SERVE_SEED` where
//! chance begins, `ASSAY_SERVE_HISTORIES` where histories are kept.

mod begun;
mod clients;
mod history;
mod judge;

use super::database::Database;
use super::server::{Server, Setup};
use clients::{Alarm, Client, World};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

const CLIENTS: usize = 8;
const KILLS: usize = 12;
const KILLS_POSTGRES: usize = 5;
/// Acknowledgements before each kill, at most.
const ACKNOWLEDGED_MAX: u64 = 60;

/// Small, and always the same for a seed.
pub struct Chance(u64);

impl Chance {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The lowest bits are the least random.
        (self.0 >> 11) % end
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

fn seed() -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos();
    // Zero is the one state that stays as it is.
    number("ASSAY_SERVE_SEED").unwrap_or_else(|| u64::try_from(now()).unwrap_or(1)).max(1)
}

#[test]
fn a_server_on_sqlite_that_is_killed_loses_nothing_and_does_nothing_twice() {
    let kills = number("ASSAY_SERVE_KILLS").map_or(KILLS, |kills| kills as usize);
    run("sqlite", None, kills);
}

#[test]
fn a_server_on_postgresql_that_is_killed_with_it_loses_nothing_and_does_nothing_twice() {
    let kills = number("ASSAY_SERVE_KILLS_POSTGRES").map_or(KILLS_POSTGRES, |kills| kills as usize);
    run("postgres", Some(Database::start()), kills);
}

/// Runs clients while kills happen, lets everything come to rest, and judges.
fn run(name: &str, mut database: Option<Database>, kills: usize) {
    let seed = seed();
    println!("{name}: seed {seed}, {kills} kills");
    let mut chance = Chance(seed);
    let place = database.as_ref().map(|database| Setup::stored_in(&database.url()));
    let script = Some(include_str!("script.toml").to_string());
    let mut server = Server::with(Setup { script, ..place.unwrap_or_default() });
    let world = World::new(&server, begun::wish(&server, &wish(&server, false)));
    let client = |number: usize| {
        let session = server.ok("POST", "/v1/sessions", &wish(&server, number.is_multiple_of(2)));
        let session = session["id"].as_str().expect("an id").to_string();
        Mutex::new(Client::new(number, session, chance.below(u64::MAX)))
    };
    let clients: Vec<Mutex<Client>> = (0..CLIENTS).map(client).collect();
    std::thread::scope(|scope| {
        let world = &world;
        let _alarm = Alarm(world);
        let senders: Vec<_> =
            clients.iter().map(|client| scope.spawn(move || world.send_all(client))).collect();
        for client in &clients {
            scope.spawn(move || world.listen(client));
        }
        for _ in 0..kills {
            let wanted = chance.below(ACKNOWLEDGED_MAX) as usize;
            world.until_acknowledged(world.acknowledged.load(Ordering::SeqCst) + wanted);
            kill(&mut server, &mut database, &mut chance);
            world.happened.notify_all();
        }
        world.is_over.store(true, Ordering::SeqCst);
        senders.into_iter().for_each(|sender| sender.join().expect("no panic"));
        for client in &clients {
            world.finish(&server, client);
        }
    });
    println!("{name}: {} requests were acknowledged", world.acknowledged.load(Ordering::SeqCst));
    let clients: Vec<Client> =
        clients.into_iter().map(|client| client.into_inner().expect("no panic")).collect();
    for client in &clients {
        judge::judge(&server, &world, client);
    }
    history::judge(name, &server, &world, &clients);
    // What a killed server left behind goes at the next start.
    server.kill_and_restart();
    begun::judge(&server, &world, &clients);
}

/// One of the server, the database, or both, as chance will have it.
fn kill(server: &mut Server, database: &mut Option<Database>, chance: &mut Chance) {
    let Some(database) = database else { return server.kill_and_restart() };
    let what = chance.below(3);
    if what != 0 {
        database.kill();
    }
    if what != 1 {
        server.kill();
    }
    if what != 0 {
        database.restart();
    }
    if what != 1 {
        server.restart();
    }
}

/// A session of an agent that has a tool of the client's, and one that runs, with leave or without.
fn wish(server: &Server, asks: bool) -> Value {
    let policy = json!({"type": if asks { "always_ask" } else { "always_allow" }});
    let tools = json!([
        {"type": "agent_toolset_20260401",
         "configs": [{"name": "bash", "permission_policy": policy}]},
        {"type": "custom", "name": "get_weather", "description": "d",
         "input_schema": {"type": "object"}},
    ]);
    let agent = json!({"name": "a", "model": "scripted", "tools": tools});
    server.place_of(&agent, &json!({"name": "e"}))
}
