#include "terraform/patch/patch.h"

#include "terraform/objects/attributes.h"
#include "terraform/objects/words.h"
#include "terraform/patch/internal/applying.h"
#include "terraform/patch/internal/planning.h"
#include "terraform/patch/internal/site.h"

namespace fairlead::terraform {
namespace {

using kube::FaultKind;

class PatchResource final : public Resource {
 public:
  std::string_view name() const override { return "fairlead_patch"; }
  const Schema& schema() const override { return patch_schema(); }

  Task<Diagnostics> validate(Context& context, Value config) override {
    Diagnostics found;
    check_patch(config, found);
    check_reference(config["target"], "target", found);
    found.add(context.clusters().check(config["cluster"], "cluster"));
    co_return found;
  }

  Task<ReadResponse> read(Context& context, ReadRequest request) override {
    ReadResponse response;
    response.state = std::move(request.state);
    response.private_state = std::move(request.private_state);
    std::optional<Reference> reference = reference_of(response.state["target"]);
    if (!reference || response.state["cluster_gone"].bool_or(false)) co_return response;
    PatchSite site;
    site.reference = *std::move(reference);
    Result<Connection*> cluster = co_await context.clusters().connect(response.state["cluster"]);
    if (!cluster || !*cluster) {
      if (!cluster) keep(response, site, cluster.error());
      co_return response;
    }
    site.cluster = *cluster;
    auto kind = co_await site.find_kind();
    if (!kind) keep(response, site, kind.error().error());
    if (!kind || !*kind) co_return response;
    auto live = co_await site.read();
    if (!live && live.error().is(FaultKind::not_found)) response.state = {};
    else if (!live) keep(response, site, live.error().error());
    else set_read(response.state, live->value);
    co_return response;
  }

  Task<PlanResponse> plan(Context& context, PlanRequest request) override {
    co_return co_await plan_patch(context, std::move(request));
  }
  Task<ApplyResponse> apply(Context& context, ApplyRequest request) override {
    co_return co_await apply_patch(context, std::move(request));
  }

 private:
  static void keep(ReadResponse& response, const PatchSite& site, const Error& why) {
    response.diagnostics.warning(
        Error(why.kind(), headline("The object could not be read; the state stays as it was", site.reference.key))
            .because(why)
            .next("check `cluster`"),
        "cluster");
  }

  static void set_read(Value& state, const Json& object) {
    FieldRules rules = patch_rules(state);
    Flat now = values_now(object, flat_of(state["managed_state_projection"]), rules);
    state.make("managed_fields") = value_of(owners_at(object, now, rules));
    state.make("managed_state_projection") = value_of(now);
  }
};

}  // namespace

std::unique_ptr<Resource> make_patch_resource() { return std::make_unique<PatchResource>(); }

}  // namespace fairlead::terraform
