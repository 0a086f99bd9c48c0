#include "terraform/bundle/bundle.h"

#include <fmt/format.h>

#include "inventory/inventory.h"
#include "terraform/bundle/internal/applying.h"
#include "terraform/bundle/internal/planning.h"
#include "terraform/bundle/internal/settings.h"
#include "terraform/bundle/source.h"
#include "terraform/objects/attributes.h"

namespace fairlead::terraform {
namespace {

class BundleResource final : public Resource {
 public:
  std::string_view name() const override { return "fairlead_bundle"; }
  const Schema& schema() const override { return bundle_schema(); }

  Task<Diagnostics> validate(Context& context, Value config) override {
    Diagnostics found = check_sources(config);
    if (const std::string* name = config["name"].if_string())
      if (Result<void> valid = inventory::check_name(*name); !valid) found.error(valid.error(), "name");
    check_duration(config["timeout"], "timeout", found);
    check_duration(config["delete_timeout"], "delete_timeout", found);
    check_choice(config, "on_conflict", {"force", "fail"}, found);
    found.add(context.clusters().check(config["cluster"], "cluster"));
    co_return found;
  }

  // Whether the bundle is still there. The plan rehearses the rollout, and finds what has drifted.
  Task<ReadResponse> read(Context& context, ReadRequest request) override {
    ReadResponse response;
    response.state = std::move(request.state);
    response.private_state = std::move(request.private_state);
    if (response.state["cluster_gone"].bool_or(false)) co_return response;
    BundleSettings settings = BundleSettings::read(response.state);
    Result<Connection*> cluster = co_await context.clusters().connect(response.state["cluster"]);
    if (!cluster) keep(response, settings, cluster.error());
    if (!cluster || !*cluster) co_return response;
    auto opened = co_await inventory::Inventory::open((*cluster)->client(), (*cluster)->discovery(),
                                                      {.name = settings.name, .ns = settings.home});
    if (!opened) keep(response, settings, opened.error().error());
    // A bundle that was never begun has no inventory, and is not gone for that.
    else if (!(*opened)->exists() && response.state["complete"].bool_or(false)) response.state = {};
    co_return response;
  }

  Task<PlanResponse> plan(Context& context, PlanRequest request) override {
    co_return co_await plan_bundle(context, stored_states_, std::move(request));
  }
  Task<ApplyResponse> apply(Context& context, ApplyRequest request) override {
    co_return co_await apply_bundle(context, half_made_, std::move(request));
  }

  Task<UpgradeResponse> upgrade(Context& context, UpgradeRequest request) override {
    UpgradeResponse response = co_await Resource::upgrade(context, std::move(request));
    const Value& state = response.state;
    std::string id(state["id"].string_or(""));
    // Of a bundle that is half made, a replacement deletes nothing.
    bool is_protected = state["delete_protection"].bool_or(false) && state["complete"].bool_or(false);
    if (!id.empty()) stored_states_.note(id, id, state["cluster"], is_protected);
    co_return response;
  }

 private:
  static void keep(ReadResponse& response, const BundleSettings& settings, const Error& why) {
    response.diagnostics.warning(
        Error(why.kind(), fmt::format("The bundle could not be read; the state stays as it was ({})", settings.text()))
            .because(why)
            .next("check `cluster`; new credentials in the configuration are used for the plan and the apply"),
        "cluster");
  }

  HalfMade half_made_;
  StoredStates stored_states_;
};

}  // namespace

std::unique_ptr<Resource> make_bundle_resource() { return std::make_unique<BundleResource>(); }

}  // namespace fairlead::terraform
