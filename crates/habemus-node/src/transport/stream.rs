//! A connection, with or without TLS.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::tls::Tls;

/// After so long without an acknowledgement of what was sent, the system gives a connection up.
const DEAD_AFTER: Duration = Duration::from_secs(3);

/// Anything that bytes can be read from and written to.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

pub(crate) type Stream = Box<dyn Duplex>;

/// Dials node `id` at `address`.
pub(crate) async fn dial(address: &str, id: u64, tls: Option<&Tls>) -> io::Result<Stream> {
    let stream = TcpStream::connect(address).await?;
    prepare(&stream)?;
    match tls {
        None => Ok(Box::new(stream)),
        Some(tls) => Ok(Box::new(tls.connect(id, stream).await?)),
    }
}

/// Accepts a connection; with TLS, also gives the test whether the other's certificate names an identifier.
pub(crate) async fn accept(stream: TcpStream, tls: Option<&Tls>) -> io::Result<(Stream, Named)> {
    prepare(&stream)?;
    match tls {
        None => Ok((Box::new(stream), Box::new(|_| true))),
        Some(tls) => {
            let (stream, named) = tls.accept(stream).await?;
            Ok((Box::new(stream), named))
        }
    }
}

/// Whether the certificate of a connection names this identifier.
pub(crate) type Named = Box<dyn Fn(u64) -> bool + Send>;

/// Small messages leave at once, and a peer whose machine is gone is noticed.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    rustix::net::sockopt::set_socket_keepalive(stream, true)?;
    rustix::net::sockopt::set_tcp_user_timeout(stream, DEAD_AFTER.as_millis() as u32)?;
    Ok(())
}
