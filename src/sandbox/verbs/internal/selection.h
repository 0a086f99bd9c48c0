// Which objects a list or a watch is about: namespace, name, labelSelector, fieldSelector.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "object/selector.h"
#include "sandbox/core/kinds.h"
#include "sandbox/core/route.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

class Selection {
 public:
  static Outcome<Selection> parse(const Kind& kind, const Route& route);

  bool matches(const Place& place, const Json& object) const;
  // By more than the namespace.
  bool selects() const { return selects_; }

 private:
  struct Field {
    std::string path;
    std::string value;
    bool equal = true;
  };
  std::string ns_;
  std::vector<Field> fields_;
  object::Selector labels_;
  bool selects_ = false;
};

}  // namespace fairlead::sandbox
