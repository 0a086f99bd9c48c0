#include "certs/inject.h"

#include <algorithm>

#include "admission/client_config.h"
#include "base/base64.h"
#include "kube/faults/another_object.h"

namespace fairlead::certs {
namespace {

using kube::FaultKind;
using How = Injection::How;

// How often an object is read again that was replaced while it was written.
constexpr int kApplyAttempts = 3;

class TargetReader {
 public:
  explicit TargetReader(kube::Client& client) : client_(client) {}

  Task<Result<void>> list(object::Resource resource) {
    kube::Outcome<kube::List> listed = co_await client_.list(resource, {});
    if (!listed) co_return take_failure(resource.plural, listed.error());
    for (Json& item : listed->items) list_.targets.push_back({resource, std::move(item)});
    co_return Result<void>();
  }

  // Reads an object that may be of any of these kinds. Once it is found, others need not be readable: whoever may do no
  // more than is needed has no right to them.
  Task<Result<void>> get(std::vector<object::Resource> kinds, std::string name) {
    size_t found = list_.targets.size(), unreadable = list_.unreadable.size();
    for (const object::Resource& resource : kinds) {
      kube::Outcome<kube::Reply> reply = co_await client_.get(resource, "", name);
      if (reply) list_.targets.push_back({resource, std::move(reply->value)});
      else if (!reply.error().is(FaultKind::not_found))
        CO_TRY(take_failure(fmt::format("{} {}", resource.kind, name), reply.error()));
    }
    if (list_.targets.size() > found) list_.unreadable.resize(unreadable);
    else if (list_.unreadable.size() == unreadable)
      list_.absent.push_back(fmt::format("{} {} does not exist", kinds.front().kind, name));
    co_return Result<void>();
  }

  TargetList take() { return std::move(list_); }

 private:
  // What is refused is noted; without an answer, nothing can be said at all.
  Result<void> take_failure(const std::string& what, const kube::Failure& failure) {
    if (!failure.fault()) return fail(failure.error().in(fmt::format("cannot read {}", what)));
    if (!failure.is(FaultKind::not_served))
      list_.unreadable.push_back(fmt::format("{} cannot be read: {}", what, failure.error().message()));
    return {};
  }

  kube::Client& client_;
  TargetList list_;
};

// What is to be written into one object.
struct ObjectPlan {
  std::vector<Injection> places;
  std::vector<Injected> values;
  bool differs = false;
  bool force = false;
};

class Planner {
 public:
  Planner(const Spec& spec, const std::vector<x509::Certificate>& wanted, const InjectOptions& options)
      : spec_(spec), wanted_(wanted), options_(options) {}

  ObjectPlan plan(const Json& object) const {
    ObjectPlan plan;
    for (Place& place : places_of(object, spec_)) add(plan, std::move(place));
    return plan;
  }

 private:
  void add(ObjectPlan& plan, Place place) const {
    std::string pem = compose(place.ca_bundle, wanted_, spec_, options_.retire);
    bool is_same = from_base64(place.ca_bundle) == pem;
    bool is_taken = !place.owner.empty() && admission::has_certificate(place.ca_bundle);
    if (!place.obstacle.empty() || (is_taken && !is_same && !options_.force)) return leave(plan, std::move(place));
    plan.differs = plan.differs || !is_same;
    // Placeholders are there to be replaced.
    plan.force = plan.force || (!is_same && !place.owner.empty());
    // What is applied must have what we own already; a value that is right and of somebody else stays theirs.
    if (!is_same || place.is_owned) plan.values.push_back({place, std::move(pem)});
    plan.places.push_back({std::move(place), is_same ? How::unchanged : How::injected, ""});
  }

  void leave(ObjectPlan& plan, Place place) const {
    std::string why = place.obstacle.empty() ? fmt::format("its caBundle is owned by {}", place.owner) : place.obstacle;
    How how = trusts_all(place, wanted_) ? How::unchanged : How::left;
    plan.places.push_back({std::move(place), how, std::move(why)});
  }

  const Spec& spec_;
  const std::vector<x509::Certificate>& wanted_;
  const InjectOptions& options_;
};

void fail_all(ObjectPlan& plan, const std::string& why) {
  for (Injection& one : plan.places)
    if (one.how == How::injected) {
      one.how = How::left;
      one.why = why;
    }
}

bool was_replaced(const kube::Failure& failure) {
  bool is_another = failure.fault() && kube::is_about_another_object(*failure.fault());
  return is_another || failure.is(FaultKind::conflict) || failure.is(FaultKind::not_found);
}

Task<Result<void>> inject_one(kube::Client& client, const Planner& planner, Target target, const InjectOptions& options,
                              InjectReport& report) {
  for (int attempt = 1;; ++attempt) {
    ObjectPlan plan = planner.plan(target.object);
    std::string name(target.object["metadata"]["name"].string_or(""));
    object::Key key = plan.places.empty() ? object::Key{} : plan.places.front().place.object;
    if (plan.differs && options.may_write && !options.may_write(key)) {
      fail_all(plan, "somebody else keeps changing it; waiting before it is written again");
    } else if (plan.differs) {
      kube::ApplyOptions apply;
      apply.field_manager = kFieldManager;
      apply.dry_run = options.dry_run;
      apply.force = plan.force;
      auto reply = co_await client.apply(target.resource, "", name, injection(target.object, plan.values), apply);
      if (!reply && !reply.error().fault())
        co_return fail(reply.error().error().in(fmt::format("cannot write {} {}", target.resource.kind, name)));
      if (!reply && was_replaced(reply.error()) && attempt < kApplyAttempts) {
        auto again = co_await client.get(target.resource, "", name);
        if (!again && again.error().is(FaultKind::not_found)) co_return Result<void>();
        if (again) target.object = std::move(again->value);
        if (again) continue;
      }
      if (reply) ++report.writes;
      else fail_all(plan, reply.error().error().message());
    }
    std::ranges::move(plan.places, std::back_inserter(report.places));
    co_return Result<void>();
  }
}

}  // namespace

std::string_view name_of(Injection::How how) {
  switch (how) {
    case How::unchanged: return "unchanged";
    case How::injected: return "injected";
    case How::left: return "left";
  }
  return "unchanged";
}

bool InjectReport::is_complete() const { return why_incomplete().empty(); }

std::string InjectReport::why_incomplete() const {
  for (const Injection& one : places)
    if (one.how == How::left) return fmt::format("{}: {}", one.place.text(), one.why);
  return unreadable.empty() ? "" : unreadable.front();
}

Task<Result<TargetList>> read_targets(kube::Client& client, Targets targets) {
  const std::vector<object::Resource>& kinds = injectable_resources();
  TargetReader reader(client);
  if (targets.empty())
    for (const object::Resource& resource : kinds) CO_TRY(co_await reader.list(resource));
  for (const std::string& name : targets.webhooks) CO_TRY(co_await reader.get({kinds[0], kinds[1]}, name));
  for (const std::string& name : targets.definitions) CO_TRY(co_await reader.get({kinds[2]}, name));
  for (const std::string& name : targets.api_services) CO_TRY(co_await reader.get({kinds[3]}, name));
  co_return reader.take();
}

Task<Result<InjectReport>> inject(kube::Client& client, const Spec& spec, Targets targets,
                                  std::vector<x509::Certificate> wanted, InjectOptions options) {
  CO_TRY_ASSIGN(TargetList list, co_await read_targets(client, std::move(targets)));
  InjectReport report;
  report.absent = std::move(list.absent);
  report.unreadable = std::move(list.unreadable);
  Planner planner(spec, wanted, options);
  for (Target& target : list.targets) {
    if (places_of(target.object, spec).empty()) continue;
    CO_TRY(co_await inject_one(client, planner, std::move(target), options, report));
  }
  report.has_stale = !options.retire && std::ranges::any_of(report.places, [&](const Injection& one) {
    return one.place.obstacle.empty() && has_stale(one.place, wanted, spec);
  });
  co_return report;
}

}  // namespace fairlead::certs
