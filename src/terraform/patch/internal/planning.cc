#include "terraform/patch/internal/planning.h"

#include "terraform/objects/acceptance.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/words.h"
#include "terraform/patch/internal/site.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

using kube::FaultKind;

class PatchPlan {
 public:
  PatchPlan(Context& context, PlanRequest request) : context_(context), request_(std::move(request)) {
    response_.planned = request_.proposed;
    response_.planned_private = request_.prior_private;
  }

  Task<PlanResponse> run() {
    if (!request_.config.is_null()) co_await plan();
    co_return std::move(response_);
  }

 private:
  bool exists() const { return !request_.prior.is_null(); }
  Value& planned() { return response_.planned; }
  void set_unknown_values() {
    planned().make("managed_fields") = Value::unknown();
    planned().make("managed_state_projection") = Value::unknown();
  }

  Task<void> plan() {
    if (!exists()) {
      planned().make("id") = Value::unknown();
      response_.planned_private = {};
    }
    set_unknown_values();
    bool is_settled = planned()["target"].is_wholly_known();
    for (const char* name : {"patch", "json_patch", "merge_patch", "sensitive_fields"})
      is_settled = is_settled && request_.config[name].is_wholly_known();
    if (!is_settled) co_return;
    std::optional<Reference> reference = reference_of(planned()["target"]);
    Result<PatchContent> content = PatchContent::read(request_.config);
    if (!reference || !content) co_return;  // validate() has said so
    if (exists() && planned()["target"] != request_.prior["target"]) {
      response_.requires_replace.push_back(Path("target"));
      co_return;
    }
    if (exists() && keeps_patch()) co_return keep_values();
    site_.reference = *std::move(reference);
    co_await rehearse(*content);
  }

  // The patch is that of the state, so what it makes is known.
  bool keeps_patch() const {
    for (const char* name : {"patch", "json_patch", "merge_patch", "sensitive_fields"})
      if (request_.config[name] != request_.prior[name]) return false;
    return request_.prior_private["applied"].is_object();
  }

  void keep_values() {
    Flat applied = flat_in(request_.prior_private["applied"]);
    bool is_same = applied == flat_of(request_.prior["managed_state_projection"]);
    planned().make("managed_state_projection") = value_of(applied);
    if (is_same) planned().make("managed_fields") = request_.prior["managed_fields"];
  }

  Task<void> rehearse(const PatchContent& content) {
    Result<Connection*> cluster = co_await context_.clusters().connect(request_.proposed["cluster"]);
    if (!cluster) {
      response_.diagnostics.error(Error(cluster.error()).in(headline("`cluster` cannot be used", site_.reference.key)),
                                  "cluster");
      co_return;
    }
    if (!*cluster) co_return;
    site_.cluster = *cluster;
    auto kind = co_await site_.find_kind();
    if (!kind) co_return judge(kind.error(), content);
    if (!*kind) co_return;
    auto live = co_await site_.read();
    if (!live && live.error().is(FaultKind::not_found)) {
      response_.diagnostics.warning(
          Error(ErrorKind::not_found, headline("The object to patch does not exist yet", site_.reference.key))
              .next("have what creates it in depends_on"),
          "target");
      co_return;
    }
    if (!live) co_return judge(live.error(), content);
    std::string manager = manager_of(exists() ? request_.prior["id"].string_or("") : "planned");
    auto rehearsed = co_await site_.send(content, live->value, manager, true);
    if (!rehearsed) co_return judge(rehearsed.error(), content);
    add_warnings(response_.diagnostics, site_.reference.key, rehearsed->warnings, Path(content.attribute));
    Flat values = patched_values(content, rehearsed->value, manager, patch_rules(request_.config));
    warn_of_objects(live->value, values);
    planned().make("managed_state_projection") = value_of(values);
  }

  void judge(const kube::Failure& failure, const PatchContent& content) {
    if (may_come(failure) && !failure.is(FaultKind::unauthorized)) return;
    Path path = failure.fault() && !failure.is(FaultKind::unauthorized) ? Path(content.attribute) : Path("cluster");
    response_.diagnostics.error(refused("The cluster does not accept the patch", site_.reference.key, failure), path);
  }

  // A fairlead_object would take the fields back with every apply.
  void warn_of_objects(const Json& live, const Flat& values) {
    Flat owners = owners_of(live, {});
    std::vector<std::string> shared;
    for (const auto& [path, value] : values)
      if (auto owner = owners.find(path); owner != owners.end() && owner->second == tool().field_manager)
        shared.push_back(path);
    if (shared.empty()) return;
    response_.diagnostics.warning(
        Error(ErrorKind::invalid, headline("A fairlead_object manages the same fields", site_.reference.key))
            .because(some_of(shared))
            .next("change its manifest instead, or add the fields to its ignore_fields"),
        "target");
  }

  Context& context_;
  PlanRequest request_;
  PlanResponse response_;
  PatchSite site_;
};

}  // namespace

Task<PlanResponse> plan_patch(Context& context, PlanRequest request) {
  PatchPlan plan(context, std::move(request));
  co_return co_await plan.run();
}

}  // namespace fairlead::terraform
