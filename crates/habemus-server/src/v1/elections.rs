//! Elections that may be vacant.

use std::time::Duration;

use bytes::Bytes;
use habemus_api::ErrorCode;
use habemus_api::v1 as rpc;
use habemus_store::{Given, Mode, Operation, Put};

use super::locks::Claim;
use super::place::{Inside, Wanted, enter};
use super::{Api, Needs, Refusal, name, place, session, text, time};
use crate::engine::View;
use crate::handle::Freshness;

/// Who leads, as others see it.
pub(super) fn office(view: &View<'_>, name: &[u8]) -> rpc::Office {
    let standing = view.store.queue(name);
    let leader = standing.first().map(|first| place(view.store, first, None));
    let (revision, now_ms) = (view.store.revision().0, time(view.now));
    rpc::Office { name: text(name), vacant: leader.is_none(), leader, revision, now_ms }
}

impl Api {
    pub(super) async fn campaign(&self, request: rpc::Campaign) -> Result<rpc::Leadership, Refusal> {
        let wanted = Wanted {
            name: name(&request.name)?.to_owned().into(),
            session: session(&request.session)?,
            mode: Mode::Exclusive,
            value: request.value.clone().into(),
            limit: request.wait_ms.map(Duration::from_millis),
        };
        let id = wanted.session;
        let Inside { key, token } = enter(&self.0, wanted).await?;
        let (deadline_ms, now_ms) = self.deadline(id).await?;
        let (name, value, key) = (request.name, request.value, text(&key));
        let session = id.to_string();
        Ok(rpc::Leadership { name, session, token: token.0, deadline_ms, now_ms, key, value })
    }

    pub(super) async fn proclaim(&self, request: rpc::Proclaim) -> Result<rpc::Leadership, Refusal> {
        let claim = Claim::new(&request.name, &request.session, request.token)?;
        let value = Bytes::from(request.value.clone());
        let put = |key: &Bytes| {
            let (key, value, session) = (key.clone(), Given::New(value), Given::Present);
            vec![Operation::Put(Put { key, value, session })]
        };
        let written = self.guarded(claim, put).await?;
        let (key, _) = written.ok_or(Refusal::new(ErrorCode::NotOwner))?;
        let id = session(&request.session)?;
        let (deadline_ms, now_ms) = self.deadline(id).await?;
        let (name, token, value, key) = (request.name, request.token, request.value, text(&key));
        Ok(rpc::Leadership { name, session: id.to_string(), token, deadline_ms, now_ms, key, value })
    }

    pub(super) async fn get_leader(&self, request: rpc::NamedLock) -> Result<rpc::Office, Refusal> {
        let of = name(&request.name)?.to_owned();
        let needs = Needs::Queue(of.clone().into());
        self.look(Freshness::Linearizable, needs, move |view: &View<'_>| office(view, of.as_bytes())).await
    }
}
