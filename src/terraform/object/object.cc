#include "terraform/object/object.h"

#include "terraform/object/internal/applying.h"
#include "terraform/object/internal/planning.h"
#include "terraform/object/internal/reading.h"
#include "terraform/object/settings.h"

namespace fairlead::terraform {
namespace {

class ObjectResource final : public Resource {
 public:
  std::string_view name() const override { return "fairlead_object"; }
  const Schema& schema() const override { return object_schema(); }
  const IdentitySchema* identity_schema() const override { return &object_identity_schema(); }

  Task<Diagnostics> validate(Context& context, Value config) override {
    Diagnostics found = check_settings(config);
    found.add(context.clusters().check(config["cluster"], "cluster"));
    co_return found;
  }
  Task<ReadResponse> read(Context& context, ReadRequest request) override {
    note_object(stored_states_, request.state);
    co_return co_await read_object(context, live_objects_, std::move(request));
  }
  Task<PlanResponse> plan(Context& context, PlanRequest request) override {
    co_return co_await plan_object(context, live_objects_, stored_states_, std::move(request));
  }
  Task<ApplyResponse> apply(Context& context, ApplyRequest request) override {
    co_return co_await apply_object(context, created_, std::move(request));
  }
  Task<ImportResponse> import(Context& context, ImportRequest request) override {
    co_return co_await import_object(context, std::move(request));
  }
  Task<MoveResponse> move(Context&, MoveRequest request) override { co_return move_object(request); }
  Task<UpgradeResponse> upgrade(Context& context, UpgradeRequest request) override {
    UpgradeResponse response = co_await Resource::upgrade(context, std::move(request));
    note_object(stored_states_, response.state);
    co_return response;
  }

 private:
  LiveObjects live_objects_;
  StoredStates stored_states_;
  CreatedObjects created_;
};

}  // namespace

std::unique_ptr<Resource> make_object_resource() { return std::make_unique<ObjectResource>(); }

}  // namespace fairlead::terraform
