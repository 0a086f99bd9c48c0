#!/bin/sh
# helm fairlead apply|plan|delete CHART [FLAG…] [-- HELM-FLAG…]
set -eu
[ $# -ge 2 ] || { echo "helm fairlead: apply, plan or delete, and a chart, are needed" >&2; exit 64; }
command=$1 chart=$2
shift 2
exec fairlead "$command" --chart "$chart" "$@"
