// What a resource, a data source, an ephemeral resource and a function are to the provider: interfaces whose members
// are coroutines on Fairlead's loop.
//
// Several calls run at a time, also of one resource. Members must not keep state of one call in themselves. A call that
// Terraform wants to stop is cancelled (async/cancel.h): it returns what it has done so far, with an error.
//
// The server takes care of what the protocol demands of every answer: it decodes and encodes, fills missing attributes
// with null, clears write-only attributes, and turns an answer that breaks the rules into an error for the user.
// Members need not catch that.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/loop.h"
#include "async/task.h"
#include "base/clock.h"
#include "terraform/cluster/clusters.h"
#include "terraform/provider/log.h"
#include "terraform/schema/schema.h"
#include "terraform/value/diagnostic.h"
#include "terraform/value/path.h"
#include "terraform/value/value.h"

namespace fairlead::terraform {

struct ClientCapabilities {
  bool deferral_allowed = false;
  bool write_only_attributes_allowed = false;
};

// Why a change cannot be planned yet. Only if the client allows it (deferral_allowed).
enum class Deferred { resource_config_unknown, provider_config_unknown, absent_prerequisite };

// What a call gets besides its values. Lives until the call is over.
class Context {
 public:
  Context(Loop& loop, Clusters& clusters, Log& log, ClientCapabilities capabilities)
      : loop_(loop), clusters_(clusters), log_(log), capabilities_(capabilities) {}

  Loop& loop() { return loop_; }
  Clusters& clusters() { return clusters_; }
  Log& log() { return log_; }
  const ClientCapabilities& capabilities() const { return capabilities_; }

 private:
  Loop& loop_;
  Clusters& clusters_;
  Log& log_;
  ClientCapabilities capabilities_;
};

// `identity` is null where the resource or the client has none. `private_state` is kept by Terraform beside the state
// and never shown; null where there is none.

struct ReadRequest {
  Value state;
  Json private_state;
  Value identity;
};
struct ReadResponse {
  // Null: the object is not there any more.
  Value state;
  Json private_state;
  Value identity;
  std::optional<Deferred> deferred;
  // With an error, Terraform keeps the state that it had.
  Diagnostics diagnostics;
};

struct PlanRequest {
  // Null: create.
  Value prior;
  // The configuration, with the prior value of computed attributes that it does not set. Null: destroy.
  Value proposed;
  // Null: destroy.
  Value config;
  Json prior_private;
  Value prior_identity;
};
struct PlanResponse {
  // Null for destroy.
  Value planned;
  // Only attributes whose values change count.
  std::vector<Path> requires_replace;
  // For apply.
  Json planned_private;
  Value planned_identity;
  std::optional<Deferred> deferred;
  Diagnostics diagnostics;
};

struct ApplyRequest {
  // Null: create.
  Value prior;
  // Null: destroy.
  Value planned;
  // Null: destroy.
  Value config;
  Json planned_private;
  Value planned_identity;
};
struct ApplyResponse {
  // With an error: what is true now, so the prior state if nothing was changed, and null for a create that made
  // nothing.
  Value state;
  Json private_state;
  Value identity;
  Diagnostics diagnostics;
};

struct ImportRequest {
  // Exactly one of them.
  std::string id;
  Value identity;
};
struct ImportResponse {
  // Terraform calls read() with it.
  Value state;
  Json private_state;
  Value identity;
  Diagnostics diagnostics;
};

struct MoveRequest {
  // "registry.terraform.io/alekc/kubectl"
  std::string source_provider;
  // "kubectl_manifest"
  std::string source_type;
  int64_t source_version = 0;
  // As it is in Terraform's state file.
  Json source_state;
  Json source_private;
  Json source_identity;
};
struct MoveResponse {
  Value state;
  Json private_state;
  Value identity;
  Diagnostics diagnostics;
};

struct UpgradeRequest {
  // The version of the schema that wrote it.
  int64_t version = 0;
  // As it is in Terraform's state file.
  Json state;
};
struct UpgradeResponse {
  Value state;
  Diagnostics diagnostics;
};

class Resource {
 public:
  virtual ~Resource() = default;
  // "fairlead_object"
  virtual std::string_view name() const = 0;
  virtual const Schema& schema() const = 0;
  // Null if it has none.
  virtual const IdentitySchema* identity_schema() const { return nullptr; }

  // What is wrong with a configuration; values can be unknown. No cluster is configured yet. The server has checked it
  // against the schema.
  virtual Task<Diagnostics> validate(Context& context, Value config);
  virtual Task<ReadResponse> read(Context& context, ReadRequest request) = 0;
  virtual Task<PlanResponse> plan(Context& context, PlanRequest request) = 0;
  virtual Task<ApplyResponse> apply(Context& context, ApplyRequest request) = 0;
  // By default an error that says that it is not supported.
  virtual Task<ImportResponse> import(Context& context, ImportRequest request);
  virtual Task<MoveResponse> move(Context& context, MoveRequest request);
  // By default state of the same version conforms to the schema already, and any other version is an error. No cluster
  // is configured yet.
  virtual Task<UpgradeResponse> upgrade(Context& context, UpgradeRequest request);
};

struct DataResponse {
  Value state;
  std::optional<Deferred> deferred;
  Diagnostics diagnostics;
};

class DataSource {
 public:
  virtual ~DataSource() = default;
  virtual std::string_view name() const = 0;
  virtual const Schema& schema() const = 0;
  virtual Task<Diagnostics> validate(Context& context, Value config);
  // The configuration is wholly known.
  virtual Task<DataResponse> read(Context& context, Value config) = 0;
};

struct OpenResponse {
  // The configuration with its computed attributes; never stored.
  Value result;
  Json private_state;
  // When to call renew(); nothing for never.
  std::optional<WallTime> renew_at;
  std::optional<Deferred> deferred;
  Diagnostics diagnostics;
};
struct RenewResponse {
  Json private_state;
  std::optional<WallTime> renew_at;
  Diagnostics diagnostics;
};

class EphemeralResource {
 public:
  virtual ~EphemeralResource() = default;
  virtual std::string_view name() const = 0;
  virtual const Schema& schema() const = 0;
  virtual Task<Diagnostics> validate(Context& context, Value config);
  virtual Task<OpenResponse> open(Context& context, Value config) = 0;
  // By default nothing has to be done.
  virtual Task<RenewResponse> renew(Context& context, Json private_state);
  virtual Task<Diagnostics> close(Context& context, Json private_state);
};

struct Parameter {
  std::string name;
  Type type = Type::string();
  bool allow_null = false;
  bool allow_unknown = false;
  std::string description;
};

struct Signature {
  std::vector<Parameter> parameters;
  std::optional<Parameter> variadic;
  Type result = Type::dynamic();
  std::string summary;
  std::string description;
};

struct FunctionError {
  std::string text;
  // Which argument is wrong.
  std::optional<int64_t> argument;
};

// Pure: no cluster is configured.
class Function {
 public:
  virtual ~Function() = default;
  // "manifests", called as provider::fairlead::manifests(…).
  virtual std::string_view name() const = 0;
  virtual const Signature& signature() const = 0;
  virtual Task<std::expected<Value, FunctionError>> call(Context& context, std::vector<Value> arguments) = 0;
};

// Everything that the provider offers.
struct Offers {
  std::vector<std::unique_ptr<Resource>> resources;
  std::vector<std::unique_ptr<DataSource>> data_sources;
  std::vector<std::unique_ptr<EphemeralResource>> ephemeral_resources;
  std::vector<std::unique_ptr<Function>> functions;
};

}  // namespace fairlead::terraform
