// Small makings for this room's tests.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "admission/attributes.h"
#include "admission/webhook.h"
#include "base/json.h"

namespace fairlead::admission {

inline Json parsed(std::string_view text) {
  Result<Json> json = Json::parse(text);
  EXPECT_TRUE(json) << text << "\n" << (json ? "" : json.error().what());
  return json ? *json : Json();
}

inline std::vector<Json> fixture(std::string_view name) {
  std::ifstream in(std::string(FAIRLEAD_SOURCE_DIR "/tests/fixtures/").append(name));
  std::vector<Json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(parsed(line));
  return lines;
}

// One hook of a configuration named "config"; what it does not say is: everything, v1, without side effects.
inline Webhook hook(std::string_view text, bool mutating = false, std::string_view configuration = "config") {
  Json hook = parsed(text);
  if (!hook.contains("name")) hook.make("name") = "w";
  if (!hook.contains("rules"))
    hook.make("rules") = parsed(R"([{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}])");
  if (!hook.contains("admissionReviewVersions")) hook.make("admissionReviewVersions") = Json::Array{"v1"};
  if (!hook.contains("sideEffects")) hook.make("sideEffects") = "None";
  return read_webhooks(
      Json::Object{{"kind", mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration"},
                   {"metadata", Json::Object{{"name", configuration}}},
                   {"webhooks", Json::Array{std::move(hook)}}})[0];
}

// A CREATE of a ConfigMap named "x" in the namespace "team".
inline Attributes config_map(std::string_view object = R"({"metadata":{"name":"x","namespace":"team"}})") {
  Attributes attributes;
  attributes.resource = {.group = "", .version = "v1", .resource = "configmaps"};
  attributes.kind = {.group = "", .version = "v1", .kind = "ConfigMap"};
  attributes.ns = "team";
  attributes.object = parsed(object);
  attributes.object.make("apiVersion") = "v1";
  attributes.object.make("kind") = "ConfigMap";
  attributes.name = attributes.object["metadata"]["name"].string_or("");
  attributes.ns_object = parsed(R"({"metadata":{"name":"team","labels":{"stage":"prod"}}})");
  attributes.user = {.name = "jane", .uid = "", .groups = {"dev", "system:authenticated"}, .extra = {}};
  attributes.options = parsed(R"({"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"test"})");
  return attributes;
}

}  // namespace fairlead::admission
