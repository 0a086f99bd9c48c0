// What a Status says about one field that the server does not accept: the message of one of its causes. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::kube {

// "Invalid value: VALUE: DETAIL", "Forbidden: DETAIL". The value is empty where the message quotes none.
struct FieldError {
  std::string_view value;
  std::string_view detail;
};
FieldError read_field_error(std::string_view message);

// True if the detail says that the field cannot be changed in an object that exists. `reason` is that of the cause.
bool is_about_immutability(std::string_view reason, std::string_view message);

// The same message with a long value cut short, and without the diff that some validations add.
std::string shorten_field_error(std::string_view message);

}  // namespace fairlead::kube
