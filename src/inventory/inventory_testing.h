// Helpers for the tests of this room: a sandbox on a virtual loop, and the inventory of bundle shop in it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/inventory.h"
#include "sandbox/sandbox.h"

namespace fairlead::inventory {

using kube::Outcome;

inline const object::Resource kConfigMaps{
    .group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .singular = "", .namespaced = true};

inline std::vector<Wanted> config_maps_in(std::string ns) { return {{{"", "ConfigMap", std::move(ns), "x"}, "v1"}}; }

class InventoryTest : public testing::Test {
 protected:
  InventoryTest() : sandbox_(loop_, options()) {
    for (std::string_view ns : {"a", "b"}) make("v1", "Namespace", "", ns, "");
  }
  ~InventoryTest() override { loop_.run(sandbox_.stop()); }

  sandbox::Options options() {
    sandbox::Options options;
    options.controllers = false;
    options.forbids = [this](auto, std::string_view verb, auto, std::string_view resource, std::string_view ns, auto) {
      return forbids_ && forbids_(verb, resource, ns);
    };
    return options;
  }

  std::unique_ptr<Inventory> open(std::string holder) {
    auto opened = loop_.run(Inventory::open(client_, discovery_, named(std::move(holder))));
    EXPECT_TRUE(opened) << opened.error().error().report();
    return opened ? *std::move(opened) : nullptr;
  }
  Options named(std::string holder) {
    Options options;
    options.name = "shop";
    options.holder = std::move(holder);
    return options;
  }
  std::unique_ptr<Inventory> claimed(std::string holder, std::vector<Wanted> wanted = {}) {
    std::unique_ptr<Inventory> inventory = open(std::move(holder));
    EXPECT_EQ(said(loop_.run(inventory->claim(std::move(wanted)))), "");
    return inventory;
  }

  template <class T>
  static std::string said(const Outcome<T>& outcome) {
    return outcome ? "" : outcome.error().error().report();
  }

  // Puts an object there as a rollout would.
  void make(std::string_view api_version, std::string_view kind, std::string_view ns, std::string_view name,
            std::string_view label) {
    Json object = Json::Object{{"apiVersion", api_version}, {"kind", kind}};
    object.make("metadata").make("name") = name;
    if (!ns.empty()) object.make("metadata").make("namespace") = ns;
    if (!label.empty()) object.make("metadata").make("labels").make(kPartOfLabel) = label;
    auto resource = loop_.run(discovery_.find("", std::string(api_version), std::string(kind)));
    ASSERT_TRUE(resource && *resource);
    EXPECT_EQ(said(loop_.run(client_.apply(**resource, ns, name, object, {{.field_manager = manager_}}))), "");
  }

  Json parent() {
    Outcome<kube::Reply> reply = loop_.run(client_.get(kConfigMaps, "default", "fairlead-shop"));
    return reply ? reply->value : Json();
  }
  std::string annotation(std::string_view name) {
    return std::string(parent()["metadata"]["annotations"][name].string_or("none"));
  }
  size_t requests() const {
    size_t sum = 0;
    for (const auto& [verb, count] : client_.counts()) sum += count;
    return sum;
  }

  VirtualLoop loop_;
  std::function<bool(std::string_view verb, std::string_view resource, std::string_view ns)> forbids_;
  sandbox::Sandbox sandbox_;
  kube::Client client_{loop_, sandbox_.api_server(), nullptr, {}};
  kube::Discovery discovery_{client_};
  // Who puts objects there.
  std::string manager_ = "fairlead/default/shop";
};

}  // namespace fairlead::inventory
