// What the tests on a real control plane share: a client, a namespace of the test's own, the script that restarts
// components.
// `./dev test cluster` starts the control plane and sets the variables that are read here.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "async/real_loop.h"
#include "async/scope.h"
#include "kube/access.h"
#include "kube/config/kubeconfig.h"
#include "kube/connect.h"
#include "kube/discovery.h"
#include "kube/watch.h"

namespace fairlead::kube {

using namespace std::chrono_literals;

inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value) {
    ADD_FAILURE() << name << " is not set: run this with ./dev test";
    std::exit(1);
  }
  return value;
}

inline std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline object::Resource config_maps() {
  return {.version = "v1", .kind = "ConfigMap", .plural = "configmaps", .singular = "configmap", .namespaced = true};
}
inline object::Resource namespaces() { return {.version = "v1", .kind = "Namespace", .plural = "namespaces"}; }

inline Json config_map(std::string_view name, std::string_view value = "1") {
  return Json(Json::Object{{"apiVersion", "v1"},
                           {"kind", "ConfigMap"},
                           {"metadata", Json::Object{{"name", name}, {"labels", Json::Object{{"app", "test"}}}}},
                           {"data", Json::Object{{"value", value}}}});
}

class RealCluster : public testing::Test {
 protected:
  RealCluster() {
    admin_ = connect_with(variable("KUBECONFIG"));
    ns_ = std::string("test-") + testing::UnitTest::GetInstance()->current_test_info()->name();
    for (char& c : ns_) c = c == '_' || c == '/' ? '-' : char(std::tolower(c));
    ns_ += "-" + std::to_string(::getpid());
    Json space(Json::Object{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Json::Object{{"name", ns_}}}});
    expect_ok(wait(admin().apply(namespaces(), "", ns_, space)));
  }

  ~RealCluster() override {
    (void)wait(admin().remove(namespaces(), "", ns_));
    for (auto& connection : connections_) loop_.run(connection->close());
  }

  // Runs the loop until the task is done.
  template <class T>
  T wait(Task<T> task) {
    return loop_.run(std::move(task));
  }

  template <class T>
  static void expect_ok(const Outcome<T>& outcome) {
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().error().report());
  }
  template <class T>
  static void expect_fault(const Outcome<T>& outcome, FaultKind kind) {
    ASSERT_FALSE(outcome) << "was accepted";
    ASSERT_TRUE(outcome.error().fault()) << outcome.error().error().report();
    EXPECT_EQ(name_of(outcome.error().fault()->kind), name_of(kind)) << outcome.error().error().report();
  }

  Connection* connect_with(const std::string& kubeconfig, KubeFlags flags = {}) {
    flags.kubeconfig = kubeconfig;
    return connect_as(Kubeconfig::load(flags, Surroundings::real()).value().resolve(flags).value());
  }
  // A kubeconfig for this cluster with another user: `user` is the YAML of the user entry.
  Connection* connect_as_user(const std::string& user,
                              const std::string& server = variable("FAIRLEAD_CLUSTER_SERVER")) {
    std::string text =
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: '" +
        server + "', certificate-authority: '" + variable("FAIRLEAD_CLUSTER_CA") +
        "'}}]\nusers:\n- name: u\n  user: " + user + "\n";
    return connect_as(Kubeconfig::parse(text, "test.kubeconfig", Surroundings::real()).value().resolve({}).value());
  }
  Connection* connect_as(ClusterConfig config) {
    connections_.push_back(connect(loop_, std::move(config), {}).value());
    return connections_.back().get();
  }

  // Lets the ordinary user do everything in the test's namespace.
  void grant(const std::string& user) {
    object::Resource bindings{.group = "rbac.authorization.k8s.io",
                              .version = "v1",
                              .kind = "RoleBinding",
                              .plural = "rolebindings",
                              .namespaced = true};
    Json binding = *Json::parse(fmt::format(
        R"({{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{{"name":"{0}"}},
            "roleRef":{{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"}},
            "subjects":[{{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"{0}"}}]}})",
        user));
    expect_ok(wait(admin().apply(bindings, ns_, user, binding)));
  }

  // Restarts a component of the cluster while the loop goes on.
  Task<void> restart(std::vector<std::string> component_and_flags) {
    std::vector<std::string> argv = {FAIRLEAD_SOURCE_DIR "/cluster/cluster", "restart"};
    argv.insert(argv.end(), component_and_flags.begin(), component_and_flags.end());
    Result<ProcessResult> result = co_await run_process(loop_, {.argv = std::move(argv)});
    EXPECT_TRUE(result && result->ok()) << (result ? result->errors : result.error().report());
  }

  Client& admin() { return admin_->client(); }

  RealLoop loop_;
  std::vector<std::unique_ptr<Connection>> connections_;
  Connection* admin_ = nullptr;
  std::string ns_;
};

}  // namespace fairlead::kube
