// Colours and styles on a terminal, as escape sequences, and what the colours mean in everything that Fairlead prints.
#pragma once

#include <string_view>

namespace fairlead::colours {

inline constexpr std::string_view kBold = "\033[1m";
inline constexpr std::string_view kFaint = "\033[2m";
inline constexpr std::string_view kReverse = "\033[7m";
inline constexpr std::string_view kNotReverse = "\033[27m";
inline constexpr std::string_view kRed = "\033[31m";
inline constexpr std::string_view kGreen = "\033[32m";
inline constexpr std::string_view kYellow = "\033[33m";
inline constexpr std::string_view kMagenta = "\033[35m";
inline constexpr std::string_view kCyan = "\033[36m";
// Ends all of them.
inline constexpr std::string_view kPlain = "\033[0m";

// Something is done or as it should be.
inline constexpr std::string_view kGood = kGreen;
// Something is wrong, and may still become right.
inline constexpr std::string_view kTrouble = kYellow;
// Something has failed.
inline constexpr std::string_view kBad = kRed;

}  // namespace fairlead::colours
