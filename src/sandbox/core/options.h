// How a sandbox behaves. Every delay can be nothing; the defaults are those of a quiet real cluster, roughly.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace fairlead::sandbox {

struct Delays {
  // Between a CustomResourceDefinition and its conditions, and from there until it is served.
  Duration crd_names_accepted = std::chrono::milliseconds(2);
  Duration crd_established = std::chrono::milliseconds(5);
  // Until an API server uses a new or changed configuration of that kind.
  Duration mutating_webhooks = std::chrono::milliseconds(2);
  Duration validating_webhooks = std::chrono::milliseconds(2);
  Duration policies = std::chrono::milliseconds(500);
  // Between what a controller sees and what it does.
  Duration controller = std::chrono::milliseconds(5);
  // A pod: bound to a node, its containers started, and Ready.
  Duration pod_scheduled = std::chrono::milliseconds(10);
  Duration pod_started = std::chrono::milliseconds(500);
  Duration pod_ready = std::chrono::milliseconds(100);
  // From Ready until its containers listen: on a real cluster, often not at once.
  Duration pod_listening = Duration::zero();
  // From the deletion of a pod until it is gone, at most its grace period.
  Duration pod_stopped = std::chrono::milliseconds(500);
  // A container of a Job's pod runs this long.
  Duration job_run = std::chrono::seconds(1);
  Duration load_balancer = std::chrono::milliseconds(200);
  Duration volume_bound = std::chrono::milliseconds(50);
  // A namespace that is being deleted is looked at again after this long.
  Duration namespace_retry = std::chrono::seconds(5);
  Duration crd_deletion_retry = std::chrono::seconds(5);
};

// By the name that the command line has for it ("pod-ready"); false if there is none of that name.
bool set_delay(Delays& delays, std::string_view name, Duration value);
std::vector<std::string_view> delay_names();

// Who may do what: true refuses. `verb` is get, list, watch, create, update, patch, delete or deletecollection.
using Forbids = std::function<bool(std::string_view user, std::string_view verb, std::string_view group,
                                   std::string_view resource, std::string_view ns, std::string_view name)>;

struct Options {
  uint64_t seed = 1;
  size_t api_servers = 1;
  size_t nodes = 1;
  // Changes that are remembered; who asks for older ones is told that they are gone.
  size_t history_window = 10000;
  Delays delays;
  // Each further API server is this much later in using a configuration, and never earlier.
  Duration api_server_skew = std::chrono::milliseconds(1);
  // How often an updated webhook configuration stays in its old form until its next change.
  double stale_configuration = 0;
  // How often the end of a CRD's cleanup is lost until the CRD is changed or the informers resync, as happens where the
  // finalizers of several API servers conflict.
  double lost_crd_cleanup = 0;
  // Bookmarks on watches that want them.
  Duration bookmark_every = std::chrono::minutes(1);
  // A watch without timeoutSeconds ends after this.
  Duration watch_timeout = std::chrono::minutes(45);
  // What the server says that its address is.
  std::string address = "127.0.0.1:6443";
  // PEM, for the ConfigMap in every namespace.
  std::string root_certificate;
  // Whether the built-in controllers run at all.
  bool controllers = true;
  // Whether controllers record Events.
  bool events = true;
  // Whether a service without ready endpoints is said to have none (aggregator routing), or refuses connections.
  bool aggregator_routing = false;
  Forbids forbids;
};

}  // namespace fairlead::sandbox
