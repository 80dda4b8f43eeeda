//! Worlds that outlive their process, however it ends.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::json;

use super::{
    entry::{Entry, Group, Operation, Quota, State, Style, Work},
    folder::OpenError,
    journal::{Journal, LOG, SNAPSHOT},
    world::{Opened, SUBSCRIPTION, World},
};
use crate::{
    call::{Pages, Setup},
    clock::{Instant, Speed},
    faults::Faults,
    service::advance,
};

fn open(folder: &Path) -> World {
    match World::open(folder).expect("a whole folder") {
        Opened::Serve(world) => *world,
        Opened::Connect(url) => panic!("somebody serves it at {url}"),
    }
}

fn group(name: &str, state: &str) -> Entry {
    Entry::Group(Group {
        subscription: SUBSCRIPTION.to_owned(),
        name: name.to_owned(),
        location: "eastus".to_owned(),
        managed_by: None,
        tags: Some(BTreeMap::from([(
            "line".to_owned(),
            "eins\nzwölf".to_owned(),
        )])),
        state: state.to_owned(),
        created: Instant::default(),
        changed: Instant::default(),
    })
}

fn put(world: &mut World, entries: Vec<Entry>) {
    world
        .transact(Instant::default(), |world| -> Result<(), ()> {
            for entry in entries {
                world.put(entry);
            }
            Ok(())
        })
        .expect("a writable log")
        .expect("a change");
}

fn remove(world: &mut World, key: &str) {
    world
        .transact(Instant::default(), |world| -> Result<(), ()> {
            world.remove(key);
            Ok(())
        })
        .expect("a writable log")
        .expect("a change");
}

/// Makes a world with a history; answers the length of its log and its entries after each record.
fn history(folder: &Path) -> Vec<(u64, BTreeMap<String, Entry>)> {
    let mut world = open(folder);
    let mut seen = Vec::new();
    let note = |world: &World, seen: &mut Vec<(u64, BTreeMap<String, Entry>)>| {
        let length = fs::metadata(folder.join(LOG)).expect("a log").len();
        seen.push((length, world.entries().clone()));
    };
    note(&world, &mut seen);
    for at in 0..4 {
        put(
            &mut world,
            vec![
                group(&format!("g{at}"), "Succeeded"),
                group("shared", &format!("state{at}")),
            ],
        );
        note(&world, &mut seen);
    }
    remove(&mut world, &group("g1", "").key());
    note(&world, &mut seen);
    seen
}

fn copy(from: &Path, to: &Path) {
    for name in [LOG, SNAPSHOT] {
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).expect("a copy");
        }
    }
}

#[test]
fn a_process_killed_at_any_byte_leaves_the_last_whole_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let seen = history(folder.path());
    let log = fs::read(folder.path().join(LOG)).expect("a log");
    let founded = usize::try_from(seen.first().expect("a record").0).expect("a length");
    for length in founded..=log.len() {
        let killed = tempfile::tempdir().expect("a folder");
        fs::write(killed.path().join(LOG), log.get(..length).expect("a part")).expect("a log");
        let mut world = open(killed.path());
        let length = u64::try_from(length).expect("a length");
        let (_, expected) = seen
            .iter()
            .rfind(|(end, _)| *end <= length)
            .expect("a whole record");
        assert_eq!(world.entries(), expected, "{length}");
        // The torn end is gone, so that the next record is whole.
        put(&mut world, vec![group("later", "Succeeded")]);
        drop(world);
        assert!(open(killed.path()).group(SUBSCRIPTION, "later").is_some());
    }
}

#[test]
fn what_a_panicking_request_did_is_undone() {
    let mut world = World::in_memory(1);
    put(&mut world, vec![group("kept", "Succeeded")]);
    let before = world.entries().clone();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.transact(Instant::default(), |world| -> Result<(), ()> {
            world.put(group("kept", "Deleting"));
            world.put(group("half", "Succeeded"));
            panic!("in the middle of it");
        })
    }));
    assert!(panicked.is_err());
    world.roll_back();
    assert_eq!(world.entries(), &before);
}

#[test]
fn a_snapshot_replaces_the_log_and_survives_a_kill_between_both() {
    let folder = tempfile::tempdir().expect("a folder");
    history(folder.path());
    let before = fs::read(folder.path().join(LOG)).expect("a log");
    let mut world = open(folder.path());
    let entries = world.entries().clone();
    world.compact(true).expect("a snapshot");
    put(&mut world, vec![group("after", "Succeeded")]);
    let after = fs::read(folder.path().join(LOG)).expect("a log");
    drop(world);
    assert!(open(folder.path()).group(SUBSCRIPTION, "after").is_some());
    // The process died when the snapshot was in place and the log not yet started anew.
    let killed = tempfile::tempdir().expect("a folder");
    copy(folder.path(), killed.path());
    fs::write(killed.path().join(LOG), &before).expect("a log");
    assert_eq!(open(killed.path()).entries(), &entries);
    // It died before the snapshot was put in place: its file is left behind and unread.
    fs::write(killed.path().join("world.jsonl.new"), "half a snap").expect("a file");
    assert_eq!(open(killed.path()).entries(), &entries);
    // Old and new records one after the other are the whole story.
    fs::write(killed.path().join(LOG), [before, after].concat()).expect("a log");
    assert!(open(killed.path()).group(SUBSCRIPTION, "after").is_some());
}

/// What opening a folder complains about: file name, line and text.
fn complaint(folder: &Path) -> (String, usize, String) {
    match World::open(folder) {
        Err(OpenError::Damaged { file, line, what }) => (
            file.file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            line,
            what,
        ),
        other => panic!("expected damage, found {other:?}"),
    }
}

#[test]
fn damage_is_reported_with_its_place_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    history(folder.path());
    let log = folder.path().join(LOG);
    let whole = fs::read_to_string(&log).expect("a log");
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let edited = whole.replacen("state1", "state9", 1);
    let short = [lines.first().copied(), lines.get(2).copied()]
        .into_iter()
        .flatten()
        .collect::<String>();
    let cases = [
        (edited.into_bytes(), 3, "digest"),
        (short.into_bytes(), 2, "expected record 2, found record 3"),
        (whole.replacen(' ', "", 1).into_bytes(), 1, ""),
        ([whole.as_bytes(), b"\xff\xfe\n"].concat(), 7, "not text"),
        ([whole.as_bytes(), b"\n"].concat(), 7, "expected a digest"),
    ];
    for (bytes, line, what) in cases {
        fs::write(&log, &bytes).expect("a log");
        let (file, found, text) = complaint(folder.path());
        assert_eq!((file.as_str(), found), (LOG, line), "{text}");
        assert!(text.contains(what), "{text}");
        assert_eq!(
            fs::read(&log).expect("a log"),
            bytes,
            "the file is as it was"
        );
    }
    fs::write(&log, &whole).expect("a log");
    open(folder.path()).compact(true).expect("a snapshot");
    let snapshot = folder.path().join(SNAPSHOT);
    let whole = fs::read_to_string(&snapshot).expect("a snapshot");
    fs::write(&snapshot, whole.replacen("shared", "sharde", 1)).expect("a snapshot");
    assert_eq!(complaint(folder.path()).0, SNAPSHOT);
    let cut: String = whole.split_inclusive('\n').take(3).collect();
    fs::write(&snapshot, cut).expect("a snapshot");
    assert!(complaint(folder.path()).2.contains("missing"));
    fs::write(&snapshot, "").expect("a snapshot");
    assert!(complaint(folder.path()).2.contains("empty"));
}

#[test]
fn a_failed_request_and_a_full_device_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    history(folder.path());
    let mut world = open(folder.path());
    let before = world.entries().clone();
    let refused = world.transact(Instant::default(), |world| -> Result<(), &str> {
        world.put(group("g0", "Changed"));
        world.remove(&group("g2", "").key());
        world.put(group("new", "Succeeded"));
        Err("refused")
    });
    assert_eq!(refused.expect("a writable log"), Err("refused"));
    assert_eq!(world.entries(), &before);
    #[cfg(target_os = "linux")]
    {
        world.set_journal(Journal::on_full_device(folder.path()));
        for _ in 0..2 {
            let unwritten = world.transact(Instant::default(), |world| -> Result<(), ()> {
                world.put(group("new", "Succeeded"));
                Ok(())
            });
            assert!(unwritten.is_err());
            assert_eq!(world.entries(), &before);
        }
    }
}

fn operation(ends: Instant) -> Entry {
    Entry::Operation(Box::new(Operation {
        id: "11111111-0000-0000-0000-000000000001".to_owned(),
        number: 1,
        subscription: SUBSCRIPTION.to_owned(),
        location: "eastus".to_owned(),
        style: Style::Group,
        target: format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/g0")
            .parse()
            .expect("an id"),
        title: String::new(),
        started: Instant::default(),
        ends,
        state: State::Running,
        work: Work::DeleteGroup,
        failure: None,
        old_size: None,
        output: None,
        instances: Vec::new(),
        unplaced: Vec::new(),
    }))
}

fn setup() -> Setup {
    Setup {
        speed: Speed::REAL,
        seed: 1,
        tenant: String::new(),
        quirks: false,
        pages: Pages::default(),
        pace: None,
    }
}

#[test]
fn operations_go_on_between_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let second = Instant::from_unix_micros(1_000_000);
    let mut world = open(folder.path());
    put(&mut world, vec![group("g0", "Deleting"), operation(second)]);
    drop(world);
    let mut world = open(folder.path());
    let mut faults = Faults::none();
    let setup = setup();
    let early = Instant::from_unix_micros(999_999);
    advance(&mut world, &mut faults, &setup, early).expect("a writable log");
    assert!(world.group(SUBSCRIPTION, "g0").is_some());
    advance(&mut world, &mut faults, &setup, second).expect("a writable log");
    assert!(world.group(SUBSCRIPTION, "g0").is_none());
    let ended = world
        .operation("11111111-0000-0000-0000-000000000001")
        .expect("kept");
    assert_eq!((&ended.state, ended.ends), (&State::Succeeded, second));
}

#[test]
fn another_speed_scales_what_is_left_of_operations() {
    let mut world = World::in_memory(1);
    put(
        &mut world,
        vec![operation(Instant::from_unix_micros(10_000_000))],
    );
    let now = Instant::from_unix_micros(4_000_000);
    world
        .adopt_speed(now, Speed::new(60.0).expect("a speed"))
        .expect("a change");
    let faster = world
        .operation("11111111-0000-0000-0000-000000000001")
        .expect("kept");
    assert_eq!(faster.ends, Instant::from_unix_micros(4_100_000));
    world.adopt_speed(now, Speed::REAL).expect("a change");
    let back = world
        .operation("11111111-0000-0000-0000-000000000001")
        .expect("kept");
    assert_eq!(back.ends, Instant::from_unix_micros(10_000_000));
}

#[test]
fn usage_and_references_follow_every_change() {
    let mut world = World::in_memory(1);
    let quota = Quota {
        subscription: SUBSCRIPTION.to_owned(),
        location: "eastus".to_owned(),
        name: "cores".to_owned(),
        limit: 4,
    };
    put(&mut world, vec![Entry::Quota(quota.clone())]);
    assert_eq!(world.quota(SUBSCRIPTION, "EastUS", "CORES"), Some(&quota));
    let id: model::ids::ArmId =
        format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/g/providers/Microsoft.Network/networkInterfaces/n")
            .parse()
            .expect("an id");
    let row = crate::types::named("Microsoft.Network/networkInterfaces").expect("a type");
    let body = json!({"properties": {"subnet": {"id": "/Some/SUBNET"}}});
    let mut nic = crate::routes::common::new(&world, id.clone(), row, "eastus", body);
    nic.hidden.quota.insert("NetworkInterfaces".to_owned(), 1);
    put(&mut world, vec![Entry::Resource(Box::new(nic.clone()))]);
    put(&mut world, vec![Entry::Resource(Box::new(nic))]);
    assert_eq!(world.usage(SUBSCRIPTION, "eastus", "networkinterfaces"), 1);
    assert_eq!(world.users("/some/subnet").count(), 1);
    remove(&mut world, &super::entry::resource_key(id.key()));
    assert_eq!(world.usage(SUBSCRIPTION, "eastus", "NetworkInterfaces"), 0);
    assert_eq!(world.users("/some/subnet").count(), 0);
}

/// An interface or a scale set with these addresses, each in one of two subnets.
fn holder(world: &World, name: &str, addresses: &[u32]) -> Entry {
    let kind = if name.starts_with("nic") {
        "Microsoft.Network/networkInterfaces"
    } else {
        "Microsoft.Compute/virtualMachineScaleSets"
    };
    let id = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/g/providers/{kind}/{name}");
    let in_subnet = |at: usize| json!({"id": format!("/Net/Subnets/{}", at % 2)});
    let configurations: Vec<_> = addresses
        .iter()
        .enumerate()
        .map(|(at, address)| {
            let shown = std::net::Ipv4Addr::from(*address).to_string();
            json!({"properties": {"subnet": in_subnet(at), "privateIPAddress": shown}})
        })
        .collect();
    let row = crate::types::named(kind).expect("a type");
    let body = json!({"properties": {"ipConfigurations": configurations}});
    let mut made =
        crate::routes::common::new(world, id.parse().expect("an id"), row, "eastus", body);
    if !name.starts_with("nic") {
        made.body = json!({});
        made.hidden.scale_set = Some(Box::new(set_of(addresses)));
    }
    Entry::Resource(Box::new(made))
}

/// One instance for each pair of addresses.
fn set_of(addresses: &[u32]) -> super::scale_set::ScaleSet {
    let profile = json!({"networkProfile": {"networkInterfaceConfigurations": [{"properties": {
        "ipConfigurations": [
            {"properties": {"subnet": {"id": "/net/subnets/0"}}},
            {"properties": {"subnet": {"id": "/net/subnets/1"}}},
        ],
    }}]}});
    let mut set: super::scale_set::ScaleSet = serde_json::from_value(json!({
        "model": 1,
        "models": {"1": {"size": "", "profile": profile, "image": {
            "os": "Linux", "generation": 2, "architecture": "x64", "offer": "", "version": "",
        }}},
        "next": 0,
    }))
    .expect("a set");
    for (id, pair) in (0u64..).zip(addresses.chunks(2)) {
        let instance = json!({
            "model": 1, "state": "Succeeded", "created": 0, "since": 0, "etag": 1, "addresses": pair,
        });
        let instance = serde_json::from_value(instance).expect("an instance");
        set.instances.insert(id, instance);
    }
    set
}

#[test]
fn look_ups_stay_what_the_entries_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = open(folder.path());
    let mut random = crate::text::Seeded::new(&[3]);
    for round in 0u8..120 {
        let [name, length, first, fails] = random.bytes();
        let name = format!("{}{}", if name < 128 { "nic" } else { "set" }, name % 5);
        let addresses: Vec<u32> = (0..u32::from(length % 6))
            .map(|at| u32::from(first) + at)
            .collect();
        let entry = holder(&world, &name, &addresses);
        let key = entry.key();
        let changed = world.transact(Instant::default(), |world| {
            if length % 7 == 0 {
                world.remove(&key);
            } else {
                world.put(entry);
            }
            if fails % 4 == 0 { Err(()) } else { Ok(()) }
        });
        assert_eq!(changed.expect("a writable log").is_err(), fails % 4 == 0);
        let (kept, afresh) = world.index_and_afresh();
        assert_eq!(kept, &afresh, "round {round}");
    }
    let (before, _) = world.index_and_afresh();
    let before = format!("{before:?}");
    drop(world);
    let world = open(folder.path());
    assert_eq!(format!("{:?}", world.index_and_afresh().0), before);
    assert!(before.contains("/net/subnets/1"), "{before}");
}

#[test]
fn a_second_process_is_told_where_to_connect() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = open(folder.path());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    world
        .folder()
        .expect("a folder")
        .announce(&url)
        .expect("an announcement");
    assert!(matches!(World::open(folder.path()), Ok(Opened::Connect(found)) if found == url));
    drop(world);
    // The announcement of a process that is gone misleads nobody.
    drop(listener);
    assert!(matches!(World::open(folder.path()), Ok(Opened::Serve(_))));
}
