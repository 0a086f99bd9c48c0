#include "kube/config/credentials.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "async/scope.h"
#include "base/base64.h"
#include "base/temp_folder_testing.h"
#include "base/timestamp.h"
#include "x509/x509.h"

namespace fairlead::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string text_of(const http::Headers& headers) {
  std::string text;
  for (const auto& [name, value] : headers) text += name + ": " + value + "\n";
  return text;
}

struct World {
  VirtualLoop loop;
  std::map<std::string, std::string> files;
  std::vector<ProcessSpec> runs;
  // What the plugin does, run by run; the last one again and again.
  std::vector<Result<ProcessResult>> plugin;
  Duration plugin_time = milliseconds(100);
  std::vector<std::pair<std::string, std::string>> certificates;
  Credentials::Options options;

  Credentials make(CredentialSpec spec) {
    spec.owner = "user \"u\"";
    Surroundings surroundings;
    surroundings.read_file = [this](const std::string& path) -> Result<std::string> {
      auto found = files.find(path);
      if (found == files.end()) return fail(ErrorKind::not_found, "No such file or directory");
      return found->second;
    };
    surroundings.now = [this] { return loop.clock().wall_now(); };
    options.on_certificate = [this](const std::string& certificate, const std::string& key) -> Result<void> {
      certificates.emplace_back(certificate, key);
      return {};
    };
    return Credentials(
        loop, std::move(spec), surroundings, [this](ProcessSpec process) { return run(std::move(process)); }, options);
  }
  Task<Result<ProcessResult>> run(ProcessSpec process) {
    Result<ProcessResult> result = plugin[std::min(runs.size(), plugin.size() - 1)];
    runs.push_back(std::move(process));
    CO_TRY(co_await sleep_for(loop, plugin_time));
    co_return result;
  }
  Result<std::string> headers(Credentials& credentials) {
    http::Headers result;
    Result<uint64_t> used = loop.run(credentials.authorize(result));
    if (!used) return fail(std::move(used).error());
    return text_of(result);
  }
  // What a request does that is answered 401: whether it would go again.
  Result<bool> refused(Credentials& credentials) {
    http::Headers unused;
    Result<uint64_t> used = loop.run(credentials.authorize(unused));
    if (!used) return fail(std::move(used).error());
    return loop.run(credentials.refresh(*used));
  }
  void pass(Duration time) { loop.run(sleep_for(loop, time)); }
};

CredentialSpec with_plugin(ExecPlugin::Interactive interactive = ExecPlugin::Interactive::if_available) {
  CredentialSpec spec;
  spec.exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                         .command = "get-token",
                         .arguments = {"--cluster", "c"},
                         .environment = {{"A", "b"}},
                         .install_hint = "install get-token\nfrom there",
                         .interactive = interactive,
                         .cluster = {}};
  return spec;
}

ProcessResult says(std::string status) {
  return {
      .exit_status = 0,
      .output = R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" + status + "}",
      .errors = {}};
}

TEST(Credentials, plain_ones) {
  World world;
  Credentials none = world.make({});
  EXPECT_EQ(world.headers(none), "");
  EXPECT_EQ(world.refused(none), false);
  Credentials token = world.make({.token = "t"});
  EXPECT_EQ(world.headers(token), "Authorization: Bearer t\n");
  EXPECT_EQ(world.refused(token), false);
  Credentials basic = world.make({.username = "Aladdin", .password = "open sesame"});
  EXPECT_EQ(world.headers(basic), "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\n");
}

TEST(Credentials, impersonation) {
  World world;
  Credentials credentials = world.make(
      {.token = "t",
       .impersonate = {
           .user = "jane", .uid = "7", .groups = {"a", "b"}, .extra = {{"example.com/scope%", {"x", "z"}}}}});
  EXPECT_EQ(world.headers(credentials),
            "Authorization: Bearer t\nImpersonate-User: jane\nImpersonate-Uid: 7\nImpersonate-Group: "
            "a\nImpersonate-Group: b\n"
            "Impersonate-Extra-example.com%2Fscope%25: x\nImpersonate-Extra-example.com%2Fscope%25: z\n");
}

TEST(Credentials, nothing_can_break_out_of_a_header) {
  World world;
  Credentials token = world.make({.token = "hunter2\r\nX: y"});
  EXPECT_EQ(world.headers(token).error().report(), "error: the token of user \"u\" has control characters in it\n");
  Credentials other = world.make({.impersonate = {.user = "a", .groups = {"b\nX: y"}}});
  EXPECT_EQ(world.headers(other).error().report(),
            "error: the user to impersonate, or something about it, has control characters in it\n");
}

TEST(Credentials, a_token_file_is_read_again) {
  World world;
  world.files["/t"] = "one\n";
  Credentials credentials = world.make({.token_file = "/t"});
  EXPECT_EQ(world.headers(credentials), "Authorization: Bearer one\n");
  world.files["/t"] = " two ";
  EXPECT_EQ(world.headers(credentials), "Authorization: Bearer one\n") << "not for every request";
  world.pass(seconds(10));
  EXPECT_EQ(world.headers(credentials), "Authorization: Bearer two\n");

  // Refused: at once, and only what is new is worth another try.
  EXPECT_EQ(world.refused(credentials), false);
  world.files["/t"] = "three";
  EXPECT_EQ(world.refused(credentials), true);
  EXPECT_EQ(world.headers(credentials), "Authorization: Bearer three\n");

  // While it is being replaced, what we have has to do.
  world.files.erase("/t");
  world.pass(seconds(20));
  EXPECT_EQ(world.headers(credentials), "Authorization: Bearer three\n");
}

TEST(Credentials, a_token_file_that_is_not_there) {
  World world;
  Credentials credentials = world.make({.token_file = "/t"});
  EXPECT_EQ(world.headers(credentials).error().report(),
            "error: the token file of user \"u\" cannot be used: /t\n  because   No such file or directory\n");
  world.files["/t"] = " \n";
  EXPECT_EQ(world.headers(credentials).error().report(),
            "error: the token file of user \"u\" cannot be used: /t\n  because   it is empty\n");
}

TEST(Credentials, a_plugin_runs_once_until_it_expires) {
  World world;
  world.plugin = {says(R"({"token":"one","expirationTimestamp":"2030-01-01T00:10:00Z"})"), says(R"({"token":"two"})")};
  Credentials credentials = world.make(with_plugin());
  EXPECT_EQ(world.headers(credentials), "Authorization: Bearer one\n");
  EXPECT_EQ(world.headers(credentials), "Authorization: Bearer one\n");
  ASSERT_EQ(world.runs.size(), 1u);
  EXPECT_EQ(world.runs[0].argv, (std::vector<std::string>{"get-token", "--cluster", "c"}));
  EXPECT_EQ(
      world.runs[0].environment,
      (std::vector<std::pair<std::string, std::string>>{
          {"A", "b"},
          {"KUBERNETES_EXEC_INFO",
           R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}})"}}));
  EXPECT_EQ(world.runs[0].input, ProcessSpec::Input::null);
  world.pass(std::chrono::minutes(10));
  EXPECT_EQ(world.headers(credentials), "Authorization: Bearer two\n");
  world.pass(std::chrono::hours(1000));
  EXPECT_EQ(world.headers(credentials), "Authorization: Bearer two\n");
  EXPECT_EQ(world.runs.size(), 2u);
}

Task<void> authorize_into(Credentials& credentials, std::vector<std::string>& results) {
  http::Headers headers;
  Result<uint64_t> used = co_await credentials.authorize(headers);
  results.push_back(used ? text_of(headers) : used.error().message());
}

Task<void> refuse_into(Credentials& credentials, uint64_t used, std::vector<std::string>& results) {
  Result<bool> again = co_await credentials.refresh(used);
  results.push_back(!again ? again.error().message() : *again ? "again" : "no");
}

TEST(Credentials, what_a_plugin_says_is_told_as_a_secret) {
  World world;
  std::vector<std::string> secrets;
  world.options.on_secret = [&](std::string_view secret) { secrets.emplace_back(secret); };
  world.plugin = {says(R"({"token":"hunter2"})")};
  Credentials credentials = world.make(with_plugin());
  EXPECT_EQ(world.headers(credentials), "Authorization: Bearer hunter2\n");
  EXPECT_EQ(secrets, std::vector<std::string>{"hunter2"});
}

TEST(Credentials, many_requests_share_one_run_and_its_error) {
  World world;
  world.plugin = {ProcessResult{.exit_status = 7, .output = "hunter2", .errors = "\x1b[31mno\nway"},
                  says(R"({"token":"t"})")};
  Credentials credentials = world.make(with_plugin());
  std::vector<std::string> results;
  auto all = [&]() -> Task<void> {
    Scope scope(world.loop, nullptr);
    for (int i = 0; i < 50; ++i) scope.spawn(authorize_into(credentials, results));
    co_await scope.join();
  };
  world.loop.run(all());
  EXPECT_EQ(world.runs.size(), 1u);
  std::string error = "the credential plugin of user \"u\" failed: get-token: exit status 7: ?[31mno way";
  EXPECT_EQ(results, std::vector<std::string>(50, error));
  results.clear();
  world.loop.run(all());
  EXPECT_EQ(world.runs.size(), 2u);
  EXPECT_EQ(results, std::vector<std::string>(50, "Authorization: Bearer t\n"));
}

TEST(Credentials, one_run_for_all_that_were_refused) {
  World world;
  world.plugin = {says(R"({"token":"t"})")};
  Credentials credentials = world.make(with_plugin());
  http::Headers headers;
  uint64_t used = *world.loop.run(credentials.authorize(headers));
  std::vector<std::string> results;
  auto all = [&]() -> Task<void> {
    Scope scope(world.loop, nullptr);
    for (int i = 0; i < 50; ++i) scope.spawn(refuse_into(credentials, used, results));
    co_await scope.join();
  };
  world.loop.run(all());
  EXPECT_EQ(world.runs.size(), 2u);
  EXPECT_EQ(results, std::vector<std::string>(50, "again"));
}

TEST(Credentials, who_is_cancelled_fails_alone) {
  World world;
  world.plugin = {says(R"({"token":"t"})")};
  Credentials credentials = world.make(with_plugin());
  std::vector<std::string> first;
  std::vector<std::string> second;
  auto both = [&]() -> Task<void> {
    Scope one(world.loop, nullptr);
    Scope two(world.loop, nullptr);
    one.spawn(authorize_into(credentials, first));
    two.spawn(authorize_into(credentials, second));
    co_await sleep_for(world.loop, milliseconds(50));
    one.cancel();
    co_await one.join();
    co_await two.join();
  };
  world.loop.run(both());
  EXPECT_EQ(first, std::vector<std::string>{"cancelled"});
  EXPECT_EQ(second, std::vector<std::string>{"Authorization: Bearer t\n"});
  EXPECT_EQ(world.runs.size(), 2u);
}

TEST(Credentials, a_plugin_that_asks_questions) {
  World world;
  world.plugin = {says(R"({"token":"t"})")};
  Credentials silent = world.make(with_plugin(ExecPlugin::Interactive::always));
  EXPECT_EQ(world.headers(silent).error().report(),
            "error: the credential plugin of user \"u\" failed: get-token\n"
            "  because   it needs to prompt, but standard input is not a terminal\n"
            "  next      install get-token from there\n");
  world.options.has_terminal = true;
  Credentials asking = world.make(with_plugin(ExecPlugin::Interactive::always));
  EXPECT_TRUE(world.headers(asking));
  Credentials may_ask = world.make(with_plugin(ExecPlugin::Interactive::if_available));
  EXPECT_TRUE(world.headers(may_ask));
  Credentials never = world.make(with_plugin(ExecPlugin::Interactive::never));
  EXPECT_TRUE(world.headers(never));
  ASSERT_EQ(world.runs.size(), 3u);
  EXPECT_EQ(world.runs[0].input, ProcessSpec::Input::inherit);
  EXPECT_TRUE(world.runs[0].inherit_errors);
  EXPECT_EQ(world.runs[1].input, ProcessSpec::Input::inherit);
  EXPECT_EQ(world.runs[2].input, ProcessSpec::Input::null);
}

TEST(Credentials, a_plugin_that_says_nonsense) {
  auto because = [](ProcessResult result) {
    World world;
    world.plugin = {std::move(result)};
    Credentials credentials = world.make(with_plugin());
    Result<std::string> headers = world.headers(credentials);
    return headers ? *headers : std::string(headers.error().root().what());
  };
  auto output = [](std::string text) { return ProcessResult{.exit_status = 0, .output = std::move(text)}; };
  EXPECT_EQ(because(output("hunter2")), "its output is no ExecCredential");
  EXPECT_EQ(because(output("")), "its output is no ExecCredential");
  EXPECT_EQ(because(output(R"({"kind":"Pod"})")), "its output is no ExecCredential");
  EXPECT_EQ(because(output(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})")),
            "its output is not of the version that the kubeconfig asks for, client.authentication.k8s.io/v1");
  EXPECT_EQ(because(says("null")), "its output has no status");
  EXPECT_EQ(because(says("{}")), "its output has neither a token nor a certificate");
  EXPECT_EQ(because(says(R"({"clientKeyData":"hunter2"})")), "its output has only one of certificate and key");
  EXPECT_EQ(because(says(R"({"token":"hunter2","expirationTimestamp":"soon"})")),
            "its output has an expirationTimestamp that is none");
  EXPECT_EQ(because({.exit_status = {}, .signal = 9}), "signal 9 (Killed)");
}

TEST(Credentials, a_plugin_that_hangs) {
  World world;
  world.plugin = {says(R"({"token":"t"})")};
  world.plugin_time = std::chrono::hours(1);
  Credentials credentials = world.make(with_plugin());
  EXPECT_EQ(world.headers(credentials).error().report(),
            "error: the credential plugin of user \"u\" failed: get-token\n"
            "  because   it took longer than 300 s\n"
            "  next      install get-token from there\n");
}

TEST(Credentials, a_certificate_of_a_plugin) {
  World world;
  WallTime now = world.loop.clock().wall_now();
  x509::KeyPair ca = *x509::make_ca("test", std::chrono::hours(1000), now);
  x509::KeyPair good = *x509::make_leaf(ca, {.common_name = "u", .usages = {x509::Usage::client}}, now);
  x509::KeyPair old =
      *x509::make_leaf(ca, {.common_name = "u", .validity = std::chrono::minutes(1)}, now - std::chrono::hours(1));
  auto gives = [](const x509::KeyPair& pair) {
    return says(
        Json(Json::Object{{"clientCertificateData", pair.certificate.to_pem()}, {"clientKeyData", pair.key.to_pem()}})
            .dump());
  };
  world.plugin = {gives(old), gives(good)};
  Credentials credentials = world.make(with_plugin());
  EXPECT_EQ(world.headers(credentials).error().message(),
            "the credential plugin of user \"u\" failed: get-token: the client certificate of user \"u\" has expired: "
            "it was valid until 2029-12-31 23:01:00 UTC, and it is 2030-01-01 00:00:00 UTC now");
  EXPECT_EQ(world.headers(credentials), "");
  EXPECT_EQ(world.refused(credentials), true);
  EXPECT_EQ(world.certificates,
            (std::vector<std::pair<std::string, std::string>>{{good.certificate.to_pem(), good.key.to_pem()}}))
      << "only once: the same certificate needs no new connections";
}

TEST(Credentials, a_real_plugin) {
  TempFolder folder;
  std::string script =
      folder.write("plugin",
                   "#!/bin/sh\n"
                   "echo \"$1 $FLAVOUR\" >&2\n"
                   "[ \"$1\" = works ] || exit 3\n"
                   "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",'\n"
                   "echo '\"status\":{\"token\":\"real\"}}'\n");
  ASSERT_EQ(::chmod(script.c_str(), 0755), 0);
  auto run = [](std::string command, std::string argument) -> Result<std::string> {
    RealLoop loop;
    CredentialSpec spec = with_plugin();
    spec.owner = "user \"u\"";
    spec.exec->command = std::move(command);
    spec.exec->arguments = {std::move(argument)};
    spec.exec->environment = {{"FLAVOUR", "vanilla"}};
    Credentials credentials(loop, spec, Surroundings::real(), process_runner(loop), {});
    http::Headers headers;
    Result<uint64_t> used = loop.run(credentials.authorize(headers));
    if (!used) return fail(std::move(used).error());
    return text_of(headers);
  };
  EXPECT_EQ(run(script, "works"), "Authorization: Bearer real\n");
  EXPECT_EQ(run(script, "fails").error().report(), fmt::format("error: the credential plugin of user \"u\" failed: {}\n"
                                                               "  because   exit status 3: fails vanilla\n"
                                                               "  next      install get-token from there\n",
                                                               script));
  Result<std::string> missing = run(folder.path_of("none"), "");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().next(), "install get-token from there");
  EXPECT_TRUE(missing.error().message().contains("not found")) << missing.error().message();
}

TEST(Timestamp, as_kubernetes_writes_it) {
  WallTime base(std::chrono::sys_days(std::chrono::November / 15 / 2026));
  EXPECT_EQ(parse_timestamp("2026-11-15T07:48:48Z"),
            base + std::chrono::hours(7) + std::chrono::minutes(48) + seconds(48));
  EXPECT_EQ(parse_timestamp("2026-11-15T00:00:00.25Z"), base + milliseconds(250));
  EXPECT_EQ(parse_timestamp("2026-11-15T02:00:00.000000001+02:00"), base + Duration(1));
  EXPECT_EQ(parse_timestamp("2026-11-14T22:30:00-01:30"), base);
  for (std::string_view bad :
       {"", "2026-11-15", "2026-11-15T07:48:48", "2026-02-30T00:00:00Z", "2026-11-15T24:00:00Z", "0000-01-01T00:00:00Z",
        "9999-01-01T00:00:00Z", "2026-11-15T07:48:48.Z", "2026-11-15T07:48:48Zx"})
    EXPECT_EQ(parse_timestamp(bad), std::nullopt) << bad;
}

TEST(Timestamp, as_http_writes_it) {
  EXPECT_EQ(parse_http_date("Sun, 15 Nov 2026 07:48:48 GMT"), parse_timestamp("2026-11-15T07:48:48Z"));
  for (std::string_view bad : {"", "Sun, 15 Nov 2026 07:48:48 CET", "Sun, 15 ovD 2026 07:48:48 GMT",
                               "Sun, 31 Feb 2026 07:48:48 GMT", "Sunday, 15-Nov-26 07:48:48 GMT"})
    EXPECT_EQ(parse_http_date(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace fairlead::kube
