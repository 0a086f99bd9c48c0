#include "readiness/timeouts.h"

#include <array>

namespace fairlead::readiness {
namespace {

using std::chrono::minutes;

struct KindTimeouts {
  std::string_view group;
  std::string_view kind;
  Timeouts timeouts;
};
constexpr std::array kTimeouts{
    KindTimeouts{.group = "", .kind = "Namespace", .timeouts = {.ready = minutes(5), .deletion = minutes(20)}},
    KindTimeouts{.group = "apiextensions.k8s.io",
                 .kind = "CustomResourceDefinition",
                 .timeouts = {.ready = minutes(5), .deletion = minutes(15)}},
    KindTimeouts{.group = "", .kind = "PersistentVolume", .timeouts = {.ready = minutes(5), .deletion = minutes(10)}},
    KindTimeouts{
        .group = "", .kind = "PersistentVolumeClaim", .timeouts = {.ready = minutes(10), .deletion = minutes(10)}},
    KindTimeouts{.group = "apps", .kind = "StatefulSet", .timeouts = {.ready = minutes(10), .deletion = minutes(8)}},
    KindTimeouts{.group = "batch", .kind = "Job", .timeouts = {.ready = minutes(10), .deletion = minutes(8)}},
    KindTimeouts{.group = "batch", .kind = "CronJob", .timeouts = {.ready = minutes(5), .deletion = minutes(8)}},
    // One minute longer than the default progressDeadlineSeconds, because exceeding that deadline gives a better cause
    // than a timeout.
    KindTimeouts{.group = "apps", .kind = "Deployment", .timeouts = {.ready = minutes(11), .deletion = minutes(5)}},
    KindTimeouts{.group = "apps", .kind = "DaemonSet", .timeouts = {.ready = minutes(10), .deletion = minutes(5)}},
    KindTimeouts{.group = "apps", .kind = "ReplicaSet", .timeouts = {.ready = minutes(10), .deletion = minutes(5)}},
    KindTimeouts{.group = "", .kind = "Pod", .timeouts = {.ready = minutes(10), .deletion = minutes(5)}},
    KindTimeouts{.group = "", .kind = "Service", .timeouts = {.ready = minutes(10), .deletion = minutes(5)}},
    KindTimeouts{
        .group = "networking.k8s.io", .kind = "Ingress", .timeouts = {.ready = minutes(10), .deletion = minutes(5)}},
};

}  // namespace

Timeouts default_timeouts(std::string_view group, std::string_view kind) {
  for (const KindTimeouts& known : kTimeouts)
    if (known.group == group && known.kind == kind) return known.timeouts;
  return {.ready = minutes(5), .deletion = minutes(5)};
}

}  // namespace fairlead::readiness
