#include "kube/watch.h"

#include <charconv>

#include "async/scope.h"
#include "kube/query.h"

namespace fairlead::kube {
namespace {

// As client-go: between five and ten minutes, so that watches of many clients do not end together.
constexpr int kMinSeconds = 300;
// How much longer than that a server may take to end it; and what is too short for a watch.
constexpr Duration kShortest = std::chrono::seconds(1);
constexpr Duration kGrace = std::chrono::seconds(30);
constexpr std::string_view kMetadataOfEvents =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Whether an event of that version tells nothing new.
bool is_old(std::string_view version, std::string_view known) {
  if (version == known) return true;
  std::optional<uint64_t> a = number(version);
  std::optional<uint64_t> b = number(known);
  return a && b && *a < *b;
}

bool passes(const Failure& failure) {
  if (const Fault* fault = failure.fault())
    return fault->disposition == Disposition::passing ||
           (fault->disposition == Disposition::parked && !fault->wait.only_if_expected);
  switch (failure.error().kind()) {
    case ErrorKind::unavailable:
    case ErrorKind::timeout: return true;
    default: return false;
  }
}

Error broken(Error cause) { return Error(ErrorKind::unavailable, "the watch broke off").because(std::move(cause)); }

}  // namespace

Watch::Watch(Client& client, object::Resource resource, WatchOptions options)
    : client_(client),
      resource_(std::move(resource)),
      options_(std::move(options)),
      random_(static_cast<std::minstd_rand::result_type>(options_.seed)) {}

Watch::~Watch() = default;

Watch::Place Watch::place_of(const Json& object) {
  const Json& metadata = object["metadata"];
  return {std::string(metadata["namespace"].string_or("")), std::string(metadata["name"].string_or(""))};
}

void Watch::disconnect() {
  body_.reset();
  stream_ = WatchStream();
}

Task<Outcome<WatchEvent>> Watch::next() {
  while (events_.empty()) {
    Outcome<void> result = co_await step();
    if (result) continue;
    disconnect();
    if (!passes(result.error())) co_return std::unexpected(std::move(result).error());
    Outcome<void> paused = co_await pause_after(std::move(result).error());
    if (!paused) co_return std::unexpected(std::move(paused).error());
  }
  WatchEvent event = std::move(events_.front());
  events_.pop_front();
  co_return event;
}

// The next thing to do: list, connect or read.
Task<Outcome<void>> Watch::step() {
  if (position_.empty()) return list();
  return body_ ? read() : connect();
}

Task<Outcome<void>> Watch::pause_after(Failure failure) {
  trouble_ = failure.error();
  Duration pause = options_.first_pause;
  for (int i = 0; i < failures_ && pause < options_.longest_pause; ++i) pause *= 2;
  pause = std::min(pause, options_.longest_pause);
  ++failures_;
  pause += pause * static_cast<int64_t>(random_() % 1000) / 1000;
  if (failure.fault()) pause = std::max(pause, failure.fault()->retry_after.value_or(Duration(0)));
  CO_TRY(co_await sleep_for(client_.loop(), pause));
  co_return Outcome<void>();
}

Task<Outcome<void>> Watch::list() {
  Outcome<List> list = co_await client_.list(resource_, {.ns = options_.ns,
                                                         .label_selector = options_.label_selector,
                                                         .field_selector = options_.field_selector,
                                                         .metadata_only = options_.metadata_only});
  if (!list) co_return std::unexpected(std::move(list).error());
  if (list->resource_version.empty())
    co_return std::unexpected(
        Failure(Error(ErrorKind::protocol, fmt::format("the list of {} has no resourceVersion", resource_.plural))));

  std::map<Place, Known> before = known_;
  for (Json& item : list->items) {
    before.erase(place_of(item));
    see(std::move(item));
  }
  for (const auto& [place, known] : before) see_gone(place, identity(place, known));
  if (!std::exchange(synced_, true)) events_.push_back({.type = WatchEvent::Type::synced, .object = {}});
  position_ = std::move(list->resource_version);
  co_return Outcome<void>();
}

Task<Outcome<void>> Watch::connect() {
  CO_TRY_ASSIGN(std::string path, resource_.list_path(options_.ns));
  int seconds = kMinSeconds + static_cast<int>(random_() % kMinSeconds);
  Query query;
  query.add("labelSelector", options_.label_selector).add("fieldSelector", options_.field_selector);
  query.add("watch", "true").add("allowWatchBookmarks", "true").add("resourceVersion", position_);
  query.add("timeoutSeconds", std::to_string(seconds));
  Outcome<http::Answer> answer =
      co_await client_.open({.verb = "watch",
                             .target = query.behind(std::move(path)),
                             .accept = std::string(options_.metadata_only ? kMetadataOfEvents : "application/json")});
  if (!answer) {
    if (answer.error().is(FaultKind::expired)) position_.clear();
    co_return std::unexpected(std::move(answer).error());
  }
  body_ = std::move(answer->body);
  stream_ = WatchStream();
  ends_ = client_.loop().now() + std::chrono::seconds(seconds) + kGrace;
  connected_ = client_.loop().now();
  trouble_.reset();
  co_return Outcome<void>();
}

Task<Outcome<void>> Watch::read() {
  // What has arrived already comes first.
  while (events_.empty()) {
    Result<std::optional<WatchStream::Event>> event = stream_.next();
    if (!event) co_return std::unexpected(Failure(broken(std::move(event).error())));
    if (!*event) break;
    CO_TRY(take(**std::move(event)));
    failures_ = 0;
  }
  if (!events_.empty()) co_return Outcome<void>();

  CO_TRY_ASSIGN(std::optional<std::string> piece,
                co_await with_deadline(client_.loop(), ends_, "the watch was not ended in time", body_->read()));
  if (piece) {
    stream_.feed(*piece);
    co_return Outcome<void>();
  }
  disconnect();
  // The usual end of a watch. One that ends at once is no reason to come back at once.
  if (client_.loop().now() >= connected_ + kShortest) co_return Outcome<void>();
  co_return std::unexpected(Failure(Error(ErrorKind::unavailable, "the server ended the watch at once")));
}

Result<void> Watch::take(WatchStream::Event event) {
  if (event.type == WatchStream::Event::Type::error) {
    Fault fault = classify_status("GET", "", event.object);
    if (fault.kind == FaultKind::expired) position_.clear();
    return fail(broken(as_error(fault)));
  }
  const Json& metadata = event.object["metadata"];
  Place place = place_of(event.object);
  std::string uid(metadata["uid"].string_or(""));
  std::string version(metadata["resourceVersion"].string_or(""));
  if (version.empty()) return fail(broken(Error(ErrorKind::protocol, "an object came without a resourceVersion")));
  if (event.type == WatchStream::Event::Type::deleted) {
    auto known = known_.find(place);
    // One of that name that has come since is another one.
    if (known != known_.end() && known->second.uid == uid) see_gone(place, named(std::move(event.object)));
  } else if (event.type != WatchStream::Event::Type::bookmark) {
    // What the server tells a second time tells nothing.
    auto known = known_.find(place);
    bool is_known = known != known_.end() && is_old(version, known->second.version);
    if (!is_known) see(named(std::move(event.object)));
  }
  if (!is_old(version, position_)) position_ = std::move(version);
  return {};
}

// With the kind's own name, where only the metadata was asked for.
Json Watch::named(Json object) const {
  if (!options_.metadata_only) return object;
  object.make("kind") = resource_.kind;
  object.make("apiVersion") = resource_.api_version();
  return object;
}

void Watch::see(Json object) {
  const Json& metadata = object["metadata"];
  Place place = place_of(object);
  Known now{.uid = std::string(metadata["uid"].string_or("")),
            .version = std::string(metadata["resourceVersion"].string_or(""))};
  auto [entry, is_new] = known_.try_emplace(place, now);
  WatchEvent::Type type = is_new ? WatchEvent::Type::added : WatchEvent::Type::modified;
  if (!is_new) {
    // Not by their order: after a restore from a backup, versions start lower again.
    if (now.uid == entry->second.uid && now.version == entry->second.version) return;
    if (now.uid != entry->second.uid) {
      events_.push_back({.type = WatchEvent::Type::deleted, .object = identity(place, entry->second)});
      type = WatchEvent::Type::added;
    }
    entry->second = std::move(now);
  }
  events_.push_back({.type = type, .object = std::move(object)});
}

void Watch::see_gone(const Place& place, Json object) {
  known_.erase(place);
  events_.push_back({.type = WatchEvent::Type::deleted, .object = std::move(object)});
}

Json Watch::identity(const Place& place, const Known& known) const {
  Json object(Json::Object{{"apiVersion", resource_.api_version()}, {"kind", resource_.kind}});
  Json& metadata = object.make("metadata");
  metadata.make("name") = place.second;
  if (!place.first.empty()) metadata.make("namespace") = place.first;
  metadata.make("uid") = known.uid;
  return object;
}

}  // namespace fairlead::kube
