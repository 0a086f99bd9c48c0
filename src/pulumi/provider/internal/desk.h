// What all calls of Pulumi's protocol share.
#pragma once

#include <map>
#include <set>
#include <string>

#include "protobuf/message.h"
#include "pulumi/provider/server.h"
#include "rpc/running_calls.h"
#include "terraform/provider/resource.h"

namespace fairlead::pulumi {

using protobuf::Message;

struct Desk {
  Loop& loop;
  terraform::Clusters& clusters;
  Engine& engine;
  LogQueue log;
  Secrets& secrets;
  ProviderSettings settings;
  Catalog catalog;
  // The calls that Cancel ends.
  rpc::RunningCalls running;
  // Resources whose former object was compared in this run. If one of them is created, it is replaced.
  std::set<std::string, std::less<>> compared;
};

// One method of the protocol. The request lives until the task has ended.
using Method = Task<rpc::Answer> (*)(Desk& desk, const Message& request);

// Methods about resources.
Task<rpc::Answer> check(Desk& desk, const Message& request);
Task<rpc::Answer> diff(Desk& desk, const Message& request);
Task<rpc::Answer> create(Desk& desk, const Message& request);
Task<rpc::Answer> read(Desk& desk, const Message& request);
Task<rpc::Answer> update(Desk& desk, const Message& request);
Task<rpc::Answer> remove(Desk& desk, const Message& request);

// Methods about the provider itself, and functions.
Task<rpc::Answer> handshake(Desk& desk, const Message& request);
Task<rpc::Answer> attach(Desk& desk, const Message& request);
Task<rpc::Answer> get_plugin_info(Desk& desk, const Message& request);
Task<rpc::Answer> get_schema(Desk& desk, const Message& request);
Task<rpc::Answer> check_config(Desk& desk, const Message& request);
Task<rpc::Answer> diff_config(Desk& desk, const Message& request);
Task<rpc::Answer> configure(Desk& desk, const Message& request);
Task<rpc::Answer> invoke(Desk& desk, const Message& request);

}  // namespace fairlead::pulumi
