#include "rollout/rollout.h"

#include <algorithm>

#include "base/duration_text.h"
#include "history/history.h"
#include "inventory/unchanged.h"
#include "manifest/secrets.h"
#include "object/containers.h"
#include "plan/stopping.h"
#include "readiness/sweeper.h"
#include "removal/run.h"
#include "rollout/guards/causes.h"
#include "rollout/internal/closer_look.h"
#include "rollout/internal/ending.h"
#include "rollout/internal/forecast_order.h"
#include "rollout/internal/journal_details.h"
#include "rollout/internal/permissions.h"
#include "rollout/internal/prepare.h"
#include "rollout/internal/prune.h"
#include "rollout/sending/as_sent.h"
#include "rollout/sending/claim_keeper.h"
#include "rollout/sending/hooks.h"
#include "rollout/sending/sending.h"

namespace fairlead::rollout {
namespace {

using journal::EventKind;

constexpr Duration kReminder = std::chrono::seconds(30);
constexpr size_t kRemindedOf = 5;
constexpr size_t kProbePlaces = 8;
// How long it may take to keep the run in the bundle's history.
constexpr Duration kKeepingTime = std::chrono::seconds(10);

// Returns the namespaces of the bundle, because the user most likely may create objects there.
std::vector<std::string> namespaces_for_probes(const Options& options, const manifest::Bundle& bundle) {
  std::vector<std::string> places = {options.default_namespace};
  for (const object::Object& object : bundle.objects) {
    if (places.size() >= kProbePlaces) break;
    const std::string& ns = object.key().ns;
    if (!ns.empty() && std::ranges::find(places, ns) == places.end()) places.push_back(ns);
  }
  return places;
}

Writer writer_of(const Options& options, const Prepared& prepared) {
  if (!prepared.inventory) return {.field_manager = options.field_manager};
  Writer writer{.field_manager = prepared.inventory->field_manager(),
                .part_of = prepared.inventory->label_value(),
                .predecessors = prepared.inventory->identity().managers};
  if (writer.field_manager != kFieldManager) writer.predecessors.emplace(kFieldManager);
  return writer;
}

class Engine {
 public:
  Engine(kube::Client& client, kube::Discovery& discovery, journal::Journal& journal, const Options& options,
         Prepared& prepared, TimePoint expires)
      : client_(client),
        discovery_(discovery),
        journal_(journal),
        run_(client, journal, options, prepared.bundle, *prepared.kinds, prepared.cluster, *prepared.graph,
             writer_of(options, prepared), prepared.version, expires),
        prepared_(prepared),
        loop_(client.loop()),
        watching_(loop_, nullptr),
        work_(loop_, nullptr),
        gates_(loop_),
        prover_(client, {.run = options.run,
                         .known_dead = options.run_known_dead,
                         .namespaces = namespaces_for_probes(options, prepared.bundle)}),
        sweeper_(loop_, prover_),
        evidence_(client, discovery, watching_,
                  [this](std::string_view kind, const std::string& ns, const std::string& name) {
                    guards_.evidence_changed(kind, ns, name);
                    tracker_.evidence_changed(kind, ns);
                  }),
        guards_(run_, prover_, evidence_, gates_),
        tracker_(client, discovery, run_, evidence_, watching_),
        claim_keeper_(run_, prepared.inventory.get(), guards_, evidence_, gates_, [this] { interrupt(); }),
        claim_scope_(loop_, nullptr),
        sender_(client, discovery, run_, claim_keeper_, guards_, tracker_, evidence_, gates_) {}

  // Runs the rollout. Returns nothing if another run worked on the bundle while this one was prepared. This run then
  // has the claim, has sent nothing but the bundle's home, and has to be prepared again.
  Task<std::optional<Ending>> run(CancelSource* stop) {
    find_unchanged();
    tell_graph();
    CancelHook hook;
    if (stop && stop->cancelled()) interrupt();
    else hook.set(stop, [this] { loop_.post([this] { interrupt(); }); });
    if (!run_.options().dry_run)
      sweeper_.begin({run_.cluster().webhook_configurations, run_.cluster().policies, run_.cluster().bindings});
    start_the_clock();
    std::optional<Error> unclaimed = co_await claim();
    bool overtaken = !unclaimed && !run_.halt().interrupted() && claim_keeper_.was_overtaken();
    if (overtaken) {
      if (deadline_) loop_.cancel_timer(*deadline_);
      hook.clear();
      co_await sweeper_.end(run_.halt().interrupted());
      co_await end_watching();
      co_return std::nullopt;
    }
    if (!unclaimed) claim_scope_.spawn(claim_keeper_.hold());
    if (!unclaimed) co_await roll();
    if (deadline_) loop_.cancel_timer(*deadline_);
    hook.clear();
    co_await sweeper_.end(run_.halt().interrupted());
    if (unclaimed) co_await end_watching();
    Ending ending = unclaimed ? refused(*std::move(unclaimed)) : co_await finish(stop);
    co_return ending;
  }

 private:
  // Finds the objects that need not be sent.
  void find_unchanged() {
    if (!prepared_.inventory) return;
    inventory::Types types;
    for (const Json& definition : run_.cluster().definitions) types.learn(definition);
    for (NodeId node : run_.objects()) {
      const object::Object& object = run_.object(node);
      auto found = prepared_.live.find(object.key());
      if (found == prepared_.live.end()) continue;
      run_.found_before(node, *found->second);
      bool same = !runs_anew(run_, node) && !is_terminating(*found->second) && !is_in_something_terminating(node) &&
                  inventory::former_managers(*found->second, run_.successor()).empty() &&
                  (*found->second)["apiVersion"].string_or("") == object.value()["apiVersion"].string_or("") &&
                  inventory::unchanged(as_sent(object, run_.part_of()), *found->second, run_.field_manager(), types);
      if (same) run_.found_unchanged(node, *found->second);
    }
  }

  void tell_graph() {
    if (!journal_.is_detailed()) return;
    journal_.add({.kind = EventKind::graph, .details = graph_details(run_.graph(), run_.bundle(), journal_.secrets())});
  }

  bool is_in_something_terminating(NodeId node) const {
    return std::ranges::any_of(run_.containers_of(node), [this](const object::Key& key) {
      const Json* live = run_.before(key);
      return live && is_terminating(*live);
    });
  }

  void interrupt() {
    run_.halt().interrupt();
    if (pruning_) pruning_->cancel();
    run_.changed().notify_all();
  }

  void start_the_clock() {
    if (run_.expires() == TimePoint::max()) return;
    deadline_ = loop_.call_at(run_.expires(), [this] {
      deadline_.reset();
      run_.halt().expire();
      run_.changed().notify_all();
    });
  }

  // Takes the claim. If the bundle's home does not exist and is part of the bundle, it is sent first.
  Task<std::optional<Error>> claim() {
    kube::Outcome<void> claimed = co_await claim_keeper_.take().governed_by(&run_.halt().waits());
    if (!claimed && claimed.error().is(kube::FaultKind::namespace_missing)) {
      auto home = run_.find(object::namespace_key(run_.options().default_namespace));
      if (home) {
        co_await sender_.send(*home);
        claimed = co_await claim_keeper_.take().governed_by(&run_.halt().waits());
      }
    }
    if (claimed || run_.halt().interrupted()) co_return std::nullopt;
    Error error = claimed.error().error();
    if (!run_.halt().out_of_time() || error.kind() == ErrorKind::timeout) co_return error;
    co_return Error(ErrorKind::timeout,
                    fmt::format("the bundle could not be claimed within {}", short_text(run_.options().timeout)))
        .because(kube::as_late(error));
  }

  // Reports every 30 s which objects wait, and for what.
  Task<void> remind() {
    while (co_await sleep_for(loop_, kReminder)) {
      std::string text;
      size_t count = 0;
      for (NodeId node : run_.objects()) {
        if (run_.plan().is_settled(node) || run_.graph().is_left_out(node)) continue;
        if (++count <= kRemindedOf)
          text +=
              fmt::format("{}{}: {}", text.empty() ? "" : "; ", run_.object(node).key().text(), held_text(run_, node));
      }
      if (count > kRemindedOf) text += fmt::format("; and {} more", count - kRemindedOf);
      journal_.add({.kind = EventKind::waiting,
                    .text = std::move(text),
                    .details = Json(Json::Object{{"waiting", uint64_t{count}}})});
    }
  }

  void start(NodeId node) {
    switch (run_.graph().nodes()[node].kind) {
      case graph::Node::Kind::object:
        if (run_.state(node).stored == ObjectState::Stored::no) work_.spawn(sender_.send(node));
        break;
      case graph::Node::Kind::guard: work_.spawn(guards_.climb(run_.graph().nodes()[node].guard())); break;
      case graph::Node::Kind::outside: tracker_.follow_outside(node); break;
      case graph::Node::Kind::wave:
      case graph::Node::Kind::all_of: break;
    }
  }

  Task<void> roll() {
    Scope beside(loop_, &run_.halt().waits());
    beside.spawn(remind());
    while (run_.plan().unsettled() > 0 && !run_.halt().interrupted() && !run_.halt().out_of_time()) {
      for (NodeId node : run_.take_startable()) start(node);
      if (run_.plan().unsettled() == 0) break;
      (void)co_await run_.changed().wait_uncancelled();
    }
    run_.halt().end_waits();
    co_await work_.join();
    co_await beside.join();
    if (run_.halt().out_of_time()) fail_the_rest();
  }

  // The time limit of the run has passed: marks every node that is under way as failed, which blocks the others.
  void fail_the_rest() {
    Duration limit = run_.options().timeout;
    for (NodeId node : run_.graph().nodes().ids()) {
      if (run_.plan().state(node) != Plan::State::started && run_.plan().state(node) != Plan::State::stored) continue;
      if (!run_.is_object(node)) {
        if (run_.graph().nodes()[node].kind == graph::Node::Kind::guard)
          run_.failed(node, guard_error(run_, guards_, evidence_, run_.graph().nodes()[node].guard(), limit));
        continue;
      }
      ObjectState& state = run_.edit(node);
      state.timed_out = true;
      if (state.stored != ObjectState::Stored::no) {
        run_.failed(node, not_ready_error(run_, evidence_, node, limit));
      } else {
        kube::Failure failure = state.fault        ? kube::Failure(*state.fault)
                                : state.unanswered ? kube::Failure(kube::as_late(cancelled_error()))
                                                   : kube::Failure(cancelled_error());
        run_.failed(node, refused_error(run_, guards_, evidence_, node, failure, limit));
      }
    }
  }

  Ending refused(Error error) {
    Ending ending = ending_of(run_);
    ending.how = error.kind() == ErrorKind::timeout ? Ending::How::timed_out : Ending::How::failed;
    ending.causes.push_back({.error = std::move(error), .blocks = {}});
    return ending;
  }

  Task<void> end_watching() {
    watching_.cancel();
    co_await watching_.join();
    co_await prover_.clean_up();
  }

  // Prunes, if the run has the claim, and until the claim is lost.
  Task<Pruned> prune_what_left(CancelSource* stop) {
    CancelSource pruning(stop);
    pruning_ = &pruning;
    Pruned pruned;
    std::optional<Error> unclaimed = co_await claim_keeper_.await_claim().governed_by(&pruning);
    if (!unclaimed && claim_keeper_.was_overtaken()) unclaimed = co_await read_members_again().governed_by(&pruning);
    if (!unclaimed)
      pruned = co_await prune(client_, discovery_, journal_, prepared_, run_.options(), run_.expires(), &pruning);
    else if (!pruning.cancelled())
      pruned.causes.push_back(
          {.error = (*std::move(unclaimed)).in("objects that left the bundle were not deleted"), .blocks = {}});
    if (pruning.cancelled()) run_.halt().interrupt();
    pruning_ = nullptr;
    co_return pruned;
  }

  // Needed if the claim was taken after the members were read, and another run worked on the bundle in between.
  Task<std::optional<Error>> read_members_again() {
    kube::Outcome<inventory::Members> members = co_await prepared_.inventory->members(true);
    if (!members) co_return members.error().error();
    prepared_.members = std::move(members->found);
    prepared_.foreign_objects = std::move(members->foreign_objects);
    co_return std::nullopt;
  }

  static void add_cause(Ending& ending, Cause cause) {
    bool only_late = ending.how == Ending::How::done || ending.how == Ending::How::timed_out;
    ending.how = only_late && cause.error.kind() == ErrorKind::timeout ? Ending::How::timed_out : Ending::How::failed;
    ending.causes.push_back(std::move(cause));
  }

  // Returns the members that are no longer in the manifests, and stay because nobody asked to prune them.
  std::vector<object::Key> members_that_left() const {
    std::vector<object::Key> left;
    if (run_.options().prune || run_.options().is_partial || !prepared_.inventory) return left;
    for (const inventory::Member& member : prepared_.members) {
      bool is_home = member.key == object::namespace_key(prepared_.inventory->home());
      if (!run_.find(member.key) && !is_home && !member.terminating) left.push_back(member.key);
    }
    return left;
  }

  // Keeps the run in the bundle's history if it changed something. A failure is only a warning.
  Task<void> remember(Ending& ending) {
    inventory::Inventory* inventory = prepared_.inventory.get();
    if (run_.options().dry_run || !inventory || !inventory->claimed()) co_return;
    std::string how(name_of(ending.how));
    history::note_run(
        *inventory, {.who = run_.options().holder, .how = how, .objects = static_cast<int64_t>(run_.objects().size())},
        loop_.clock().wall_now());
    if (run_.options().is_partial || !is_worth_keeping(ending)) co_return;
    history::Run run{.how = how,
                     .who = run_.options().holder,
                     .note = run_.options().note,
                     .with_secrets = run_.options().keep_secrets,
                     .has_delete_hooks = std::ranges::any_of(prepared_.bundle.objects, graph::is_delete_hook,
                                                             &object::Object::annotations),
                     .objects = {}};
    for (NodeId node : run_.objects())
      run.objects.push_back(history::kept(run_.object(node), name_of(ending.objects[node.index()].state),
                                          run_.options().keep_secrets, inventory->label_value()));
    Result<int64_t> kept = co_await with_deadline(loop_, loop_.now() + kKeepingTime, "no answer in time",
                                                  history::keep_revision(client_, *inventory, run));
    if (kept) ending.revision = *kept;
    else
      run_.note(EventKind::warning,
                "this run could not be added to the history of the bundle: " + kept.error().message());
  }

  // False for a run that found everything as it should be, after one that was done.
  bool is_worth_keeping(const Ending& ending) const {
    using Stored = ObjectState::Stored;
    bool has_changed = std::ranges::any_of(run_.objects(), [this](NodeId node) {
      return run_.state(node).stored == Stored::created || run_.state(node).stored == Stored::changed;
    });
    bool has_removed =
        std::ranges::find(ending.objects, ObjectEnding::State::removed, &ObjectEnding::state) != ending.objects.end();
    std::vector<history::Revision> before = history::revisions_of(*prepared_.inventory);
    bool is_well_again = ending.how == Ending::How::done && (before.empty() || !before.front().is_done());
    return has_changed || has_removed || is_well_again;
  }

  Task<Ending> finish(CancelSource* stop) {
    bool complete = !run_.halt().interrupted() && !run_.halt().out_of_time() && run_.errors().empty();
    Pruned pruned;
    if (!run_.halt().interrupted()) co_await delete_ended_hooks(client_, run_, complete);
    if (complete && run_.options().prune && prepared_.inventory) pruned = co_await prune_what_left(stop);
    co_await end_watching();
    bool settled = complete && pruned.causes.empty();
    if (run_.options().dry_run) {
      add_order(run_);
      co_await check_permissions(client_, discovery_, run_, pruned);
    }
    Ending ending = ending_of(run_);
    for (const ObjectEnding& object : pruned.objects) ending.objects.push_back(object);
    for (Cause& cause : pruned.causes) add_cause(ending, std::move(cause));
    ending.left = members_that_left();
    if (!ending.left.empty()) run_.note(EventKind::note, left_text(ending.left));
    co_await remember(ending);
    claim_scope_.cancel();
    co_await claim_scope_.join();
    co_await claim_keeper_.give_back(settled ? std::optional(remaining(pruned)) : std::nullopt);
    co_await look_closer(client_, run_, ending);
    if (claim_keeper_.loss()) add_cause(ending, {.error = *claim_keeper_.loss(), .blocks = {}});
    co_return ending;
  }

  // Returns the objects that the bundle has in the cluster after a complete run.
  std::vector<object::Key> remaining(const Pruned& pruned) const {
    std::vector<object::Key> keys;
    for (const object::Object& object : run_.bundle().objects) keys.push_back(object.key());
    auto is_gone = [&](const object::Key& key) {
      return std::ranges::any_of(pruned.objects, [&](const ObjectEnding& one) { return one.key == key; });
    };
    for (const inventory::Member& member : prepared_.members)
      if (!run_.find(member.key) && !is_gone(member.key)) keys.push_back(member.key);
    return keys;
  }

  kube::Client& client_;
  kube::Discovery& discovery_;
  journal::Journal& journal_;
  Run run_;
  Prepared& prepared_;
  Loop& loop_;
  Scope watching_;
  Scope work_;
  RetryGates gates_;
  readiness::Prover prover_;
  readiness::Sweeper sweeper_;
  Evidence evidence_;
  Guards guards_;
  Tracker tracker_;
  ClaimKeeper claim_keeper_;
  Scope claim_scope_;
  Sender sender_;
  std::optional<Loop::TimerId> deadline_;
  CancelSource* pruning_ = nullptr;
};

// Removes secrets from the result, since it does not pass through the journal.
void conceal(const Secrets& secrets, Ending& ending) {
  for (Cause& cause : ending.causes) conceal(secrets, cause);
  for (ObjectEnding& object : ending.objects) {
    if (object.error) object.error = secrets.without(*object.error);
    for (std::string& warning : object.warnings) warning = secrets.without(warning);
  }
}

Task<manifest::Errors> prepare_in_time(kube::Client& client, kube::Discovery& discovery, const Options& options,
                                       journal::Journal& journal, Prepared& prepared, TimePoint expires) {
  CancelSource cancel(co_await current_cancel());
  CancelAt timer(client.loop(), expires, cancel);
  manifest::Errors errors = co_await prepare(client, discovery, options, journal, prepared).governed_by(&cancel);
  if (errors.empty() || !timer.fired()) co_return errors;
  co_return manifest::Errors{
      Error(ErrorKind::timeout,
            fmt::format("the cluster could not be read within {}; nothing was applied", short_text(options.timeout)))
          .because(kube::as_late(errors.front()))
          .next("kubectl get --raw /readyz?verbose shows the state of the API server; --timeout allows more time")};
}

}  // namespace

Task<Ending> roll_out(kube::Client& client, kube::Discovery& discovery, manifest::Bundle bundle, Options options,
                      journal::Journal& journal, CancelSource* stop) {
  TimePoint begun = client.loop().now();
  TimePoint expires = options.timeout > Duration::zero() ? begun + options.timeout : TimePoint::max();
  kube::TimeLimit limit(client, expires, stop, plan::kClosingTime);
  uint64_t requests_before = removal::requests_of(client);
  journal.add({.kind = EventKind::started,
               .text = fmt::format("{} object{}", bundle.objects.size(), bundle.objects.size() == 1 ? "" : "s"),
               .details = Json(Json::Object{{"command", "apply"},
                                            {"time", journal.time_text()},
                                            {"objects", uint64_t{bundle.objects.size()}},
                                            {"bundle", options.name}})});
  journal.hide(manifest::secrets_of(bundle));
  Prepared prepared{.bundle = std::move(bundle)};
  Ending ending;
  manifest::Errors errors;
  std::optional<Ending> ended;
  while (errors.empty() && !ended) {
    // Nothing was written yet, so this may be cancelled at any moment.
    errors = co_await prepare_in_time(client, discovery, options, journal, prepared, expires).governed_by(stop);
    if (!errors.empty()) break;
    Engine engine(client, discovery, journal, options, prepared, expires);
    ended = co_await engine.run(stop);
  }
  if (ended) {
    ending = *std::move(ended);
  } else {
    if (prepared.inventory && prepared.inventory->claimed()) (void)co_await prepared.inventory->release();
    bool late = std::ranges::all_of(errors, [](const Error& error) { return error.kind() == ErrorKind::timeout; });
    ending.how = late ? Ending::How::timed_out : Ending::How::failed;
    if (stop && stop->cancelled()) ending.how = Ending::How::interrupted;
    ending.objects = none_sent(prepared.bundle);
    for (Error& error : errors) ending.causes.push_back({.error = std::move(error), .blocks = {}});
  }
  conceal(journal.secrets(), ending);
  ending.took = client.loop().now() - begun;
  ending.requests = removal::requests_of(client) - requests_before;
  journal.add({.kind = EventKind::ended,
               .state = std::string(name_of(ending.how)),
               .details = journal.is_detailed() ? ending_details(ending, journal.secrets()) : Json()});
  co_return ending;
}

}  // namespace fairlead::rollout
