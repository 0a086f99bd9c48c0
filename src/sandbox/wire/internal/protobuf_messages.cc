#include "sandbox/wire/internal/protobuf_messages.h"

#include <algorithm>
#include <charconv>

#include "sandbox/wire/internal/protobuf_table.h"

namespace fairlead::sandbox {
namespace {

std::string_view name_of(std::string_view line) { return line.substr(0, line.find_first_of(" !")); }

// Takes the text up to the next space off the front.
std::string_view next_word(std::string_view& line) {
  size_t end = std::min(line.find(' '), line.size());
  std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

class Messages {
 public:
  Messages() {
    messages_.resize(protobuf_table::messages.size());
    for (size_t i = 0; i < messages_.size(); ++i) messages_[i].name = name_of(protobuf_table::messages[i]);
    for (size_t i = 0; i < messages_.size(); ++i) read(protobuf_table::messages[i], messages_[i]);
  }

  const ProtobufMessage* find(std::string_view name) const {
    auto found =
        std::lower_bound(messages_.begin(), messages_.end(), name,
                         [](const ProtobufMessage& one, std::string_view wanted) { return one.name < wanted; });
    return found != messages_.end() && found->name == name ? &*found : nullptr;
  }

 private:
  void read(std::string_view line, ProtobufMessage& message) const {
    std::string_view head = next_word(line);
    if (head.size() > message.name.size()) message.form = head.back();
    while (!line.empty()) message.fields.push_back(field(next_word(line)));
  }

  ProtobufField field(std::string_view word) const {
    ProtobufField field;
    size_t type = word.find_first_not_of("0123456789");
    std::from_chars(word.data(), word.data() + type, field.number);
    if (word[type] == '*') field.holds = ProtobufField::Holds::list;
    if (word[type] == '%') field.holds = ProtobufField::Holds::map;
    if (field.holds != ProtobufField::Holds::one) ++type;
    size_t equals = word.find('=');
    field.type = word[type];
    if (field.type == '@') field.message = find(word.substr(type + 1, equals - type - 1));
    field.name = word.substr(equals + 1);
    return field;
  }

  std::vector<ProtobufMessage> messages_;
};

}  // namespace

const ProtobufMessage* find_protobuf_message(std::string_view name) {
  static const Messages messages;
  return messages.find(name);
}

}  // namespace fairlead::sandbox
