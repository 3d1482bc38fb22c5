//! Makes Rust of the interface's description, without any program that would have to be installed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = ["auth.proto", "kv.proto", "rpc.proto", "v3lock.proto", "v3election.proto"];
    let described = protox::compile(files, ["proto"])?;
    // Keys and values are shared, not copied.
    tonic_prost_build::configure().bytes(".").compile_fds(described.clone())?;
    // JSON as etcd's gateway has it: names as they are written in the descriptions.
    let mut json = pbjson_build::Builder::new();
    for file in described.file {
        json.register_file_descriptor(file);
    }
    json.preserve_proto_field_names().build(&[
        ".authpb",
        ".mvccpb",
        ".etcdserverpb",
        ".v3lockpb",
        ".v3electionpb",
    ])?;
    println!("cargo:rerun-if-changed=proto");
    Ok(())
}
