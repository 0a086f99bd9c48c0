#include "cli/runs/plan_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "base/replace_file.h"

namespace fairlead::cli {
namespace {

constexpr int kSchemaVersion = 1;
constexpr std::string_view kKind = "FairleadPlan";
constexpr size_t kMostBytes = size_t{256} << 20;

Json strings_json(const std::vector<std::string>& texts) { return Json::Array(texts.begin(), texts.end()); }

std::vector<std::string> strings_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& item : list.items()) texts.emplace_back(item.string_or(""));
  return texts;
}

std::string text_of(const Json& value) { return std::string(value.string_or("")); }

std::string difference(const PlanFile::Object& planned, const PlanFile::Object& now) {
  if (planned.action != now.action)
    return fmt::format("was planned as \"{}\", and is now \"{}\"", planned.action, now.action);
  bool in_cluster = planned.live != now.live, in_files = planned.wanted != now.wanted;
  if (in_cluster && in_files) return "changed in the cluster and in the manifests";
  return in_files ? "changed in the manifests" : "changed in the cluster";
}

}  // namespace

std::vector<PlanFile::Object> planned_objects(const rollout::Ending& ending) {
  std::vector<PlanFile::Object> objects;
  for (const rollout::ObjectEnding& object : ending.objects) {
    if (object.state == rollout::ObjectEnding::State::left_out) continue;
    PlanFile::Object one{.key = object.key, .action = "none", .live = {}, .wanted = {}};
    if (object.forecast) {
      one.action = name_of(object.forecast->action);
      one.live = object.forecast->live_digest;
      one.wanted = object.forecast->wanted_digest;
    }
    objects.push_back(std::move(one));
  }
  return objects;
}

std::vector<std::string> changes_since(const std::vector<PlanFile::Object>& planned,
                                       const std::vector<PlanFile::Object>& now) {
  std::map<object::Key, const PlanFile::Object*> before;
  for (const PlanFile::Object& one : planned) before.emplace(one.key, &one);
  std::vector<std::string> changes;
  for (const PlanFile::Object& one : now) {
    auto found = before.find(one.key);
    if (found == before.end()) {
      changes.push_back(fmt::format("{} is not in the plan", one.key.text()));
      continue;
    }
    if (*found->second != one) changes.push_back(fmt::format("{} {}", one.key.text(), difference(*found->second, one)));
    before.erase(found);
  }
  for (const auto& [key, one] : before)
    changes.push_back(fmt::format("{} is in the plan, and not there any more", key.text()));
  return changes;
}

std::string to_text(const PlanFile& file) {
  Json json(Json::Object{{"schemaVersion", kSchemaVersion},
                         {"kind", kKind},
                         {"context", file.context},
                         {"server", file.server},
                         {"namespace", file.ns},
                         {"namespaceIsChosen", file.namespace_is_chosen},
                         {"bundle", file.bundle},
                         {"digestKey", file.digest_key}});
  Json::Array flags, objects;
  for (const PlanFile::Flag& flag : file.flags)
    flags.emplace_back(Json::Object{{"name", flag.name}, {"values", strings_json(flag.values)}});
  for (const PlanFile::Object& one : file.objects)
    objects.emplace_back(Json::Object{{"group", one.key.group},
                                      {"kind", one.key.kind},
                                      {"namespace", one.key.ns},
                                      {"name", one.key.name},
                                      {"action", one.action},
                                      {"live", one.live},
                                      {"wanted", one.wanted}});
  json.make("flags") = std::move(flags);
  json.make("behind") = strings_json(file.behind);
  json.make("objects") = std::move(objects);
  return json.pretty();
}

Result<PlanFile> parse_plan_file(std::string_view text, const std::string& path) {
  Result<Json> json = Json::parse(text);
  if (!json || (*json)["kind"].string_or("") != kKind)
    return fail(Error(ErrorKind::invalid, fmt::format("{} is not a plan", path)).next("fairlead plan … --out FILE"));
  if ((*json)["schemaVersion"].int_or(0) != kSchemaVersion)
    return fail(Error(ErrorKind::invalid, fmt::format("{} was made by another version of Fairlead", path))
                    .next("fairlead plan … --out FILE"));
  PlanFile file{.context = text_of((*json)["context"]),
                .server = text_of((*json)["server"]),
                .ns = text_of((*json)["namespace"]),
                .namespace_is_chosen = (*json)["namespaceIsChosen"].bool_or(false),
                .bundle = text_of((*json)["bundle"]),
                .digest_key = text_of((*json)["digestKey"]),
                .flags = {},
                .behind = strings_of((*json)["behind"]),
                .objects = {}};
  for (const Json& flag : (*json)["flags"].items())
    file.flags.push_back({.name = text_of(flag["name"]), .values = strings_of(flag["values"])});
  for (const Json& one : (*json)["objects"].items())
    file.objects.push_back({.key = {.group = text_of(one["group"]),
                                    .kind = text_of(one["kind"]),
                                    .ns = text_of(one["namespace"]),
                                    .name = text_of(one["name"])},
                            .action = text_of(one["action"]),
                            .live = text_of(one["live"]),
                            .wanted = text_of(one["wanted"])});
  return file;
}

Result<void> write_plan_file(const PlanFile& file, const std::string& path) {
  int failure = replace_file(path, to_text(file));
  if (failure == 0) return {};
  return fail(
      Error(ErrorKind::invalid, fmt::format("the plan cannot be written to {}", path)).because(std::strerror(failure)));
}

Result<PlanFile> read_plan_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream)
    return fail(Error(ErrorKind::not_found, fmt::format("the plan {} cannot be read", path))
                    .because(std::strerror(errno))
                    .next("fairlead plan … --out FILE"));
  if (text.view().size() > kMostBytes) return fail(ErrorKind::limit, "{} is too large for a plan", path);
  return parse_plan_file(text.view(), path);
}

std::string new_digest_key() {
  unsigned char bytes[32];
  if (::getentropy(bytes, sizeof bytes) != 0) return {};
  std::string hex;
  for (unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace fairlead::cli
