// What the garbage collector would leave behind for good.
//
// It learns of new kinds every 30 seconds. Where a definition goes before that together with its instances, nobody can
// tell any more whether those are gone, and what they owned stays: a Secret, a Deployment that runs on. That goes here,
// by the collector's own rule: all of its owners are gone.
#pragma once

#include <map>
#include <set>
#include <string>

#include "removal/run.h"
#include "removal/tracking.h"

namespace fairlead::removal {

class Orphans {
 public:
  explicit Orphans(Run& run) : run_(run) {}

  // Before anything goes: who may own something, of the definitions that are so new.
  void note_owners(const Tracker& tracker);
  // After everything went: removes what was owned by nobody but those.
  Task<void> remove();

 private:
  struct Owner {
    object::Key key;
    uint32_t definition = 0;
  };

  bool is_new(uint32_t definition) const;
  bool is_gone(uint32_t target) const;
  // Where they may own something; an empty name stands for everywhere.
  std::set<std::string> places() const;
  // One of its owners, where all of them are gone; otherwise null.
  const Owner* owner_of(const Json& object) const;
  Task<void> look_at(object::Resource resource, std::string ns);
  Task<void> remove(const object::Resource& resource, const Json& object, const Owner& owner);

  Run& run_;
  std::map<std::string, Owner, std::less<>> owners_;  // by uid
};

}  // namespace fairlead::removal
