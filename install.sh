#!/bin/sh
# Installs Classhook for this user: downloads the archive for this machine, checks its SHA-256, and unpacks it.
#
#   CLASSHOOK_HOME      the folder to unpack into (default: ~/.local/share/classhook)
#   CLASSHOOK_BIN       the folder for a link to the command (default: ~/.local/bin)
#   CLASSHOOK_VERSION   another version than that of this script
#   CLASSHOOK_RELEASE   another address with the files of the release; file:///FOLDER reads a folder
set -eu

say() { printf 'classhook: %s\n' "$*"; }
fail() {
    printf 'classhook: error: %s\n' "$*" >&2
    exit 2
}

download() { # ADDRESS FILE
    case $1 in
    file://*) cp "${1#file://}" "$2" ;;
    *)
        if command -v curl >/dev/null; then
            curl --fail --silent --show-error --location --output "$2" "$1"
        elif command -v wget >/dev/null; then
            wget -q -O "$2" "$1"
        else
            fail "expected curl or wget in PATH, found neither"
        fi
        ;;
    esac || fail "failed to download $1"
}

# A function, so that nothing runs before the whole script has arrived.
install() {
    version=${CLASSHOOK_VERSION:-0.1.0}
    home=${CLASSHOOK_HOME:-$HOME/.local/share/classhook}
    bin=${CLASSHOOK_BIN:-$HOME/.local/bin}
    release=${CLASSHOOK_RELEASE:-https://github.com/classhook/classhook/releases/download/v$version}

    system=$(uname -s)
    [ "$system" = Linux ] || fail "expected Linux, found $system; on other systems run it in a container"
    processor=$(uname -m)
    case $processor in
    x86_64 | amd64) processor=x86_64 ;;
    *) fail "expected x86_64, found $processor; build from source there: docs/get-started/install.md" ;;
    esac
    command -v sha256sum >/dev/null || fail "expected sha256sum in PATH (it checks the download), found none"

    name=classhook-$version-linux-$processor
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    say "downloading $release/$name.tar.gz"
    download "$release/$name.tar.gz" "$scratch/$name.tar.gz"
    download "$release/SHA256SUMS" "$scratch/SHA256SUMS"

    # The line ends with the name; -F, because a version has dots.
    line=$(grep -F "  $name.tar.gz" "$scratch/SHA256SUMS") || fail "$release/SHA256SUMS does not name $name.tar.gz"
    (cd "$scratch" && printf '%s\n' "$line" | sha256sum -c - >/dev/null 2>&1) ||
        fail "the digest of $name.tar.gz is not the one in SHA256SUMS; nothing was installed"

    tar -xzf "$scratch/$name.tar.gz" -C "$scratch"
    mkdir -p "$bin" "$(dirname "$home")"
    # The old version stays until the new one is whole. A JVM that has the old agent keeps its file.
    rm -rf "$home.new"
    cp -R "$scratch/$name" "$home.new"
    rm -rf "$home"
    mv "$home.new" "$home"
    ln -sf "$home/classhook" "$bin/classhook"

    say "$("$bin/classhook" --version) is in $home, with a link in $bin"
    case :$PATH: in
    *":$bin:"*) ;;
    *) say "add $bin to your PATH" ;;
    esac
}

install
