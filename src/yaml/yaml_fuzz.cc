// Any bytes: no crash, no hang; what is read can be written and read again, and its lines are lines of the text.
#include <algorithm>
#include <cstdlib>

#include "yaml/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  // Small limits, so that the fuzzer gets to see them.
  yaml::Stream stream(
      text, "fuzz",
      {.document_bytes = 1 << 16, .depth = 50, .values = 20'000, .copied_values = 2'000, .copied_bytes = 1 << 16});
  std::vector<yaml::Step> path{std::string("items"), size_t{1}, std::string("a")};
  size_t lines = 1 + size_t(std::ranges::count_if(text, [](char c) { return c == '\n' || c == '\r' || c < 0; }));
  while (auto document = stream.next()) {
    if (!*document) {
      if (document->error().report().empty() || document->error().where().empty()) std::abort();
      continue;
    }
    const Json& value = (*document)->value;
    Result<Json> again = Json::parse(value.dump());
    if (!again || *again != value) std::abort();
    if ((*document)->line > lines) std::abort();
    if (value["items"].is_array() && value["items"].items().size() != (*document)->item_lines.size()) {
      // Items that an alias or a merge key has brought have no lines.
      if (text.find_first_of("*<") == std::string_view::npos) std::abort();
    }
    yaml::locate(text, (*document)->line, path);
  }
  (void)yaml::parse_one(text, "fuzz");
  return 0;
}
