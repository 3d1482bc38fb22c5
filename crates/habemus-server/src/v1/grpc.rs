//! The calls by gRPC.

use std::pin::Pin;

use futures_util::{Stream, StreamExt};
use habemus_api::v1 as rpc;
use rpc::elections_server::Elections;
use rpc::locks_server::Locks;
use rpc::sessions_server::Sessions;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::follow::Told;
use super::{Api, Refusal};

fn answer<T>(answered: Result<T, Refusal>) -> Result<Response<T>, Status> {
    Ok(Response::new(answered?))
}

type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

fn messages<T: Send + 'static>(told: Result<Told<T>, Refusal>) -> Result<Response<Messages<T>>, Status> {
    let stream = ReceiverStream::new(told?).map(|message| message.map_err(Status::from));
    Ok(Response::new(Box::pin(stream)))
}

#[tonic::async_trait]
impl Sessions for Api {
    async fn open(&self, request: Request<rpc::OpenSession>) -> Result<Response<rpc::Session>, Status> {
        answer(self.of(&request).open_session(request.into_inner()).await)
    }

    async fn renew(&self, request: Request<rpc::NamedSession>) -> Result<Response<rpc::Session>, Status> {
        answer(self.of(&request).renew_session(request.into_inner()).await)
    }

    async fn end(&self, request: Request<rpc::NamedSession>) -> Result<Response<rpc::Done>, Status> {
        answer(self.of(&request).end_session(request.into_inner()).await)
    }

    async fn get(&self, request: Request<rpc::NamedSession>) -> Result<Response<rpc::Session>, Status> {
        answer(self.of(&request).get_session(request.into_inner()).await)
    }

    async fn list(&self, request: Request<rpc::Nothing>) -> Result<Response<rpc::SessionList>, Status> {
        answer(self.of(&request).list_sessions().await)
    }
}

#[tonic::async_trait]
impl Locks for Api {
    async fn acquire(&self, request: Request<rpc::Acquire>) -> Result<Response<rpc::Grant>, Status> {
        answer(Api::acquire(&self.of(&request), request.into_inner()).await)
    }

    async fn release(&self, request: Request<rpc::Release>) -> Result<Response<rpc::Done>, Status> {
        answer(Api::release(&self.of(&request), request.into_inner()).await)
    }

    async fn write(&self, request: Request<rpc::GuardedWrite>) -> Result<Response<rpc::Done>, Status> {
        answer(Api::write(&self.of(&request), request.into_inner()).await)
    }

    async fn get(&self, request: Request<rpc::NamedLock>) -> Result<Response<rpc::Queue>, Status> {
        answer(self.of(&request).get_lock(request.into_inner()).await)
    }

    async fn list(&self, request: Request<rpc::Nothing>) -> Result<Response<rpc::QueueList>, Status> {
        answer(self.of(&request).list_locks().await)
    }

    type WatchStream = Messages<rpc::LockEvent>;

    async fn watch(&self, request: Request<rpc::NamedLock>) -> Result<Response<Self::WatchStream>, Status> {
        messages(Api::watch(&self.of(&request), request.into_inner()).await)
    }
}

#[tonic::async_trait]
impl Elections for Api {
    async fn campaign(&self, request: Request<rpc::Campaign>) -> Result<Response<rpc::Leadership>, Status> {
        answer(Api::campaign(&self.of(&request), request.into_inner()).await)
    }

    async fn proclaim(&self, request: Request<rpc::Proclaim>) -> Result<Response<rpc::Leadership>, Status> {
        answer(Api::proclaim(&self.of(&request), request.into_inner()).await)
    }

    async fn resign(&self, request: Request<rpc::Release>) -> Result<Response<rpc::Done>, Status> {
        answer(Api::release(&self.of(&request), request.into_inner()).await)
    }

    async fn get(&self, request: Request<rpc::NamedLock>) -> Result<Response<rpc::Office>, Status> {
        answer(self.of(&request).get_leader(request.into_inner()).await)
    }

    type ObserveStream = Messages<rpc::Office>;

    async fn observe(
        &self,
        request: Request<rpc::NamedLock>,
    ) -> Result<Response<Self::ObserveStream>, Status> {
        messages(Api::observe(&self.of(&request), request.into_inner()).await)
    }
}
