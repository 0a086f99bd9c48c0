#include "terraform/objects/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/plain_text.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

using kube::FaultKind;

constexpr size_t kMaxWarning = 2000;

// Advice in the words of Terraform, where that of the command line does not fit.
std::string advice_for(const kube::Fault& fault) {
  switch (fault.kind) {
    case FaultKind::field_conflict:
      return "add the fields to ignore_fields, or set on_conflict = \"force\" to take them over";
    case FaultKind::immutable_field:
      return fmt::format("keep the field as it is, or recreate the object: {}", tool().recreate);
    case FaultKind::unauthorized:
      return "renew the credentials in `cluster` (a token may have expired), then run the command again";
    default: return {};
  }
}

}  // namespace

std::string headline(std::string_view what, const object::Key& key) { return fmt::format("{} ({})", what, key.text()); }

Error refused(std::string_view what, const object::Key& key, const kube::Failure& failure) {
  Error cause = failure.error();
  Error error = Error(cause.kind(), headline(what, key)).because(cause);
  if (!failure.fault()) {
    if (cause.next().empty() && cause.kind() == ErrorKind::unavailable)
      error = std::move(error).next("check `cluster`, and whether the cluster is up: kubectl get --raw /readyz");
    return error;
  }
  if (std::string advice = advice_for(*failure.fault()); !advice.empty()) error = std::move(error).next(advice);
  else if (failure.is(FaultKind::schema) || failure.is(FaultKind::invalid))
    error = std::move(error).next(cause.next().empty() ? fmt::format("kubectl explain {}", key.kind) : cause.next());
  else if (cause.next().empty())
    error = std::move(error).next(fmt::format("kubectl{} get {} {} -o yaml", key.ns.empty() ? "" : " -n " + key.ns,
                                              key.group.empty() ? key.kind : key.kind + "." + key.group, key.name));
  return error;
}

std::optional<Error> unreachable(std::string_view so, const object::Key& key, const kube::Failure& failure) {
  ErrorKind kind = failure.error().kind();
  if (failure.fault() || (kind != ErrorKind::unavailable && kind != ErrorKind::timeout)) return std::nullopt;
  return Error(ErrorKind::unavailable, headline(fmt::format("The cluster cannot be reached, {}", so), key))
      .because(failure.error())
      .next(fmt::format("run it again when the cluster answers; if the cluster no longer exists, {}",
                        tool().forget_unreachable));
}

void add_warnings(Diagnostics& diagnostics, const object::Key& key, const std::vector<std::string>& warnings,
                  const Path& path) {
  std::vector<std::string_view> told;
  for (const std::string& warning : warnings) {
    if (std::ranges::find(told, warning) != told.end()) continue;
    told.push_back(warning);
    diagnostics.warning(headline("Warning of the API server", key), plain_text(warning, kMaxWarning), path);
  }
}

Error protected_in_state(std::string summary) {
  return Error(ErrorKind::denied, std::move(summary))
      .because("the state has it with delete_protection = true, and the plan would create it again")
      .next(std::string(tool().keep_protected));
}

std::string some_of(const std::vector<std::string>& names, size_t most) {
  std::string text;
  size_t shown = names.size() > most ? most : names.size();
  for (size_t i = 0; i < shown; ++i) {
    bool is_last = i + 1 == names.size();
    if (i > 0) text += is_last ? " and " : ", ";
    text += names[i];
  }
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace fairlead::terraform
