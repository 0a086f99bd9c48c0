#include "certs/store.h"

namespace fairlead::certs {
namespace {

using kube::FaultKind;

std::string text_of(const std::string& ns, std::string_view name) { return fmt::format("Secret {}/{}", ns, name); }

}  // namespace

object::Resource secrets() {
  return {.group = {}, .version = "v1", .kind = "Secret", .plural = "secrets", .singular = {}, .namespaced = true};
}

Task<Result<Json>> Store::get(std::string name) {
  kube::Outcome<kube::Reply> reply = co_await client_.get(secrets(), spec_.ns, name);
  if (reply) co_return std::move(reply->value);
  if (reply.error().is(FaultKind::not_found)) co_return Json();
  co_return fail(reply.error().error().in(fmt::format("cannot read {}", text_of(spec_.ns, name))));
}

Task<Result<Stored>> Store::read() {
  Stored stored;
  CO_TRY_ASSIGN(stored.serving, co_await get(spec_.secret));
  CO_TRY_ASSIGN(stored.authority, co_await get(spec_.ca_secret()));
  stored.material = read_material(stored.serving, stored.authority);
  co_return stored;
}

Task<Result<bool>> Store::put(const Json& before, Json secret, bool dry_run) {
  CO_TRY(check_writable(before));
  std::string name(secret["metadata"]["name"].string_or(""));
  kube::WriteOptions options;
  options.field_manager = "fairlead-certs";
  options.dry_run = dry_run;
  kube::Outcome<kube::Reply> reply = before.is_null()
                                         ? co_await client_.create(secrets(), spec_.ns, secret, options)
                                         : co_await client_.replace(secrets(), spec_.ns, name, secret, options);
  if (reply) co_return true;
  const kube::Failure& failure = reply.error();
  // The Secret was made, changed or deleted since it was read.
  bool was_late = failure.is(FaultKind::already_exists) || failure.is(FaultKind::conflict) ||
                  (!before.is_null() && failure.is(FaultKind::not_found)) || failure.is(FaultKind::object_terminating);
  if (was_late) co_return false;
  co_return fail(failure.error().in(fmt::format("cannot write {}", text_of(spec_.ns, name))));
}

Task<Result<bool>> Store::write(const Stored& before, const Change& change, bool dry_run) {
  for (bool first : {true, false}) {
    bool is_ca = first != change.ca_last;
    if (is_ca ? !change.writes_ca : !change.writes_serving) continue;
    const Json& old = is_ca ? before.authority : before.serving;
    if (is_ca) CO_TRY(check_takes_ca(old, spec_));
    Json secret = is_ca ? authority_secret(old, change.after, spec_) : serving_secret(old, change.after, spec_);
    CO_TRY_ASSIGN(bool was_first, co_await put(old, std::move(secret), dry_run));
    if (!was_first) co_return false;
  }
  co_return true;
}

}  // namespace fairlead::certs
