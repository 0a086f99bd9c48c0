// Any bytes as a journal: no crash, no hang; and what was read can be written and read again.
#include <cstdint>
#include <cstdlib>

#include "journal/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  Result<journal::Recording> read = journal::read_journal({reinterpret_cast<const char*>(data), size}, "run.jsonl");
  if (!read) {
    if (read.error().what().empty()) std::abort();
    return 0;
  }
  std::string text;
  for (const journal::Event& event : read->events) text += journal::to_json(event).dump() + "\n";
  Result<journal::Recording> again = journal::read_journal(text, "again.jsonl");
  if (!again || again->events.size() != read->events.size()) std::abort();
  return 0;
}
