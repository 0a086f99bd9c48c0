#include "terraform/objects/deletion.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/faults/another_object.h"
#include "object/containers.h"
#include "readiness/timeouts.h"
#include "removal/refusal.h"
#include "terraform/objects/words.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

using kube::FaultKind;

constexpr std::string_view kNotDeleted = "The object was not deleted";

std::string propagation_of(removal::Cascade cascade) {
  switch (cascade) {
    case removal::Cascade::foreground: return "Foreground";
    case removal::Cascade::orphan: return "Orphan";
    case removal::Cascade::background: break;
  }
  return "Background";
}

Error not_deleted(const object::Key& key, const kube::Failure& failure) {
  return unreachable("so nothing was deleted", key, failure).value_or(refused(kNotDeleted, key, failure));
}

bool is_another(const kube::Failure& failure) {
  return failure.is(FaultKind::not_found) || (failure.fault() && kube::is_about_another_object(*failure.fault()));
}

// The advice of the engine names flags of the command line where attributes of the resource do the same.
std::string tool_advice(std::string_view advice) {
  if (advice.contains("--force-finalizers"))
    return "set force_destroy = true, apply, and destroy again; it removes the finalizers that are left";
  if (advice.contains("--force")) return std::string(tool().forget);
  return std::string(advice);
}

// The request and the wait for one object.
class ObjectDeletion {
 public:
  ObjectDeletion(Connection& cluster, Log& log, Deletion deletion)
      : cluster_(cluster), log_(log), deletion_(std::move(deletion)), key_(deletion_.reference.key) {}

  Task<Deleted> run() {
    auto kind = co_await cluster_.discovery().find(key_.group, deletion_.reference.version(), key_.kind);
    if (!kind) co_return failed(not_deleted(key_, kind.error()));
    if (!*kind) co_return co_await without_kind();
    resource_ = **kind;
    auto live = co_await cluster_.client().get(resource_, key_.ns, key_.name);
    if (!live && live.error().is(FaultKind::not_found)) co_return Deleted();
    if (!live && live.error().is(FaultKind::not_served)) co_return co_await no_longer_served(live.error());
    if (!live) co_return failed(not_deleted(key_, live.error()));
    const Json& metadata = live->value["metadata"];
    std::string uid(metadata["uid"].string_or(""));
    if (!deletion_.uid.empty() && uid != deletion_.uid) co_return Deleted();
    deletion_.uid = uid;
    std::string_view id = metadata["annotations"][tool().owner_annotation].string_or("");
    if (!deletion_.id.empty() && !id.empty() && id != deletion_.id) co_return left_to_another();
    if (auto refusal = removal::refusal_of(key_, live->value, std::nullopt, key_.ns == "kube-system", {}))
      co_return failed(in_words_of_tool(*refusal));
    bool is_container = object::is_namespace(key_) || object::is_crd(key_);
    if (!is_container && co_await remove_at_once()) co_return result_;
    co_return co_await follow();
  }

 private:
  static Deleted failed(Error error) { return {.error = std::move(error), .left = {}}; }

  Error in_words_of_tool(const Error& error) const {
    Error out = Error(error.kind(), headline(kNotDeleted, key_)).because(error);
    if (std::string advice = tool_advice(error.next()); !advice.empty()) out = std::move(out).next(advice);
    return out;
  }

  Deleted left_to_another() const {
    return {.error = {},
            .left = Error(ErrorKind::denied, headline("The object stays in the cluster", key_))
                        .because(fmt::format("another resource manages it by now: its annotation {} has another value",
                                             tool().owner_annotation))};
  }

  // A kind that nobody serves has no objects. But a server that does not answer may serve it.
  Task<Deleted> without_kind() {
    auto refreshed = co_await cluster_.discovery().refresh();
    if (!refreshed) co_return failed(not_deleted(key_, refreshed.error()));
    const kube::Discovered& known = cluster_.discovery().known();
    for (const kube::GroupProblem& problem : known.problems())
      if (problem.group == key_.group)
        co_return failed(
            Error(ErrorKind::unavailable, headline(kNotDeleted, key_))
                .because(fmt::format("{}/{} cannot be discovered: {}", problem.group, problem.version, problem.why))
                .next(fmt::format("kubectl get apiservice {}.{} -o yaml", problem.version, problem.group)));
    co_return Deleted();
  }

  // The CRD is deleted at the same time, and its objects with it.
  Task<Deleted> no_longer_served(kube::Failure failure) {
    auto refreshed = co_await cluster_.discovery().refresh();
    bool is_gone = refreshed && !cluster_.discovery().known().find(key_.group, key_.kind);
    if (is_gone) co_return co_await without_kind();
    co_return failed(not_deleted(key_, failure));
  }

  // Returns true if it is known how the deletion ended.
  Task<bool> remove_at_once() {
    auto removed = co_await cluster_.client().remove(
        resource_, key_.ns, key_.name, {.uid = deletion_.uid, .propagation = propagation_of(deletion_.cascade)});
    if (!removed) {
      if (is_another(removed.error())) co_return true;
      if (removed.error().is(FaultKind::not_served)) {
        result_ = co_await no_longer_served(removed.error());
        co_return true;
      }
      // The engine repeats what can be repeated.
      const kube::Fault* fault = removed.error().fault();
      if (fault && (fault->disposition != kube::Disposition::permanent || fault->kind == FaultKind::conflict))
        co_return false;
      result_ = failed(not_deleted(key_, removed.error()));
      co_return true;
    }
    co_return !removed->value["metadata"].contains("deletionTimestamp");
  }

  Task<Deleted> follow() {
    removal::Options options;
    options.cascade = deletion_.cascade;
    options.timeout = deletion_.timeout.value_or(readiness::default_timeouts(key_.group, key_.kind).deletion);
    options.force = key_.ns == "kube-system";
    options.force_finalizers = deletion_.force;
    force_in_time(options);
    options.with_contents = true;
    options.default_namespace = cluster_.default_namespace();
    CancelSource* stop = co_await current_cancel();
    CancelSource own;
    journal::Journal journal(cluster_.loop().clock());
    journal.read_by(log_reader(log_));
    removal::Target target{.key = key_, .version = deletion_.reference.version(), .source = {}, .uid = deletion_.uid};
    kube::Client client = client_of_run(cluster_);
    removal::Ending ending =
        co_await removal::take_out(client, cluster_.discovery(), {std::move(target)}, std::move(options), journal, stop)
            .governed_by(&own);
    co_return result_of(ending);
  }

  Deleted result_of(const removal::Ending& ending) const {
    using State = removal::ObjectEnding::State;
    if (ending.how == removal::Ending::How::interrupted)
      return failed(Error(ErrorKind::cancelled, headline("The deletion was interrupted", key_))
                        .because("the object is being deleted, and may still exist")
                        .next(std::string(tool().run_again)));
    for (const removal::ObjectEnding& object : ending.objects)
      if (object.state == State::gone || object.state == State::absent) return {};
    if (!ending.causes.empty()) return failed(in_words_of_tool(ending.causes.front().error));
    for (const removal::ObjectEnding& object : ending.objects)
      if (object.error) return failed(in_words_of_tool(*object.error));
    return failed(Error(ErrorKind::unavailable, headline(kNotDeleted, key_)).because("its state is not known"));
  }

  Connection& cluster_;
  Log& log_;
  Deletion deletion_;
  const object::Key& key_;
  object::Resource resource_;
  Deleted result_;
};

}  // namespace

Task<Deleted> delete_object(Connection& cluster, Log& log, Deletion deletion) {
  ObjectDeletion run(cluster, log, std::move(deletion));
  co_return co_await run.run();
}

journal::Journal::Reader log_reader(Log& log) {
  return [&log](const journal::Event& event) {
    using Kind = journal::EventKind;
    bool is_bad = event.kind == Kind::warning || event.kind == Kind::failed || event.kind == Kind::error;
    std::string text =
        fmt::format("{}{}{}{}{}", journal::name_of(event.kind), event.key.kind.empty() ? "" : " ",
                    event.key.kind.empty() ? "" : event.key.text(), event.text.empty() ? "" : ": ", event.text);
    log.write(is_bad ? Log::Level::warn : Log::Level::info, text, journal::to_json(event));
  };
}

void force_in_time(removal::Options& options) {
  if (options.force_finalizers && options.timeout > Duration::zero())
    options.stuck_after = std::min(options.stuck_after, options.timeout / 4);
}

kube::Client client_of_run(Connection& cluster) { return cluster.client(); }

}  // namespace fairlead::terraform
