#include "removal/internal/engine.h"

#include <algorithm>
#include <map>

#include "base/duration_text.h"
#include "object/containers.h"
#include "plan/stopping.h"
#include "removal/diagnosis/causes.h"
#include "removal/internal/cleanup_reminder.h"
#include "removal/internal/closer_look.h"
#include "removal/internal/collateral.h"
#include "removal/internal/deletion_vetoes.h"
#include "removal/internal/ending.h"
#include "removal/internal/journal_details.h"
#include "removal/internal/orphans.h"
#include "removal/internal/sending.h"
#include "removal/internal/stuck_monitor.h"
#include "removal/refusal.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;
using State = ObjectEnding::State;

constexpr Duration kInterruptionCheck = std::chrono::seconds(1);
constexpr size_t kNamedKinds = 6;
constexpr std::string_view kResourcePolicy = "helm.sh/resource-policy";

const Json kNothing;

class Engine {
 public:
  Engine(kube::Client& client, kube::Discovery& discovery, Run& run)
      : client_(client),
        discovery_(discovery),
        run_(run),
        loop_(run.loop()),
        watching_(loop_, nullptr),
        work_(loop_, nullptr),
        tracker_(client, discovery, run, watching_),
        configurations_(client, discovery),
        stuck_monitor_(client, discovery, run, tracker_, configurations_),
        cleanup_reminder_(client, run, tracker_),
        sender_(client, run, stuck_monitor_, work_),
        orphans_(client, discovery, run) {}

  Task<Ending> run(CancelSource* stop) {
    CancelHook hook;
    if (stop && stop->cancelled()) interrupt();
    else hook.set(stop, [this] { loop_.post([this] { interrupt(); }); });
    Loop::TimerId deadline{};
    bool limited = run_.options().expires != TimePoint::max();
    if (limited) deadline = loop_.call_at(run_.options().expires, [this] { expire(); });

    Ending ending;
    if (std::optional<Error> problem = resolve()) {
      ending.how = Ending::How::failed;
      ending.causes.push_back({.error = *std::move(problem), .blocks = {}});
    } else {
      ending = co_await proceed(stop);
    }
    hook.clear();
    if (limited && !run_.halt().out_of_time()) loop_.cancel_timer(deadline);
    run_.halt().end_waits();
    watching_.cancel();
    co_await watching_.join();
    co_return ending;
  }

 private:
  void interrupt() {
    run_.halt().interrupt();
    run_.changed().notify_all();
  }
  void expire() {
    run_.halt().expire();
    run_.changed().notify_all();
  }

  // Finds the kind of each target. A kind that nobody serves has no objects. Returns an error if it may only be
  // unknown, because its API server does not answer.
  std::optional<Error> resolve() {
    const kube::Discovered& known = discovery_.known();
    for (NodeId i : run_.ids()) {
      const object::Key& key = run_.key(i);
      const object::Resource* resource = known.find(key.group, run_.targets()[i].version, key.kind);
      if (!resource) resource = known.find(key.group, key.kind);
      if (resource) run_.edit(i).resource = *resource;
      for (const kube::GroupProblem& problem : known.problems())
        if (!resource && problem.group == key.group)
          return Error(ErrorKind::unavailable, fmt::format("it is not known whether {} exists", key.text()))
              .because(fmt::format("{}/{} cannot be discovered: {}", problem.group, problem.version, problem.why))
              .next(fmt::format("kubectl get apiservice {}.{} -o yaml", problem.version, problem.group));
    }
    return std::nullopt;
  }

  Task<void> report_interruptions() {
    while (co_await sleep_for(loop_, kInterruptionCheck)) tracker_.report_interruptions();
  }

  Task<Ending> proceed(CancelSource* stop) {
    Scope beside(loop_, &run_.halt().waits());
    beside.spawn(report_interruptions());
    Result<void> known = co_await tracker_.start().governed_by(&run_.halt().waits());
    Ending ending;
    if (known) {
      std::vector<Collateral> collaterals = co_await look();
      bool wanted = co_await is_wanted(collaterals);
      if (wanted) {
        if (run_.options().dry_run == DryRun::none) {
          beside.spawn(stuck_monitor_.keep());
          beside.spawn(cleanup_reminder_.keep());
        }
        orphans_.note_owners(tracker_);
        co_await roll();
        co_await orphans_.remove().governed_by(&run_.halt().waits());
      }
      run_.halt().end_waits();
      co_await work_.join();
      co_await beside.join();
      if (run_.halt().out_of_time()) fail_the_rest();
      ending = ending_of();
      co_await look_closer(client_, run_, ending).governed_by(stop);
      if (!wanted && !run_.halt().interrupted()) ending.how = Ending::How::declined;
    } else {
      co_await beside.join();
      ending = ending_of();
      ending.how = run_.halt().interrupted() ? Ending::How::interrupted : Ending::How::timed_out;
      if (!run_.halt().interrupted()) ending.causes = late(interruption(), run_.options()).causes;
    }
    co_return ending;
  }

  // Returns why the watches could not show which targets exist.
  Error interruption() const {
    for (NodeId i : run_.ids())
      if (const Error* interruption = tracker_.interruption(i)) return *interruption;
    return Error(ErrorKind::timeout, "the API server did not list it in time");
  }

  // Takes in the targets from `first` on as the watches show them.
  void take_in(NodeId first) {
    for (NodeId i : run_.ids()) {
      if (i < first) continue;
      const Json* live = tracker_.find(i);
      if (!live) continue;
      TargetState& entry = run_.edit(i);
      std::string_view uid = (*live)["metadata"]["uid"].string_or("");
      if (!run_.targets()[i].uid.empty() && run_.targets()[i].uid != uid) continue;
      entry.uid = uid;
      entry.last = *live;
      entry.progress = progress_of(*live);
    }
  }

  plan::IdVector<NodeId, LiveTarget> live_targets() const {
    plan::IdVector<NodeId, LiveTarget> all;
    for (NodeId i : run_.ids()) {
      LiveTarget target{.key = run_.key(i), .live = run_.state(i).last.is_null() ? &kNothing : &run_.state(i).last};
      if (run_.state(i).resource) target.resource = *run_.state(i).resource;
      if (is_crd(target.key)) {
        Tracker::Others others = tracker_.others_of(i);
        target.takes_others = others.resource && (!others.known || !others.objects.empty());
      }
      all.add(std::move(target));
    }
    return all;
  }

  bool stays(NodeId i) const {
    const TargetState& entry = run_.state(i);
    if (entry.kept || tracker_.trouble(i) || !tracker_.is_known(i)) return true;
    return !entry.last.is_null() && !entry.implied &&
           refusal_of(run_.key(i), entry.last, run_.options().bundle, run_.options().force, owners_);
  }

  // Adds the contents of namespaces that a controller has to clean up as targets, so that they are deleted before that
  // controller, which may be a target as well. Where the namespace turns out to stay, spare_contents() takes them back.
  Task<void> add_contents(const std::vector<Collateral>& collaterals) {
    // If all targets are namespaces, the controller may be anywhere, and the namespace controller takes care of the
    // order.
    if (std::ranges::all_of(run_.targets(), [](const Target& target) { return is_namespace(target.key); })) co_return;
    size_t first = run_.targets().size();
    for (const Collateral& collateral : collaterals)
      if (collateral.guarded.empty() && !stays(collateral.container))
        for (const Target& target : collateral.carrying) run_.imply(target);
    if (run_.targets().size() == first) co_return;
    (void)resolve();
    (void)co_await tracker_.start().governed_by(&run_.halt().waits());
    take_in(NodeId(first));
  }

  // Finds the namespaces that can be deleted together with their contents. The namespace controller waits for seconds
  // before it begins, and the contents can be deleted meanwhile if nothing speaks against it.
  Task<void> find_what_goes_at_once(plan::IdVector<NodeId, LiveTarget>& targets) {
    std::map<std::string_view, NodeId> namespaces;
    for (NodeId i : targets.ids())
      if (is_namespace(targets[i].key) && !stays(i)) namespaces.emplace(targets[i].key.name, i);
    auto is_inside = [&](const LiveTarget& target) { return namespaces.contains(target.key.ns); };
    if (run_.options().dry_run != DryRun::none || std::ranges::none_of(targets, is_inside)) co_return;
    DeletionVetoes vetoes = co_await DeletionVetoes::find(client_, discovery_, run_, configurations_);
    for (const auto& [name, i] : namespaces) targets[i].at_once = !vetoes.may_refuse(targets[i]);
    for (NodeId i : targets.ids()) {
      auto found = namespaces.find(targets[i].key.ns);
      if (found == namespaces.end() || !targets[found->second].at_once) continue;
      if (stays(i) || vetoes.may_refuse(targets[i])) targets[found->second].at_once = false;
    }
  }

  void keep_by_policy(NodeId i, std::string why) {
    const object::Key& key = run_.key(i);
    if (run_.state(i).progress.terminating || run_.state(i).last.is_null()) return;
    std::string where = key.ns.empty() ? "" : fmt::format(" -n {}", key.ns);
    run_.edit(i).kept = Error(ErrorKind::denied, fmt::format("{} is kept", key.text()))
                            .because(std::move(why))
                            .next(fmt::format("fairlead delete {}/{}{} --force deletes it", key.kind, key.name, where));
  }

  // Finds the objects of a bundle that Helm would keep, and the Namespaces and CRDs that stay because they would take
  // such an object with them.
  void find_what_a_policy_keeps() {
    for (NodeId i : run_.ids()) {
      const object::Key& key = run_.key(i);
      const Json& policy = run_.state(i).last["metadata"]["annotations"][kResourcePolicy];
      if (policy.string_or("") != "keep" || run_.state(i).progress.terminating) continue;
      keep_by_policy(i, fmt::format("it has the annotation {}: keep", kResourcePolicy));
      std::vector<object::Key> containers = {object::namespace_key(key.ns)};
      if (const auto& resource = run_.state(i).resource)
        containers.push_back(object::crd_key(resource->name_with_group()));
      for (const object::Key& container : containers)
        if (std::optional<NodeId> found = run_.find(container))
          keep_by_policy(*found, fmt::format("{} would be deleted with it, and has the annotation {}: keep", key.text(),
                                             kResourcePolicy));
    }
  }

  // Finds the Namespaces and CRDs that stay, because a bundle must not delete objects of others with them.
  void find_what_is_kept(const std::vector<Collateral>& collaterals) {
    if (!run_.options().bundle) return;
    find_what_a_policy_keeps();
    for (const Collateral& collateral : collaterals) {
      TargetState& entry = run_.edit(collateral.container);
      // An object that is being deleted already cannot be kept.
      if (entry.progress.terminating) continue;
      Error error(ErrorKind::denied, fmt::format("{} is kept", run_.key(collateral.container).text()));
      bool bundles_lose = collateral.of_bundles > 0 && !run_.options().force;
      if (bundles_lose || (collateral.foreign > 0 && !run_.options().with_contents))
        entry.kept = std::move(error)
                         .because(collateral.foreign_text())
                         .next(bundles_lose ? "delete those bundles first, or move these objects to another namespace"
                                            : "--with-contents deletes them as well");
      else if (!collateral.unread.empty() && !run_.options().with_contents)
        entry.kept = std::move(error)
                         .because(fmt::format("it is not known what would be deleted with it: {} cannot be listed",
                                              collateral.unread))
                         .next("--with-contents deletes it with everything in it");
    }
  }

  // Finds the names of the bundles to which targets belong, where that is a reason not to delete them.
  Task<void> name_owners() {
    if (run_.options().bundle || run_.options().force) co_return;
    for (NodeId i : run_.ids()) {
      const Json& last = run_.state(i).last;
      std::string label(inventory::part_of(last));
      if (label.empty() || owners_.contains(label)) continue;
      owners_.emplace(label, co_await inventory::find_owner(client_, last));
    }
  }

  // Finds out which targets exist, which must not be deleted, and what would be deleted with them. Makes the plan.
  Task<std::vector<Collateral>> look() {
    take_in(NodeId(0));
    co_await name_owners().governed_by(&run_.halt().waits());
    std::vector<Collateral> collaterals =
        co_await find_collateral(client_, discovery_, run_, tracker_).governed_by(&run_.halt().waits());
    find_what_is_kept(collaterals);
    if (run_.options().dry_run == DryRun::none) co_await add_contents(collaterals);
    plan::IdVector<NodeId, LiveTarget> all = live_targets();
    co_await find_what_goes_at_once(all).governed_by(&run_.halt().waits());
    Order order = order_of(all);
    for (const std::string& note : order.notes) run_.note(EventKind::note, note);
    run_.make_plan(std::move(order));
    if (run_.is_detailed()) run_.add_event({.kind = EventKind::graph, .details = graph_details(run_)});
    settle_what_is_clear(collaterals);
    tell_count();
    co_return collaterals;
  }

  // For readers that show how far the run is.
  void tell_count() {
    uint64_t left = 0;
    for (NodeId i : run_.ids()) left += run_.plan()->is_settled(i) ? 0 : 1;
    run_.add_event({.kind = EventKind::note, .state = "counted", .details = Json(Json::Object{{"objects", left}})});
  }

  void settle_what_is_clear(const std::vector<Collateral>& collaterals) {
    for (NodeId i : run_.ids())
      if (!run_.state(i).implied) settle_if_clear(i);
    for (const Collateral& collateral : collaterals)
      if (!collateral.guarded.empty() && !run_.state(collateral.container).kept)
        run_.refuse(collateral.container,
                    Error(ErrorKind::denied, fmt::format("{} is not deleted", run_.key(collateral.container).text()))
                        .because(fmt::format(
                            "{} would be deleted with it, and has the annotation fairlead.dev/delete: protected",
                            collateral.guarded)));
    spare_contents();
    for (NodeId i : run_.ids())
      if (run_.state(i).implied) settle_if_clear(i);
  }

  // The contents of namespaces that stay are left alone.
  void spare_contents() {
    for (NodeId i : run_.ids()) {
      if (!run_.state(i).implied || !run_.plan()->is_settled(*run_.find_namespace_of(i))) continue;
      run_.spare(i);
    }
  }

  void settle_if_clear(NodeId i) {
    const TargetState& entry = run_.state(i);
    const object::Key& key = run_.key(i);
    if (entry.spared) return;
    if (const Error* trouble = tracker_.trouble(i); trouble && trouble->kind() != ErrorKind::not_found) {
      run_.failed(
          i, State::unknown,
          Error(ErrorKind::denied, fmt::format("it is not known whether {} exists", key.text())).because(*trouble));
    } else if (!tracker_.is_known(i)) {
      // The run ended before anything was known about this target.
    } else if (entry.last.is_null()) {
      run_.ended(i, State::absent);
    } else if (entry.implied) {
      // The user did not ask for it, so it is neither refused nor kept.
    } else if (auto refusal = refusal_of(key, entry.last, run_.options().bundle, run_.options().force, owners_)) {
      run_.refuse(i, *std::move(refusal));
    } else if (entry.kept) {
      run_.tell(EventKind::warning, i, "stays",
                fmt::format("kept: {} ({})", entry.kept->cause()->message(), entry.kept->next()));
      run_.ended(i, State::kept);
    }
  }

  // Reports what else will be deleted, and asks the user. Returns false if the answer was no.
  Task<bool> is_wanted(const std::vector<Collateral>& collaterals) {
    std::map<std::string, size_t> kinds;
    size_t count = 0;
    for (NodeId i : run_.ids())
      if (!run_.plan()->is_settled(i) && !run_.state(i).implied) {
        ++kinds[run_.key(i).kind];
        ++count;
      }
    std::string text = fmt::format("{} {} will be deleted", count, count == 1 ? "object" : "objects");
    std::vector<std::pair<size_t, std::string>> sorted;
    for (const auto& [kind, n] : kinds) sorted.emplace_back(n, kind);
    std::ranges::sort(sorted, std::greater());
    std::string list;
    for (size_t i = 0; i < sorted.size() && i < kNamedKinds; ++i)
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", sorted[i].first, sorted[i].second);
    if (sorted.size() > kNamedKinds) list += fmt::format(" and {} other kinds", sorted.size() - kNamedKinds);
    if (count > 0) text += fmt::format(" ({})", list);
    text += ".";
    for (const Collateral& collateral : collaterals) {
      if (run_.plan()->is_settled(collateral.container) || collateral.count == 0) continue;
      text += "\n" + collateral.text(run_);
      run_.tell(EventKind::note, collateral.container, "takes",
                collateral.text(run_).substr(run_.key(collateral.container).text().size() + 2));
    }
    if (count == 0 || run_.options().dry_run != DryRun::none || !run_.options().ask) co_return true;
    co_return co_await run_.options().ask(std::move(text));
  }

  Task<void> roll() {
    while (run_.plan()->unsettled() > 0 && !run_.halt().interrupted() && !run_.halt().out_of_time()) {
      if (std::vector<NodeId> next = run_.take_startable(); !next.empty()) sender_.send(std::move(next));
      else (void)co_await run_.changed().wait_uncancelled();
    }
  }

  void fail_the_rest() {
    for (NodeId i : run_.ids())
      if (run_.plan()->state(i) == Plan::State::started) stuck_monitor_.give_up(i, run_.options().timeout);
  }

  State final_state(NodeId i) const {
    const TargetState& entry = run_.state(i);
    if (run_.plan() && run_.plan()->state(i) == Plan::State::blocked) return State::blocked;
    return entry.told && entry.state == State::not_begun ? State::leaving : entry.state;
  }

  Ending ending_of() {
    Ending ending;
    bool all_late = true;
    for (NodeId i : run_.ids()) {
      const TargetState& entry = run_.state(i);
      if (entry.spared) continue;
      run_.cancel_timer(i);
      if (entry.error) {
        all_late = all_late && entry.error->kind() == ErrorKind::timeout;
        Cause cause{.error = *entry.error, .blocks = {}};
        for (NodeId blocked : run_.plan()->blocked_by(i)) cause.blocks.push_back(run_.key(blocked));
        ending.causes.push_back(std::move(cause));
      }
      ending.objects.push_back({.key = run_.key(i),
                                .source = run_.targets()[i].source,
                                .state = final_state(i),
                                .error = entry.error ? entry.error : entry.kept});
    }
    if (!ending.causes.empty()) ending.how = all_late ? Ending::How::timed_out : Ending::How::failed;
    if (run_.halt().interrupted()) ending.how = Ending::How::interrupted;
    return ending;
  }

  kube::Client& client_;
  kube::Discovery& discovery_;
  Run& run_;
  Loop& loop_;
  Scope watching_;
  Scope work_;
  Tracker tracker_;
  WebhookConfigurations configurations_;
  StuckMonitor stuck_monitor_;
  CleanupReminder cleanup_reminder_;
  Sender sender_;
  Orphans orphans_;
  // The owners of targets that belong to bundles.
  Owners owners_;
};

}  // namespace

Task<Ending> execute(kube::Client& client, kube::Discovery& discovery, Run& run, CancelSource* stop) {
  Engine engine(client, discovery, run);
  co_return co_await engine.run(stop);
}

}  // namespace fairlead::removal
