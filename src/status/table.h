// Rows in columns, and ages, as kubectl writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace fairlead::status {

using Row = std::vector<std::string>;

// The first row is the head. Columns are as wide as their widest cell, with three spaces between them. Cells cannot
// affect a terminal.
std::string table(const std::vector<Row>& rows);

// The time since then as kubectl writes ages: "45s", "5m", "3h", "12d". "?" for a text that is no timestamp.
std::string age(std::string_view timestamp, WallTime now);

}  // namespace fairlead::status
