#include "draw/internal/groups.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace fairlead::draw {
namespace {

constexpr size_t kNamed = 20;

using Names = std::vector<std::string>;

Picture joined(const Picture& picture, const Names& group_of) {
  std::map<std::string, uint32_t, std::less<>> numbers;
  std::vector<uint32_t> number(picture.boxes.size());
  std::vector<size_t> sizes;
  Picture result;
  for (uint32_t box = 0; box < picture.boxes.size(); ++box) {
    auto [found, is_new] = numbers.try_emplace(group_of[box], static_cast<uint32_t>(result.boxes.size()));
    number[box] = found->second;
    if (is_new) {
      result.boxes.push_back(picture.boxes[box]);
      sizes.push_back(1);
    } else if (++sizes[found->second] <= kNamed) {
      result.boxes[found->second].text += "\n" + picture.boxes[box].text;
    }
  }
  for (uint32_t box = 0; box < result.boxes.size(); ++box) {
    if (sizes[box] == 1) continue;
    Box& it = result.boxes[box];
    it.name = fmt::format("{} and {} more", it.name, sizes[box] - 1);
    if (sizes[box] > kNamed) it.text += fmt::format("\nand {} more", sizes[box] - kNamed);
    it.source.clear();
  }
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const Arrow& arrow : picture.arrows) {
    Arrow between = arrow;
    between.from = number[arrow.from];
    between.to = number[arrow.to];
    if (between.from != between.to && seen.emplace(between.from, between.to).second)
      result.arrows.push_back(std::move(between));
  }
  sort_arrows(result.arrows);
  return result;
}

Names names_by(const Picture& picture, const std::function<std::string(uint32_t box)>& name) {
  Names names;
  for (uint32_t box = 0; box < picture.boxes.size(); ++box) names.push_back(name(box));
  return names;
}

std::string kind_of(const Box& box) { return fmt::format("{}/{}/{}", int(box.type), box.key.group, box.kind); }

// Boxes that need the same and are needed by the same.
Names twins(const Picture& picture) {
  std::vector<std::string> around(picture.boxes.size());
  for (const Arrow& arrow : picture.arrows) {
    around[arrow.from] += fmt::format(" >{}", arrow.to);
    around[arrow.to] += fmt::format(" <{}", arrow.from);
  }
  return names_by(picture, [&](uint32_t box) {
    const Box& it = picture.boxes[box];
    return fmt::format("{}/{}{}", kind_of(it), it.key.ns, around[box]);
  });
}

}  // namespace

Picture grouped(const Picture& picture, size_t most) {
  if (picture.boxes.size() <= most) return picture;
  Picture result = joined(picture, twins(picture));
  std::vector<uint32_t> ranks = ranks_of(picture);
  if (result.boxes.size() > most)
    result =
        joined(picture, names_by(picture, [&](uint32_t box) {
                 return fmt::format("{}/{}/{}", kind_of(picture.boxes[box]), picture.boxes[box].key.ns, ranks[box]);
               }));
  if (result.boxes.size() > most)
    result = joined(picture, names_by(picture, [&](uint32_t box) {
                      return fmt::format("{}/{}", kind_of(picture.boxes[box]), ranks[box]);
                    }));
  return result;
}

Picture without_implied(const Picture& picture) {
  size_t count = picture.boxes.size();
  // By box: what it waits for, directly or not. In an order in which what is needed comes first.
  std::vector<std::vector<bool>> behind(count, std::vector<bool>(count));
  std::vector<std::vector<uint32_t>> needs(count);
  for (const Arrow& arrow : picture.arrows) needs[arrow.from].push_back(arrow.to);
  for (uint32_t box : in_order(picture))
    for (uint32_t to : needs[box]) {
      behind[box][to] = true;
      for (uint32_t i = 0; i < count; ++i)
        if (behind[to][i]) behind[box][i] = true;
    }
  Picture result = picture;
  std::erase_if(result.arrows, [&](const Arrow& arrow) {
    return std::ranges::any_of(needs[arrow.from], [&](uint32_t other) {
      return other != arrow.to && other != arrow.from && behind[other][arrow.to] && !behind[arrow.to][other];
    });
  });
  return result;
}

}  // namespace fairlead::draw
