//! Every error says where it is, what was expected and what was found.

use habemus_scenario::{Location, parse};

/// The errors of a file, one line each.
fn errors(text: &str) -> Vec<String> {
    match parse("f.toml", text) {
        Ok(parsed) => panic!("this should be wrong:\n{text}\n{:#?}", parsed.scenario),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

/// The one error of a file that says `line` and is right otherwise.
fn error(line: &str) -> String {
    let file = format!("algorithm = \"bully\"\nprocesses = 5\n{line}\n");
    let mut errors = errors(&file);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.remove(0)
}

/// The one error of a key of a table, which begins at line 4.
fn table_error(table: &str, key: &str) -> String {
    error(&format!("[{table}]\n{key}"))
}

#[test]
fn a_file_that_is_no_toml() {
    assert_eq!(
        errors("algorithm = bully\n"),
        ["f.toml:1:13: expected a value, found `bully`: text must be in quotes"]
    );
    assert_eq!(errors("algorithm =\n"), ["f.toml:1:12: expected a value after `=`, found nothing"]);
    assert_eq!(
        errors("title = \"x\nseed = 1"),
        ["f.toml:1:11: expected a closing `\"`, found the end of the line"]
    );
    assert_eq!(
        errors("title = 'x\nseed = 1"),
        ["f.toml:1:11: expected a closing `'`, found the end of the line"]
    );
    assert_eq!(errors("seed = 1\nseed = 2\n"), ["f.toml:2:1: the key `seed` is there twice"]);
    assert_eq!(
        errors("processes 4"),
        ["f.toml:1:11: this key has no value: write `=` and the value after it"]
    );
    assert_eq!(
        errors("algorithm: bully\nprocesses: 4\n"),
        [
            "f.toml:1:12: write `=` between a key and its value, not `:`",
            "f.toml:2:12: write `=` between a key and its value, not `:`",
        ]
    );
    assert_eq!(
        errors("script = [\n  \"1ms heal\"\n  \"2ms heal\"\n]\nseed = x"),
        [
            "f.toml:3:3: write a comma between this item and the one before",
            "f.toml:5:8: expected a value, found `x`: text must be in quotes",
        ]
    );
}

/// One bracket that is missing is one error, however many lines follow.
#[test]
fn a_list_that_is_not_closed_is_said_once() {
    let before =
        |line: usize| [format!("f.toml:1:10: this list is not closed: write `]` before line {line}")];
    let rest = "leader = 3\nquiet = true\nholds = [\"E1\"]\n";
    assert_eq!(errors(&format!("script = [\"0ms elect 1\"\n[expect]\n{rest}")), before(2));
    assert_eq!(errors(&format!("script = [\n  \"0ms elect 1\",\n\n[expect] # what\n{rest}")), before(4));
    assert_eq!(errors("script = [ # \"]\"\n \"]\\\"]\", ']',\nseed = 3\nuntil = \"1s\"\n"), before(3));
    assert_eq!(errors(&format!("ids    = [1, 2\n[[expect.x]]\n{rest}")), before(2));
    assert_eq!(
        errors("algorithm = x\nscript = [\n  \"0ms elect 1\"\n  \"heal\",\nseed = y\n"),
        [
            "f.toml:1:13: expected a value, found `x`: text must be in quotes",
            "f.toml:2:10: this list is not closed: write `]` before line 5",
            "f.toml:4:3: write a comma between this item and the one before",
        ],
        "what is wrong before it is said, too"
    );
    assert_eq!(
        errors("script = [\n  \"0ms elect 1\",\n"),
        ["f.toml:1:10: this list is not closed: write `]` after its last item"]
    );
    assert_eq!(
        errors("links = [\n  [1, 2],\n  [true],\n  [x]\n]\n"),
        [
            "f.toml:2:3: expected a link such as \"1-2\", found an array",
            "f.toml:3:3: expected a link such as \"1-2\", found an array",
            "f.toml:4:4: expected a value, found `x`: text must be in quotes",
        ],
        "a list in a list is no table"
    );
}

/// A table's header without its end is one error as well.
#[test]
fn a_header_that_is_not_closed_is_said_once() {
    assert_eq!(
        errors("seed = 1\n[expect\nleader = 3\nquiet = true\n"),
        ["f.toml:2:8: expected a closing `]`, found the end of the line"]
    );
}

#[test]
fn what_must_be_there() {
    assert_eq!(
        errors(""),
        [
            "f.toml:1:1: the algorithm is missing: write for example `algorithm = \"bully\"`",
            "f.toml:1:1: the processes are missing: write for example `processes = 4` or `ids = [3, 17, 24]`",
        ]
    );
    assert_eq!(
        table_error("network", "model = \"synchronous\""),
        "f.toml:4:9: a synchronous network needs `pulse`: write for example `pulse = \"10ms\"`"
    );
    assert_eq!(
        table_error("network", "model = \"partially-synchronous\"\ndelta = \"10ms\""),
        "f.toml:4:9: a partially-synchronous network needs `gst`: write for example `gst = \"1s\"`"
    );
}

#[test]
fn unknown_keys_get_a_suggestion() {
    assert_eq!(error("sede = 7"), "f.toml:3:1: unknown key `sede`: did you mean `seed`?");
    assert_eq!(
        error("time_limit = \"1s\""),
        "f.toml:3:1: unknown key `time_limit`: did you mean `time-limit`?"
    );
    assert_eq!(error("colour = \"red\""), "f.toml:3:1: unknown key `colour`");
    assert_eq!(
        table_error("network", "latenzy = \"5ms\""),
        "f.toml:4:1: unknown key `latenzy` in [network]: did you mean `latency`?"
    );
    assert_eq!(table_error("network", "seed = 3"), "f.toml:4:1: `seed` does not belong in [network]");
    assert_eq!(
        error("latency = \"5ms\""),
        "f.toml:3:1: `latency` does not belong at the top of the file: put it in [network]"
    );
    assert_eq!(
        table_error("expect", "entries = 3"),
        "f.toml:4:1: `entries` does not belong in [expect]: put it in [workload]"
    );
}

#[test]
fn the_help_lists_what_is_known() {
    let failure =
        parse("f.toml", "algorithm = \"bully\"\nprocesses = 5\n[workload]\ncolour = 1").unwrap_err();
    let help = failure.iter().next().and_then(|error| error.help_text().map(str::to_owned));
    assert_eq!(help.as_deref(), Some("known are `entries`, `clients`, `hold`, `think` or `rate`"));
}

#[test]
fn values_of_the_wrong_type() {
    assert_eq!(error("title = 5"), "f.toml:3:9: expected a string, found the integer 5: write \"5\"");
    assert_eq!(error("title = [5]"), "f.toml:3:9: expected a string, found an array");
    assert_eq!(
        error("seed = \"7\""),
        "f.toml:3:8: expected an integer from 0 to 2^64 - 1, such as 7, found the string \"7\": write 7"
    );
    assert_eq!(
        error("seed = -7"),
        "f.toml:3:8: expected an integer from 0 to 2^64 - 1, such as 7, found the integer -7"
    );
    assert_eq!(
        error("seed = 1.5"),
        "f.toml:3:8: expected an integer from 0 to 2^64 - 1, such as 7, found the number 1.5"
    );
    assert_eq!(
        error("seed = 18446744073709551616"),
        "f.toml:3:8: expected an integer from 0 to 2^64 - 1, such as 7, found the integer \
            18446744073709551616"
    );
    assert_eq!(
        error("seed = 2001-01-01"),
        "f.toml:3:8: expected an integer from 0 to 2^64 - 1, such as 7, found the date 2001-01-01"
    );
    assert_eq!(
        error("event-limit = 0"),
        "f.toml:3:15: expected an integer of at least 1, found the integer 0"
    );
    assert_eq!(error("detector = \"\""), "f.toml:3:12: expected a name, found an empty string");
    assert_eq!(
        error("network = \"fast\""),
        "f.toml:3:11: expected a table [network], found the string \"fast\""
    );
    assert_eq!(error("options = 3"), "f.toml:3:11: expected a table [options], found the integer 3");
    assert_eq!(
        table_error("expect", "quiet = \"true\""),
        "f.toml:4:9: expected `true` or `false`, found the string \"true\": write true"
    );
    assert_eq!(
        table_error("expect", "quiet = 1"),
        "f.toml:4:9: expected `true` or `false`, found the integer 1"
    );
}

#[test]
fn durations() {
    assert_eq!(
        error("time-limit = 20"),
        "f.toml:3:14: expected a duration such as \"20ms\", found the integer 20: write \"20ms\""
    );
    assert_eq!(
        error("time-limit = 1.5"),
        "f.toml:3:14: expected a duration such as \"20ms\", found the number 1.5: write \"1.5ms\""
    );
    assert_eq!(
        error("time-limit = nan"),
        "f.toml:3:14: expected a duration such as \"20ms\", found the number nan"
    );
    assert_eq!(
        error("time-limit = \"20\""),
        "f.toml:3:14: expected a duration such as `20ms`, found `20`, which has no unit: write `20ms`"
    );
    assert_eq!(error("time-limit = \"-5ms\""), "f.toml:3:14: a duration cannot be negative, found `-5ms`");
    assert_eq!(
        error("time-limit = \"0ms\""),
        "f.toml:3:14: expected a duration of more than zero, found the string \"0ms\""
    );
    assert_eq!(
        error("time-limit = \"600000000000s\""),
        "f.toml:3:14: `600000000000s` is too long: time ends after 584 years"
    );
    assert_eq!(error("until = \"quite\""), "f.toml:3:9: unknown end of a run `quite`: did you mean `quiet`?");
    assert_eq!(
        table_error("workload", "hold = \"9ms..1ms\""),
        "f.toml:4:8: the range `9ms..1ms` runs backwards: write `1ms..9ms`"
    );
    assert_eq!(
        table_error("workload", "hold = true"),
        "f.toml:4:8: expected a duration such as \"20ms\" or \"1ms..10ms\", found the boolean true"
    );
    assert_eq!(
        table_error("random", "until = \"1s\"\npause-for = \"0ms\""),
        "f.toml:5:13: expected a duration of more than zero, found the string \"0ms\""
    );
}

#[test]
fn processes_and_identifiers() {
    let system = |line: &str| {
        let errors = errors(&format!(
            "algorithm = \"bully\"\n{line}\nscript = [\"0ms elect 0..18446744073709551615\"]"
        ));
        assert_eq!(errors.len(), 1, "who is not known cannot be missing: {errors:#?}");
        errors[0].clone()
    };
    assert_eq!(system("processes = 0"), "f.toml:2:13: a scenario needs at least one process, found 0");
    assert_eq!(
        system("processes = -1"),
        "f.toml:2:13: expected a number of processes such as 4, found the integer -1"
    );
    assert_eq!(
        system("processes = 10_000_001"),
        "f.toml:2:13: a scenario has at most 10000000 processes, found 10000001"
    );
    assert_eq!(
        system("ids = \"0..18446744073709551615\""),
        "f.toml:2:8: a scenario has at most 10000000 processes, found 18446744073709551616"
    );
    assert_eq!(system("ids = []"), "f.toml:2:7: a scenario needs at least one process, found an empty list");
    assert_eq!(system("ids = [3, 17, 3]"), "f.toml:2:15: the identifier 3 is there twice");
    assert_eq!(
        system("ids = [3, \"17\"]"),
        "f.toml:2:11: expected an identifier such as 17, found the string \"17\": write 17"
    );
    assert_eq!(
        system("ids = \"one\""),
        "f.toml:2:8: expected identifiers such as `3,17,24` or `0..7`, found `one`"
    );
    assert_eq!(
        system("ids = 4"),
        "f.toml:2:7: expected identifiers such as [3, 17, 24] or \"0..7\", found the integer 4"
    );
    assert_eq!(
        system("processes = 4\nids = [1, 2]"),
        "f.toml:3:1: expected either `processes` or `ids`, found both"
    );
}

#[test]
fn topology_and_links() {
    assert_eq!(
        error("links = [\"1-2\"]\ntopology = \"ring\""),
        "f.toml:4:1: expected either `topology` or `links`, found both"
    );
    assert_eq!(
        error("links = \"1-2\""),
        "f.toml:3:9: expected links such as [\"1-2\", \"2-3\"], found the string \"1-2\""
    );
    assert_eq!(error("links = [12]"), "f.toml:3:10: expected a link such as \"1-2\", found the integer 12");
    assert_eq!(error("links = [\"1-2\", \"2-1\"]"), "f.toml:3:17: the link between 2 and 1 is named twice");
    assert_eq!(error("links = [\"1->2\"]"), "f.toml:3:11: the links of a topology go both ways: write `1-2`");
    assert_eq!(error("links = [\"1-9\"]"), "f.toml:3:13: there is no process 9: the processes are 1..5");
    assert_eq!(error("links = [\"1-1\"]"), "f.toml:3:11: a link has two ends, found 1 at both");
    assert_eq!(
        error("links = [\"1+2\"]"),
        "f.toml:3:12: expected `-` or `->` after 1, as in `1-2` or `1->2`, found `+`"
    );
    assert_eq!(error("links = [\"1-2 3\"]"), "f.toml:3:15: expected nothing more after `1-2`, found `3`");
}

#[test]
fn the_network() {
    let network = |key: &str| table_error("network", key);
    assert_eq!(
        network("model = \"synchonous\"\npulse = \"1ms\""),
        "f.toml:4:9: unknown model `synchonous`: did you mean `synchronous`?"
    );
    assert_eq!(
        network("model = \"quantum\""),
        "f.toml:4:9: unknown model `quantum`: expected `asynchronous`, `synchronous`, \
            `partially-synchronous` or `scripted`"
    );
    assert_eq!(network("gst = \"1s\""), "f.toml:4:1: `gst` means nothing in an asynchronous network");
    assert_eq!(
        network("model = \"synchronous\"\npulse = \"1ms\"\ndelta = \"1ms\""),
        "f.toml:6:1: `delta` means nothing in a synchronous network"
    );
    assert_eq!(
        network("latency = 5"),
        "f.toml:4:11: expected a latency such as \"5ms\" or \"1ms..10ms\", found the integer 5: write \"5ms\""
    );
    assert_eq!(
        network("latency = \"exponental 5ms\""),
        "f.toml:4:11: unknown latency `exponental`: did you mean `exponential`?"
    );
    assert_eq!(network("latency = \"0ms\""), "f.toml:4:11: a message must take some time, found zero");
    assert_eq!(network("order = \"lifo\""), "f.toml:4:9: unknown order `lifo`: did you mean `fifo`?");
    assert_eq!(network("order = \"strict\""), "f.toml:4:9: unknown order `strict`: expected `fifo` or `any`");
    assert_eq!(
        network("loss = 5"),
        "f.toml:4:8: expected a probability such as \"1%\" or 0.01, found the integer 5: write \"5%\""
    );
    assert_eq!(
        network("loss = nan"),
        "f.toml:4:8: expected a probability such as \"1%\" or 0.01, between 0 and 1, found the number nan"
    );
    assert_eq!(
        network("loss = -0.1"),
        "f.toml:4:8: expected a probability such as \"1%\" or 0.01, between 0 and 1, found the number -0.1"
    );
    assert_eq!(network("loss = \"101%\""), "f.toml:4:8: a probability is at most 100%, found `101%`");
    assert_eq!(
        network("duplication = []"),
        "f.toml:4:15: expected a probability such as \"1%\" or 0.01, found an array"
    );
    assert_eq!(
        table_error("network.links", "\"1->2\" = \"5ms\"\n\"1-2\" = \"6ms\""),
        "f.toml:5:1: the latency from 1 to 2 is there twice"
    );
    assert_eq!(
        table_error("network.links", "\"1->7\" = \"5ms\""),
        "f.toml:4:5: there is no process 7: the processes are 1..5"
    );
    assert_eq!(
        table_error("network.links", "1-two = \"5ms\""),
        "f.toml:4:3: expected a process at the other end of the link, found `two`"
    );
    assert_eq!(
        network("links = [\"1-2\"]"),
        "f.toml:4:9: expected a table [network.links] of links and their latencies, found an array"
    );
}

#[test]
fn options_random_faults_and_workload() {
    assert_eq!(
        table_error("options", "timeout = [[1]]"),
        "f.toml:4:12: expected text, a number, `true`, `false`, or a list of those, found an array"
    );
    assert_eq!(
        table_error("options", "timeout = nan"),
        "f.toml:4:11: expected text, a number, `true`, `false`, or a list of those, found the number nan"
    );
    let random = |key: &str| table_error("random", &format!("until = \"1s\"\n{key}"));
    assert_eq!(
        random("crashes = 2"),
        "f.toml:5:11: expected a rate such as \"2/s\", found the integer 2: write \"2/s\""
    );
    assert_eq!(random("cuts = \"2/sec\""), "f.toml:5:8: unknown unit of time `sec`: did you mean `s`?");
    assert_eq!(
        random("max-down = 6"),
        "f.toml:5:12: expected a number of processes from 1 to 5, found the integer 6"
    );
    assert_eq!(
        table_error("workload", "clients = []"),
        "f.toml:4:11: a workload needs clients, found an empty list: write \"all\" for everybody"
    );
    assert_eq!(table_error("workload", "clients = [1, 1]"), "f.toml:4:15: process 1 is named twice");
    assert_eq!(
        table_error("workload", "clients = 1"),
        "f.toml:4:11: expected processes such as [1, 2] or \"1..4\", found the integer 1: write [1]"
    );
    assert_eq!(
        table_error("workload", "clients = \"1..6\""),
        "f.toml:4:15: there is no process 6: the processes are 1..5"
    );
    assert_eq!(
        table_error("workload", "entries = 4294967296"),
        "f.toml:4:11: expected a number of entries such as 3, found the integer 4294967296"
    );
}

#[test]
fn expectations() {
    let expect = |key: &str| table_error("expect", key);
    assert_eq!(expect("leader = 28"), "f.toml:4:10: there is no process 28: the processes are 1..5");
    assert_eq!(
        expect("leader = \"3\""),
        "f.toml:4:10: expected a process such as 3, found the string \"3\": write 3"
    );
    assert_eq!(expect("leaders = [1, 1]"), "f.toml:4:15: process 1 is named twice");
    assert_eq!(expect("entered = [1, 7]"), "f.toml:4:15: there is no process 7: the processes are 1..5");
    assert_eq!(
        expect("holds = \"EM1\""),
        "f.toml:4:9: expected properties such as [\"EM1\"], found the string \"EM1\": write [\"EM1\"]"
    );
    assert_eq!(expect("holds = 1"), "f.toml:4:9: expected properties such as [\"EM1\"], found the integer 1");
    assert_eq!(
        expect("holds = [\"EM1\"]\nviolates = [\"EM2\", \"EM1\"]"),
        "f.toml:5:20: `EM1` cannot both hold and be violated"
    );
    assert_eq!(
        expect("leader-changes = \"few\""),
        "f.toml:4:18: expected a number or bounds for one, such as `3`, `1..3`, `<= 3` or `>= 1`, found `few`"
    );
    assert_eq!(
        expect("messages = true"),
        "f.toml:4:12: expected a number or bounds for one, such as 3, \"1..3\", \"<= 3\" or \">= 1\", \
         found the boolean true"
    );
    assert_eq!(
        expect("[expect.messages]\nOk = \"3..1\""),
        "f.toml:5:6: the range `3..1` runs backwards: write `1..3`"
    );
}

#[test]
fn all_errors_are_reported_in_the_order_of_the_file() {
    let errors = errors(
        "sede = 7\nprocesses = 3\nscript = [\"1ms crash 4\", \"soon crash 3\"]\n[expect]\nleader = 9\n",
    );
    assert_eq!(
        errors,
        [
            "f.toml:1:1: the algorithm is missing: write for example `algorithm = \"bully\"`",
            "f.toml:1:1: unknown key `sede`: did you mean `seed`?",
            "f.toml:3:22: there is no process 4: the processes are 1..3",
            "f.toml:3:27: expected a time such as `20ms`, or `when`, or `after`, found `soon`",
            "f.toml:5:10: there is no process 9: the processes are 1..3",
        ]
    );
}

const BULLY: &str = r#"algorithm = "buly"
processes = 5
script = [
    "0ms elct 1",
    "when 3 sends Okay: crash 3",
    "when 2 leads: elect 4",
]
[options]
timout = "5ms"
[expect]
holds = ["E1", "E9"]
[expect.messages]
total = 24
Elction = "<= 8"
"#;

#[test]
fn who_knows_the_algorithm_can_point_at_its_words() {
    let parsed = parse("f.toml", BULLY).expect("names are not known here");
    let commands: Vec<String> = parsed.unknown_commands(&["elect"]).iter().map(ToString::to_string).collect();
    assert_eq!(commands, ["f.toml:4:10: unknown action `elct`: did you mean `elect`?"]);
    let messages = parsed.unknown_messages(&["Election", "Ok", "Coordinator"]);
    let messages: Vec<String> = messages.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "f.toml:5:19: unknown message `Okay`: did you mean `Ok`?",
            "f.toml:14:1: unknown message `Elction`: did you mean `Election`?",
        ]
    );
    let at = |location: Location| parsed.source.error_at(&location, "here".into(), None).to_string();
    assert_eq!(at(Location::value("algorithm")), "f.toml:1:13: here");
    assert_eq!(at(Location::name("algorithm")), "f.toml:1:1: here");
    assert_eq!(at(Location::option("timout")), "f.toml:9:10: here");
    assert_eq!(at(Location::option_name("timout")), "f.toml:9:1: here");
    assert_eq!(at(Location::cue(2)), "f.toml:6:5: here");
    assert_eq!(at(Location::command(2)), "f.toml:6:20: here");
    assert_eq!(at(Location::value("expect.holds[1]")), "f.toml:11:16: here");
    assert_eq!(at(Location::value("expect.messages.total")), "f.toml:13:9: here");
    assert_eq!(at(Location::value("topology")), "f.toml:1:1: here");
    let known = ["all-to-all", "bully", "franklin"];
    let unknown = parsed.source.unknown_at(&Location::value("algorithm"), "algorithm", "buly", &known);
    assert_eq!(unknown.to_string(), "f.toml:1:13: unknown algorithm `buly`: did you mean `bully`?");
}

#[test]
fn files_that_cannot_be_read() {
    let missing = habemus_scenario::read("no/such/file.toml").expect_err("there is none").to_string();
    assert!(missing.starts_with("cannot read no/such/file.toml: "), "{missing}");
    let path = std::env::temp_dir().join(format!("habemus-scenario-{}.toml", std::process::id()));
    std::fs::write(&path, b"algorithm = \"x\"\ntitle = \"\xff\"")
        .expect("the directory for such files is writable");
    let not_text = habemus_scenario::read(&path).expect_err("this is no text").to_string();
    std::fs::remove_file(&path).expect("it was just written");
    assert_eq!(
        not_text,
        format!("{}:2:10: expected text in UTF-8, found a byte that is none", path.display())
    );
}

/// A program or a picture, given by mistake, is not shown on the terminal.
#[test]
fn a_file_that_is_no_text_is_not_shown() {
    let path = std::env::temp_dir().join(format!("habemus-scenario-binary-{}.toml", std::process::id()));
    std::fs::write(&path, b"\x7fELF\x02\x01\x01\n\xff\x1b[31mred").expect("the directory is writable");
    let error = habemus_scenario::read(&path).expect_err("this is a program");
    std::fs::remove_file(&path).expect("it was just written");
    let expected =
        format!("{} is no text: line 1 has a byte 0x7f. A scenario is a text file in TOML", path.display());
    assert_eq!(error.to_string(), expected);
    assert!(miette::Diagnostic::source_code(&error).is_none());
}

#[test]
fn names_of_locks_must_be_names_and_differ() {
    let start = "algorithm = \"coordinator\"\nprocesses = 2\n";
    let error = |resources: &str| {
        let text = format!("{start}resources = {resources}\n");
        parse("locks.toml", &text).expect_err("it is wrong").to_string()
    };
    assert!(error("[\"two words\"]").contains("letters, digits, hyphens and underscores"));
    assert!(error("[\"a\", \"a\"]").contains("`a` is listed twice"));
    assert!(error("\"orders\"").contains("names of locks such as"));
}
