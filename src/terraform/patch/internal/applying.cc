#include "terraform/patch/internal/applying.h"

#include "terraform/objects/acceptance.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/words.h"
#include "terraform/patch/internal/site.h"
#include "terraform/projection/release.h"

namespace fairlead::terraform {
namespace {

using kube::FaultKind;

constexpr std::string_view kNotPatched = "The object was not patched";

class PatchApply {
 public:
  PatchApply(Context& context, ApplyRequest request) : context_(context), request_(std::move(request)) {
    response_.state = request_.prior;
    response_.private_state = request_.planned_private;
  }

  Task<ApplyResponse> run() {
    if (request_.planned.is_null()) co_await destroy();
    else if (exists() && !request_.planned["managed_fields"].is_unknown()) response_.state = request_.planned;
    else co_await write();
    co_return std::move(response_);
  }

 private:
  bool exists() const { return !request_.prior.is_null(); }

  Task<bool> reach(const Value& value) {
    std::optional<Reference> reference = reference_of(value["target"]);
    if (!reference) {
      response_.diagnostics.error("target names no object", "It needs api_version, kind and name.", "target");
      co_return false;
    }
    site_.reference = *std::move(reference);
    site_.cluster = co_await connected(context_, value["cluster"], site_.reference.key, response_.diagnostics);
    co_return site_.cluster != nullptr;
  }

  void failed(const kube::Failure& failure, std::string_view what, const Path& path) {
    bool is_connection = !failure.fault() || failure.is(FaultKind::unauthorized);
    response_.diagnostics.error(refused(what, site_.reference.key, failure), is_connection ? Path("cluster") : path);
  }

  Task<void> destroy() {
    if (request_.prior["cluster_gone"].bool_or(false)) co_return forget();
    if (!co_await reach(request_.prior)) co_return;
    auto kind = co_await site_.find_kind();
    if (!kind) co_return not_released(kind.error());
    if (!*kind) co_return forget();
    std::string manager = manager_of(request_.prior["id"].string_or(""));
    auto released = co_await site_.release(manager, std::nullopt, request_.planned_private["before"]);
    if (!released) co_return not_released(released.error());
    forget();
  }

  void not_released(const kube::Failure& failure) {
    if (auto error = unreachable("so the patch was not released", site_.reference.key, failure))
      response_.diagnostics.error(*error, "cluster");
    else failed(failure, "The patch was not released", "target");
  }

  void forget() {
    response_.state = {};
    response_.private_state = {};
  }

  Task<void> write() {
    Result<PatchContent> content = PatchContent::read(request_.config);
    if (!content) {
      response_.diagnostics.error(content.error(), "patch");
      co_return;
    }
    if (!co_await reach(request_.planned)) co_return;
    auto live = co_await await_target();
    if (!live) co_return;
    std::string id = exists() ? std::string(request_.prior["id"].string_or("")) : new_id();
    std::string manager = manager_of(id);
    if (!co_await release_dropped(*content, *live, manager)) co_return;
    auto send = [&]() -> Task<kube::Outcome<kube::Reply>> {
      co_return co_await site_.send(*content, *live, manager, false);
    };
    auto patched = co_await send_until_accepted(context_.loop(), {}, send);
    if (!patched) co_return failed(patched.error(), kNotPatched, Path(content->attribute));
    add_warnings(response_.diagnostics, site_.reference.key, patched->warnings, Path(content->attribute));
    finish(*content, *live, patched->value, std::move(id));
  }

  // The same run may create the object.
  Task<std::optional<Json>> await_target() {
    TimePoint end = context_.loop().now() + kPrerequisiteTime;
    for (;;) {
      auto kind = co_await site_.find_kind();
      if (!kind) {
        failed(kind.error(), kNotPatched, "target");
        co_return std::nullopt;
      }
      if (*kind) {
        auto live = co_await site_.read();
        if (live) co_return std::move(live->value);
        if (!live.error().is(FaultKind::not_found)) {
          failed(live.error(), kNotPatched, "target");
          co_return std::nullopt;
        }
      }
      if (context_.loop().now() >= end || !co_await sleep_for(context_.loop(), std::chrono::seconds(1))) break;
    }
    response_.diagnostics.error(
        Error(ErrorKind::not_found, headline(kNotPatched, site_.reference.key))
            .because("the object does not exist, and a patch does not create it")
            .next("have what creates it in depends_on, or manage the whole object with fairlead_object"),
        "target");
    co_return std::nullopt;
  }

  // Fields that the patch no longer has go back to their owners before the apply, which would remove them.
  Task<bool> release_dropped(const PatchContent& content, const Json& live, std::string manager) {
    fields::FieldSet ours = owned_by(live, manager);
    if (ours.empty()) co_return true;
    fields::FieldSet kept;
    if (content.kind == PatchContent::Kind::apply) {
      auto rehearsed = co_await site_.send(content, live, manager, true);
      if (!rehearsed) co_return true;
      kept = owned_by(rehearsed->value, manager);
    } else {
      for (const fields::Path& place : content.places()) kept.insert(place);
    }
    fields::FieldSet dropped = ours.without(kept);
    if (dropped.empty()) co_return true;
    auto released = co_await site_.release(manager, dropped, request_.planned_private["before"]);
    if (!released) failed(released.error(), kNotPatched, Path(content.attribute));
    co_return released.has_value();
  }

  void finish(const PatchContent& content, const Json& before, const Json& after, std::string id) {
    std::string manager = manager_of(id);
    FieldRules rules = patch_rules(request_.config);
    Flat values = patched_values(content, after, manager, rules);
    Value state = request_.planned;
    state.make("id") = std::move(id);
    state.make("managed_fields") = value_of(owners_at(after, values, rules));
    Value& projection = state.make("managed_state_projection");
    if (!projection.is_wholly_known()) projection = value_of(values);
    else if (flat_of(projection) != values)
      response_.diagnostics.warning(
          Error(ErrorKind::invalid, headline("The cluster changed what was planned", site_.reference.key))
              .next("terraform plan shows the difference"),
          Path(content.attribute));
    Json::Array owners = owners_among(before, owned_by(after, manager), manager).items();
    // Fields that were patched before were taken from those who are remembered.
    for (const Json& entry : request_.planned_private["before"].items()) owners.push_back(entry);
    response_.state = std::move(state);
    response_.private_state = Json::Object{{"applied", json_of(values)}, {"before", std::move(owners)}};
  }

  Context& context_;
  ApplyRequest request_;
  ApplyResponse response_;
  PatchSite site_;
};

}  // namespace

Task<ApplyResponse> apply_patch(Context& context, ApplyRequest request) {
  PatchApply apply(context, std::move(request));
  co_return co_await apply.run();
}

}  // namespace fairlead::terraform
