#include "diff/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/colours.h"
#include "base/printable.h"

namespace fairlead::diff {
namespace {

// Beyond this many differences, everything between the common start and end counts as replaced. It bounds the time and
// the memory that a comparison takes.
constexpr int kMostDifferences = 1000;
// Words are marked if at least this part of the shorter line is in both lines.
constexpr size_t kCommonPart = 3;

using Kind = Line::Kind;
using Texts = std::vector<std::string_view>;

Texts split(std::string_view text) {
  Texts lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Words, and each other character on its own.
Texts split_words(std::string_view line) {
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; };
  Texts words;
  for (size_t at = 0; at < line.size();) {
    size_t end = at + 1;
    while (is_word(line[at]) && end < line.size() && is_word(line[end])) ++end;
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

struct Step {
  Kind kind = Kind::kept;
  size_t before = 0;  // its place there, if it is kept or removed
  size_t after = 0;   // its place there, if it is kept or added
};

// Myers' greedy algorithm (An O(ND) Difference Algorithm and Its Variations, 1986) on the part between the common start
// and the common end.
class Comparison {
 public:
  Comparison(const Texts& before, const Texts& after) : before_(before), after_(after) {
    size_t most = std::min(before.size(), after.size());
    while (start_ < most && before[start_] == after[start_]) ++start_;
    while (tail_ < most - start_ && before[before.size() - 1 - tail_] == after[after.size() - 1 - tail_]) ++tail_;
  }

  std::vector<Step> steps() {
    std::vector<Step> all;
    for (size_t i = 0; i < start_; ++i) all.push_back({.kind = Kind::kept, .before = i, .after = i});
    std::vector<Step> middle = compare_middle();
    all.insert(all.end(), middle.begin(), middle.end());
    for (size_t i = tail_; i > 0; --i)
      all.push_back({.kind = Kind::kept, .before = before_.size() - i, .after = after_.size() - i});
    return all;
  }

 private:
  int before_count() const { return int(before_.size() - start_ - tail_); }
  int after_count() const { return int(after_.size() - start_ - tail_); }

  std::vector<Step> compare_middle() {
    int most = std::min(before_count() + after_count(), kMostDifferences);
    for (int d = 0; d <= most; ++d)
      if (advance(d)) return trace(d);
    return replace_all();
  }

  // Extends the furthest paths with `d` differences. Returns true if one of them reached the end of both texts.
  bool advance(int d) {
    std::vector<int> furthest(size_t(2 * d + 1));
    for (int k = -d; k <= d; k += 2) {
      int x = d == 0 ? 0 : start_of(d, k);
      int y = x - k;
      while (x < before_count() && y < after_count() && is_same(x, y)) ++x, ++y;
      furthest[index_of(d, k)] = x;
      if (x >= before_count() && y >= after_count()) {
        paths_.push_back(std::move(furthest));
        return true;
      }
    }
    paths_.push_back(std::move(furthest));
    return false;
  }

  // The place of diagonal `k`, which is from -d to d, in the paths with `d` differences.
  static size_t index_of(int d, int k) {
    int index = k + d;
    return size_t(index);
  }
  bool comes_from_above(int d, int k) const { return k == -d || (k != d && reach(d - 1, k - 1) < reach(d - 1, k + 1)); }
  int start_of(int d, int k) const { return comes_from_above(d, k) ? reach(d - 1, k + 1) : reach(d - 1, k - 1) + 1; }
  int reach(int d, int k) const { return paths_[size_t(d)][index_of(d, k)]; }
  bool is_same(int x, int y) const { return before_[start_ + size_t(x)] == after_[start_ + size_t(y)]; }

  std::vector<Step> trace(int d) const {
    std::vector<Step> steps;
    int x = before_count(), y = after_count();
    for (; d >= 0; --d) {
      int k = x - y;
      int begin = d == 0 ? 0 : start_of(d, k);
      while (x > begin) {
        --x, --y;
        steps.push_back({.kind = Kind::kept, .before = start_ + size_t(x), .after = start_ + size_t(y)});
      }
      if (d == 0) break;
      if (comes_from_above(d, k)) steps.push_back({.kind = Kind::added, .before = 0, .after = start_ + size_t(--y)});
      else steps.push_back({.kind = Kind::removed, .before = start_ + size_t(--x), .after = 0});
    }
    std::ranges::reverse(steps);
    return steps;
  }

  std::vector<Step> replace_all() const {
    std::vector<Step> steps;
    for (int x = 0; x < before_count(); ++x)
      steps.push_back({.kind = Kind::removed, .before = start_ + size_t(x), .after = 0});
    for (int y = 0; y < after_count(); ++y)
      steps.push_back({.kind = Kind::added, .before = 0, .after = start_ + size_t(y)});
    return steps;
  }

  const Texts& before_;
  const Texts& after_;
  size_t start_ = 0;
  size_t tail_ = 0;
  // For each number of differences, the furthest position in `before` on each diagonal.
  std::vector<std::vector<int>> paths_;
};

// Puts the removed lines of each run of changes before the added ones.
void sort_runs(std::vector<Line>& lines) {
  for (auto at = lines.begin(); at != lines.end();) {
    auto is_kept = [](const Line& line) { return line.kind == Kind::kept; };
    auto begin = std::find_if_not(at, lines.end(), is_kept);
    at = std::find_if(begin, lines.end(), is_kept);
    std::vector<Line> added;
    std::copy_if(begin, at, std::back_inserter(added), [](const Line& line) { return line.kind == Kind::added; });
    auto rest = std::remove_if(begin, at, [](const Line& line) { return line.kind == Kind::added; });
    std::ranges::copy(added, rest);
  }
}

using colours::kBold, colours::kCyan, colours::kRed, colours::kGreen;
using colours::kReverse, colours::kNotReverse, colours::kPlain;

class Painter {
 public:
  explicit Painter(const UnifiedOptions& options) : options_(options) {}

  std::string take() { return std::move(out_); }

  void head(std::string_view mark, const std::string& name) {
    paint(kBold, fmt::format("{} {}", mark, printable_line(name)));
  }
  void place(const Hunk& hunk) {
    auto range = [](size_t at, size_t count) {
      return count == 1 ? std::to_string(at) : fmt::format("{},{}", count == 0 ? at - 1 : at, count);
    };
    paint(kCyan, fmt::format("@@ -{} +{} @@", range(hunk.before_at, hunk.before_count),
                             range(hunk.after_at, hunk.after_count)));
  }
  void lines(const std::vector<Line>& lines, const Hunk& hunk) {
    for (size_t at = hunk.first; at < hunk.first + hunk.count;) {
      if (lines[at].kind == Kind::kept) {
        out_ += " " + printable_line(lines[at++].text) + "\n";
        continue;
      }
      size_t end = at;
      while (end < hunk.first + hunk.count && lines[end].kind != Kind::kept) ++end;
      run(lines, at, end);
      at = end;
    }
  }

 private:
  void paint(std::string_view colour, std::string_view text) {
    if (options_.colours) out_ += fmt::format("{}{}{}\n", colour, text, kPlain);
    else out_ += fmt::format("{}\n", text);
  }

  // Writes removed lines and the lines that replace them. If there are as many of both, they are compared in pairs.
  void run(const std::vector<Line>& lines, size_t at, size_t end) {
    size_t middle = at;
    while (middle < end && lines[middle].kind == Kind::removed) ++middle;
    bool in_pairs = options_.colours && middle - at == end - middle;
    std::string added;
    for (size_t i = at; i < middle; ++i) {
      WordDiff words;
      if (in_pairs) words = compare_words(lines[i].text, lines[middle + i - at].text);
      else words.before = {{.text = lines[i].text}};
      out_ += line("-", kRed, words.before);
      if (in_pairs) added += line("+", kGreen, words.after);
    }
    for (size_t i = middle; i < end && !in_pairs; ++i) added += line("+", kGreen, {{.text = lines[i].text}});
    out_ += added;
  }

  std::string line(std::string_view mark, std::string_view colour, const std::vector<Part>& parts) const {
    std::string text(options_.colours ? colour : "");
    text += mark;
    for (const Part& part : parts)
      text += part.differs ? fmt::format("{}{}{}", kReverse, printable_line(part.text), kNotReverse)
                           : printable_line(part.text);
    if (options_.colours) text += kPlain;
    return text + "\n";
  }

  const UnifiedOptions& options_;
  std::string out_;
};

void add_part(std::vector<Part>& parts, std::string_view word, bool differs) {
  bool continues = !parts.empty() && parts.back().differs == differs &&
                   parts.back().text.data() + parts.back().text.size() == word.data();
  if (continues) parts.back().text = {parts.back().text.data(), parts.back().text.size() + word.size()};
  else parts.push_back({.text = word, .differs = differs});
}

}  // namespace

std::vector<Line> compare_lines(std::string_view before, std::string_view after) {
  Texts from = split(before), to = split(after);
  std::vector<Line> lines;
  for (const Step& step : Comparison(from, to).steps())
    lines.push_back({.kind = step.kind, .text = step.kind == Kind::added ? to[step.after] : from[step.before]});
  sort_runs(lines);
  return lines;
}

std::vector<Hunk> hunks_of(const std::vector<Line>& lines, size_t context) {
  std::vector<Hunk> hunks;
  std::vector<size_t> changes;
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].kind != Kind::kept) changes.push_back(i);
  for (size_t at = 0; at < changes.size();) {
    size_t last = at;
    while (last + 1 < changes.size() && changes[last + 1] - changes[last] - 1 <= 2 * context) ++last;
    size_t first = changes[at] - std::min(changes[at], context);
    size_t end = changes[last] + 1 + std::min(lines.size() - changes[last] - 1, context);
    hunks.push_back({.first = first, .count = end - first});
    at = last + 1;
  }
  size_t before = 1, after = 1, at = 0;
  for (Hunk& hunk : hunks) {
    auto count = [&](size_t end, size_t& in_before, size_t& in_after) {
      for (; at < end; ++at) {
        if (lines[at].kind != Kind::added) ++in_before;
        if (lines[at].kind != Kind::removed) ++in_after;
      }
    };
    count(hunk.first, before, after);
    hunk.before_at = before;
    hunk.after_at = after;
    count(hunk.first + hunk.count, hunk.before_count, hunk.after_count);
    before += hunk.before_count;
    after += hunk.after_count;
  }
  return hunks;
}

WordDiff compare_words(std::string_view before, std::string_view after) {
  Texts from = split_words(before), to = split_words(after);
  WordDiff words;
  size_t common = 0;
  for (const Step& step : Comparison(from, to).steps()) {
    if (step.kind != Kind::added) add_part(words.before, from[step.before], step.kind == Kind::removed);
    if (step.kind != Kind::removed) add_part(words.after, to[step.after], step.kind == Kind::added);
    if (step.kind == Kind::kept && from[step.before] != " ") common += from[step.before].size();
  }
  if (common * kCommonPart >= std::min(before.size(), after.size())) return words;
  return {.before = {{.text = before}}, .after = {{.text = after}}};
}

std::string unified(std::string_view before, std::string_view after, const UnifiedOptions& options) {
  if (before == after) return {};
  std::vector<Line> lines = compare_lines(before, after);
  Painter painter(options);
  painter.head("---", options.before_name);
  painter.head("+++", options.after_name);
  for (const Hunk& hunk : hunks_of(lines, options.context)) {
    painter.place(hunk);
    painter.lines(lines, hunk);
  }
  return painter.take();
}

}  // namespace fairlead::diff
