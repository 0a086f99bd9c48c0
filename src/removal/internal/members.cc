#include "removal/internal/members.h"

#include <algorithm>

#include "async/scope.h"
#include "history/history.h"
#include "object/containers.h"
#include "removal/internal/ending.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;

constexpr Duration kUntilWebhookIsGone = std::chrono::seconds(10);
constexpr Duration kBetweenClaims = std::chrono::milliseconds(200);

// Deletes the members of one bundle in one run.
class Members {
 public:
  Members(kube::Client& client, kube::Discovery& discovery, inventory::Inventory& inventory, journal::Journal& journal)
      : client_(client), discovery_(discovery), inventory_(inventory), journal_(journal) {}

  Task<Ending> take_out(Options options, CancelSource* stop) {
    bool is_real = options.dry_run == DryRun::none;
    CancelSource cancel(stop);
    CancelAt timer(client_.loop(), options.expires, cancel);
    auto ended_with = [&](Error error) {
      if (stop && stop->cancelled()) return Ending{.how = Ending::How::interrupted};
      return timer.fired() ? late(error, options) : failed_with({std::move(error)});
    };
    if (is_real)
      if (auto claimed = co_await claim().governed_by(&cancel); !claimed) co_return ended_with(claimed.error().error());
    auto members = co_await inventory_.members(false).governed_by(&cancel);
    if (!members) {
      if (inventory_.claimed()) (void)co_await inventory_.release();
      co_return ended_with(members.error().error());
    }
    for (std::string& text : inventory::texts_of(members->foreign_objects))
      journal_.add({.kind = EventKind::warning, .state = "not ours", .text = std::move(text)});
    options.bundle = inventory_.identity();
    Ending ending = co_await under_claim(targets_of(*members), std::move(options), stop);
    add_unlisted(*members, ending);
    bool home_is_gone = std::ranges::any_of(ending.objects, [&](const ObjectEnding& object) {
      return is_home(object.key) && object.state == ObjectEnding::State::gone;
    });
    if (home_is_gone) co_return ending;
    if (lost_) fail(ending, *lost_);
    if (is_real && !lost_) co_await settle(ending);
    co_return ending;
  }

 private:
  static void fail(Ending& ending, Error error) {
    ending.how = Ending::How::failed;
    ending.causes.push_back({.error = std::move(error), .blocks = {}});
  }

  Task<kube::Outcome<void>> claim() {
    kube::Outcome<void> claimed = co_await inventory_.claim({});
    if (claimed || !inventory::webhook_in_the_way(claimed.error()) || !inventory_.is_free()) co_return claimed;
    journal_.add({.kind = EventKind::warning,
                  .text = "the bundle is not claimed, and other runs are not kept out: " +
                          claimed.error().fault()->explanation});
    co_return kube::Outcome<void>();
  }

  static std::vector<Target> targets_of(const inventory::Members& members) {
    std::vector<Target> targets;
    for (const inventory::Member& member : members.found)
      targets.push_back({.key = member.key, .version = member.version, .source = {}, .uid = member.uid});
    return targets;
  }

  // True for the bundle's home. If it is a member, the record and the claim are deleted with it.
  bool is_home(const object::Key& key) const { return key == object::namespace_key(inventory_.home()); }

  Task<void> keep(CancelSource* halted) {
    Result<void> end = co_await inventory_.keep();
    if (end || end.error().kind() == ErrorKind::cancelled) co_return;
    lost_ = end.error();
    if (halted) halted->cancel();
  }

  Task<Ending> under_claim(std::vector<Target> targets, Options options, CancelSource* stop) {
    bool home_goes = std::ranges::any_of(targets, [&](const Target& target) { return is_home(target.key); });
    CancelSource halt(stop);
    CancelSource keeping;
    Scope claim_scope(client_.loop(), &keeping);
    if (inventory_.claimed()) claim_scope.spawn(keep(home_goes ? nullptr : &halt));
    Ending ending =
        co_await removal::take_out(client_, discovery_, std::move(targets), std::move(options), journal_, &halt);
    keeping.cancel();
    co_await claim_scope.join();
    co_return ending;
  }

  static void add_unlisted(const inventory::Members& members, Ending& ending) {
    for (const inventory::Unlisted& one : members.unlisted)
      fail(ending, Error(ErrorKind::unavailable,
                         fmt::format("{} of the bundle could not be listed and may still exist", one.kind.text()))
                       .because(one.why));
  }

  // Takes the claim at the end. Usually the webhook that blocked it was deleted with the bundle, and API servers learn
  // of that a little later.
  Task<kube::Outcome<void>> claim_at_last() {
    TimePoint until = client_.loop().now() + kUntilWebhookIsGone;
    while (true) {
      kube::Outcome<void> claimed = co_await inventory_.claim({});
      bool may_pass = !claimed && inventory::webhook_in_the_way(claimed.error()) && client_.loop().now() < until;
      if (!may_pass || !co_await sleep_for(client_.loop(), kBetweenClaims)) co_return claimed;
    }
  }

  Task<void> settle(Ending& ending) {
    if (!inventory_.claimed() && ending.how != Ending::How::done) co_return;
    if (!inventory_.claimed())
      if (auto claimed = co_await claim_at_last(); !claimed) {
        fail(ending, Error(ErrorKind::unavailable, "the bundle could not be claimed, so its inventory was not deleted")
                         .because(claimed.error().error())
                         .next(fmt::format("fairlead delete --name {}, once that webhook answers or is deleted",
                                           inventory_.name())));
        co_return;
      }
    std::vector<object::Key> remaining;
    for (const ObjectEnding& object : ending.objects)
      if (object.state != ObjectEnding::State::gone && object.state != ObjectEnding::State::absent)
        remaining.push_back(object.key);
    if (remaining.empty() && ending.how == Ending::How::done) co_await history::delete_revisions(client_, inventory_);
    auto settled = co_await inventory_.settle(remaining);
    if (!settled && !settled.error().is(kube::FaultKind::not_found))
      journal_.add({.kind = EventKind::warning,
                    .text = "the inventory of the bundle could not be updated: " + settled.error().error().message()});
  }

  kube::Client& client_;
  kube::Discovery& discovery_;
  inventory::Inventory& inventory_;
  journal::Journal& journal_;
  // Why the bundle no longer belongs to this run.
  std::optional<Error> lost_;
};

}  // namespace

Task<Ending> take_out_members(kube::Client& client, kube::Discovery& discovery, inventory::Inventory& inventory,
                              Options options, journal::Journal& journal, CancelSource* stop) {
  Members members(client, discovery, inventory, journal);
  co_return co_await members.take_out(std::move(options), stop);
}

}  // namespace fairlead::removal
