// `fairlead shell-functions` prints functions for shell scripts, to be sourced.
#include <cstdio>

#include "cli/commands/commands.h"
#include "cli/core/exit_code.h"

namespace fairlead::cli {
namespace {

constexpr const char* kFunctions =
    R"(# Functions for scripts: source <(fairlead shell-functions). $FAIRLEAD names another binary.

# wait_for_victoria_metrics_webhook NAMESPACE [TIMEOUT]
#   Waits until the admission webhooks of the VictoriaMetrics operator work: their configuration exists, their Service
#   has ready endpoints, and every endpoint answers a call of the API server.
#   NAMESPACE  the namespace of the operator
#   TIMEOUT    seconds for all of it: 180 unless it is given, and never under 30
#   Says how far it is every 30 seconds. Returns 0 if the webhooks work, and 1 if not, with the cause and hints.
wait_for_victoria_metrics_webhook() {
  local namespace=${1:-} timeout=${2:-180} begun left name
  local labels=app.kubernetes.io/name=victoria-metrics-operator
  if [ -z "$namespace" ]; then
    echo "usage: wait_for_victoria_metrics_webhook NAMESPACE [TIMEOUT]" >&2
    return 1
  fi
  case $timeout in
    '' | *[!0-9]* | ??????????*)
      echo "error: wait_for_victoria_metrics_webhook: \"$timeout\" is not a number of seconds up to 999999999" >&2
      return 1
      ;;
  esac
  if [ "$timeout" -lt 30 ]; then
    echo "warning: a timeout of $timeout seconds is too short: 30 are used" >&2
    timeout=30
  fi
  begun=$(date +%s)
  # Configurations have no namespace. Another operator may have one with the same labels.
  { name=$("${FAIRLEAD:-fairlead}" wait validatingwebhookconfigurations -l "$labels" --any \
    --for "jsonpath={.webhooks[0].clientConfig.service.namespace}=$namespace" \
    --existence-timeout "${timeout}s" --timeout "${timeout}s" --progress plain |
    while IFS= read -r line; do
      printf '%s\n' "$line" >&3
      case $line in
        "ValidatingWebhookConfiguration "*" meets "*)
          line=${line#* }
          printf '%s\n' "${line%% *}"
          ;;
      esac
    done | head -n 1); } 3>&1
  if [ -n "$name" ]; then
    left=$((timeout - ($(date +%s) - begun)))
    [ "$left" -gt 0 ] || left=1
    "${FAIRLEAD:-fairlead}" wait "validatingwebhookconfigurations/$name" --for functional \
      --existence-timeout "${left}s" --timeout "${left}s" --allow-short --layers --progress plain && return 0
  fi
  echo "error: the VictoriaMetrics webhook is not ready after $(($(date +%s) - begun)) seconds" >&2
  echo "  next      kubectl -n $namespace logs -l $labels --tail 50" >&2
  echo "            kubectl -n $namespace get events --sort-by .lastTimestamp" >&2
  echo "            helm -n $namespace status kof-operators" >&2
  return 1
}
)";

}  // namespace

void add_shell_functions(Command app, Invocation& invocation) {
  Command command = app.subcommand("shell-functions", "Print functions for shell scripts");
  command.footer(
      "The functions are for bash, and for other shells that know `local`.\n\n"
      "Examples:\n"
      "  source <(fairlead shell-functions)\n"
      "  wait_for_victoria_metrics_webhook kof 300\n\n"
      "Exit code: 0.");
  command.when_chosen([&invocation] {
    invocation.run = [] {
      std::fputs(kFunctions, stdout);
      return int(kDone);
    };
  });
}

}  // namespace fairlead::cli
