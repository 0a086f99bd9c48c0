#include "protobuf/message.h"

#include <algorithm>
#include <bit>

namespace fairlead::protobuf {
namespace {

// No message of the protocols that we speak has nearly as many.
constexpr size_t kMaxFields = 100'000;

}  // namespace

Result<Message> Message::read(std::string_view bytes) {
  Message message;
  WireReader reader(bytes, "message");
  while (!reader.at_end()) {
    if (message.fields_.size() == kMaxFields)
      return fail(ErrorKind::limit, "a message has more than {} fields", kMaxFields);
    TRY_ASSIGN(WireField field, reader.next());
    message.fields_.push_back(field);
  }
  return message;
}

const WireField* Message::last(uint64_t field) const {
  auto found =
      std::find_if(fields_.rbegin(), fields_.rend(), [&](const WireField& one) { return one.number == field; });
  return found == fields_.rend() ? nullptr : &*found;
}

std::string_view Message::bytes(uint64_t field) const {
  const WireField* found = last(field);
  return found && found->type == WireType::bytes ? found->bytes : std::string_view();
}

int64_t Message::number(uint64_t field) const {
  const WireField* found = last(field);
  return found && found->type == WireType::varint ? static_cast<int64_t>(found->value) : 0;
}

double Message::real(uint64_t field) const {
  const WireField* found = last(field);
  return found && found->type == WireType::fixed64 ? std::bit_cast<double>(found->value) : 0;
}

std::vector<std::string_view> Message::all(uint64_t field) const {
  std::vector<std::string_view> found;
  for (const WireField& one : fields_)
    if (one.number == field && one.type == WireType::bytes) found.push_back(one.bytes);
  return found;
}

}  // namespace fairlead::protobuf
