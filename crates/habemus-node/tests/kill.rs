//! `kill -9` at any moment: what was stored never goes backwards, and what was promised is never forgotten.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use habemus_node::store::{Directory, Identity, Store};

/// How often to kill, unless `HABEMUS_KILLS` says otherwise.
const KILLS: u32 = 300;

/// The writer's directory, for the process that is to be killed.
const WRITER: &str = "HABEMUS_TEST_WRITER";

fn open(path: &Path) -> (Directory, Store) {
    let identity = Identity { cluster: "test".to_owned(), algorithm: "majority".to_owned(), id: 1 };
    let directory = Directory::open(path, identity).expect("nobody else uses it");
    let store = directory.store("");
    (directory, store)
}

fn number(value: Option<Vec<u8>>) -> u64 {
    value.map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().expect("a number was stored")))
}

/// Stores 1, 2, 3, … and says so after each. With [`WRITER`] it never stops: somebody kills it.
#[test]
fn numbers_are_stored_one_after_the_other() {
    let forever = std::env::var_os(WRITER);
    let path = match &forever {
        Some(path) => path.into(),
        None => std::env::temp_dir().join(format!("habemus-writer-{}", std::process::id())),
    };
    let (directory, mut store) = open(&path);
    let mut last = number(store.load().expect("the file is sound"));
    while forever.is_some() || last < 20 {
        last += 1;
        store.save(&last.to_le_bytes()).expect("the disk works");
        if forever.is_some() {
            println!("stored {last}");
            let _ = std::io::stdout().flush();
        }
    }
    assert_eq!(number(directory.store("").load().expect("the file is sound")), 20);
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn whatever_is_killed_remembers_what_it_promised() {
    let kills = std::env::var("HABEMUS_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let path = std::env::temp_dir().join(format!("habemus-kill-{}", std::process::id()));
    let itself = std::env::current_exe().expect("a test knows its program");
    let mut before = 0;
    for round in 0..kills {
        let mut writer = Command::new(&itself)
            .args(["--exact", "numbers_are_stored_one_after_the_other", "--nocapture"])
            .env(WRITER, &path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a program can start itself");
        let mut lines = BufReader::new(writer.stdout.take().expect("it is piped")).lines();
        let promised =
            |line: &str| line.rsplit_once("stored ").and_then(|(_, number)| number.trim().parse().ok());
        let mut last: u64 = 0;
        while last == 0 {
            let line = lines.next().expect("the writer lives until it is killed").expect("it writes text");
            last = promised(&line).unwrap_or(0);
        }
        // The moment of death wanders through the writing.
        std::thread::sleep(Duration::from_micros(u64::from(round) * 137 % 3000));
        writer.kill().expect("it can be killed");
        for line in lines.map_while(Result::ok) {
            // The last line may be torn: then its number is smaller, which asks for less.
            last = promised(&line).map_or(last, |number: u64| last.max(number));
        }
        writer.wait().expect("it can be waited for");
        let found = number(open(&path).1.load().expect("the file is sound after every kill"));
        assert!(found >= last, "round {round}: {last} was promised, {found} is there");
        assert!(found >= before, "round {round}: went back from {before} to {found}");
        before = found;
    }
    let _ = std::fs::remove_dir_all(&path);
}
