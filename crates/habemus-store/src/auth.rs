//! Users, roles, and what they may do, by etcd's rules.
//!
//! Passwords come here as the hashes that a server made of them, and what a server needs to make tokens that
//! others of the cluster believe is here, too. Whether somebody may do something is decided when it is
//! applied, or read, and not before: what was taken back counts at once.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::key_range::KeyRange;

/// The user, and the role, that may do everything.
pub const ROOT: &str = "root";

/// On whose behalf something is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Author {
    /// A member's own.
    Member,
    /// A user's.
    User(Acting),
    /// Somebody's who says who it is, and is not believed.
    Stranger,
}

/// A user who does something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acting {
    /// Who.
    pub name: String,
    /// When its password was set by which it is known, if it is by that: another password makes it a
    /// stranger.
    pub since: Option<u64>,
    /// What it is shown beyond what it does: keys as they were before.
    pub shown: Vec<KeyRange>,
}

impl Acting {
    /// A user who is known by something else than its password.
    pub fn named(name: impl Into<String>) -> Acting {
        Acting { name: name.into(), since: None, shown: Vec::new() }
    }
}

/// Users and roles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Auth {
    enabled: bool,
    revision: u64,
    secret: Vec<u8>,
    users: BTreeMap<String, User>,
    roles: BTreeMap<String, Vec<Permission>>,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The hash of its password; without one it is known by a certificate.
    pub password: Option<String>,
    /// The auth revision at which that was set.
    pub since: u64,
    /// Its roles.
    pub roles: BTreeSet<String>,
}

/// What whoever has a role may do with some keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permission {
    /// With which.
    pub keys: KeyRange,
    /// What.
    pub access: Access,
}

/// What may be done with keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// Read and watch them.
    Read,
    /// Write and delete them.
    Write,
    /// Both.
    ReadWrite,
}

/// What changes users and roles. All of it is answered by `Done`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AuthCommand {
    /// From now on everybody must say who it is.
    Enable {
        /// What tokens are made with; if there is one already, that stays.
        secret: Vec<u8>,
    },
    /// From now on nobody must.
    Disable,
    /// A new user, with the hash of its password.
    AddUser(String, Option<String>),
    /// No such user any more.
    DeleteUser(String),
    /// Another password.
    SetPassword(String, String),
    /// A user gets a role.
    GrantRole(String, String),
    /// A user loses a role.
    RevokeRole(String, String),
    /// A new role, which may do nothing.
    AddRole(String),
    /// No such role any more; whoever had it has it no more.
    DeleteRole(String),
    /// A role may do something.
    Permit(String, Permission),
    /// A role may not do anything any more with exactly these keys.
    Forbid(String, KeyRange),
}

/// Why users and roles are not changed, or something may not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// Nobody need say who it is.
    #[error("authentication is not enabled")]
    NotEnabled,
    /// There is no user `root`.
    #[error("root user does not exist")]
    NoRootUser,
    /// The user `root` has no role `root`.
    #[error("root user does not have root role")]
    NoRootRole,
    /// A user has no name, or nobody says who it is.
    #[error("user name is empty")]
    UserEmpty,
    /// There is such a user.
    #[error("user name already exists")]
    UserExists,
    /// There is no such user.
    #[error("user name not found")]
    UserNotFound,
    /// A role has no name.
    #[error("role name is empty")]
    RoleEmpty,
    /// There is such a role.
    #[error("role name already exists")]
    RoleExists,
    /// There is no such role.
    #[error("role name not found")]
    RoleNotFound,
    /// The user does not have that role.
    #[error("role is not granted to the user")]
    RoleNotGranted,
    /// The role has no such permission.
    #[error("permission is not granted to the role")]
    PermissionNotGranted,
    /// It would lock out everybody.
    #[error("invalid auth management")]
    Management,
    /// Its password is another now.
    #[error("invalid auth token")]
    Token,
    /// It may not.
    #[error("permission denied")]
    Denied,
}

impl Auth {
    /// Whether everybody must say who it is.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// How often users and roles have changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// What tokens are made with; nothing before authentication was ever enabled.
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// A user.
    pub fn user(&self, name: &str) -> Option<&User> {
        self.users.get(name)
    }

    /// The names of all users.
    pub fn users(&self) -> impl Iterator<Item = &String> {
        self.users.keys()
    }

    /// What a role may do.
    pub fn role(&self, name: &str) -> Option<&[Permission]> {
        self.roles.get(name).map(Vec::as_slice)
    }

    /// The names of all roles.
    pub fn roles(&self) -> impl Iterator<Item = &String> {
        self.roles.keys()
    }

    /// Who acts, if it matters: `None` if it may do everything.
    fn acting(&self, author: Option<&Author>) -> Result<Option<&User>, AuthError> {
        let acting = match author {
            _ if !self.enabled => return Ok(None),
            None => return Err(AuthError::UserEmpty),
            Some(Author::Member) => return Ok(None),
            Some(Author::Stranger) => return Err(AuthError::Token),
            Some(Author::User(acting)) => acting,
        };
        let user = self.users.get(&acting.name).ok_or(AuthError::Denied)?;
        if acting.since.is_some_and(|since| since != user.since) {
            return Err(AuthError::Token);
        }
        Ok(Some(user).filter(|user| !user.roles.contains(ROOT)))
    }

    /// Whether it is known who acts.
    ///
    /// # Errors
    /// If it is not.
    pub fn check_known(&self, author: Option<&Author>) -> Result<(), AuthError> {
        self.acting(author).map(drop)
    }

    /// Whether somebody may do everything.
    ///
    /// # Errors
    /// If not.
    pub fn check_root(&self, author: Option<&Author>) -> Result<(), AuthError> {
        self.acting(author)?.map_or(Ok(()), |_| Err(AuthError::Denied))
    }

    /// Whether somebody may read all of these keys.
    ///
    /// # Errors
    /// If not.
    pub fn check_read(&self, author: Option<&Author>, keys: &KeyRange) -> Result<(), AuthError> {
        self.check(author, keys, |access| access != Access::Write)
    }

    /// Whether somebody may write all of these keys.
    ///
    /// # Errors
    /// If not.
    pub fn check_write(&self, author: Option<&Author>, keys: &KeyRange) -> Result<(), AuthError> {
        self.check(author, keys, |access| access != Access::Read)
    }

    fn check(
        &self,
        author: Option<&Author>,
        keys: &KeyRange,
        fits: impl Fn(Access) -> bool,
    ) -> Result<(), AuthError> {
        let Some(user) = self.acting(author)? else { return Ok(()) };
        let permissions = user.roles.iter().filter_map(|role| self.roles.get(role)).flatten();
        let permitted = permissions.filter(|permission| fits(permission.access)).map(|it| &it.keys);
        if covers(permitted, keys) { Ok(()) } else { Err(AuthError::Denied) }
    }

    pub(crate) fn execute(&mut self, command: AuthCommand) -> Result<(), StoreError> {
        Ok(self.change(command)?)
    }

    fn change(&mut self, command: AuthCommand) -> Result<(), AuthError> {
        match command {
            AuthCommand::Enable { secret } => {
                let root = self.users.get(ROOT).ok_or(AuthError::NoRootUser)?;
                if !root.roles.contains(ROOT) {
                    return Err(AuthError::NoRootRole);
                }
                if self.secret.is_empty() {
                    self.secret = secret;
                }
                self.enabled = true;
                return Ok(());
            }
            AuthCommand::Disable => {
                if !self.enabled {
                    return Ok(());
                }
                self.enabled = false;
            }
            AuthCommand::AddUser(name, _) if name.is_empty() => return Err(AuthError::UserEmpty),
            AuthCommand::AddUser(name, _) if self.users.contains_key(&name) => {
                return Err(AuthError::UserExists);
            }
            AuthCommand::AddUser(name, password) => {
                let user = User { password, since: self.revision + 1, roles: BTreeSet::new() };
                self.users.insert(name, user);
            }
            AuthCommand::DeleteUser(name) => {
                if self.enabled && name == ROOT {
                    return Err(AuthError::Management);
                }
                self.users.remove(&name).ok_or(AuthError::UserNotFound)?;
            }
            AuthCommand::SetPassword(name, password) => {
                let since = self.revision + 1;
                let user = self.users.get_mut(&name).ok_or(AuthError::UserNotFound)?;
                (user.password, user.since) = (Some(password), since);
            }
            AuthCommand::GrantRole(name, role) => {
                let user = self.users.get_mut(&name).ok_or(AuthError::UserNotFound)?;
                if role != ROOT && !self.roles.contains_key(&role) {
                    return Err(AuthError::RoleNotFound);
                }
                if !user.roles.insert(role) {
                    return Ok(());
                }
            }
            AuthCommand::RevokeRole(name, role) => {
                if self.enabled && name == ROOT && role == ROOT {
                    return Err(AuthError::Management);
                }
                let user = self.users.get_mut(&name).ok_or(AuthError::UserNotFound)?;
                if !user.roles.remove(&role) {
                    return Err(AuthError::RoleNotGranted);
                }
            }
            AuthCommand::AddRole(name) if name.is_empty() => return Err(AuthError::RoleEmpty),
            AuthCommand::AddRole(name) if self.roles.contains_key(&name) => {
                return Err(AuthError::RoleExists);
            }
            AuthCommand::AddRole(name) => drop(self.roles.insert(name, Vec::new())),
            AuthCommand::DeleteRole(name) => {
                if self.enabled && name == ROOT {
                    return Err(AuthError::Management);
                }
                self.roles.remove(&name).ok_or(AuthError::RoleNotFound)?;
                self.users.values_mut().for_each(|user| user.roles.retain(|role| *role != name));
            }
            AuthCommand::Permit(role, permission) => {
                let permissions = self.roles.get_mut(&role).ok_or(AuthError::RoleNotFound)?;
                match permissions.iter_mut().find(|known| known.keys == permission.keys) {
                    Some(known) => known.access = permission.access,
                    None => permissions.push(permission),
                }
                permissions.sort_by(|one, other| one.keys.first().cmp(other.keys.first()));
            }
            AuthCommand::Forbid(role, keys) => {
                let permissions = self.roles.get_mut(&role).ok_or(AuthError::RoleNotFound)?;
                let before = permissions.len();
                permissions.retain(|permission| permission.keys != keys);
                if permissions.len() == before {
                    return Err(AuthError::PermissionNotGranted);
                }
            }
        }
        self.revision += 1;
        Ok(())
    }
}

/// Where a range begins, and the first key behind it; nothing lies behind one that has no end.
fn ends(keys: &KeyRange) -> (Bytes, Option<Bytes>) {
    match keys {
        KeyRange::One(key) => (key.clone(), Some([key, &[0][..]].concat().into())),
        KeyRange::Between(first, end) => (first.clone(), Some(end.clone())),
        KeyRange::From(first) => (first.clone(), None),
    }
}

/// Whether ranges, taken together, hold all of `wanted`.
fn covers<'a>(ranges: impl Iterator<Item = &'a KeyRange>, wanted: &KeyRange) -> bool {
    let mut ranges: Vec<(Bytes, Option<Bytes>)> = ranges.map(ends).collect();
    ranges.sort();
    let (mut reached, end) = ends(wanted);
    let mut touches = false;
    for (first, behind) in ranges {
        if first > reached {
            break;
        }
        let Some(behind) = behind else { return true };
        if behind > reached {
            (reached, touches) = (behind, true);
        }
    }
    touches && end.is_some_and(|end| end <= reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_hold_what_lies_across_them() {
        let range = |first: &'static str, end: &'static str| KeyRange::from_wire(first.into(), end.into());
        let both = [range("a", "c"), range("c", "e")];
        let covered = |wanted: KeyRange| covers(both.iter(), &wanted);
        assert!(covered(range("a", "e")) && covered(range("b", "d")) && covered(range("d", "")));
        assert!(!covered(range("a", "f")) && !covered(range("A", "b")) && !covered(range("e", "")));
        assert!(!covered(KeyRange::From("a".into())));
        let gap = [range("a", "b"), range("c", "e")];
        assert!(!covers(gap.iter(), &range("a", "e")));
        let one = [range("k", "")];
        assert!(covers(one.iter(), &range("k", "")) && !covers(one.iter(), &range("ka", "")));
        assert!(!covers([].into_iter(), &range("k", "")));
    }
}
