#include "sandbox/core/store.h"

#include <algorithm>

namespace fairlead::sandbox {

Store::Table& Store::table(const ResourceId& resource) {
  std::unique_ptr<Table>& table = tables_[resource];
  if (!table) table = std::make_unique<Table>(*loop_);
  return *table;
}

const Store::Table* Store::if_table(const ResourceId& resource) const {
  auto found = tables_.find(resource);
  return found == tables_.end() ? nullptr : found->second.get();
}

ObjectPtr Store::find(const ResourceId& resource, const Place& place) const {
  const Objects& objects = all(resource);
  auto found = objects.find(place);
  return found == objects.end() ? nullptr : found->second;
}

const Store::Objects& Store::all(const ResourceId& resource) const {
  static const Objects kNone;
  const Table* table = if_table(resource);
  return table ? table->objects : kNone;
}

std::vector<ResourceId> Store::resources() const {
  std::vector<ResourceId> ids;
  for (const auto& [id, table] : tables_) ids.push_back(id);
  return ids;
}

ObjectPtr Store::put(const ResourceId& resource, const Place& place, Json object) {
  Table& of = table(resource);
  uint64_t version = ++version_;
  object.make("metadata").make("resourceVersion") = std::to_string(version);
  auto stored = std::make_shared<const Json>(std::move(object));
  ObjectPtr& slot = of.objects[place];
  ObjectPtr previous = std::exchange(slot, stored);
  Event::Type type = previous ? Event::Type::modified : Event::Type::added;
  record(resource, of, {version, type, place, stored, std::move(previous)});
  return stored;
}

ObjectPtr Store::remove(const ResourceId& resource, const Place& place) {
  Table& of = table(resource);
  auto found = of.objects.find(place);
  if (found == of.objects.end()) return nullptr;
  ObjectPtr previous = std::move(found->second);
  of.objects.erase(found);
  uint64_t version = ++version_;
  Json last = *previous;
  last.make("metadata").make("resourceVersion") = std::to_string(version);
  auto object = std::make_shared<const Json>(std::move(last));
  record(resource, of, {version, Event::Type::deleted, place, object, std::move(previous)});
  return object;
}

void Store::record(const ResourceId& resource, Table& of, Event event) {
  of.history.push_back(event);
  order_.push_back(&of);
  while (order_.size() > window_) {
    std::deque<Event>& oldest = order_.front()->history;
    compacted_ = oldest.front().version;
    oldest.pop_front();
    order_.pop_front();
  }
  of.changed.notify_all();
  for (const Listener& listener : listeners_) listener(resource, event);
}

void Store::compact(uint64_t version) {
  while (!order_.empty() && order_.front()->history.front().version <= version) {
    order_.front()->history.pop_front();
    order_.pop_front();
  }
  compacted_ = std::max(compacted_, std::min(version, version_));
  for (auto& [id, of] : tables_) of->changed.notify_all();
}

Store::Objects Store::all_at(const ResourceId& resource, uint64_t version) const {
  Objects objects = all(resource);
  const Table* of = if_table(resource);
  if (!of) return objects;
  for (auto event = of->history.rbegin(); event != of->history.rend() && event->version > version; ++event) {
    if (event->previous) objects[event->place] = event->previous;
    else objects.erase(event->place);
  }
  return objects;
}

const Event* Store::next_after(const ResourceId& resource, uint64_t version) const {
  const Table* of = if_table(resource);
  if (!of) return nullptr;
  auto next = std::upper_bound(of->history.begin(), of->history.end(), version,
                               [](uint64_t after, const Event& event) { return after < event.version; });
  return next == of->history.end() ? nullptr : &*next;
}

Signal& Store::changed(const ResourceId& resource) { return table(resource).changed; }

}  // namespace fairlead::sandbox
