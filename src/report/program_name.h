// The name that people call this program by.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::report {

// Returns "kubectl fairlead" if the program was started as `kubectl-fairlead`, as kubectl starts its plugins, and
// otherwise "fairlead". `started_as` is the path that the program was started with.
std::string program_name(std::string_view started_as);

// Returns the text with the commands in it called by `name`: `fairlead apply -f k8s/` becomes `kubectl fairlead apply
// -f k8s/`. Other words, such as fairlead.yaml, stay.
std::string with_program_name(std::string text, std::string_view name);

// Says what the user calls this program by; "fairlead" unless it is set.
void set_program_name(std::string name);

// Returns the text of an error or a finding with the commands in its lines `next` called by that name.
std::string with_next_commands_named(std::string text);

}  // namespace fairlead::report
