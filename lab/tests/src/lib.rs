//! A real browser that looks at the lab: Chromium, driven over WebDriver.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

/// Whatever must happen has happened by then, or never will. Whoever plants bugs and does not want to wait
/// for each says for how many seconds with HABEMUS_PATIENCE.
fn patience() -> Duration {
    let given = std::env::var("HABEMUS_PATIENCE").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(given.unwrap_or(120))
}

/// Where the page is served: it is built and served once for all tests.
pub fn address() -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| {
        let page = habemus_lab_build::build().unwrap_or_else(|error| panic!("{error}"));
        let (listener, port) = habemus_lab_build::listen(0).unwrap_or_else(|error| panic!("{error}"));
        std::thread::spawn(move || habemus_lab_build::serve(page, &listener, port));
        format!("http://127.0.0.1:{port}/")
    })
}

/// How the browser is set up.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The width and height of the window.
    pub size: (u32, u32),
    /// Whether it is a phone: touch, and a small screen.
    pub phone: bool,
    /// Whether it prefers dark.
    pub dark: bool,
}

impl Default for Setting {
    fn default() -> Self {
        Setting { size: (1440, 900), phone: false, dark: false }
    }
}

/// A browser with a profile of its own.
pub struct Browser {
    /// To ask it anything.
    pub client: Client,
    driver: Child,
}

impl Browser {
    /// Starts one.
    ///
    /// # Panics
    /// If there is no Chromium, or it does not start.
    pub async fn start(setting: Setting) -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts; Debian has it in the package chromium-driver");
        let output = BufReader::new(driver.stdout.take().expect("it has an output"));
        let mut lines = output.lines().map_while(Result::ok);
        let port = lines.by_ref().find_map(|line| {
            let port = line.split("successfully on port ").nth(1)?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        // Whatever else it says, somebody must take it.
        std::thread::spawn(move || lines.for_each(drop));
        let port = port.expect("chromedriver says on which port it listens");
        let mut arguments = vec![
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--force-device-scale-factor=1".to_owned(),
            "--lang=en".to_owned(),
            format!("--window-size={},{}", setting.size.0, setting.size.1),
        ];
        if setting.dark {
            arguments.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        let mut options = json!({ "args": arguments });
        if setting.phone {
            let (width, height) = setting.size;
            let metrics = json!({ "width": width, "height": height, "pixelRatio": 2.0, "touch": true });
            options["mobileEmulation"] = json!({ "deviceMetrics": metrics });
        }
        let mut capabilities = serde_json::Map::new();
        capabilities.insert("goog:chromeOptions".to_owned(), options);
        capabilities
            .insert("goog:loggingPrefs".to_owned(), json!({ "browser": "ALL", "performance": "ALL" }));
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("Chromium starts; Debian has it in the package chromium");
        Browser { client, driver }
    }

    /// Opens the lab at a link, and waits until it is there.
    pub async fn open(&self, link: &str) {
        self.client.goto("about:blank").await.expect("a blank page");
        self.client.goto(&format!("{}#{link}", address())).await.expect("the page is served");
        self.until("document.querySelector('.page') !== null").await;
    }

    /// Asks the page.
    pub async fn ask(&self, expression: &str) -> Value {
        let script = format!("return ({expression});");
        match self.client.execute(&script, Vec::new()).await {
            Ok(value) => value,
            Err(error) => panic!("{expression}: {error}"),
        }
    }

    /// Waits until something is true of the page.
    pub async fn until(&self, expression: &str) {
        let begin = Instant::now();
        while self.ask(expression).await != json!(true) {
            assert!(begin.elapsed() < patience(), "this never came true: {expression}");
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    /// Clicks on what a selector finds.
    pub async fn click(&self, selector: &str) {
        let found = self.client.wait().at_most(patience()).for_element(Locator::Css(selector)).await;
        let element = found.unwrap_or_else(|error| panic!("{selector}: {error}"));
        element.click().await.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Presses keys, whoever has the focus.
    pub async fn press(&self, keys: &str) {
        let element = self.client.active_element().await.expect("something has the focus");
        element.send_keys(keys).await.expect("it takes keys");
    }

    /// After how many events the page is.
    pub async fn cursor(&self) -> u64 {
        self.ask("Number(document.querySelector('[data-cursor]').dataset.cursor)")
            .await
            .as_u64()
            .expect("a number")
    }

    /// Goes to the end of the run, and waits until it is there.
    pub async fn end(&self) {
        self.click("[name=end]").await;
        self.until("document.querySelector('.moment').dataset.over === 'true'").await;
    }

    /// Goes one event on.
    pub async fn forward(&self) {
        let before = self.cursor().await;
        self.click("[name=forward]").await;
        self.until(&format!("document.querySelector('[data-cursor]').dataset.cursor !== '{before}'")).await;
    }

    /// The fingerprint that the page shows.
    pub async fn fingerprint(&self) -> String {
        self.ask("document.querySelector('.fingerprint code').textContent")
            .await
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// What the page shows in a way that two moments can be compared: the network and the panels.
    pub async fn picture(&self) -> Value {
        self.ask(
            "[document.querySelector('.network svg').innerHTML.replace(/ touched/g, ''), \
             document.querySelector('.fingerprint').textContent, document.querySelector('.next').innerHTML]",
        )
        .await
    }

    /// What is in the browser's log: `browser` (the console) or `performance` (among others, every request).
    pub async fn log(&self, kind: &'static str) -> Vec<Value> {
        let answer = self.client.issue_cmd(Log(kind)).await.expect("the driver has logs");
        answer.as_array().cloned().unwrap_or_default()
    }

    /// Sends a command of Chromium's own protocol.
    pub async fn chromium(&self, command: &'static str, parameters: Value) -> Value {
        let command = Chromium { command, parameters };
        self.client.issue_cmd(command).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// For how long the processors have worked for the browser, by the kind of its processes: `renderer` lays
    /// out and paints, `gpu-process` puts the picture on the screen.
    pub fn worked(&self) -> BTreeMap<String, Duration> {
        let mut worked: BTreeMap<String, Duration> = BTreeMap::new();
        let mut family = vec![self.driver.id()];
        while let Some(process) = family.pop() {
            let read =
                |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
            // Whichever thread has started them.
            for thread in std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
                let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
                family.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
            }
            let words = read("cmdline");
            let kind =
                words.split(['\0', ' ']).find_map(|word| word.strip_prefix("--type=")).unwrap_or("browser");
            // Behind the name, which may have blanks: 11 fields, then the ticks as a user and as the system,
            // 100 a second.
            let stat = read("stat");
            let fields: Vec<u64> = stat
                .rsplit(") ")
                .next()
                .unwrap_or_default()
                .split(' ')
                .map(|field| field.parse().unwrap_or(0))
                .collect();
            let ticks: u64 = fields.get(11..13).unwrap_or_default().iter().sum();
            *worked.entry(kind.to_owned()).or_default() += Duration::from_millis(10 * ticks);
        }
        worked
    }

    /// Ends it.
    pub async fn close(mut self) {
        let _ = self.client.clone().close().await;
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[derive(Debug)]
struct Log(&'static str);

impl fantoccini::wd::WebDriverCompatibleCommand for Log {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({ "type": self.0 }).to_string()))
    }
}

#[derive(Debug)]
struct Chromium {
    command: &'static str,
    parameters: Value,
}

impl fantoccini::wd::WebDriverCompatibleCommand for Chromium {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        let body = json!({ "cmd": self.command, "params": self.parameters });
        (http::Method::POST, Some(body.to_string()))
    }
}
