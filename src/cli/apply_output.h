// What `fairlead apply` prints: a line an object, in the order of the bundle, and a summary.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "object/object.h"

namespace fairlead::cli {

enum class OutputFormat { text, json, jsonl, quiet };

// What became of one object.
struct Applied {
  enum class Outcome { created, applied, refused, not_sent };
  Outcome outcome = Outcome::not_sent;
  std::vector<std::string> warnings;
  // Why it was refused.
  std::optional<Error> error;
  bool is_conflict = false;
};

// Results may come in any order; they are printed in the order of the bundle, each as soon as all before it are there.
class ApplyOutput {
 public:
  // The objects must outlive it.
  ApplyOutput(OutputFormat format, bool dry_run, const std::vector<object::Object>& objects);

  void add(size_t index, Applied result);
  // Everything has been added that will be. `trouble` is what ended the run early.
  void finish(Duration took, uint64_t requests, const std::optional<Error>& trouble);

  size_t count(Applied::Outcome outcome) const;
  bool only_conflicts() const;

 private:
  void print(size_t index);
  void print_text(const object::Object& object, const Applied& result) const;
  Json as_json(const object::Object& object, const Applied& result) const;
  Json summary(Duration took, uint64_t requests, const std::optional<Error>& trouble) const;

  OutputFormat format_;
  bool dry_run_;
  const std::vector<object::Object>& objects_;
  std::vector<std::optional<Applied>> results_;
  size_t printed_ = 0;
};

}  // namespace fairlead::cli
