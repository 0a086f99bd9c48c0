#!/bin/sh
# Installs fairlead for this user, on Linux. Needs no root: curl or wget, tar and sha256sum are enough.
#
#   FAIRLEAD_VERSION     the version; that of this script unless it is given
#   FAIRLEAD_PREFIX      where it goes: PREFIX/bin and PREFIX/share; default ~/.local
#   FAIRLEAD_URL         where releases are
#   FAIRLEAD_PUBLIC_KEY  a file with the public key of minisign: the signature of the checksums is verified as well
set -eu
umask 022

version=${FAIRLEAD_VERSION:-@VERSION@}
prefix=${FAIRLEAD_PREFIX:-${HOME:?}/.local}
url=${FAIRLEAD_URL:-@URL@}

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

fetch() { # URL FILE
  if command -v curl >/dev/null; then curl -fsSL --retry 2 -o "$2" "$1"
  elif command -v wget >/dev/null; then wget -q -O "$2" "$1"
  else fail "neither curl nor wget is installed"; fi || fail "cannot download $1"
}

[ "$(uname -s)" = Linux ] || fail "fairlead runs on Linux; elsewhere, use the container image"
case $version in @*) fail "which version? Set FAIRLEAD_VERSION, such as 1.2.3" ;; esac
case $(uname -m) in
  x86_64 | amd64) architecture=amd64 ;;
  aarch64 | arm64) architecture=arm64 ;;
  *) fail "there is no binary for $(uname -m): only for x86_64 and aarch64" ;;
esac

# The work is done in another folder, and paths may be relative to this one.
absolute() {
  case $1 in '' | /*) printf '%s' "$1" ;; *) printf '%s/%s' "$PWD" "$1" ;; esac
}
prefix=$(absolute "$prefix")
public_key=$(absolute "${FAIRLEAD_PUBLIC_KEY:-}")

name=fairlead-$version-linux-$architecture
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fetch "$url/$version/SHA256SUMS" SHA256SUMS
if [ -n "$public_key" ]; then
  command -v minisign >/dev/null || fail "FAIRLEAD_PUBLIC_KEY is set, and minisign is not installed"
  fetch "$url/$version/SHA256SUMS.minisig" SHA256SUMS.minisig
  minisign -V -q -p "$public_key" -m SHA256SUMS || fail "the signature of the checksums is wrong: nothing was installed"
fi
fetch "$url/$version/$name.tar.gz" "$name.tar.gz"
sum=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" SHA256SUMS)
[ -n "$sum" ] || fail "SHA256SUMS has no line for $name.tar.gz: nothing was installed"
printf '%s  %s\n' "$sum" "$name.tar.gz" | sha256sum -c - >/dev/null 2>&1 ||
  fail "the checksum of $name.tar.gz is wrong: nothing was installed"

tar -xzf "$name.tar.gz"
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" "$prefix/share/fish/vendor_completions.d" \
  "$prefix/share/zsh/site-functions"
cp "$name"/man/*.1 "$prefix/share/man/man1/"
cp "$name/completions/fairlead.bash" "$prefix/share/bash-completion/completions/fairlead"
cp "$name/completions/fairlead.fish" "$prefix/share/fish/vendor_completions.d/"
cp "$name/completions/_fairlead" "$prefix/share/zsh/site-functions/"
# In one step: a run that is using the old binary goes on with it.
cp "$name/fairlead" "$prefix/bin/.fairlead.new"
chmod 755 "$prefix/bin/.fairlead.new"
mv -f "$prefix/bin/.fairlead.new" "$prefix/bin/fairlead"
ln -sf fairlead "$prefix/bin/kubectl-fairlead"

"$prefix/bin/fairlead" version
case :$PATH: in *:"$prefix/bin":*) ;; *) printf 'Add %s to your PATH.\n' "$prefix/bin" ;; esac
