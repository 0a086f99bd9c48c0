#include "webhook/server/coordination.h"

#include <fmt/format.h>

namespace fairlead::webhook {
namespace {

std::string holder_text(const std::string& holder) {
  return holder.empty() ? "the operator of the namespace" : fmt::format("the operator of the namespace ({})", holder);
}

std::string trouble_text(std::string_view what, const std::optional<Error>& cause) {
  return cause ? fmt::format("{}: {}", what, cause->message()) : "";
}

}  // namespace

std::optional<std::string> OneNamespace::left_to(Route::Kind kind, const std::string& ns) const {
  if (ns != ns_) return fmt::format("others: this operator serves namespace {} alone", ns_);
  if (kind != Route::Kind::mutating || holder_.holds()) return std::nullopt;
  return "the operator that holds the Lease of the namespace";
}

Coordination OneNamespace::coordination() const {
  bool holds = holder_.holds();
  return {.lease_held = holds,
          .namespaces_left = {},
          .view_stale = {},
          .trouble = holds ? "" : trouble_text("the Lease of the namespace is not held", holder_.trouble())};
}

std::optional<std::string> RestOfCluster::left_to(Route::Kind kind, const std::string& ns) const {
  if (ns.empty()) return std::nullopt;
  lease::Lock lock = locks_.lock_of(ns);
  bool decides = lock == lease::Lock::free || (lock == lease::Lock::unknown && kind != Route::Kind::mutating);
  if (decides) return std::nullopt;
  return holder_text(locks_.holder_of(ns));
}

Coordination RestOfCluster::coordination() const {
  return {.lease_held = {},
          .namespaces_left = locks_.held(),
          .view_stale = locks_.is_stale(),
          .trouble = trouble_text("the Leases of other operators cannot be read", locks_.trouble())};
}

Task<void> hold_while_ready(AdmissionServer& server, lease::Holder& holder, const CancelSource& stop) {
  bool goes_on = true;
  while (goes_on) {
    while (goes_on && !server.not_ready().empty()) goes_on = (co_await server.readiness_changed().wait()).has_value();
    if (!goes_on) co_return;
    Scope holding(holder.loop(), nullptr);
    holding.spawn(holder.run());
    // At an uninstall the configurations go while the server still drains: from then on the others must see the
    // reviews.
    while (goes_on && (server.not_ready().empty() || (stop.cancelled() && server.is_registered())))
      goes_on = (co_await server.readiness_changed().wait()).has_value();
    holding.cancel();
    co_await holding.join();
    co_await holder.release().uncancelled();
  }
}

}  // namespace fairlead::webhook
