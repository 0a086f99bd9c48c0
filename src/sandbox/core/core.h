// What every part of a sandbox shares: the loop, the objects, the kinds, chance and the options.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "async/loop.h"
#include "sandbox/core/kinds.h"
#include "sandbox/core/options.h"
#include "sandbox/core/random.h"
#include "sandbox/core/store.h"
#include "sandbox/core/webhook_caller.h"

namespace fairlead::sandbox {

// As metadata has times: whole seconds, UTC.
std::string time_text(WallTime time);

struct Core {
  Core(Loop& on, Options with)
      : loop(on), options(std::move(with)), random(options.seed), store(on, options.history_window) {}

  Loop& loop;
  Options options;
  Random random;
  Store store;
  Kinds kinds;
  // Who calls webhooks; the functions of this process unless somebody else was given.
  LocalWebhooks local_webhooks;
  WebhookCaller* webhooks = &local_webhooks;
  // API servers of others behind Services ("namespace/name"), to which APIServices hand requests, and what each of
  // their group versions ("metrics.k8s.io/v1") was last seen to serve.
  std::map<std::string, http::Transport*, std::less<>> extension_servers;
  std::map<std::string, Json, std::less<>> extension_resources;
  // Connections are numbered: each API server has one of its own.
  uint64_t next_connection = 1;
  // When the containers of a pod begin to listen, by its uid. Pods that are not here do.
  std::map<std::string, TimePoint, std::less<>> listening_from;

  // The tokens of service accounts that were given out: whose they are, and until when.
  struct GivenToken {
    std::string ns, account, uid;
    WallTime until;
  };
  std::map<std::string, GivenToken, std::less<>> tokens;

  // As metadata has it: whole seconds, UTC.
  std::string now_text() const;

  ObjectPtr find(std::string_view group, std::string_view resource, std::string_view ns, std::string_view name) const {
    return store.find({std::string(group), std::string(resource)}, {std::string(ns), std::string(name)});
  }
};

}  // namespace fairlead::sandbox
