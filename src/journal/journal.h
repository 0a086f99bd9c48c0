// The events of a run, as they happen: one writer, many readers.
//
// This is the room's first header. An engine adds events. Readers, such as the terminal, the JSON lines and the
// reports, get each event when it is added. Events tell people and programs what happened to an object or a guard, and
// why. Engines never read them back. The journal removes every secret that it knows of from the texts and errors of
// events.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/secrets.h"
#include "object/key.h"

namespace fairlead::journal {

// The version of the JSON that Fairlead writes. It changes when a field goes away or changes its meaning.
inline constexpr int64_t kSchemaVersion = 1;

enum class EventKind {
  started,   // the run has started
  note,      // good to know, such as an object that is exempt from a webhook
  warning,   // a warning of the API server or of Fairlead
  stored,    // the API server has the object; `state` is created, changed or unchanged
  parked,    // the object cannot be stored yet; `text` says what blocks it
  progress,  // an object that is waited for has changed
  ready,     // the object is ready
  failed,
  guard,    // a guard has moved up or down a rung; `state` is the rung
  waiting,  // the run is still waiting; `text` says for what
  removed,  // the object was deleted
  log,      // a container wrote a line; `details` has its pod and its name
  error,    // an API request failed; `text` says what happens next
  graph,    // the objects of the run and what each of them needs, for readers that want every detail (graph_details.h)
  ended,    // the run has ended
};
// Returns the name that JSON output uses, such as "stored".
std::string_view name_of(EventKind kind);

struct Event {
  EventKind kind = EventKind::note;
  // The time since the run started. The journal sets it.
  Duration at{};
  // The object that the event is about. It has no kind if the event is about the run or a guard.
  object::Key key;
  // The origin of the object, as file:line.
  std::string source;
  // One word that specifies `kind`.
  std::string state;
  std::string text;
  std::optional<Error> error;
  // More facts for programs. Null, or a JSON object.
  Json details;
};

// What a reader wants to know.
enum class Detail {
  usual,
  // Also the graph of the run, when each object was sent, and in the last event how the run ended (ending_details.h).
  full,
};

// What was read about an object that failed, line by line.
struct Finding {
  std::string kind;   // "log" or "events"
  std::string about;  // "container app of pod shop/web-7c9f-x2x4l"
  std::vector<std::string> lines;
};

// An error of a run, the objects that it blocks, and what was found out about it.
struct Cause {
  Error error;
  std::vector<object::Key> blocks;
  std::vector<Finding> findings = {};
};

// Removes secrets from the error and from the findings.
void conceal(const Secrets& secrets, Cause& cause);

class Journal {
 public:
  using Reader = std::function<void(const Event& event)>;

  // The clock must outlive the journal.
  explicit Journal(const Clock& clock) : clock_(clock), started_(clock.now()) {}

  // add() calls the readers, in the order in which they were added.
  void read_by(Reader reader, Detail detail = Detail::usual) { readers_.push_back({std::move(reader), detail}); }
  void add(Event event);
  // True if a reader wants every detail. Engines do not build those details otherwise.
  bool is_detailed() const;
  // Removes these secrets from the texts and errors of all later events.
  void hide(const Secrets& secrets) { secrets_.hide(secrets); }
  void hide(std::string_view secret) { secrets_.hide(secret); }
  const Secrets& secrets() const { return secrets_; }

  Duration elapsed() const { return clock_.now() - started_; }
  // The time of an event that happened at `time`.
  Duration at(TimePoint time) const { return time - started_; }
  // The time of day, such as "2026-05-04T10:20:30Z".
  std::string time_text() const;

 private:
  struct Reading {
    Reader reader;
    Detail detail = Detail::usual;
  };

  const Clock& clock_;
  TimePoint started_;
  std::vector<Reading> readers_;
  Secrets secrets_;
};

// Returns one line of `-o jsonl`. docs/journal.md has the schema.
Json to_json(const Event& event);
Json to_json(const Error& error);
Json to_json(const Cause& cause);

}  // namespace fairlead::journal
