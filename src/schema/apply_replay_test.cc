// Does again what tests/record_apply.py has seen a real API server do, and wants the same.
#include <gtest/gtest.h>

#include <fstream>

#include "schema/apply.h"
#include "schema/defaults/defaults.h"
#include "schema/defaults/stored.h"
#include "schema/strategic.h"
#include "schema/types/builtin.h"
#include "schema/types/custom.h"
#include "schema/validation/structural.h"

namespace fairlead::schema {
namespace {

struct Write {
  Json line;
  Json before;
  std::string_view text(std::string_view key) const { return line[key].string_or(""); }
};

struct Recording {
  Json widget_schema;
  std::vector<Write> writes;
};

Recording read_recording() {
  Recording out;
  std::ifstream in(FAIRLEAD_SOURCE_DIR "/tests/fixtures/apply.jsonl");
  Json previous;
  for (std::string text; std::getline(in, text);) {
    Result<Json> json = Json::parse(text);
    EXPECT_TRUE(json.has_value());
    if (!json) break;
    if (json->contains("widgetSchema")) {
      out.widget_schema = (*json)["widgetSchema"];
      continue;
    }
    Json before = (*json)["before"].is_string() ? previous : (*json)["before"];
    previous = (*json)["answer"];
    out.writes.push_back({*std::move(json), std::move(before)});
  }
  return out;
}

Target target_of(const Write& write, const Json& widget_schema) {
  static const std::map<std::string, std::string, std::less<>> kKinds = {
      {"configmap", "ConfigMap"}, {"service", "Service"}, {"deployment", "Deployment"}, {"widget", "Widget"}};
  Target target{.api_version = std::string(write.text("apiVersion")),
                .kind = kKinds.find(write.text("kind"))->second,
                .subresource = std::string(write.text("subresource")),
                .versions = {},
                .reset = {},
                .convert = {},
                .complete = {}};
  size_t slash = target.api_version.find('/');
  std::string group = slash == std::string::npos ? "" : target.api_version.substr(0, slash);
  if (target.kind == "Widget") {
    SchemaPtr schema = custom_schema(widget_schema);
    for (std::string_view version : {"v1", "v1beta1"}) target.versions[group + "/" + std::string(version)] = schema;
    target.complete = [schema, &widget_schema](Json object) {
      return with_structural_defaults(widget_schema, stored_form(*schema, object));
    };
  } else {
    SchemaPtr schema = builtin_schema(group, target.api_version.substr(slash + 1), target.kind);
    target.versions[target.api_version] = schema;
    target.complete = [schema](Json object) { return with_defaults(*schema, stored_form(*schema, object)); };
  }
  target.reset = reset_fields(group, target.kind, target.subresource, target.kind != "ConfigMap");
  return target;
}

void merge_patch(Json& into, const Json& patch) {
  for (const Json::Member& member : patch.members()) {
    if (member.value.is_null()) {
      if (into.is_object()) into.if_object()->erase(member.key);
    } else if (member.value.is_object()) {
      Json& below = into.make(member.key);
      if (!below.is_object()) below = Json::Object();
      merge_patch(below, member.value);
    } else {
      into.make(member.key) = member.value;
    }
  }
}

std::expected<Json, Refusal> do_again(const Write& write, const Target& target) {
  Writer writer{.manager = std::string(write.text("manager")),
                // The second in which the answer was given: the newest entry tells.
                .now = {},
                .force = write.line["force"].bool_or(false)};
  for (const Json& entry : write.line["answer"]["metadata"]["managedFields"].items())
    if (auto time = fields::parse_time(entry["time"].string_or(""))) writer.now = std::max(writer.now, *time);
  const Json& body = write.line["body"];
  if (write.text("verb") == "apply") return apply(target, write.before, body, writer);
  Json updated = body;
  if (write.text("verb") == "merge") {
    updated = write.before;
    merge_patch(updated, body);
  }
  if (write.text("verb") == "strategic") {
    auto patched = strategic_merge(*target.versions.find(target.api_version)->second, write.before, body);
    if (!patched) return std::unexpected(patched.error());
    updated = *std::move(patched);
  }
  return track_update(target, write.before, target.complete(updated), writer);
}

// What the server does to an object after that, which is no business of this room.
void finish(const Write& write, const Target& target, Json& ours) {
  const Json& theirs = write.line["answer"];
  if (target.kind != "ConfigMap") {
    if (target.subresource.empty()) {
      if (write.before.contains("status")) ours.make("status") = write.before["status"];
      else if (target.kind == "Widget") ours.if_object()->erase("status");
    } else {
      ours.make("spec") = write.before["spec"];
      if (target.kind == "Widget") {
        Json meta = write.before["metadata"];
        meta.make("managedFields") = ours["metadata"]["managedFields"];
        ours.make("metadata") = meta;
      }
    }
  }
  for (std::string_view name : {"uid", "resourceVersion", "creationTimestamp", "generation", "namespace"})
    if (theirs["metadata"].contains(name)) ours.make("metadata").make(name) = theirs["metadata"][name];
  if (target.kind == "Service")
    for (std::string_view name : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})
      if (theirs["spec"].contains(name)) ours.make("spec").make(name) = theirs["spec"][name];
  if (!write.before.is_null()) {
    ours.make("metadata").make("resourceVersion") = write.before["metadata"]["resourceVersion"];
    keep_times(write.before, ours);
    ours.make("metadata").make("resourceVersion") = theirs["metadata"]["resourceVersion"];
  }
}

Json sorted(const Json& json) {
  if (json.is_array()) {
    Json::Array out;
    for (const Json& item : json.items()) out.push_back(sorted(item));
    return out;
  }
  if (!json.is_object()) return json;
  std::map<std::string, Json> members;
  for (const Json::Member& member : json.members()) members[member.key] = sorted(member.value);
  Json::Object out;
  for (auto& [key, value] : members) out.append(key, std::move(value));
  return out;
}

// The server lists managers in no particular order; what it says of each of them has one.
Json by_manager(Json status) {
  std::multimap<std::string, Json> causes;
  for (const Json& cause : status["details"]["causes"].items()) causes.emplace(cause["message"].string_or(""), cause);
  if (causes.empty()) return sorted(status);
  Json::Array out;
  for (auto& [message, cause] : causes) out.push_back(cause);
  status.make("details").make("causes") = out;
  return sorted(status);
}

TEST(ApplyReplay, DoesWhatARealServerDid) {
  Recording recording = read_recording();
  ASSERT_GT(recording.writes.size(), 100u);
  size_t taken = 0, refused = 0;
  for (size_t i = 0; i < recording.writes.size(); ++i) {
    const Write& write = recording.writes[i];
    const Json& theirs = write.line["answer"];
    int64_t code = write.line["code"].int_or(0);
    SCOPED_TRACE(
        fmt::format("line {}: {} {} by {}", i + 2, write.text("sequence"), write.text("verb"), write.text("manager")));
    Target target = target_of(write, recording.widget_schema);
    std::expected<Json, Refusal> ours = do_again(write, target);
    if (code >= 300) {
      // Refused for what an object of that kind may not be, or for a version that was not given: not by this room.
      if (code == 422 || code == 400) continue;
      ++refused;
      ASSERT_FALSE(ours.has_value()) << theirs["message"].string_or("") << ours->pretty();
      EXPECT_EQ(by_manager(ours.error().status()).pretty(), by_manager(theirs).pretty());
      continue;
    }
    ++taken;
    ASSERT_TRUE(ours.has_value()) << ours.error().message;
    finish(write, target, *ours);
    // To the byte; but a custom resource is a map to the server, and maps are written in the order of their keys.
    Json owners = (*ours)["metadata"]["managedFields"];
    if (target.kind == "Widget") owners = sorted(owners);
    ASSERT_EQ(owners.pretty(), theirs["metadata"]["managedFields"].pretty())
        << "before " << write.before.pretty() << "body " << write.line["body"].pretty();
    ASSERT_EQ(sorted(*ours).pretty(), sorted(theirs).pretty()) << "before " << write.before.pretty();
  }
  EXPECT_GT(taken, 100u);
  EXPECT_GT(refused, 20u);
}

}  // namespace
}  // namespace fairlead::schema
