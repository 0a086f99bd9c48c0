// Reads arbitrary text as a path of a field and as an id for import. There must be no crash, and what was read must
// read back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "terraform/projection/import_id.h"
#include "terraform/projection/place.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (Result<fields::Path> place = terraform::parse_place(text)) {
    std::string written = terraform::text_of_place(*place);
    Result<fields::Path> again = terraform::parse_place(written);
    if (written.size() <= 4096 && (!again || *again != *place)) std::abort();
    Json object(Json::Object{{"a", Json::Array{Json(Json::Object{{"name", "x"}}), Json("x")}}});
    (void)terraform::find_place(object, *place);
    (void)terraform::erase_place(object, *place);
  }
  if (Result<terraform::ImportId> id = terraform::ImportId::parse(text)) {
    if (id->kind.empty() || id->name.empty()) std::abort();
    (void)id->resolved(true);
    (void)id->resolved(false);
  }
  return 0;
}
