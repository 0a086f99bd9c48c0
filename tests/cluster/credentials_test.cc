// Credentials that change while the client runs.
#include <filesystem>

#include "real_cluster_testing.h"

namespace fairlead::kube {
namespace {

class ChangingCredentials : public RealCluster {
 protected:
  ChangingCredentials() : folder_(std::filesystem::temp_directory_path() / ns_) {
    std::filesystem::create_directory(folder_);
  }
  ~ChangingCredentials() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  std::string path(const std::string& name) const { return folder_ / name; }

  static std::string admin_token() {
    std::string token = contents(variable("FAIRLEAD_CLUSTER_ADMIN_TOKEN_FILE"));
    while (token.ends_with('\n')) token.pop_back();
    return token;
  }

  // A plugin that notes that it ran, and then prints what the shell code says.
  Connection* connect_with_plugin(const std::string& shell) {
    write("plugin", "#!/bin/sh\necho ran >> '" + path("runs") + "'\n" + shell);
    std::filesystem::permissions(path("plugin"), std::filesystem::perms::owner_all);
    return connect_as_user("{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: '" +
                           path("plugin") + "'}}");
  }
  size_t runs() const {
    std::string log = contents(path("runs"));
    return size_t(std::ranges::count(log, '\n'));
  }
  static std::string credential(const std::string& token, const std::string& expires) {
    return "printf "
           "'{\"apiVersion\":\"client.authentication.k8s.io/"
           "v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s\",\"expirationTimestamp\":\"%s\"}}' \"" +
           token + "\" \"" + expires + "\"\n";
  }

  std::filesystem::path folder_;
};

TEST_F(ChangingCredentials, ATokenFileIsReadAgain) {
  write("token", "not-a-token");
  Client& client = connect_as_user("{tokenFile: '" + path("token") + "'}")->client();
  expect_fault(wait(client.list(config_maps(), {.ns = ns_})), FaultKind::unauthorized);
  write("token", admin_token());
  expect_ok(wait(client.list(config_maps(), {.ns = ns_})));
}

TEST_F(ChangingCredentials, APluginRunsOnceForManyRequests) {
  Client& client = connect_with_plugin(credential(admin_token(), "2099-01-01T00:00:00Z"))->client();
  for (int i = 0; i < 20; ++i) expect_ok(wait(client.list(config_maps(), {.ns = ns_})));
  EXPECT_EQ(runs(), 1u);
}

TEST_F(ChangingCredentials, APluginRunsAgainWhenItsCredentialExpires) {
  Client& client =
      connect_with_plugin(credential(admin_token(), "$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%SZ)"))->client();
  for (int i = 0; i < 5'000 && (i < 2 || runs() < 2); ++i) {
    expect_ok(wait(client.list(config_maps(), {.ns = ns_})));
    (void)wait(sleep_for(loop_, 2ms));
  }
  EXPECT_GE(runs(), 2u);
}

TEST_F(ChangingCredentials, APluginRunsAgainWhenItsTokenIsRefused) {
  Client& client =
      connect_with_plugin("if [ $(wc -l < '" + path("runs") + "') = 1 ]; then T=stale; else T=" + admin_token() +
                          "; fi\n" + credential("$T", "2099-01-01T00:00:00Z"))
          ->client();
  expect_ok(wait(client.list(config_maps(), {.ns = ns_})));
  EXPECT_EQ(runs(), 2u);
}

}  // namespace
}  // namespace fairlead::kube
