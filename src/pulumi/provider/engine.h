// The program that started the provider: lines that its user sees.
#pragma once

#include <deque>
#include <string>

#include "async/scope.h"
#include "async/signal.h"
#include "base/secrets.h"
#include "pulumi/provider/facade.h"
#include "terraform/provider/log.h"

namespace fairlead::pulumi {

struct LogLine {
  enum class Severity { debug = 0, info = 1, warning = 2 };
  Severity severity = Severity::info;
  std::string text;
  std::string urn;
  // Shown beside the resource while it is worked on, and not kept.
  bool is_ephemeral = false;
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Returns when the line was taken, or cannot be.
  virtual Task<void> log(LogLine line) = 0;
  // The engine is at this address now.
  virtual void attach(std::string address) = 0;
};

// Sends log lines in the order they are written.
class LogQueue {
 public:
  LogQueue(Loop& loop, Engine& engine) : engine_(engine), scope_(loop, nullptr), idle_(loop) {}

  // Progress is dropped while too much of it waits.
  void add(LogLine line);
  // Waits until everything is sent.
  Task<void> flush();
  // Always, before it is destroyed.
  Task<void> close() { co_await scope_.join(); }

 private:
  Task<void> send();

  Engine& engine_;
  Scope scope_;
  Signal idle_;
  std::deque<LogLine> lines_;
  bool is_sending_ = false;
};

// The log of one call: what the core writes is progress of the call's resource.
class CallLog final : public terraform::Log {
 public:
  CallLog(LogQueue& queue, const Secrets& secrets, std::string urn)
      : queue_(queue), secrets_(secrets), urn_(std::move(urn)) {}

  void write(Level level, std::string_view message, const Json& fields) override;
  // A line that stays.
  void tell_warnings(const terraform::Diagnostics& diagnostics, const Facade& facade);

 private:
  LogQueue& queue_;
  const Secrets& secrets_;
  std::string urn_;
};

// "summary", and its detail below it.
std::string text_of(const terraform::Diagnostic& diagnostic, const Facade& facade, const Secrets& secrets);

}  // namespace fairlead::pulumi
