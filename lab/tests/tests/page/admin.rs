//! The service's admin page: three real members, one of which is killed.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use habemus_lab_tests::{Browser, Setting};
use serde_json::{Value, json};

use crate::{DARK, PHONE, assert_quiet, axe, habemus_at, run};

/// A member of the service.
struct Member {
    name: &'static str,
    address: String,
    child: Child,
}

impl Member {
    fn start(name: &'static str, cluster: &str, directory: &Path) -> Member {
        let mut child = Command::new(habemus_at("habemusd"))
            .args(["--listen", "127.0.0.1:0", "--name", name, "--cluster", cluster, "--data"])
            .arg(directory.join(name))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it can be started");
        let mut lines =
            BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
        let listens = lines.find(|line| line.contains(" listens ")).expect("it listens");
        let address = listens.split_whitespace().find_map(|word| word.strip_prefix("address="));
        let address = address.expect("it says where").to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Member { name, address, child }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Three members, and where they keep their data.
struct Trio(Vec<Member>, PathBuf);

impl Trio {
    fn start(scratch: &str) -> Trio {
        let directory = std::env::temp_dir().join(format!("habemus-admin-{scratch}-{}", std::process::id()));
        let free = || TcpListener::bind("127.0.0.1:0").expect("there are free ports");
        let listeners: Vec<TcpListener> = (0..3).map(|_| free()).collect();
        let address = |listener: &TcpListener| listener.local_addr().expect("it listens").to_string();
        let names = ["a", "b", "c"];
        let cluster: Vec<String> =
            names.iter().zip(&listeners).map(|(name, it)| format!("{name}={}", address(it))).collect();
        drop(listeners);
        let cluster = cluster.join(",");
        Trio(names.map(|name| Member::start(name, &cluster, &directory)).into(), directory)
    }

    /// Kills one as the kernel does.
    fn kill(&mut self, name: &str) {
        self.0.retain(|member| member.name != name);
    }
}

impl Drop for Trio {
    fn drop(&mut self) {
        self.0.clear();
        let _ = std::fs::remove_dir_all(&self.1);
    }
}

async fn open(browser: &Browser, member: &Member) {
    browser.client.goto(&format!("http://{}/admin", member.address)).await.expect("the page is served");
    browser.until("document.querySelector('#members') !== null").await;
}

/// Asks the member that serves the page, as a program would.
async fn post(browser: &Browser, path: &str, body: &Value) -> Value {
    let ask = format!(
        "(window.answer = undefined, fetch('{path}', {{ method: 'POST', body: {} }}).then(answer => \
            answer.json()).then(answer => {{ window.answer = answer; }}), 1)",
        json!(body.to_string())
    );
    browser.ask(&ask).await;
    browser.until("window.answer !== undefined").await;
    browser.ask("window.answer").await
}

/// Somebody who holds something, and how it is called.
async fn session(browser: &Browser) -> Value {
    post(browser, "/v1/sessions", &json!({ "ttl_ms": 120_000 })).await["session"].clone()
}

const LEADER: &str = "document.querySelector('[data-role=leads]')?.dataset.member";

#[test]
fn locks_queues_elections_and_members_are_shown_and_so_is_the_fail_over_when_the_leader_is_killed() {
    let mut trio = Trio::start("killed");
    run(async {
        let browser = Browser::start(Setting::default()).await;
        open(&browser, &trio.0[0]).await;
        browser
            .until(&format!(
                "{LEADER} !== undefined && document.querySelectorAll('.member').length === 3 \
            && document.querySelector('[data-role=away]') === null"
            ))
            .await;
        let leader = browser.ask(LEADER).await.as_str().expect("a name").to_owned();
        // The page is looked at elsewhere than where somebody will be killed.
        let other = trio.0.iter().find(|member| member.name != leader).expect("there are three");
        open(&browser, other).await;
        browser.until(&format!("{LEADER} === '{leader}'")).await;
        let (holder, waiter) = (session(&browser).await, session(&browser).await);
        let job = json!({ "session": holder, "value": "nightly job" });
        assert_eq!(post(&browser, "/v1/locks/orders/acquire", &job).await["name"], json!("orders"));
        let campaign = json!({ "session": holder, "value": "first scheduler" });
        assert_eq!(
            post(&browser, "/v1/elections/scheduler/campaign", &campaign).await["value"],
            json!("first scheduler")
        );
        // This one waits, for as long as the page is open.
        let wait = json!({ "session": waiter, "value": "second job" }).to_string();
        let wait =
            format!("(fetch('/v1/locks/orders/acquire', {{ method: 'POST', body: {} }}), 1)", json!(wait));
        browser.ask(&wait).await;
        let told = |lock: &str, state: &str, text: &str| {
            format!(
                "[...document.querySelectorAll('[data-lock={lock}] .{state} .who')].some(who => \
                    who.textContent === '{text}')"
            )
        };
        browser.until(&told("orders", "inside", "nightly job")).await;
        browser.until(&told("orders", "waits", "second job")).await;
        browser.until(&told("scheduler", "inside", "first scheduler")).await;
        browser.until("document.querySelectorAll('#sessions tbody tr').length === 2").await;
        assert_quiet(&browser).await;

        trio.kill(&leader);
        let failover =
            format!("document.querySelector('.incident[data-kind=elected][data-before=\"{leader}\"]')");
        browser
            .until(&format!("{failover} !== null && {LEADER} !== undefined && {LEADER} !== '{leader}'"))
            .await;
        browser
            .until(&format!("document.querySelector('[data-member={leader}]').dataset.role === 'away'"))
            .await;
        let new = browser.ask(LEADER).await.as_str().expect("a name").to_owned();
        assert_eq!(browser.ask(&format!("{failover}.dataset.leader")).await, json!(new));
        let took = browser.ask(&format!("Number({failover}.dataset.took)")).await.as_u64().expect("a number");
        assert!((1..60_000_000).contains(&took), "{took} µs");
        let title = browser.ask(&format!("{failover}.querySelector('summary').textContent")).await;
        let title = title.as_str().expect("a text").to_owned();
        assert!(title.starts_with(&format!("{new} took over from {leader} in ")), "{title}");
        // Both ends of a vote, and the one that nobody heard.
        browser
            .until(&format!(
                "{failover}.querySelectorAll('svg path.passage.heard').length >= 2 && \
            {failover}.querySelectorAll('.cross').length >= 1"
            ))
            .await;
        let story = browser.ask(&format!("{failover}.querySelector('ol').textContent")).await;
        let story = story.as_str().expect("a text").to_owned();
        for part in [
            format!("has heard nothing of {leader} for"),
            format!("votes for {new}"),
            format!("{new} leads in term"),
        ] {
            assert!(story.contains(&part), "{part} is not in {story}");
        }
        // What was held is held, and who waits waits.
        browser
            .until(&format!(
                "{} && {}",
                told("orders", "inside", "nightly job"),
                told("orders", "waits", "second job")
            ))
            .await;
        // In Portuguese; the arrows are the same.
        browser.click("[name=language]").await;
        let begins = format!(
            "{failover}.querySelector('summary').textContent.startsWith('{new} tomou o lugar de {leader} em \
                ')"
        );
        browser.until(&begins).await;
        assert_quiet(&browser).await;
        browser.close().await;
    });
}

#[test]
fn the_admin_page_fits_a_phone_passes_an_audit_in_both_lights_and_asks_who_is_there() {
    let trio = Trio::start("audit");
    run(async {
        for (turn, setting) in [Setting::default(), DARK, PHONE].into_iter().enumerate() {
            let browser = Browser::start(setting).await;
            open(&browser, &trio.0[1]).await;
            browser.until("document.querySelector('.incident svg') !== null").await;
            let id = session(&browser).await;
            post(
                &browser,
                &format!("/v1/locks/orders-{turn}/acquire"),
                &json!({ "session": id, "value": "a job" }),
            )
            .await;
            browser.until("document.querySelector('[data-lock^=orders]') !== null").await;
            assert_eq!(browser.ask("document.documentElement.scrollWidth <= innerWidth").await, json!(true));
            assert_eq!(axe(&browser).await, json!([]), "{setting:?}");
            // By the keyboard: the language, the light, a fail-over.
            let tab = char::from(fantoccini::key::Key::Tab).to_string();
            for focused in ["language", "theme"] {
                browser.press(&tab).await;
                browser.until(&format!("document.activeElement.dataset.key === '{focused}'")).await;
            }
            browser.press(&tab).await;
            browser.until("document.activeElement.tagName === 'SUMMARY'").await;
            let is_open = "document.activeElement.parentElement.open";
            let before = browser.ask(is_open).await;
            browser.press(&char::from(fantoccini::key::Key::Enter).to_string()).await;
            browser.until(&format!("{is_open} === {}", before != json!(true))).await;
            assert_quiet(&browser).await;
            browser.close().await;
        }
        // From now on everybody says who it is.
        let browser = Browser::start(Setting::default()).await;
        open(&browser, &trio.0[1]).await;
        for (path, body) in [
            ("user/add", json!({ "name": "root", "password": "secret" })),
            ("user/grant", json!({ "user": "root", "role": "root" })),
            ("enable", json!({})),
        ] {
            post(&browser, &format!("/v3/auth/{path}"), &body).await;
        }
        browser
            .until("document.querySelector('.sign-in') !== null && document.querySelector('#locks') === null")
            .await;
        assert_eq!(axe(&browser).await, json!([]));
        for (password, then) in [
            ("wrong", "document.querySelector('.bad').textContent !== ''"),
            ("secret", "document.querySelector('[data-lock^=orders]') !== null"),
        ] {
            browser.click("[name=name]").await;
            browser.press("root").await;
            browser.click("[name=password]").await;
            browser.press(&format!("{password}\u{e007}")).await;
            browser.until(then).await;
        }
        browser.close().await;
    });
}
