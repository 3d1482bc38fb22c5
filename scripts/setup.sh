# What the other scripts need, sourced by them: a Rust toolchain and a linker. Installs what is missing where it
# may, and otherwise says exactly what to install. Nothing is expected of the environment, not even a HOME.
needed_rust=1.95

packages_known=
need_package() { # COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 && return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing the Debian package $2" >&2
        [ -n "$packages_known" ] || { apt-get update -qq && packages_known=yes; } || return 1
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null
    else
        echo "$1 is missing. Install it with: sudo apt-get install $2" >&2
        return 1
    fi
}

need_package cc gcc
if ! command -v cargo >/dev/null 2>&1; then
    PATH="${CARGO_HOME:-${HOME:-}/.cargo}/bin:$PATH"
    export PATH
fi
if ! command -v cargo >/dev/null 2>&1; then
    echo "cargo is missing. Install Rust $needed_rust or newer with rustup." >&2
    exit 1
fi
rust_version=$(rustc --version | cut -d' ' -f2)
if [ "$(printf '%s\n%s\n' "$needed_rust" "$rust_version" | sort -V | head -n 1)" != "$needed_rust" ]; then
    echo "Rust $rust_version is too old. Update to $needed_rust or newer with: rustup update" >&2
    exit 1
fi

# What of the workspace is left out where it cannot be built: the crate etcd-client compiles etcd's descriptions with a
# program of its own.
left_out() {
    command -v protoc >/dev/null 2>&1 || echo "--exclude habemus-client-by-etcd"
}
