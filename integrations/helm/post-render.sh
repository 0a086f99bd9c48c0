#!/bin/sh
# A post-renderer: `helm upgrade --install shop ./chart --post-renderer ./post-render.sh`. It gives the manifests back as they are, and ends
# the installation before anything is sent if Fairlead finds a mistake in them, such as a loop of needs.
set -eu
manifests=$(mktemp)
trap 'rm -f "$manifests"' EXIT
cat > "$manifests"
fairlead graph --offline -f - < "$manifests" >&2
cat "$manifests"
