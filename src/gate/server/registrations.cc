#include "gate/server/registrations.h"

#include <algorithm>
#include <set>

#include "kube/faults/fault.h"

namespace fairlead::gate {
namespace {

class Registrations {
 public:
  Registrations(kube::Client& client, Gate& gate, RegistrationsOptions options)
      : client_(client), gate_(gate), options_(std::move(options)) {}

  Task<void> run() {
    while (true) {
      co_await settle();
      auto changed = [this]() -> Task<Result<void>> { co_return co_await gate_.health_changed().wait(); };
      Result<void> waited =
          co_await with_deadline(client_.loop(), client_.loop().now() + options_.pause, "time to look", changed());
      if (!waited && waited.error().kind() == ErrorKind::cancelled) co_return;
    }
  }

 private:
  Task<void> settle() {
    std::string ca = options_.ca_bundle();
    if (!gate_.view().synced() || gate_.is_draining() || (ca.empty() && options_.needs_ca)) co_return;
    bool leads = options_.leads();
    // The view shows these by now.
    std::erase_if(made_, [&](const std::string& name) { return gate_.view().own().contains(name); });
    std::set<std::string> wanted;
    bool is_complete = true;
    for (const Json& configuration : gate_.wanted_configurations(ca)) {
      std::string name(configuration["metadata"]["name"].string_or(""));
      wanted.insert(name);
      if (gate_.view().own().contains(name) || made_.contains(name)) continue;
      if (!leads && has_purpose(purpose_of(name))) continue;
      is_complete = co_await create(name, configuration) && is_complete;
    }
    if (is_complete) gate_.set_registered();
    // What is too many does no harm, but a gap does.
    if (!is_complete || !leads) co_return;
    std::set<std::string> there = gate_.view().own();
    there.insert(made_.begin(), made_.end());
    for (const std::string& name : there)
      if (!wanted.contains(name)) co_await remove(name);
  }

  bool has_purpose(std::string_view purpose) const {
    auto is_it = [&](const std::string& name) { return purpose_of(name) == purpose; };
    return std::ranges::any_of(gate_.view().own(), is_it) || std::ranges::any_of(made_, is_it);
  }

  Task<bool> create(std::string name, Json configuration) {
    auto made = co_await client_.create(mutating_configurations(), "", configuration);
    bool is_there = made || made.error().is(kube::FaultKind::already_exists);
    if (is_there) made_.insert(name);
    else complain("made", name, made.error().error());
    co_return is_there;
  }

  Task<void> remove(std::string name) {
    auto removed = co_await client_.remove(mutating_configurations(), "", name);
    if (removed || removed.error().is(kube::FaultKind::not_found)) made_.erase(name);
    else complain("deleted", name, removed.error().error());
  }

  void complain(std::string_view what, const std::string& name, const Error& error) {
    std::string line = fmt::format("configuration {} cannot be {}: {}", name, what, error.message());
    if (error.kind() == ErrorKind::cancelled || line == said_ || !options_.say) return;
    said_ = line;
    options_.say("warning", line);
  }

  kube::Client& client_;
  Gate& gate_;
  RegistrationsOptions options_;
  // Made lately; the view may not show them yet.
  std::set<std::string> made_;
  std::string said_;
};

}  // namespace

object::Resource mutating_configurations() { return webhook_configurations(true); }

Task<void> keep_registrations(kube::Client& client, Gate& gate, RegistrationsOptions options) {
  Registrations registrations(client, gate, std::move(options));
  co_await registrations.run();
}

}  // namespace fairlead::gate
