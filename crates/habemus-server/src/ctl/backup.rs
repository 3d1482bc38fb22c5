//! Backups of a running cluster, and new clusters made of them.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use habemus_etcd::etcdserverpb::SnapshotRequest;
use habemus_etcd::etcdserverpb::maintenance_client::MaintenanceClient;
use sha2::{Digest, Sha256};

use crate::codes::{self, Failed};
use crate::options::ServiceOptions;

/// Write all of a running cluster, as it is at one moment, to a file.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus backup monday.habemus
  habemus restore monday.habemus --data new
      a new cluster of it; `habemus restore --help` says more

All that was answered before is in it. The file is written beside and renamed
when it is complete, and has a checksum. `etcdctl snapshot save` writes the
same.

Exit codes: 0 done, 1 the file cannot be written, 125 the service could not be
reached, or refused")]
pub(crate) struct Backup {
    #[command(flatten)]
    service: ServiceOptions,
    /// The file
    file: PathBuf,
}

/// Make the directory of a member of a new cluster from a backup.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus restore monday.habemus --data new && habemus serve --data new
      a cluster of one
  cluster=a=127.0.0.1:2380,b=127.0.0.1:2480,c=127.0.0.1:2580
  habemus restore monday.habemus --name a --data a --cluster $cluster
      one of three: the same with the names of the others, from the same file

The new cluster is another one: members of the old one are refused. Its
revisions, and so its tokens, begin far beyond all that the old one can have
given since the backup, and watchers of older revisions are told that these are
forgotten. Sessions of the backup have their whole time again, but nobody is
inside a lock or waits for one: others may have been since, with greater tokens.
Stop the old cluster first: two clusters would both grant the same locks.
Exit codes: 0 done, 1 not done, 2 bad input")]
pub(crate) struct Restore {
    /// The backup
    file: PathBuf,
    /// The directory that is made
    #[arg(long, value_name = "DIRECTORY", default_value = "habemus-data")]
    data: PathBuf,
    /// What this member is called
    #[arg(long)]
    name: Option<String>,
    /// The members of the new cluster, with the addresses where they hear each other
    #[arg(long, value_name = "NAME=ADDRESS,…")]
    cluster: Option<String>,
    /// How many revisions are left out, so that none is given twice
    #[arg(long, value_name = "REVISIONS")]
    skip: Option<u64>,
}

impl Backup {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        // What is renamed over a device takes its place.
        if std::fs::metadata(&self.file).is_ok_and(|there| !there.is_file()) {
            let why =
                format!("{}: it is there, and no file: say where the backup is to be", self.file.display());
            return Err(Failed { code: 1, why });
        }
        let client = self.service.connected(&self.service.endpoints).await?;
        let answer = MaintenanceClient::new(client.channel()).snapshot(SnapshotRequest {}).await;
        let mut parts = answer.map_err(codes::refused)?.into_inner();
        let beside = self.file.with_added_extension("new");
        let tell = |error: std::io::Error| Failed { code: 1, why: format!("{}: {error}", beside.display()) };
        let mut file = File::create(&beside).map_err(tell)?;
        let mut all = Vec::new();
        while let Some(part) = parts.message().await.map_err(codes::refused)? {
            file.write_all(&part.blob).map_err(tell)?;
            all.extend_from_slice(&part.blob);
        }
        let sum = all.len().checked_sub(32).map(|end| all.split_at(end));
        if sum.is_none_or(|(bytes, sum)| Sha256::digest(bytes).as_slice() != sum) {
            drop(std::fs::remove_file(&beside));
            let why = "the service sent a backup that is not complete: try again".to_owned();
            return Err(Failed { code: codes::UNREACHABLE, why });
        }
        file.sync_all().map_err(tell)?;
        std::fs::rename(&beside, &self.file).map_err(tell)?;
        let directory = self.file.parent().filter(|path| !path.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new("."))).and_then(|it| it.sync_all()).map_err(tell)?;
        println!("{} has {} bytes", self.file.display(), all.len());
        Ok(0)
    }
}

impl Restore {
    /// The member's own program knows how its directory is made.
    pub(crate) fn execute(self) -> Result<u8, Failed> {
        let own = std::env::current_exe().ok().map(|own| own.with_file_name("habemusd"));
        let program = own.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from("habemusd"));
        let mut command = Command::new(&program);
        command.arg("--restore").arg(&self.file).arg("--data").arg(&self.data);
        for (option, value) in [("--name", &self.name), ("--cluster", &self.cluster)] {
            command.args(value.iter().flat_map(|value| [option, value]));
        }
        command.args(self.skip.iter().flat_map(|skip| ["--restore-skip".to_owned(), skip.to_string()]));
        let cannot = |error: std::io::Error| Failed {
            code: codes::NOT_RUN,
            why: format!("{}: {error}: it belongs beside this program", program.display()),
        };
        let status = command.status().map_err(cannot)?;
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }
}
