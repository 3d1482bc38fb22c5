//! Any text as what a member of the service is told at its start, by options and by a file. It is refused
//! with reasons, or makes a configuration that can be written down and is the same when it is read again.

use habemus_server::hostile::configuration;

/// Options, one in each line; after an empty line, the file.
pub fn attack(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (options, file) = text.split_once("\n\n").unwrap_or(("", &text));
    let options: Vec<&str> = options.lines().collect();
    match configuration(&options, file) {
        Ok(settled) => assert_eq!(configuration(&[], &settled), Ok(settled.clone()), "{settled}"),
        Err(reasons) => assert!(!reasons.is_empty()),
    }
}

/// A file for one of three members, options for another, and both.
pub fn examples() -> Vec<Vec<u8>> {
    let file = "name = \"a\"\ndata = \"a\"\nlisten = \"127.0.0.1:2379\"\nhistory-seconds = 3600\n\
                cluster = [\"a=127.0.0.1:2380\", \"b=[::1]:2480\", \"c=localhost:2580\"]\n\
                quota = 1000000\nhistory = 1000\nmax-connections = 9\nmax-rate = 100\n\
                greeting-seconds = 5\nadvertise = \"127.0.0.1:9\"\nlisten-peer = \"127.0.0.1:2381\"\n";
    let tls = "cert-file = \"a.pem\"\nkey-file = \"a.key\"\ntrusted-ca-file = \"ca.pem\"\n\
               client-crl-file = \"crl.pem\"\nclient-cert-auth = true\npeer-cert-file = \"p.pem\"\n\
               peer-key-file = \"p.key\"\npeer-trusted-ca-file = \"pca.pem\"\nlisten = \"0.0.0.0:1\"\n\
               advertise = \"192.0.2.7:1\"\n";
    let joins = "--name\nd\n--peer\ndb4.example.org:2380\n--join=db1:2380,db2:2380\n\
                 --insecure-beyond-loopback\n--listen\n192.0.2.7:2379";
    let restored = "--restore\nbackup\n--restore-skip=7\n--check";
    [
        format!("\n\n{file}"),
        format!("\n\n{tls}"),
        format!("{joins}\n\n"),
        format!("{restored}\n\n{file}"),
        format!("--client-cert-auth\n--quota=18446744073709551615\n\n{tls}"),
    ]
    .map(String::into_bytes)
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_ones_are_taken() {
        for example in examples() {
            let text = String::from_utf8(example).expect("it is a text");
            let (options, file) = text.split_once("\n\n").expect("it has both");
            let options: Vec<&str> = options.lines().collect();
            configuration(&options, file).unwrap_or_else(|why| panic!("{text}: {why}"));
        }
    }
}
