#include "terraform/bundle/internal/planning.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "terraform/bundle/internal/settings.h"
#include "terraform/bundle/source.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/deletion.h"
#include "terraform/objects/words.h"

namespace fairlead::terraform {
namespace {

class BundlePlan {
 public:
  BundlePlan(Context& context, const StoredStates& stored_states, PlanRequest request)
      : context_(context), stored_states_(stored_states), request_(std::move(request)) {
    response_.planned = request_.proposed;
    response_.planned_private = request_.prior_private;
  }

  Task<PlanResponse> run() {
    if (request_.config.is_null()) plan_destroy();
    else co_await plan_change();
    co_return std::move(response_);
  }

 private:
  bool exists() const { return !request_.prior.is_null(); }
  Value& planned() { return response_.planned; }

  void plan_destroy() {
    response_.planned = {};
    response_.planned_private = Json::Object{{"destroy", true}};
    if (is_protected()) refuse_as_protected("destroyed", BundleSettings::read(request_.prior).text());
  }

  // The state has the value that a deletion will see, and the configuration what the user wants by now.
  bool is_protected() const {
    return request_.prior["delete_protection"].bool_or(false) || request_.config["delete_protection"].bool_or(false);
  }

  void refuse_as_protected(std::string_view what, std::string_view bundle) {
    response_.diagnostics.error(as_protected(what, bundle, "plan"), "delete_protection");
  }

  // A tainted bundle has one plan, of a create.
  Task<bool> refuse_as_tainted() {
    if (exists() || !request_.prior_private.is_null()) co_return false;
    Result<Connection*> cluster = co_await context_.clusters().connect(request_.proposed["cluster"]);
    bool is_known = cluster && *cluster;
    if (!is_known || !co_await stored_states_.protect(context_.clusters(), *cluster, settings_.id())) co_return false;
    response_.diagnostics.error(
        protected_in_state(fmt::format("The bundle is protected and cannot be replaced ({})", settings_.text())),
        "delete_protection");
    co_return true;
  }

  void set_all_unknown() {
    for (const char* name : {"complete", "objects", "revision"}) planned().make(name) = Value::unknown();
  }

  Task<void> plan_change() {
    set_all_unknown();
    planned().make("complete") = true;
    // A replacement that the user asks for, as with `-replace`, has a second plan, which does not see the bundle.
    const Json& protected_bundle = request_.prior_private["protected"];
    if (!exists() && protected_bundle.is_string())
      co_return refuse_as_protected("replaced", protected_bundle.string_or(""));
    if (exists() && is_protected())
      response_.planned_private = Json::Object{{"protected", BundleSettings::read(request_.prior).text()}};
    bool is_named = request_.config["name"].is_known() && !request_.config["namespace"].is_unknown();
    if (!is_named) {
      planned().make("id") = Value::unknown();
      co_return;
    }
    settings_ = BundleSettings::read(request_.config);
    planned().make("id") = settings_.id();
    if (co_await refuse_as_tainted()) co_return;
    if (exists() && settings_.id() != request_.prior["id"].string_or("")) {
      if (is_protected()) co_return refuse_as_protected("replaced", BundleSettings::read(request_.prior).text());
      for (const char* name : {"name", "namespace", "id"})
        if (planned()[name] != request_.prior[name]) response_.requires_replace.push_back(Path(name));
      response_.planned_private = Json::Object{{"replaces", true}};
      co_return;
    }
    if (!has_known_sources(request_.config)) co_return;
    SourceReading reading = co_await read_sources(context_, request_.config, settings_.name, settings_.home);
    response_.diagnostics.add(std::move(reading.diagnostics));
    if (response_.diagnostics.has_errors()) co_return;
    Flat digests = digests_of(reading.bundle, settings_.id());
    bool is_same = exists() && digests == flat_of(request_.prior["objects"]);
    if (!may_read_differently(request_.config)) planned().make("objects") = value_of(digests);
    if (exists() && request_.config["cluster_gone"].bool_or(false)) co_return keep_prior();
    // The objects still belong to the bundle that is deleted first.
    if (!exists() && request_.prior_private["replaces"].bool_or(false)) co_return;
    bool would_change = co_await rehearse(std::move(reading.bundle));
    bool is_complete = request_.prior["complete"].bool_or(false);
    bool is_unchanged = exists() && is_same && is_complete && !would_change;
    for (const char* name : {"objects", "revision"})
      if (is_unchanged) planned().make(name) = request_.prior[name];
  }

  void keep_prior() {
    for (const char* name : {"complete", "objects", "revision"}) planned().make(name) = request_.prior[name];
  }

  // Returns true if the rollout would change something in the cluster.
  Task<bool> rehearse(manifest::Bundle bundle) {
    Result<Connection*> cluster = co_await context_.clusters().connect(request_.proposed["cluster"]);
    if (!cluster) {
      response_.diagnostics.error(
          Error(cluster.error()).in(fmt::format("`cluster` cannot be used ({})", settings_.text())), "cluster");
      co_return true;
    }
    if (!*cluster) co_return false;
    rollout::Options options = rollout_options(request_.config, settings_);
    options.dry_run = true;
    CancelSource* stop = co_await current_cancel();
    CancelSource own;
    journal::Journal journal(context_.loop().clock());
    kube::Client client = client_of_run(**cluster);
    rollout::Ending ending = co_await rollout::roll_out(client, (*cluster)->discovery(), std::move(bundle),
                                                        std::move(options), journal, stop)
                                 .governed_by(&own);
    tell(ending);
    using State = rollout::ObjectEnding::State;
    static const std::set<State> kSame{State::unchanged, State::left_out, State::unchecked};
    co_return ending.how != rollout::Ending::How::done ||
        std::ranges::any_of(ending.objects, [](const auto& object) { return !kSame.contains(object.state); });
  }

  void tell(const rollout::Ending& ending) {
    // What is missing may come by other resources of the same run. What is wrong stays wrong.
    for (const journal::Cause& cause : ending.causes) {
      bool is_refused = std::ranges::any_of(ending.objects, [&](const rollout::ObjectEnding& object) {
        return object.state == rollout::ObjectEnding::State::refused && object.error &&
               object.error->what() == cause.error.what();
      });
      bool is_wrong = is_refused && !cause.error.message().contains("does not exist");
      add_causes(response_.diagnostics, {cause}, settings_,
                 is_wrong ? Diagnostic::Severity::error : Diagnostic::Severity::warning, source_path(request_.config),
                 exists() ? "" : "correct the manifests, then plan again");
    }
    for (const rollout::Concern& concern : ending.concerns)
      response_.diagnostics.warning(
          fmt::format("{} ({}{})", concern.text, concern.key.kind.empty() ? "" : concern.key.text() + ", ",
                      settings_.text()),
          "This is what the rehearsal of the rollout found.", "name");
    if (!exists()) return;
    std::string changes;
    for (const rollout::ObjectEnding& object : ending.objects)
      if (object.forecast)
        changes += fmt::format("  {:<9} {}{}\n", rollout::name_of(object.forecast->action), object.key.text(),
                               object.forecast->note.empty() ? "" : ": " + object.forecast->note);
    if (!changes.empty())
      response_.diagnostics.warning(fmt::format("The next apply changes these objects ({})", settings_.text()), changes,
                                    "name");
  }

  Context& context_;
  const StoredStates& stored_states_;
  PlanRequest request_;
  PlanResponse response_;
  BundleSettings settings_;
};

}  // namespace

Task<PlanResponse> plan_bundle(Context& context, const StoredStates& stored_states, PlanRequest request) {
  BundlePlan plan(context, stored_states, std::move(request));
  co_return co_await plan.run();
}

}  // namespace fairlead::terraform
