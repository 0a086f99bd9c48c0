#include "terraform/wait/wait.h"

#include "terraform/objects/attributes.h"
#include "terraform/projection/projection.h"
#include "terraform/wait/waiting.h"

namespace fairlead::terraform {
namespace {

const Schema& wait_schema() {
  static const Schema kSchema = [] {
    Schema schema{
        .version = 0,
        .description = "Waits until an object is in some state.",
        .attributes = {reference_attribute("object_ref", true,
                                           "The object: `object_ref` of a `fairlead_object`, or any other."),
                       cluster_attribute(),
                       wait_for_attribute(true),
                       {.name = "triggers",
                        .type = Type::map(Type::string()),
                        .optional = true,
                        .description = "Values that make it wait again when they change, such as the `revision` of a "
                                       "`fairlead_object`."},
                       {.name = "id", .computed = true, .description = "Identifies the resource."},
                       {.name = "result",
                        .type = Type::dynamic(),
                        .computed = true,
                        .description = "The fields that were waited for, at their places in the object: "
                                       "`result.status.loadBalancer.ingress[0].ip`. Null if no field was waited for."}},
        .blocks = {}};
    for (Attribute& attribute : wait_timeout_attributes()) schema.attributes.push_back(std::move(attribute));
    return schema;
  }();
  return kSchema;
}

class WaitResource final : public Resource {
 public:
  std::string_view name() const override { return "fairlead_wait"; }
  const Schema& schema() const override { return wait_schema(); }

  Task<Diagnostics> validate(Context& context, Value config) override {
    Diagnostics found = check_waiting(config);
    check_reference(config["object_ref"], "object_ref", found);
    found.add(context.clusters().check(config["cluster"], "cluster"));
    co_return found;
  }

  // What was waited for has come true; that does not change.
  Task<ReadResponse> read(Context&, ReadRequest request) override {
    ReadResponse response;
    response.state = std::move(request.state);
    response.private_state = std::move(request.private_state);
    co_return response;
  }

  Task<PlanResponse> plan(Context&, PlanRequest request) override {
    PlanResponse response;
    response.planned = std::move(request.proposed);
    response.planned_private = std::move(request.prior_private);
    if (response.planned.is_null()) co_return response;
    bool waits = request.prior.is_null();
    for (const char* name : {"object_ref", "wait_for", "triggers"})
      waits = waits || response.planned[name] != request.prior[name];
    if (request.prior.is_null()) response.planned.make("id") = Value::unknown();
    response.planned.make("result") = waits ? Value::unknown() : request.prior["result"];
    co_return response;
  }

  Task<ApplyResponse> apply(Context& context, ApplyRequest request) override {
    ApplyResponse response;
    if (request.planned.is_null()) co_return response;
    response.state = request.prior;
    response.private_state = request.planned_private;
    if (!request.planned["result"].is_unknown()) {
      response.state = std::move(request.planned);
      co_return response;
    }
    co_await wait(context, request, response);
    co_return response;
  }

 private:
  static Task<void> wait(Context& context, const ApplyRequest& request, ApplyResponse& response) {
    std::optional<Reference> reference = reference_of(request.planned["object_ref"]);
    if (!reference) {
      response.diagnostics.error("object_ref names no object", "It needs api_version, kind and name.", "object_ref");
      co_return;
    }
    Connection* cluster = co_await connected(context, request.planned["cluster"], reference->key, response.diagnostics);
    if (!cluster) co_return;
    Waiting waiting = Waiting::read(request.planned);
    Awaited awaited = co_await wait_for_object(context, *cluster, *reference, waiting);
    if (awaited.error) {
      response.diagnostics.error(*awaited.error, "wait_for");
      co_return;
    }
    Value state = request.planned;
    if (!state["id"].is_known()) state.make("id") = new_id();
    state.make("result") = Value::from_json(only_fields(with_hashed_secrets(awaited.object, {}), waiting.fields));
    response.state = std::move(state);
  }
};

}  // namespace

std::unique_ptr<Resource> make_wait_resource() { return std::make_unique<WaitResource>(); }

}  // namespace fairlead::terraform
