// Helpers for tests: the provider's methods called with bytes, as Pulumi's engine calls them, on a sandbox.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "protobuf/message.h"
#include "pulumi/provider/properties.h"
#include "pulumi/provider/server.h"
#include "pulumi/resources/catalog.h"
#include "pulumi/value/envelope.h"
#include "pulumi/value/struct.h"
#include "terraform/objects/resource_testing.h"
#include "terraform/projection/owner.h"

namespace fairlead::pulumi {

using protobuf::Message;

class TestEngine final : public Engine {
 public:
  Task<void> log(LogLine line) override {
    lines.push_back(std::move(line));
    co_return;
  }
  void attach(std::string address) override { attached = std::move(address); }

  std::vector<LogLine> lines;
  std::string attached;
};

inline Json json(std::string_view text) {
  Result<Json> parsed = Json::parse(text);
  if (!parsed) ADD_FAILURE() << parsed.error().message();
  // With its members sorted, as they arrive.
  if (parsed && parsed->is_object()) return read_struct(struct_message(*parsed).out()).value();
  return parsed ? *std::move(parsed) : Json();
}
inline Json sorted(const Json& value) { return json(value.dump()); }

// What a diff says.
struct TestDiff {
  bool changes = false;
  bool deletes_first = false;
  std::vector<std::string> replaces;
  std::vector<std::string> paths;
  bool operator==(const TestDiff&) const = default;
};

// A resource as Pulumi's engine keeps it.
struct Kept {
  std::string id;
  Json inputs;
  Json outputs;
  // It was not wholly made: the next run updates it.
  bool is_half_made = false;
};

class PulumiTest : public terraform::ClusterTest {
 protected:
  explicit PulumiTest(sandbox::Options options = {}) : ClusterTest(std::move(options)) {
    terraform::serve_tool(terraform::kPulumi);
    start();
  }
  ~PulumiTest() override { loop_.run(server_->close()); }

  // Each command of Pulumi starts the provider anew.
  void start() {
    if (server_) loop_.run(server_->close());
    services_ = {};
    server_ = std::make_unique<ProviderServer>(
        loop_, clusters_, engine_, secrets_,
        ProviderSettings{.facade = provider_facade(),
                         .check = [](const terraform::Value&) { return terraform::Diagnostics(); },
                         .configure = [this](const terraform::Value& config) { configured_ = config; },
                         .server = [](const terraform::Value& config) -> std::optional<std::string> {
                           return std::string(config["host"].string_or("https://kubectl"));
                         }},
        whole_catalog());
    server_->add_to(services_);
  }

  rpc::Answer call(std::string_view method, const protobuf::WireWriter& request) {
    const rpc::Handler* handler = services_.find(fmt::format("/pulumirpc.ResourceProvider/{}", method));
    if (!handler) return std::unexpected(rpc::Status{rpc::Code::unimplemented, "no method"});
    return loop_.run((*handler)(request.out()));
  }

  static std::string urn(std::string_view type) {
    return fmt::format("urn:pulumi:dev::shop::my:index:Parent$fairlead:index:{}::it", type);
  }

  // The failures of a check: "manifest: …". The inputs are in checked_.
  std::vector<std::string> check(std::string_view type, const Json& inputs) {
    protobuf::WireWriter request;
    request.text(1, urn(type));
    request.message(3, struct_message(inputs));
    rpc::Answer answer = call("Check", request);
    if (!answer) return {"call: " + answer.error().message};
    Message message = Message::read(*answer).value();
    checked_ = read_struct(message.bytes(1)).value();
    std::vector<std::string> failures;
    for (std::string_view one : message.all(2)) {
      Message failure = Message::read(one).value();
      failures.push_back(fmt::format("{}: {}", failure.bytes(1), failure.bytes(2)));
    }
    return failures;
  }

  std::optional<TestDiff> diff(std::string_view type, const Kept& kept, const Json& inputs) {
    protobuf::WireWriter request;
    request.text(1, kept.id);
    request.text(2, urn(type));
    request.message(3, struct_message(kept.outputs));
    request.message(4, struct_message(inputs));
    request.message(6, struct_message(kept.inputs));
    return read_diff(call("Diff", request));
  }

  std::optional<TestDiff> read_diff(const rpc::Answer& answer) {
    error_ = answer ? "" : answer.error().message;
    if (!answer) return std::nullopt;
    Message message = Message::read(*answer).value();
    TestDiff diff{.changes = message.number(4) == 2, .deletes_first = message.flag(3), .replaces = {}, .paths = {}};
    EXPECT_TRUE(message.flag(7));
    for (std::string_view one : message.all(1)) diff.replaces.emplace_back(one);
    for (std::string_view one : message.all(6)) diff.paths.emplace_back(Message::read(one)->bytes(1));
    for (const std::string& path : diff.paths) {
      std::string top = path.substr(0, path.find_first_of(".["));
      auto tops = message.all(5);
      EXPECT_NE(std::ranges::find(tops, top), tops.end()) << "diffs has no " << top;
    }
    EXPECT_EQ(diff.changes, !diff.paths.empty());
    return diff;
  }

  // Returns nothing, and error_, if the call failed. A resource that is half made is returned as well.
  std::optional<Kept> create(std::string_view type, const Json& inputs, bool preview = false, double timeout = 0) {
    protobuf::WireWriter request;
    request.text(1, urn(type));
    request.message(2, struct_message(inputs));
    if (timeout > 0) request.set_real(3, timeout);
    request.flag(4, preview);
    return kept(call("Create", request), inputs, std::nullopt);
  }

  std::optional<Kept> update(std::string_view type, const Kept& before, const Json& inputs, bool preview = false) {
    protobuf::WireWriter request;
    request.text(1, before.id);
    request.text(2, urn(type));
    request.message(3, struct_message(before.outputs));
    request.message(4, struct_message(inputs));
    request.flag(7, preview);
    request.message(8, struct_message(before.inputs));
    return kept(call("Update", request), inputs, before.id);
  }

  bool remove(std::string_view type, const Kept& before, double timeout = 0) {
    protobuf::WireWriter request;
    request.text(1, before.id);
    request.text(2, urn(type));
    request.message(3, struct_message(before.outputs));
    if (timeout > 0) request.set_real(4, timeout);
    rpc::Answer answer = call("Delete", request);
    error_ = answer ? "" : answer.error().message;
    return answer.has_value();
  }

  // A refresh, or with the id alone an import. Nothing if the resource is gone, or the call failed.
  std::optional<Kept> read(std::string_view type, const Kept& before) {
    protobuf::WireWriter request;
    request.text(1, before.id);
    request.text(2, urn(type));
    request.message(3, struct_message(before.outputs));
    request.message(4, struct_message(before.inputs));
    rpc::Answer answer = call("Read", request);
    error_ = answer ? "" : answer.error().message;
    if (!answer) return std::nullopt;
    Message message = Message::read(*answer).value();
    if (message.bytes(1).empty()) return std::nullopt;
    return Kept{.id = message.text(1),
                .inputs = read_struct(message.bytes(3)).value(),
                .outputs = read_struct(message.bytes(2)).value()};
  }

  // The result, or the failures or the error as a text.
  Json invoke(std::string_view function, const Json& args, bool preview = false) {
    protobuf::WireWriter request;
    request.text(1, fmt::format("fairlead:index:{}", function));
    request.message(2, struct_message(args));
    request.flag(7, preview);
    rpc::Answer answer = call("Invoke", request);
    if (!answer) return Json(answer.error().message);
    Message message = Message::read(*answer).value();
    for (std::string_view one : message.all(2)) return Json(Message::read(one)->bytes(2));
    return read_struct(message.bytes(1)).value();
  }

  std::vector<std::string> warnings() const {
    std::vector<std::string> texts;
    for (const LogLine& line : engine_.lines)
      if (line.severity == LogLine::Severity::warning) texts.push_back(line.text);
    return texts;
  }

  TestEngine engine_;
  Secrets secrets_;
  rpc::Services services_;
  std::unique_ptr<ProviderServer> server_;
  terraform::Value configured_;
  Json checked_;
  std::string error_;

 private:
  std::optional<Kept> kept(const rpc::Answer& answer, const Json& inputs, std::optional<std::string> id) {
    error_ = answer ? "" : answer.error().message;
    if (answer) {
      Message message = Message::read(*answer).value();
      // The answer to an update has no id.
      uint64_t properties = id ? 1 : 2;
      return Kept{.id = id ? *id : message.text(1),
                  .inputs = inputs,
                  .outputs = read_struct(message.bytes(properties)).value()};
    }
    if (answer.error().details.empty()) return std::nullopt;
    Message status = Message::read(answer.error().details).value();
    EXPECT_EQ(status.number(1), int64_t(answer.error().code));
    Message any = Message::read(status.bytes(3)).value();
    EXPECT_EQ(any.bytes(1), "type.googleapis.com/pulumirpc.ErrorResourceInitFailed");
    Message resource = Message::read(any.bytes(2)).value();
    EXPECT_FALSE(resource.all(3).empty());
    return Kept{.id = resource.text(1),
                .inputs = inputs,
                .outputs = read_struct(resource.bytes(2)).value(),
                .is_half_made = true};
  }
};

}  // namespace fairlead::pulumi
