//! Makes Rust of the interface's description, without any program that would have to be installed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = ["kv.proto", "rpc.proto", "v3lock.proto", "v3election.proto"];
    let described = protox::compile(files, ["proto"])?;
    // Keys and values are shared, not copied.
    tonic_prost_build::configure().bytes(".").compile_fds(described)?;
    println!("cargo:rerun-if-changed=proto");
    Ok(())
}
