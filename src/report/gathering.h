// Gathers what happens to many objects at about the same time, so that people read a few lines and not thousands.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "object/key.h"
#include "report/line.h"

namespace fairlead::report {

enum class Happening { created, changed, ready, deleted };

// Pure: the caller says what the time is.
class Gathering {
 public:
  struct Options {
    // One line per object.
    bool all = false;
    // Follows the text of each line, such as " (dry run)".
    std::string ending;
  };
  explicit Gathering(Options options) : options_(std::move(options)) {}

  // `took` is the time that it took to become ready, or what there is to say about a deletion; both may be missing.
  void add(Duration at, Happening what, const object::Key& key, std::optional<Duration> took = {},
           std::string text = {});
  // Returns the lines of everything that has waited long enough, and forgets it.
  std::vector<Line> take(Duration now);
  std::vector<Line> take_all();
  bool empty() const { return groups_.empty(); }

 private:
  struct Entry {
    object::Key key;
    std::optional<Duration> took;
    std::string text;
  };
  // Objects of one kind to which the same happened.
  struct Group {
    Happening what;
    std::string group;
    std::string kind;
    std::vector<Entry> entries;
  };
  void tell(const Group& group, std::vector<Line>& lines) const;
  void tell(const Group& group, const std::vector<const Entry*>& entries, const std::string& where,
            std::vector<Line>& lines) const;
  Line line_of(Happening what, const Entry& entry) const;

  Options options_;
  std::vector<Group> groups_;
  Duration since_{};
};

}  // namespace fairlead::report
