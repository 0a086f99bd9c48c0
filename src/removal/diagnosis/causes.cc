#include "removal/diagnosis/causes.h"

namespace fairlead::removal {

void Chain::add(const readiness::Why& why) {
  causes.insert(causes.end(), why.causes.begin(), why.causes.end());
  if (!why.next.empty()) next = why.next;
}

Error Chain::under(ErrorKind kind, std::string what, const std::string& where) && {
  std::optional<Error> inner;
  for (auto cause = causes.rbegin(); cause != causes.rend(); ++cause) {
    Error layer(kind, std::move(*cause));
    inner = inner ? std::move(layer).because(*std::move(inner)) : std::move(layer);
  }
  Error error(kind, std::move(what));
  if (inner) error = std::move(error).because(*std::move(inner));
  if (!where.empty()) error = std::move(error).at(where);
  if (!next.empty()) error = std::move(error).next(std::move(next));
  return error;
}

}  // namespace fairlead::removal
