// The objects of a sandbox: what etcd and the watch cache are to a real API server.
//
// Objects are immutable and shared; every change takes the next number of one counter for the whole store, which is the
// object's resourceVersion. The last `window` changes are remembered: lists at an older version and watches from one
// are answered from them, and whoever asks for more is told that it is gone. Watchers hold a place in that history
// rather than a queue of their own, so a reader that never reads costs nothing. Knows nothing of HTTP, schemas or
// admission. All of it runs on one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "async/loop.h"
#include "async/signal.h"
#include "base/json.h"

namespace fairlead::sandbox {

struct ResourceId {
  std::string group;
  std::string resource;
  auto operator<=>(const ResourceId&) const = default;
};

// Namespace (empty for cluster scope) and name, in the order in which lists show them.
struct Place {
  std::string ns;
  std::string name;
  auto operator<=>(const Place&) const = default;
};

using ObjectPtr = std::shared_ptr<const Json>;

struct Event {
  enum class Type { added, modified, deleted };
  uint64_t version = 0;
  Type type = Type::added;
  Place place;
  ObjectPtr object;    // after the change; for a deletion the last state, with the version of the deletion
  ObjectPtr previous;  // before it; null for an addition
};

struct Snapshot {
  uint64_t version = 0;
  std::vector<ObjectPtr> objects;
};

class Store {
 public:
  using Objects = std::map<Place, ObjectPtr>;

  explicit Store(Loop& loop, size_t window = 10000) : loop_(&loop), window_(window) {}

  uint64_t version() const { return version_; }
  // The last version that is not remembered any more: history begins after it.
  uint64_t compacted() const { return compacted_; }

  // Null if it is not there.
  ObjectPtr find(const ResourceId& resource, const Place& place) const;
  // All of a resource as it is now, in order.
  const Objects& all(const ResourceId& resource) const;
  // The resources that have, or had, objects.
  std::vector<ResourceId> resources() const;

  // Puts the object there, new or instead of another one, with its resourceVersion set; gives what was stored.
  ObjectPtr put(const ResourceId& resource, const Place& place, Json object);
  // Nothing happens if it is not there.
  ObjectPtr remove(const ResourceId& resource, const Place& place);

  // All of a resource as it was at that version, which must be between compacted() and version().
  Objects all_at(const ResourceId& resource, uint64_t version) const;

  // The first change of a resource after that version; null if there is none yet. Valid until the next change.
  // The version must not be below compacted().
  const Event* next_after(const ResourceId& resource, uint64_t version) const;
  // Notified after every change of the resource, and when history is cut.
  Signal& changed(const ResourceId& resource);

  // Called after each change, from within it: for controllers, which only note what they have to look at.
  using Listener = std::function<void(const ResourceId&, const Event&)>;
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  // Forgets the history up to that version, as a compaction does.
  void compact(uint64_t version);
  // A version that no object has: for bookmarks and simulated traffic.
  uint64_t advance() { return ++version_; }

 private:
  struct Table {
    explicit Table(Loop& loop) : changed(loop) {}
    Objects objects;
    std::deque<Event> history;
    Signal changed;
  };

  Table& table(const ResourceId& resource);
  const Table* if_table(const ResourceId& resource) const;
  void record(const ResourceId& resource, Table& table, Event event);

  Loop* loop_;
  size_t window_;
  uint64_t version_ = 0;
  uint64_t compacted_ = 0;
  std::map<ResourceId, std::unique_ptr<Table>> tables_;
  // Whose history holds the oldest event, and so on: what is cut first.
  std::deque<Table*> order_;
  std::vector<Listener> listeners_;
};

}  // namespace fairlead::sandbox
