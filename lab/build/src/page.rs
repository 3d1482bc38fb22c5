//! How the files of the page are made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use habemus_page::Page;
use wasm_bindgen_cli_support::Bindgen;

use crate::fields::fields;

const TARGET: &str = "wasm32-unknown-unknown";

/// Where things are.
struct Places {
    /// The project.
    root: PathBuf,
    /// Its directory `lab`.
    lab: PathBuf,
    /// Where everything is built.
    target: PathBuf,
}

/// Builds what is missing, and reads the page.
///
/// # Errors
/// If something is missing that cannot be installed, or does not compile; the error says what to do.
pub fn build() -> Result<Page, String> {
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let lab = lab.canonicalize().map_err(|error| format!("cannot find {}: {error}", lab.display()))?;
    let root = lab.join("..").canonicalize().map_err(|error| format!("cannot find the project: {error}"))?;
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => PathBuf::from(target),
        None => root.join("target"),
    };
    let places = Places { root, lab, target: target.join("lab") };
    engine(&places)?;
    libraries(&places)?;
    bundle(&places)?;
    read(&places)
}

/// Runs a program; what it says is shown only if it fails, unless it is one that tells how far it is.
fn run(command: &mut Command, what: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{what}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{what} fails:\n{}", String::from_utf8_lossy(&said)))
}

/// The engine as WebAssembly, and the script that loads it.
fn engine(places: &Places) -> Result<(), String> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map_err(|error| format!("rustc: {error}"))?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
    if !sysroot.join("lib/rustlib").join(TARGET).is_dir() {
        let added = Command::new("rustup").args(["target", "add", TARGET]).status();
        if !added.is_ok_and(|status| status.success()) {
            return Err(format!(
                "Rust's target {TARGET} is missing. Install it with: rustup target add {TARGET}"
            ));
        }
    }
    if !places.target.join(TARGET).is_dir() {
        eprintln!("building the engine, once; this takes two or three minutes");
    }
    let manifest = places.lab.join("Cargo.toml");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "--locked", "--target", TARGET, "-p", "habemus-lab-engine"]);
    cargo.args(["-p", "habemus-lab-checker"]);
    cargo.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&places.target);
    // Flags for this machine are no flags for a browser.
    cargo.env_remove("RUSTFLAGS");
    run(&mut cargo, "building the engine")?;
    bind(places, "engine")?;
    bind(places, "checker")
}

/// Makes a script that loads an engine.
fn bind(places: &Places, name: &str) -> Result<(), String> {
    let module = places.target.join(TARGET).join(format!("release/habemus_lab_{name}.wasm"));
    let bound = places.target.join("bound");
    let stamp = bound.join(format!("{name}_bg.wasm"));
    if is_newer(&stamp, &module) {
        return Ok(());
    }
    let mut bindgen = Bindgen::new();
    bindgen.input_path(&module).out_name(name).typescript(true).remove_name_section(true);
    let bound_as_module = bindgen.web(true).map_err(|error| format!("binding the {name}: {error:#}"))?;
    bound_as_module.generate(&bound).map_err(|error| format!("binding the {name}: {error:#}"))
}

fn is_newer(file: &Path, than: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|metadata| metadata.modified());
    matches!((changed(file), changed(than)), (Ok(file), Ok(than)) if file >= than)
}

/// The libraries of the page, from npm's registry.
fn libraries(places: &Places) -> Result<(), String> {
    let node = Command::new("node").arg("--version").output();
    let version = node.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let major = version
        .as_deref()
        .and_then(|version| version.trim_start_matches('v').split('.').next()?.parse().ok());
    match major {
        Some(18_u32..) => {}
        Some(_) => {
            let version = version.unwrap_or_default();
            return Err(format!("Node {version} is too old: the page needs 18 or newer"));
        }
        None => return Err("Node is missing. Install it with: sudo apt-get install nodejs npm".to_owned()),
    }
    let installed = places.lab.join("node_modules/.package-lock.json");
    if is_newer(&installed, &places.lab.join("package-lock.json")) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&places.lab);
    run(&mut npm, "npm ci (it comes with Node: sudo apt-get install npm)")
}

/// The page's own scripts.
fn bundle(places: &Places) -> Result<(), String> {
    let site = places.target.join("site");
    let mut command = Command::new(places.lab.join("node_modules/.bin/esbuild"));
    command.args(["src/main.tsx", "src/worker.ts", "src/checker.ts", "src/style.css"]);
    command.arg(format!("--outdir={}", site.display()));
    for name in ["engine", "checker"] {
        let script = places.target.join(format!("bound/{name}.js"));
        command.arg(format!("--alias:{name}={}", script.display()));
    }
    command.args(["--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning"]);
    command.args(["--jsx=automatic", "--jsx-import-source=preact"]).current_dir(&places.lab);
    run(&mut command, "esbuild")
}

/// The files of the page.
fn read(places: &Places) -> Result<Page, String> {
    let site = places.target.join("site");
    let mut files = BTreeMap::new();
    let mut add = |name: &str, path: PathBuf| {
        let bytes =
            std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        files.insert(name.to_owned(), bytes);
        Ok::<(), String>(())
    };
    add("index.html", places.lab.join("src/index.html"))?;
    for name in ["engine_bg.wasm", "checker_bg.wasm"] {
        add(name, places.target.join("bound").join(name))?;
    }
    for name in ["main.js", "worker.js", "checker.js", "style.css"] {
        add(name, site.join(name))?;
    }
    files.insert("exhibits.json".to_owned(), exhibits(&places.root)?.into_bytes());
    files.insert("fields.json".to_owned(), fields(&places.root)?.into_bytes());
    Ok(Page(files))
}

/// All example runs, as a list of names and texts.
fn exhibits(root: &Path) -> Result<String, String> {
    let directory = root.join("exhibits");
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", directory.display());
    let mut exhibits = BTreeMap::new();
    for file in std::fs::read_dir(&directory).map_err(failed)? {
        let path = file.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            exhibits.insert(name, std::fs::read_to_string(&path).map_err(failed)?);
        }
    }
    let list: Vec<(String, String)> = exhibits.into_iter().collect();
    serde_json::to_string(&list).map_err(|error| error.to_string())
}
