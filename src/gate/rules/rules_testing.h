// Makings for the tests of the gate: webhooks and requests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/base64.h"
#include "gate/rules/hook.h"
#include "webhook/policy/policy.h"

namespace fairlead::gate {

using namespace std::chrono_literals;

inline Json parsed(std::string_view text) {
  Result<Json> json = Json::parse(text);
  EXPECT_TRUE(json) << text << "\n" << (json ? "" : json.error().what());
  return json ? *json : Json();
}

// A validating webhook of Service shop/hook for widgets, unless `fields` says otherwise.
inline Json stored_hook(std::string_view fields = "{}") {
  Json hook = parsed(fields);
  auto add = [&](std::string_view key, Json value) {
    if (!hook.contains(key)) hook.make(key) = std::move(value);
  };
  add("name", "v.shop.example.com");
  add("rules", parsed(R"([{"operations":["CREATE","UPDATE"],"apiGroups":["shop.example.com"],"apiVersions":["*"],
                           "resources":["widgets"]}])"));
  add("clientConfig",
      Json::Object{{"service", parsed(R"({"namespace":"shop","name":"hook","path":"/check"})")},
                   {"caBundle", to_base64("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")}});
  add("admissionReviewVersions", Json::Array{"v1"});
  add("sideEffects", "None");
  return hook;
}

inline Json configuration_of(Json hook, std::string_view name = "shop", bool mutates = false,
                             std::string_view metadata = "{}") {
  Json configuration =
      Json::Object{{"apiVersion", "admissionregistration.k8s.io/v1"},
                   {"kind", mutates ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration"},
                   {"metadata", parsed(metadata)},
                   {"webhooks", Json::Array{std::move(hook)}}};
  configuration.make("metadata").make("name") = name;
  if (!configuration["metadata"].contains("uid")) configuration.make("metadata").make("uid") = "u-1";
  return configuration;
}

inline Hook hook(std::string_view fields = "{}", std::string_view metadata = "{}") {
  return hooks_of(configuration_of(stored_hook(fields), "shop", false, metadata)).at(0);
}

// A CREATE of Widget team/w by jane.
inline webhook::Request widget(std::string_view name = "w", std::string_view ns = "team") {
  webhook::Request request;
  request.uid = "1";
  request.kind = {.group = "shop.example.com", .version = "v1", .kind = "Widget"};
  request.resource = {.group = "shop.example.com", .version = "v1", .resource = "widgets"};
  request.ns = ns;
  request.name = name;
  request.user = {.name = "jane", .uid = "", .groups = {"system:authenticated"}, .extra = {}};
  request.object = Json::Object{{"apiVersion", "shop.example.com/v1"},
                                {"kind", "Widget"},
                                {"metadata", Json::Object{{"name", name}, {"namespace", ns}}}};
  return request;
}

inline webhook::Request built_in(std::string_view resource, std::string_view kind, std::string_view ns,
                                 std::string_view group = "") {
  webhook::Request request = widget("x", ns);
  request.kind = {.group = std::string(group), .version = "v1", .kind = std::string(kind)};
  request.resource = {.group = std::string(group), .version = "v1", .resource = std::string(resource)};
  return request;
}

inline Json widget_definition(std::string_view conversion = R"({"strategy":"None"})") {
  Json definition = parsed(R"({"metadata":{"name":"widgets.shop.example.com"},"spec":{"group":"shop.example.com",
      "names":{"kind":"Widget","plural":"widgets"},"scope":"Namespaced",
      "versions":[{"name":"v1","served":true,"storage":true},{"name":"v2","served":true},
                  {"name":"v0","served":false}]}})");
  definition.make("spec").make("conversion") = parsed(conversion);
  return definition;
}

}  // namespace fairlead::gate
