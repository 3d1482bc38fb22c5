//! etcd's users and roles.

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use habemus_etcd::authpb;
use habemus_etcd::authpb::permission::Type;
use habemus_etcd::etcdserverpb as rpc;
use habemus_store::{
    Access, Auth as Known, AuthCommand, AuthError, Author, Command, KeyRange, Permission, StoreError,
};
use tokio::sync::Semaphore;
use tonic::{Request, Response, Status};

use crate::engine::View;
use crate::handle::{Freshness, Handle};
use crate::status::Refused;
use crate::{random, tokens};

/// So many passwords are looked at at once: each takes time and memory, on purpose.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// etcd's users and roles.
pub(crate) struct Auth(pub(crate) Handle);

fn refused(error: AuthError) -> Refused {
    Refused::Store(StoreError::Auth(error))
}

/// Does something that takes long, elsewhere.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Status> {
    let _one = AT_ONCE.acquire().await.map_err(|_| Refused::Stopping)?;
    tokio::task::spawn_blocking(work).await.map_err(|_| Refused::Stopping.into())
}

async fn hash(password: String) -> Result<String, Status> {
    let salt = [random::bits().to_le_bytes(), random::bits().to_le_bytes()].concat();
    let hashed = aside(move || Argon2::default().hash_password_with_salt(password.as_bytes(), &salt)).await?;
    hashed.map(|hash| hash.to_string()).map_err(|error| Status::internal(error.to_string()))
}

async fn fits(password: String, hash: String) -> Result<bool, Status> {
    aside(move || Argon2::default().verify_password(password.as_bytes(), hash.as_str()).is_ok()).await
}

fn permission(permission: &authpb::Permission) -> Result<Permission, Status> {
    let access = match Type::try_from(permission.perm_type) {
        Ok(Type::Read) => Access::Read,
        Ok(Type::Write) => Access::Write,
        Ok(Type::Readwrite) => Access::ReadWrite,
        Err(_) => return Err(Status::invalid_argument("etcdserver: permission not given")),
    };
    Ok(Permission { keys: KeyRange::from_wire(permission.key.clone(), permission.range_end.clone()), access })
}

fn to_wire(permission: &Permission) -> authpb::Permission {
    let perm_type = match permission.access {
        Access::Read => Type::Read,
        Access::Write => Type::Write,
        Access::ReadWrite => Type::Readwrite,
    };
    let (key, range_end) = permission.keys.to_wire();
    authpb::Permission { perm_type: perm_type.into(), key, range_end }
}

impl Auth {
    async fn change<T>(
        &self,
        request: &Request<T>,
        command: AuthCommand,
    ) -> Result<rpc::ResponseHeader, Status> {
        Ok(self.0.of(request).execute(Command::Auth(command)).await?.1)
    }

    /// What whoever asks may know of users and roles.
    async fn look<T, A: Send + 'static>(
        &self,
        request: &Request<T>,
        look: impl FnOnce(&Known, Option<&Author>) -> Result<A, AuthError> + Send + 'static,
    ) -> Result<(A, rpc::ResponseHeader), Status> {
        let handle = self.0.of(request);
        let author = handle.author().cloned();
        let look = move |view: &View<'_>| (look(view.store.auth(), author.as_ref()), view.store.revision());
        let (found, revision) = handle.look(Freshness::Linearizable, look).await?;
        Ok((found.map_err(refused)?, handle.header(revision)))
    }
}

#[tonic::async_trait]
impl rpc::auth_server::Auth for Auth {
    async fn auth_enable(
        &self,
        request: Request<rpc::AuthEnableRequest>,
    ) -> Result<Response<rpc::AuthEnableResponse>, Status> {
        let secret = (0..4).flat_map(|_| random::bits().to_le_bytes()).collect();
        let header = Some(self.change(&request, AuthCommand::Enable { secret }).await?);
        Ok(Response::new(rpc::AuthEnableResponse { header }))
    }

    async fn auth_disable(
        &self,
        request: Request<rpc::AuthDisableRequest>,
    ) -> Result<Response<rpc::AuthDisableResponse>, Status> {
        let header = Some(self.change(&request, AuthCommand::Disable).await?);
        Ok(Response::new(rpc::AuthDisableResponse { header }))
    }

    async fn auth_status(
        &self,
        request: Request<rpc::AuthStatusRequest>,
    ) -> Result<Response<rpc::AuthStatusResponse>, Status> {
        let look = |auth: &Known, author: Option<&Author>| {
            auth.check_root(author).map(|()| (auth.is_enabled(), auth.revision()))
        };
        let ((enabled, auth_revision), header) = self.look(&request, look).await?;
        Ok(Response::new(rpc::AuthStatusResponse { header: Some(header), enabled, auth_revision }))
    }

    async fn authenticate(
        &self,
        request: Request<rpc::AuthenticateRequest>,
    ) -> Result<Response<rpc::AuthenticateResponse>, Status> {
        let rpc::AuthenticateRequest { name, password } = request.get_ref().clone();
        let wanted = name.clone();
        let look = move |auth: &Known, _: Option<&Author>| match auth.is_enabled() {
            true => Ok((auth.secret().to_vec(), auth.user(&wanted).cloned())),
            false => Err(AuthError::NotEnabled),
        };
        let ((secret, user), header) = self.look(&request, look).await?;
        let hash_of = |user: &habemus_store::User| user.password.clone().map(|hash| (hash, user.since));
        let known = match user.as_ref().and_then(hash_of) {
            Some((hash, since)) => fits(password, hash).await?.then_some(since),
            // It takes as long to find that there is no such user: nobody learns who there is.
            None => hash(password).await.map(|_| None)?,
        };
        let Some(since) = known else {
            let text = "etcdserver: authentication failed, invalid user ID or password";
            return Err(Status::invalid_argument(text));
        };
        let token = tokens::make(&secret, &name, since, tokens::VALIDITY);
        Ok(Response::new(rpc::AuthenticateResponse { header: Some(header), token }))
    }

    async fn user_add(
        &self,
        request: Request<rpc::AuthUserAddRequest>,
    ) -> Result<Response<rpc::AuthUserAddResponse>, Status> {
        let rpc::AuthUserAddRequest { name, password, options } = request.get_ref().clone();
        let password = match options.is_some_and(|options| options.no_password) {
            true => None,
            false => Some(hash(password).await?),
        };
        let header = Some(self.change(&request, AuthCommand::AddUser(name, password)).await?);
        Ok(Response::new(rpc::AuthUserAddResponse { header }))
    }

    /// Whoever may not see others may see itself.
    async fn user_get(
        &self,
        request: Request<rpc::AuthUserGetRequest>,
    ) -> Result<Response<rpc::AuthUserGetResponse>, Status> {
        let name = request.get_ref().name.clone();
        let look = move |auth: &Known, author: Option<&Author>| {
            let is_own = matches!(author, Some(Author::User(acting)) if acting.name == name);
            if is_own { auth.check_known(author) } else { auth.check_root(author) }?;
            let user = auth.user(&name).ok_or(AuthError::UserNotFound)?;
            Ok(user.roles.iter().cloned().collect())
        };
        let (roles, header) = self.look(&request, look).await?;
        Ok(Response::new(rpc::AuthUserGetResponse { header: Some(header), roles }))
    }

    async fn user_list(
        &self,
        request: Request<rpc::AuthUserListRequest>,
    ) -> Result<Response<rpc::AuthUserListResponse>, Status> {
        let look = |auth: &Known, author: Option<&Author>| {
            auth.check_root(author).map(|()| auth.users().cloned().collect())
        };
        let (users, header) = self.look(&request, look).await?;
        Ok(Response::new(rpc::AuthUserListResponse { header: Some(header), users }))
    }

    async fn user_delete(
        &self,
        request: Request<rpc::AuthUserDeleteRequest>,
    ) -> Result<Response<rpc::AuthUserDeleteResponse>, Status> {
        let command = AuthCommand::DeleteUser(request.get_ref().name.clone());
        let header = Some(self.change(&request, command).await?);
        Ok(Response::new(rpc::AuthUserDeleteResponse { header }))
    }

    async fn user_change_password(
        &self,
        request: Request<rpc::AuthUserChangePasswordRequest>,
    ) -> Result<Response<rpc::AuthUserChangePasswordResponse>, Status> {
        let rpc::AuthUserChangePasswordRequest { name, password } = request.get_ref().clone();
        let command = AuthCommand::SetPassword(name, hash(password).await?);
        let header = Some(self.change(&request, command).await?);
        Ok(Response::new(rpc::AuthUserChangePasswordResponse { header }))
    }

    async fn user_grant_role(
        &self,
        request: Request<rpc::AuthUserGrantRoleRequest>,
    ) -> Result<Response<rpc::AuthUserGrantRoleResponse>, Status> {
        let rpc::AuthUserGrantRoleRequest { user, role } = request.get_ref().clone();
        let header = Some(self.change(&request, AuthCommand::GrantRole(user, role)).await?);
        Ok(Response::new(rpc::AuthUserGrantRoleResponse { header }))
    }

    async fn user_revoke_role(
        &self,
        request: Request<rpc::AuthUserRevokeRoleRequest>,
    ) -> Result<Response<rpc::AuthUserRevokeRoleResponse>, Status> {
        let rpc::AuthUserRevokeRoleRequest { name, role } = request.get_ref().clone();
        let header = Some(self.change(&request, AuthCommand::RevokeRole(name, role)).await?);
        Ok(Response::new(rpc::AuthUserRevokeRoleResponse { header }))
    }

    async fn role_add(
        &self,
        request: Request<rpc::AuthRoleAddRequest>,
    ) -> Result<Response<rpc::AuthRoleAddResponse>, Status> {
        let command = AuthCommand::AddRole(request.get_ref().name.clone());
        let header = Some(self.change(&request, command).await?);
        Ok(Response::new(rpc::AuthRoleAddResponse { header }))
    }

    /// Whoever has a role may see what it may do.
    async fn role_get(
        &self,
        request: Request<rpc::AuthRoleGetRequest>,
    ) -> Result<Response<rpc::AuthRoleGetResponse>, Status> {
        let role = request.get_ref().role.clone();
        let look = move |auth: &Known, author: Option<&Author>| {
            let acting = match author {
                Some(Author::User(acting)) => auth.user(&acting.name),
                _ => None,
            };
            let is_own = acting.is_some_and(|user| user.roles.contains(&role));
            if is_own { auth.check_known(author) } else { auth.check_root(author) }?;
            Ok(auth.role(&role).ok_or(AuthError::RoleNotFound)?.iter().map(to_wire).collect())
        };
        let (perm, header) = self.look(&request, look).await?;
        Ok(Response::new(rpc::AuthRoleGetResponse { header: Some(header), perm }))
    }

    async fn role_list(
        &self,
        request: Request<rpc::AuthRoleListRequest>,
    ) -> Result<Response<rpc::AuthRoleListResponse>, Status> {
        let look = |auth: &Known, author: Option<&Author>| {
            auth.check_root(author).map(|()| auth.roles().cloned().collect())
        };
        let (roles, header) = self.look(&request, look).await?;
        Ok(Response::new(rpc::AuthRoleListResponse { header: Some(header), roles }))
    }

    async fn role_delete(
        &self,
        request: Request<rpc::AuthRoleDeleteRequest>,
    ) -> Result<Response<rpc::AuthRoleDeleteResponse>, Status> {
        let command = AuthCommand::DeleteRole(request.get_ref().role.clone());
        let header = Some(self.change(&request, command).await?);
        Ok(Response::new(rpc::AuthRoleDeleteResponse { header }))
    }

    async fn role_grant_permission(
        &self,
        request: Request<rpc::AuthRoleGrantPermissionRequest>,
    ) -> Result<Response<rpc::AuthRoleGrantPermissionResponse>, Status> {
        let rpc::AuthRoleGrantPermissionRequest { name, perm } = request.get_ref().clone();
        let perm = perm.ok_or_else(|| Status::invalid_argument("etcdserver: permission not given"))?;
        let command = AuthCommand::Permit(name, permission(&perm)?);
        let header = Some(self.change(&request, command).await?);
        Ok(Response::new(rpc::AuthRoleGrantPermissionResponse { header }))
    }

    async fn role_revoke_permission(
        &self,
        request: Request<rpc::AuthRoleRevokePermissionRequest>,
    ) -> Result<Response<rpc::AuthRoleRevokePermissionResponse>, Status> {
        let rpc::AuthRoleRevokePermissionRequest { role, key, range_end } = request.get_ref().clone();
        let command = AuthCommand::Forbid(role, KeyRange::from_wire(key, range_end));
        let header = Some(self.change(&request, command).await?);
        Ok(Response::new(rpc::AuthRoleRevokePermissionResponse { header }))
    }
}
