#include "terraform/bundle/internal/applying.h"

#include <fmt/format.h>

#include "inventory/holder.h"
#include "inventory/inventory.h"
#include "removal/removal.h"
#include "rollout/rollout.h"
#include "terraform/bundle/internal/settings.h"
#include "terraform/bundle/source.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/deletion.h"
#include "terraform/objects/words.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

class BundleApply {
 public:
  BundleApply(Context& context, HalfMade& half_made, ApplyRequest request)
      : context_(context), half_made_(half_made), request_(std::move(request)) {
    response_.state = request_.prior;
    settings_ = BundleSettings::read(request_.planned.is_null() ? request_.prior : request_.planned);
  }

  Task<ApplyResponse> run() {
    if (request_.planned.is_null()) co_await destroy();
    else if (exists() && !request_.planned["revision"].is_unknown()) response_.state = request_.planned;
    else co_await write();
    co_return std::move(response_);
  }

 private:
  bool exists() const { return !request_.prior.is_null(); }
  object::Key key() const { return {.group = "", .kind = "bundle", .ns = settings_.home, .name = settings_.name}; }

  // The first half of a replacement that is none: the bundle was half made, and goes on.
  bool goes_on() const { return !request_.prior["complete"].bool_or(false) && !is_planned_deletion(); }

  // The first half of a replacement whose plan did not see the bundle.
  bool is_tainted() const { return !is_planned_deletion() && !tool().keep_tainted.empty(); }

  bool is_planned_deletion() const {
    return request_.planned_private["destroy"].bool_or(false) || request_.planned_private["replaces"].bool_or(false);
  }

  Task<void> destroy() {
    if (goes_on()) {
      half_made_.insert(settings_.id());
      context_.log().info(
          fmt::format("{} is half made: nothing is deleted, and the rollout goes on", settings_.text()));
      response_.state = {};
      co_return;
    }
    if (request_.prior["cluster_gone"].bool_or(false)) {
      response_.state = {};
      co_return;
    }
    if (request_.prior["delete_protection"].bool_or(false)) {
      Error error = as_protected("destroyed", settings_.text(), "destroy");
      if (is_tainted()) error = std::move(error).next(std::string(tool().keep_tainted));
      response_.diagnostics.error(error, "delete_protection");
      co_return;
    }
    Connection* cluster = co_await connected(context_, request_.prior["cluster"], key(), response_.diagnostics);
    if (!cluster) co_return;
    removal::Options options;
    options.default_namespace = settings_.home;
    options.timeout = duration_in(request_.prior["delete_timeout"]).value_or(Duration::zero());
    options.force_finalizers = request_.prior["force_destroy"].bool_or(false);
    force_in_time(options);
    options.with_contents = request_.prior["with_contents"].bool_or(false);
    inventory::sign(options);
    CancelSource* stop = co_await current_cancel();
    CancelSource own;
    journal::Journal journal(context_.loop().clock());
    journal.read_by(log_reader(context_.log()));
    kube::Client client = client_of_run(*cluster);
    removal::Ending ending = co_await removal::take_out_bundle(client, cluster->discovery(), settings_.name,
                                                               std::move(options), journal, stop)
                                 .governed_by(&own);
    for (const removal::ObjectEnding& object : ending.objects)
      if (object.state == removal::ObjectEnding::State::kept && object.error)
        response_.diagnostics.warning(bundle_error(*object.error, settings_), "name");
    if (ending.how == removal::Ending::How::done) {
      response_.state = {};
      co_return;
    }
    add_causes(response_.diagnostics, ending.causes, settings_, Diagnostic::Severity::error, "name");
    if (!response_.diagnostics.has_errors()) add_interruption("The deletion was interrupted");
  }

  void add_interruption(std::string_view what) {
    response_.diagnostics.error(Error(ErrorKind::cancelled, fmt::format("{} ({})", what, settings_.text()))
                                    .next(fmt::format("{}: it goes on where it stopped", tool().run_again)),
                                "name");
  }

  Task<void> write() {
    Connection* cluster = co_await connected(context_, request_.planned["cluster"], key(), response_.diagnostics);
    if (!cluster) co_return;
    SourceReading reading = co_await read_sources(context_, request_.config, settings_.name, settings_.home);
    response_.diagnostics.add(std::move(reading.diagnostics));
    if (response_.diagnostics.has_errors()) co_return;
    if (!exists() && !co_await may_create(*cluster)) co_return;
    Flat digests = digests_of(reading.bundle, settings_.id());
    CancelSource* stop = co_await current_cancel();
    CancelSource own;
    journal::Journal journal(context_.loop().clock());
    journal.read_by(log_reader(context_.log()));
    kube::Client client = client_of_run(*cluster);
    rollout::Ending ending = co_await rollout::roll_out(client, cluster->discovery(), std::move(reading.bundle),
                                                        rollout_options(request_.planned, settings_), journal, stop)
                                 .governed_by(&own);
    finish(ending, std::move(digests));
    if (!exists() && response_.state["objects"].members().empty() && response_.diagnostics.has_errors())
      co_await forget_if_nothing_was_made(*cluster);
  }

  // Terraform would mark it as tainted.
  Task<void> forget_if_nothing_was_made(Connection& cluster) {
    auto opened = co_await inventory::Inventory::open(cluster.client(), cluster.discovery(),
                                                      {.name = settings_.name, .ns = settings_.home});
    if (opened && !(*opened)->exists()) response_.state = {};
  }

  // A bundle of that name that somebody else made is not taken over without being asked.
  Task<bool> may_create(Connection& cluster) {
    if (request_.planned["adopt"].bool_or(false) || half_made_.erase(settings_.id()) > 0) co_return true;
    auto opened = co_await inventory::Inventory::open(cluster.client(), cluster.discovery(),
                                                      {.name = settings_.name, .ns = settings_.home});
    // The rollout itself says what is wrong.
    if (!opened || !(*opened)->exists()) co_return true;
    response_.diagnostics.error(
        Error(ErrorKind::denied, fmt::format("The bundle exists already ({})", settings_.text()))
            .because("an earlier run made it, or `fairlead apply --name`")
            .next("set adopt = true to go on with it, or choose another name; fairlead status shows what it has"),
        "name");
    co_return false;
  }

  void finish(const rollout::Ending& ending, Flat digests) {
    bool is_done = ending.how == rollout::Ending::How::done;
    Value state = request_.planned;
    state.make("id") = settings_.id();
    for (const rollout::ObjectEnding& object : ending.objects)
      add_warnings(response_.diagnostics, object.key, object.warnings, "name");
    if (is_done) {
      if (!state["objects"].is_wholly_known()) state.make("objects") = value_of(digests);
      std::string_view before = request_.prior["revision"].string_or("1");
      state.make("revision") = ending.revision > 0 ? std::to_string(ending.revision) : std::string(before);
      response_.state = std::move(state);
      return;
    }
    add_causes(response_.diagnostics, ending.causes, settings_, Diagnostic::Severity::error,
               source_path(request_.planned));
    if (!response_.diagnostics.has_errors()) add_interruption("The rollout was interrupted");
    // A failed update keeps the prior values, so that the next plan shows what is still to be done.
    if (exists()) state = request_.prior;
    else state.make("objects") = value_of(stored(ending, digests));
    if (!exists()) state.make("revision") = "";
    state.make("complete") = false;
    response_.state = std::move(state);
  }

  static Flat stored(const rollout::Ending& ending, const Flat& digests) {
    using State = rollout::ObjectEnding::State;
    Flat out;
    for (const rollout::ObjectEnding& object : ending.objects) {
      bool is_stored = object.state == State::created || object.state == State::changed ||
                       object.state == State::unchanged || object.state == State::not_ready;
      auto found = digests.find(object.key.text_with_group());
      // The manifest may name no namespace.
      if (found == digests.end()) {
        object::Key bare = object.key;
        bare.ns.clear();
        found = digests.find(bare.text_with_group());
      }
      if (is_stored && found != digests.end()) out.insert(*found);
    }
    return out;
  }

  Context& context_;
  HalfMade& half_made_;
  ApplyRequest request_;
  ApplyResponse response_;
  BundleSettings settings_;
};

}  // namespace

Task<ApplyResponse> apply_bundle(Context& context, HalfMade& half_made, ApplyRequest request) {
  BundleApply apply(context, half_made, std::move(request));
  co_return co_await apply.run();
}

}  // namespace fairlead::terraform
