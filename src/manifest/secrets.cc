#include "manifest/secrets.h"

#include "base/base64.h"

namespace fairlead::manifest {

Secrets secrets_of(const Bundle& bundle) {
  Secrets secrets;
  for (const object::Object& object : bundle.objects) {
    if (object.kind() != "Secret" || !object.group().empty()) continue;
    for (const auto& [name, value] : object.value()["stringData"].members()) secrets.hide(value.string_or(""));
    for (const auto& [name, value] : object.value()["data"].members()) {
      // As it is written, too: it need not be base64 at all.
      secrets.hide(value.string_or(""));
      if (auto plain = from_base64(value.string_or(""))) secrets.hide(*plain);
    }
  }
  for (const object::Object& object : bundle.objects)
    for (std::string_view name : {std::string_view(object.ns()), std::string_view(object.name())}) secrets.show(name);
  return secrets;
}

}  // namespace fairlead::manifest
