// Small texts that several checks share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "object/key.h"

namespace fairlead::doctor {

// So much is quoted of a message that comes from the cluster.
inline constexpr size_t kMessageBytes = 400;

// "a", "a and b", "a, b, c and 4 more"
std::string listed(const std::vector<std::string>& names);

// "1 namespace", "3 namespaces"
std::string counted(size_t count, std::string_view thing);

// "kubectl -n team get deployment web -o yaml"
std::string get_command(const object::Key& key);
std::string describe_command(const object::Key& key);

// "2026-11-18"
std::string day_of(WallTime time);
// "2026-11-18T07:48:48Z"
std::string second_of(WallTime time);

}  // namespace fairlead::doctor
