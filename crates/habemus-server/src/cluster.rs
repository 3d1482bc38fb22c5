//! etcd's members: who belongs to the cluster, and how that changes while it works.

use std::time::Duration;

use habemus_etcd::etcdserverpb as rpc;
use habemus_replica::{Change, Member, MemberId, Unanswered};
use habemus_store::Revision;
use tonic::{Request, Response, Status};

use crate::endpoint::Endpoint;
use crate::engine::View;
use crate::handle::{Freshness, Handle};
use crate::random;
use crate::status::Refused;

/// How often it is tried to give a new member its vote.
const PROMOTION: Duration = Duration::from_millis(250);

/// How often a change is tried that must wait for the one before it, or for a leader, and how long it waits
/// each time.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// etcd's members.
pub(crate) struct Cluster {
    pub(crate) handle: Handle,
    /// Then their URLs say so.
    pub(crate) peers_have_tls: bool,
}

type Members = Vec<(MemberId, Member)>;

/// The addresses in URLs; how members speak to each other is the members' affair, so a scheme may be left
/// out.
fn addresses(urls: &[String]) -> Result<Vec<String>, Status> {
    let bad = || Status::invalid_argument("etcdserver: given member URLs are invalid");
    let address = |url: &String| {
        let address = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")).unwrap_or(url);
        address.parse::<Endpoint>().map(String::from).map_err(|_| bad())
    };
    let addresses = urls.iter().map(address).collect::<Result<Vec<_>, _>>()?;
    if addresses.is_empty() { Err(bad()) } else { Ok(addresses) }
}

impl Cluster {
    fn to_wire(&self, (MemberId(id), member): (MemberId, Member)) -> rpc::Member {
        let url = |address: &String, scheme: &str| match address.contains("://") {
            true => address.clone(),
            false => format!("{scheme}://{address}"),
        };
        let peers = if self.peers_have_tls { "https" } else { "http" };
        rpc::Member {
            id,
            peer_ur_ls: member.peer_addresses.iter().map(|address| url(address, peers)).collect(),
            client_ur_ls: member.client_addresses.iter().map(|address| url(address, "http")).collect(),
            name: member.name,
            is_learner: member.learner,
        }
    }

    async fn members(&self, freshness: Freshness) -> Result<(Members, rpc::ResponseHeader), Refused> {
        let members = self.handle.look(freshness, |view: &View<'_>| view.members()).await?;
        // Members have no part in revisions, so etcd tells none here.
        Ok((members, self.handle.header(Revision(0))))
    }

    async fn known(&self, id: MemberId) -> Result<Member, Status> {
        let (members, _) = self.members(Freshness::Linearizable).await?;
        let known = members.into_iter().find(|(member, _)| *member == id);
        known.map(|(_, member)| member).ok_or_else(|| Status::not_found("etcdserver: member not found"))
    }

    /// Whether this is the removal of somebody who is no member any more.
    async fn has_gone(&self, change: &Change) -> Result<bool, Status> {
        let (members, _) = self.members(Freshness::Local).await?;
        Ok(is_removal(change) && members.iter().all(|(id, _)| *id != change.member()))
    }

    /// Changes the membership, after the change that may be under way, and says who belongs to it then. A
    /// leader that is to be removed lets another one lead first, which is asked then.
    async fn change(&self, change: Change) -> Result<(Vec<rpc::Member>, rpc::ResponseHeader), Status> {
        for attempt in 1.. {
            let is_last = attempt >= ATTEMPTS;
            match self.handle.change(change.clone()).await {
                Ok(()) => break,
                // Nobody comes back, so it is no matter who has removed it.
                Err(Refused::Unanswered(_)) if self.has_gone(&change).await? => break,
                // The others have told this member what it does not find in its own log.
                Err(Refused::Removed) if change == Change::Remove(self.handle.member()) => break,
                Err(Refused::Unanswered(Unanswered::Unknown)) if !is_last && is_removal(&change) => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(Refused::Unanswered(Unanswered::Unchangeable | Unanswered::NoLeader)) if !is_last => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(Refused::Unanswered(Unanswered::Unchangeable)) => {
                    return Err(match change {
                        Change::Promote(_) => Status::failed_precondition(
                            "etcdserver: can only promote a learner member which is in sync with leader",
                        ),
                        _ => Status::unavailable("etcdserver: unhealthy cluster"),
                    });
                }
                Err(refused) => return Err(refused.into()),
            }
        }
        let (mut members, header) = self.members(Freshness::Local).await?;
        if is_removal(&change) {
            members.retain(|(id, _)| *id != change.member());
        }
        Ok((members.into_iter().map(|member| self.to_wire(member)).collect(), header))
    }
}

fn is_removal(change: &Change) -> bool {
    matches!(change, Change::Remove(_))
}

/// Gives a new member its vote as soon as it has caught up.
async fn promote_when_ready(handle: Handle, id: MemberId) {
    loop {
        tokio::time::sleep(PROMOTION).await;
        let look = move |view: &View<'_>| {
            let mut members = view.replica.members();
            members.any(|(member, known)| member == id && known.learner)
        };
        match handle.look(Freshness::Local, look).await {
            Ok(true) => {}
            Ok(false) | Err(_) => return,
        }
        // If it cannot be done yet, it is tried again.
        drop(handle.change(Change::Promote(id)).await);
    }
}

#[tonic::async_trait]
impl rpc::cluster_server::Cluster for Cluster {
    /// Whoever is new learns first, for one that knows nothing and has a vote could hold up everybody. If it
    /// is not to stay a learner, it gets its vote as soon as it has caught up.
    async fn member_add(
        &self,
        request: Request<rpc::MemberAddRequest>,
    ) -> Result<Response<rpc::MemberAddResponse>, Status> {
        self.handle.of(&request).check_root().await?;
        let rpc::MemberAddRequest { peer_ur_ls, is_learner } = request.into_inner();
        let peer_addresses = addresses(&peer_ur_ls)?;
        let (members, _) = self.members(Freshness::Linearizable).await?;
        if members.iter().any(|(_, known)| known.peer_addresses.iter().any(|it| peer_addresses.contains(it)))
        {
            return Err(Status::failed_precondition("etcdserver: Peer URLs already exists"));
        }
        let id = MemberId(random::bits() | 1);
        let member =
            Member { name: String::new(), peer_addresses, client_addresses: Vec::new(), learner: true };
        let (members, header) = self.change(Change::Add(id, member.clone())).await?;
        if !is_learner {
            tokio::spawn(promote_when_ready(self.handle.clone(), id));
        }
        let member = Some(self.to_wire((id, member)));
        Ok(Response::new(rpc::MemberAddResponse { header: Some(header), member, members }))
    }

    async fn member_remove(
        &self,
        request: Request<rpc::MemberRemoveRequest>,
    ) -> Result<Response<rpc::MemberRemoveResponse>, Status> {
        self.handle.of(&request).check_root().await?;
        let id = MemberId(request.into_inner().id);
        self.known(id).await?;
        let (members, header) = self.change(Change::Remove(id)).await?;
        Ok(Response::new(rpc::MemberRemoveResponse { header: Some(header), members }))
    }

    async fn member_update(
        &self,
        request: Request<rpc::MemberUpdateRequest>,
    ) -> Result<Response<rpc::MemberUpdateResponse>, Status> {
        self.handle.of(&request).check_root().await?;
        let rpc::MemberUpdateRequest { id, peer_ur_ls } = request.into_inner();
        let peer_addresses = addresses(&peer_ur_ls)?;
        let known = self.known(MemberId(id)).await?;
        let change = Change::Update(MemberId(id), Member { peer_addresses, ..known });
        let (members, header) = self.change(change).await?;
        Ok(Response::new(rpc::MemberUpdateResponse { header: Some(header), members }))
    }

    async fn member_list(
        &self,
        request: Request<rpc::MemberListRequest>,
    ) -> Result<Response<rpc::MemberListResponse>, Status> {
        let linearizable = request.into_inner().linearizable;
        let freshness = if linearizable { Freshness::Linearizable } else { Freshness::Local };
        let (members, header) = self.members(freshness).await?;
        let members = members.into_iter().map(|member| self.to_wire(member)).collect();
        Ok(Response::new(rpc::MemberListResponse { header: Some(header), members }))
    }

    async fn member_promote(
        &self,
        request: Request<rpc::MemberPromoteRequest>,
    ) -> Result<Response<rpc::MemberPromoteResponse>, Status> {
        self.handle.of(&request).check_root().await?;
        let id = MemberId(request.into_inner().id);
        if !self.known(id).await?.learner {
            return Err(Status::failed_precondition("etcdserver: can only promote a learner member"));
        }
        let (members, header) = self.change(Change::Promote(id)).await?;
        Ok(Response::new(rpc::MemberPromoteResponse { header: Some(header), members }))
    }
}
