// For the tests of this room: a sandbox on a virtual loop, and requests that read from top to bottom.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "async/scope.h"
#include "sandbox/core/core.h"
#include "sandbox/sandbox.h"

namespace fairlead::sandbox {

// The certificate of a webhook. Nobody verifies it.
inline constexpr std::string_view kCertificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

struct Got {
  int status = 0;
  Json body;
  std::string text;
  std::vector<std::string> warnings;
};

class SandboxTest : public testing::Test {
 protected:
  explicit SandboxTest(Options options = {}) : sandbox_(loop_, std::move(options)) {}
  ~SandboxTest() override { loop_.run(sandbox_.stop()); }

  Got send(std::string method, std::string target, Json body = {}, std::string type = "application/json",
           std::string accept = "application/json") {
    http::Request request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers = {{"Accept", std::move(accept)}, {"Content-Type", std::move(type)}};
    if (!body.is_null()) request.body = body.dump();
    Result<http::Response> response = loop_.run(http::send(sandbox_.api_server(), std::move(request)));
    if (!response) {
      ADD_FAILURE() << response.error().message();
      return {};
    }
    Got got{response->status, {}, response->body, {}};
    for (std::string_view warning : response->headers.all("Warning")) got.warnings.emplace_back(warning);
    if (Result<Json> parsed = Json::parse(response->body)) got.body = *std::move(parsed);
    return got;
  }
  Got get(std::string target) { return send("GET", std::move(target)); }
  Got post(std::string target, std::string_view json) { return send("POST", std::move(target), parse(json)); }
  Got put(std::string target, Json object) { return send("PUT", std::move(target), std::move(object)); }
  Got merge(std::string target, std::string_view json) {
    return send("PATCH", std::move(target), parse(json), "application/merge-patch+json");
  }
  Got apply(std::string target, std::string_view json, std::string_view query = "fieldManager=test") {
    return send("PATCH", target + "?" + std::string(query), parse(json), "application/apply-patch+yaml");
  }
  Got remove(std::string target, std::string_view options = "{}") {
    return send("DELETE", std::move(target), parse(options));
  }

  static Json parse(std::string_view json) {
    Result<Json> value = Json::parse(json);
    if (!value) ADD_FAILURE() << value.error().message();
    return value ? *std::move(value) : Json();
  }

  // Lets that much time pass.
  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }

  VirtualLoop loop_;
  Sandbox sandbox_;
};

}  // namespace fairlead::sandbox
