// What happens in a run, as it happens: one writer, many readers.
//
// This is the room's first header. An engine adds events; the terminal, JSON lines, a report read them, each as it is
// added. Events tell people and machines what happened to an object or a guard and why; engines never read them back.
// Secrets never get in: the journal takes those that it was told of out of every text.
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

enum class EventKind {
  started,   // the run
  note,      // worth knowing: a need that was dropped, an object that is exempt from a webhook
  warning,   // of the API server, or of ours
  stored,    // the API server has the object; `state` is created, changed or unchanged
  parked,    // it cannot go in yet; `text` says what holds it
  progress,  // what is waited for has changed
  ready,     // it is there, and it works
  failed,
  held,     // it was not sent: something that it needs failed
  guard,    // a guard is one rung further, or back; `state` is the rung
  waiting,  // nothing has happened for a while: what is held by what
  removed,  // taken out
  error,    // an API request that failed, and what became of it
  ended,    // the run
};
// "stored": as in JSON.
std::string_view name_of(EventKind kind);

struct Event {
  EventKind kind = EventKind::note;
  // Since the run started; set by the journal.
  Duration at{};
  // The object that it is about; without a kind where it is about the run.
  object::Key key;
  // Where that came from: file:line.
  std::string source;
  // One word that goes with `kind`.
  std::string state;
  std::string text;
  std::optional<Error> error;
  // For machines: whatever else there is to know. Null, or an object.
  Json details;
};

// What did not work in a run, and what could not go on because of it.
struct Cause {
  Error error;
  std::vector<object::Key> holds;
};

class Journal {
 public:
  using Reader = std::function<void(const Event& event)>;

  // The clock must outlive it.
  explicit Journal(const Clock& clock) : clock_(clock), started_(clock.now()) {}

  // Readers are called in the order in which they came, from within add().
  void read_by(Reader reader) { readers_.push_back(std::move(reader)); }
  void add(Event event);
  // From now on these are in no text either.
  void hide(const Secrets& secrets) { secrets_.hide(secrets); }
  void hide(std::string_view secret) { secrets_.hide(secret); }
  const Secrets& secrets() const { return secrets_; }

  Duration elapsed() const { return clock_.now() - started_; }

 private:
  const Clock& clock_;
  TimePoint started_;
  std::vector<Reader> readers_;
  Secrets secrets_;
};

// One line of `-o jsonl`; docs/journal.md has the schema.
Json to_json(const Event& event);
Json to_json(const Error& error);
Json to_json(const Cause& cause);

}  // namespace fairlead::journal
