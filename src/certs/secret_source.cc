#include "certs/secret_source.h"

#include "async/scope.h"
#include "certs/material.h"
#include "certs/store.h"

namespace fairlead::certs {
namespace {

// Between two attempts to watch a Secret that may not be read.
constexpr Duration kUnreadablePause = std::chrono::seconds(10);
constexpr Duration kReread = std::chrono::seconds(30);

bool is_same(const std::shared_ptr<const ServingPair>& one, const ServingPair& other) {
  return one && one->chain == other.chain && one->ca == other.ca && x509::key_matches(one->chain.front(), other.key);
}

}  // namespace

SecretSource::SecretSource(kube::Client& client, std::string ns, std::string name, CertificateSource* files)
    : client_(client),
      ns_(std::move(ns)),
      name_(std::move(name)),
      files_(files),
      changed_(client.loop()),
      trouble_(fmt::format("Secret {}/{} has not been read yet", ns_, name_)) {}

std::shared_ptr<const ServingPair> SecretSource::current() const {
  if (pair_ || !files_) return pair_;
  return files_->current();
}

std::string SecretSource::trouble() const {
  if (pair_ || !files_ || trouble_.empty()) return trouble_;
  std::string of_files = files_->trouble();
  return of_files.empty() ? "" : fmt::format("{}; {}", trouble_, of_files);
}

void SecretSource::take(const Json& secret, bool gone) {
  std::string place = fmt::format("Secret {}/{}", ns_, name_);
  exists_ = !gone && !secret.is_null();
  auto text = [&](std::string_view key) { return value_of(secret, key).value_or(""); };
  std::string before = trouble_;
  bool is_new = false;
  if (!exists_) {
    trouble_ = fmt::format("{} does not exist", place);
  } else {
    Result<ServingPair> read = read_pair(text(kCertificateFile), text(kKeyFile), text(kCaFile), place);
    trouble_ = read ? "" : read.error().message();
    is_new = read && !is_same(pair_, *read);
    if (is_new) pair_ = std::make_shared<const ServingPair>(*std::move(read));
  }
  if (is_new || trouble_ != before) changed_.notify_all();
}

Task<void> SecretSource::watch() {
  while (true) {
    const kube::Watched* self = nullptr;
    // The call with null, when everything was seen, tells a Secret that does not exist.
    auto changed = [&](const Json& object, bool gone) {
      ++told_;
      if (!object.is_null() || (self && self->objects().empty() && !self->trouble())) take(object, gone);
    };
    kube::Watched watched(client_, secrets(), {.ns = ns_, .field_selector = "metadata.name=" + name_}, changed);
    self = &watched;
    co_await watched.run();
    if (!co_await go_on()) co_return;
    if (watched.trouble()) {
      trouble_ = fmt::format("Secret {}/{} cannot be read: {}", ns_, name_, watched.trouble()->message());
      changed_.notify_all();
    }
    if (!co_await sleep_for(client_.loop(), kUnreadablePause)) co_return;
  }
}

Task<void> SecretSource::read_again_and_again() {
  Loop& loop = client_.loop();
  while (co_await sleep_for(loop, kReread)) {
    uint64_t told = told_;
    CancelSource cancel(co_await current_cancel());
    CancelAt timer(loop, loop.now() + kReread, cancel);
    kube::Outcome<kube::Reply> read = co_await client_.get(secrets(), ns_, name_).governed_by(&cancel);
    // What the watch has told meanwhile may be newer.
    if (told != told_) continue;
    if (read) take(read->value, false);
    else if (read.error().is(kube::FaultKind::not_found)) take({}, true);
  }
}

Task<void> SecretSource::relay_files() {
  while (files_ && co_await files_->changed().wait())
    if (!pair_) changed_.notify_all();
}

Task<void> SecretSource::run() {
  Scope scope(client_.loop(), co_await current_cancel());
  scope.spawn(watch());
  scope.spawn(read_again_and_again());
  scope.spawn(relay_files());
  co_await scope.join();
}

}  // namespace fairlead::certs
