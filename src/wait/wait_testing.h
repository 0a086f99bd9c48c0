// Helpers for the tests of this room: a sandbox on a virtual loop, objects that change at some time, and waits.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "async/scope.h"
#include "base/base64.h"
#include "kube/query.h"
#include "sandbox/core/core.h"
#include "sandbox/sandbox_testing.h"
#include "wait/wait.h"

namespace fairlead::wait {

using namespace std::chrono_literals;

using sandbox::kCertificate;

class WaitTest : public testing::Test {
 protected:
  explicit WaitTest(sandbox::Options options = {})
      : sandbox_(loop_, std::move(options)),
        client_(loop_, sandbox_.api_server(), nullptr, {}),
        discovery_(client_),
        journal_(loop_.clock()),
        actors_(loop_, nullptr) {
    journal_.read_by([this](const journal::Event& event) { events_.push_back(event); });
  }
  ~WaitTest() override {
    actors_.cancel();
    loop_.run(actors_.join());
    loop_.run(sandbox_.stop());
  }

  Task<void> send_after(Duration delay, std::string method, std::string path, std::string body) {
    if (!co_await sleep_for(loop_, delay)) co_return;
    auto reply = co_await client_.request(
        {.method = method,
         .target = path,
         .content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json",
         .body = body});
    if (!reply) ADD_FAILURE() << method << " " << path << ": " << reply.error().error().report();
  }
  // Sends a request now, or in a while.
  void send(std::string method, std::string path, std::string body = {}, Duration delay = 0s) {
    Task<void> task = send_after(delay, std::move(method), std::move(path), std::move(body));
    if (delay == 0s) loop_.run(std::move(task));
    else actors_.spawn(std::move(task));
  }

  Ending wait(std::vector<std::string> words, std::string_view form = "ready", Options options = {},
              Selection selection = {}) {
    options.form = Form::parse(form).value();
    options.run = "run" + std::to_string(++runs_);
    events_.clear();
    return loop_.run(
        wait_for(client_, discovery_, read_targets(words, selection).value(), std::move(options), journal_, &stop_));
  }
  // One line per object, then the errors.
  static std::string shown(const Ending& ending) {
    std::string text = fmt::format("{}\n", name_of(ending.how));
    for (const ObjectEnding& object : ending.objects)
      text += fmt::format("{} {}: {}\n", object.key.text(), name_of(object.state), object.reason);
    for (const journal::Cause& cause : ending.causes) text += cause.error.report();
    return text;
  }
  std::string events() const {
    std::string text;
    for (const journal::Event& event : events_) text += journal::to_json(event).dump() + "\n";
    return text;
  }
  std::vector<std::string> shadows() {
    std::vector<std::string> found;
    for (std::string_view plural : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"})
      for (const auto& [place, object] :
           sandbox_.core().store.all({"admissionregistration.k8s.io", std::string(plural)}))
        if (place.name.contains("fairlead")) found.push_back(place.name);
    return found;
  }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_;
  kube::Client client_;
  kube::Discovery discovery_;
  journal::Journal journal_;
  // Other actors in the cluster.
  Scope actors_;
  CancelSource stop_;
  std::vector<journal::Event> events_;
  int runs_ = 0;
};

}  // namespace fairlead::wait
