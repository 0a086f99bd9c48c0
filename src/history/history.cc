#include "history/history.h"

#include <algorithm>

#include "async/scope.h"
#include "base/base64.h"
#include "base/plain_text.h"
#include "base/timestamp.h"
#include "base/version.h"
#include "history/compress.h"

namespace fairlead::history {
namespace {

using kube::FaultKind;
using kube::Outcome;

constexpr std::string_view kRevisionsAnnotation = "fairlead.dev/revisions";
constexpr std::string_view kLastRunAnnotation = "fairlead.dev/last-run";
constexpr std::string_view kRevisionLabel = "fairlead.dev/revision";
constexpr std::string_view kSecretType = "fairlead.dev/revision";
constexpr std::string_view kDataKey = "manifests";
// A Secret may have 1 MiB, and a request 1.5 MiB, of which base64 takes a third more.
constexpr size_t kChunk = size_t{768} << 10;
constexpr size_t kMostChunks = 8;
constexpr size_t kLargestText = size_t{256} << 20;

object::Resource secrets() {
  return {.group = "", .version = "v1", .kind = "Secret", .plural = "secrets", .namespaced = true};
}

std::string name_of_secret(std::string_view record, int64_t number, int64_t chunk) {
  std::string name = fmt::format("{}.revision-{}", record, number % kKeptRevisions);
  return chunk == 0 ? name : fmt::format("{}.{}", name, chunk);
}
std::string secret_name(const inventory::Inventory& inventory, int64_t number, int64_t chunk) {
  return name_of_secret(inventory.parent().name, number, chunk);
}

Json secret_of(const inventory::Inventory& inventory, int64_t number, int64_t chunk, std::string_view piece) {
  const object::Key& record = inventory.parent();
  Json::Object owner{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", record.name}, {"uid", inventory.uid()}};
  return Json::Object{
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata", Json::Object{{"name", secret_name(inventory, number, chunk)},
                                {"namespace", record.ns},
                                {"labels", Json::Object{{std::string(kRevisionOfLabel), inventory.label_value()},
                                                        {std::string(kRevisionLabel), std::to_string(number)}}},
                                {"ownerReferences", Json::Array{Json(std::move(owner))}}}},
      {"type", kSecretType},
      {"data", Json::Object{{std::string(kDataKey), to_base64(piece)}}}};
}

bool is_ours(const Json& secret, const inventory::Inventory& inventory) {
  return secret["metadata"]["labels"][kRevisionOfLabel].string_or("") == inventory.label_value();
}

// Writes a Secret in place of the one that is there. Never changes a Secret of somebody else.
Task<Result<void>> replace(kube::Client& client, const inventory::Inventory& inventory, Json secret) {
  std::string ns = inventory.parent().ns;
  std::string name(secret["metadata"]["name"].string_or(""));
  Outcome<kube::Reply> there = co_await client.get(secrets(), ns, name);
  if (!there && there.error().is(FaultKind::not_found)) co_return fail(ErrorKind::not_found, "it is not there");
  if (!there) co_return fail(there.error().error());
  if (!is_ours(there->value, inventory))
    co_return fail(ErrorKind::invalid, "Secret {}/{} is there already, and is not a revision of this bundle", ns, name);
  secret.make("metadata").make("resourceVersion") = there->value["metadata"]["resourceVersion"];
  Outcome<kube::Reply> written = co_await client.replace(secrets(), ns, name, secret);
  if (!written) co_return fail(written.error().error());
  co_return Result<void>();
}

// Creates a Secret, or writes it in place of an older one: that of an older revision (`is_there`), or one that a run
// left behind which was killed.
Task<Result<void>> put(kube::Client& client, const inventory::Inventory& inventory, Json secret, bool is_there) {
  if (is_there) {
    Result<void> replaced = co_await replace(client, inventory, secret);
    if (replaced || replaced.error().kind() != ErrorKind::not_found) co_return replaced;
  }
  Outcome<kube::Reply> written = co_await client.create(secrets(), inventory.parent().ns, secret);
  if (written) co_return Result<void>();
  if (written.error().is(FaultKind::already_exists)) co_return co_await replace(client, inventory, std::move(secret));
  co_return fail(written.error().error());
}

// Deletes a Secret, unless it is somebody else's by now. Returns whether it was there, and ours.
Task<bool> remove(kube::Client& client, const inventory::Inventory& inventory, std::string name) {
  std::string ns = inventory.parent().ns;
  Outcome<kube::Reply> there = co_await client.get(secrets(), ns, name);
  if (!there || !is_ours(there->value, inventory)) co_return false;
  std::string uid(there->value["metadata"]["uid"].string_or(""));
  (void)co_await client.remove(secrets(), ns, name, {.uid = std::move(uid)});
  co_return true;
}

Task<void> remove_all(kube::Client& client, const inventory::Inventory& inventory, Revision revision) {
  for (int64_t chunk = 0; chunk < revision.chunks; ++chunk)
    co_await remove(client, inventory, secret_name(inventory, revision.number, chunk));
}

// A run that was killed may have written manifests of its revision, but not the list with that revision.
Task<void> remove_unlisted(kube::Client& client, const inventory::Inventory& inventory, int64_t number) {
  for (int64_t chunk = 0; chunk < static_cast<int64_t>(kMostChunks); ++chunk)
    if (!co_await remove(client, inventory, secret_name(inventory, number, chunk))) co_return;
}

int64_t next_number(const std::vector<Revision>& revisions) {
  return revisions.empty() ? 1 : revisions.front().number + 1;
}

Error not_kept(const Revision& revision, std::string why) {
  return Error(ErrorKind::not_found, fmt::format("the manifests of revision {} are not kept", revision.number))
      .because(std::move(why));
}

Result<std::vector<KeptObject>> parse_compressed(std::string_view compressed, const Revision& revision) {
  Result<std::string> text = uncompress(compressed, kLargestText);
  if (!text) return fail(not_kept(revision, "what is kept cannot be read: " + text.error().message()));
  Result<std::vector<KeptObject>> objects = parse_manifests(*text, revision.number);
  if (!objects) return fail(not_kept(revision, objects.error().message()));
  return objects;
}

const Revision* find(const std::vector<Revision>& revisions, int64_t number) {
  auto found = std::ranges::find(revisions, number, &Revision::number);
  return found == revisions.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Revision> revisions_of(const inventory::Inventory& inventory) {
  return parse_revisions(inventory.annotation(kRevisionsAnnotation));
}

std::optional<LastRun> last_run_of(const inventory::Inventory& inventory) {
  Result<Json> json = Json::parse(inventory.annotation(kLastRunAnnotation), {.bytes = 4096, .depth = 3});
  if (!json || !json->is_object()) return std::nullopt;
  auto text = [&](std::string_view name) { return plain_text((*json)[name].string_or(""), 300); };
  return LastRun{.who = text("who"), .when = text("when"), .how = text("how"), .objects = (*json)["objects"].int_or(0)};
}

void note_run(inventory::Inventory& inventory, const LastRun& run, WallTime now) {
  Json note(Json::Object{{"who", run.who}, {"when", dump_micro_time(now)}, {"how", run.how}, {"objects", run.objects}});
  inventory.annotate(std::string(kLastRunAnnotation), note.dump());
}

Task<Result<int64_t>> keep_revision(kube::Client& client, inventory::Inventory& inventory, const Run& run) {
  std::vector<Revision> revisions = revisions_of(inventory);
  Revision next{.number = next_number(revisions),
                .how = run.how,
                .who = run.who,
                .when = dump_micro_time(client.loop().clock().wall_now()),
                .note = run.note,
                .version = std::string(program_version()),
                .objects = static_cast<int64_t>(run.objects.size()),
                .has_secrets = run.with_secrets,
                .has_delete_hooks = run.has_delete_hooks};
  Manifests manifests = dump(next.number, run.objects);
  next.digest = manifests.digest;
  // The same again, such as a run that is repeated until it works, must not push other revisions out.
  if (!revisions.empty() && revisions.front().digest == next.digest && revisions.front().how == next.how)
    co_return revisions.front().number;
  std::string compressed = compress(manifests.text);
  size_t chunks = (compressed.size() + kChunk - 1) / kChunk;
  if (chunks <= kMostChunks) next.chunks = static_cast<int64_t>(chunks);
  const Revision* replaced = find(revisions, next.number - kKeptRevisions);
  for (int64_t chunk = 0; chunk < next.chunks; ++chunk) {
    std::string piece = compressed.substr(static_cast<size_t>(chunk) * kChunk, kChunk);
    bool is_there = replaced && chunk < replaced->chunks;
    CO_TRY(co_await put(client, inventory, secret_of(inventory, next.number, chunk, piece), is_there));
  }
  if (replaced)
    for (int64_t chunk = next.chunks; chunk < replaced->chunks; ++chunk)
      co_await remove(client, inventory, secret_name(inventory, replaced->number, chunk));
  int64_t number = next.number;
  std::erase_if(revisions, [&](const Revision& one) { return one.number <= number - kKeptRevisions; });
  revisions.insert(revisions.begin(), std::move(next));
  inventory.annotate(std::string(kRevisionsAnnotation), dump(revisions));
  co_return number;
}

Task<Result<std::vector<KeptObject>>> read_revision(kube::Client& client, const inventory::Inventory& inventory,
                                                    const Revision& revision) {
  if (revision.chunks == 0) co_return fail(not_kept(revision, "they are too large to be kept in the cluster"));
  std::string compressed;
  for (int64_t chunk = 0; chunk < revision.chunks; ++chunk) {
    std::string name = secret_name(inventory, revision.number, chunk);
    Outcome<kube::Reply> secret = co_await client.get(secrets(), inventory.parent().ns, name);
    if (!secret && secret.error().is(FaultKind::not_found))
      co_return fail(
          not_kept(revision, fmt::format("Secret {}/{} does not exist any more", inventory.parent().ns, name)));
    if (!secret)
      co_return fail(
          secret.error().error().in(fmt::format("the manifests of revision {} cannot be read", revision.number)));
    std::optional<std::string> piece = from_base64(secret->value["data"][kDataKey].string_or(""));
    if (!is_ours(secret->value, inventory) || !piece)
      co_return fail(not_kept(revision, fmt::format("Secret {}/{} does not hold them", inventory.parent().ns, name)));
    compressed += *piece;
  }
  co_return parse_compressed(compressed, revision);
}

std::vector<Revision> revisions_in(const Json& record) {
  return parse_revisions(record["metadata"]["annotations"][kRevisionsAnnotation].string_or(""));
}

std::string secret_name(std::string_view record, const Revision& revision) {
  return name_of_secret(record, revision.number, 0);
}

Result<std::vector<KeptObject>> unpack(const Json& secret, const Revision& revision) {
  std::optional<std::string> piece = from_base64(secret["data"][kDataKey].string_or(""));
  if (revision.chunks != 1 || !piece) return fail(not_kept(revision, "the Secret does not hold them"));
  return parse_compressed(*piece, revision);
}

Task<void> delete_revisions(kube::Client& client, const inventory::Inventory& inventory) {
  Scope scope(client.loop(), co_await current_cancel());
  std::vector<Revision> revisions = revisions_of(inventory);
  scope.spawn(remove_unlisted(client, inventory, next_number(revisions)));
  for (const Revision& revision : revisions) scope.spawn(remove_all(client, inventory, revision));
  co_await scope.join();
}

Result<Revision> revision_to_go_back_to(const std::vector<Revision>& revisions, int64_t number,
                                        const std::string& bundle) {
  std::string show = fmt::format("fairlead history {}", bundle);
  if (number > 0) {
    const Revision* found = find(revisions, number);
    if (!found)
      return fail(Error(ErrorKind::not_found, fmt::format("bundle {} has no revision {}", bundle, number)).next(show));
    if (found->chunks == 0) return fail(not_kept(*found, "they are too large to be kept in the cluster"));
    return *found;
  }
  for (const Revision& one : revisions)
    if (one.is_done() && one.chunks > 0 && one.digest != revisions.front().digest) return one;
  return fail(Error(ErrorKind::not_found, fmt::format("bundle {} has no revision to go back to", bundle))
                  .because("no earlier run that was done applied anything else")
                  .next(show));
}

}  // namespace fairlead::history
