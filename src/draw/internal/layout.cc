#include "draw/internal/layout.h"

#include <algorithm>
#include <numeric>

namespace fairlead::draw {
namespace {

constexpr int kSweeps = 12;
constexpr double kLineHeight = 6;
constexpr double kLineDistance = 11;

// A box, or a place where a long line passes a layer.
struct Spot {
  uint32_t layer = 0;
  double width = 0;
  double height = kLineHeight;
  double middle = 0;  // vertically
  std::vector<uint32_t> left;
  std::vector<uint32_t> right;
};

class Layers {
 public:
  explicit Layers(const LayoutInput& input) : input_(input) {
    for (size_t box = 0; box < input.layers.size(); ++box)
      spots_.push_back({.layer = input.layers[box], .width = input.widths[box], .height = input.heights[box]});
    for (const auto& [from, to] : input.lines) chains_.push_back(chain(from, to));
    uint32_t highest = input.layers.empty() ? 0 : *std::ranges::max_element(input.layers);
    layers_.resize(highest + 1);
    for (uint32_t spot = 0; spot < spots_.size(); ++spot) layers_[spots_[spot].layer].push_back(spot);
  }

  Layout lay_out() && {
    stack();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (size_t layer = 1; layer < layers_.size(); ++layer) order(layer, &Spot::left);
      for (size_t layer = layers_.size() - 1; layer-- > 0;) order(layer, &Spot::right);
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (size_t layer = 1; layer < layers_.size(); ++layer) pull(layer, &Spot::left);
      for (size_t layer = layers_.size() - 1; layer-- > 0;) pull(layer, &Spot::right);
    }
    return placed();
  }

 private:
  using Side = std::vector<uint32_t> Spot::*;

  // Returns the spots of a line, with a new one in each layer between its ends.
  std::vector<uint32_t> chain(uint32_t from, uint32_t to) {
    std::vector<uint32_t> spots = {from};
    if (spots_[from].layer >= spots_[to].layer) return {};
    for (uint32_t layer = spots_[from].layer + 1; layer < spots_[to].layer; ++layer) {
      spots.push_back(static_cast<uint32_t>(spots_.size()));
      spots_.push_back({.layer = layer});
    }
    spots.push_back(to);
    for (size_t i = 1; i < spots.size(); ++i) {
      spots_[spots[i - 1]].right.push_back(spots[i]);
      spots_[spots[i]].left.push_back(spots[i - 1]);
    }
    return spots;
  }

  double distance(uint32_t above, uint32_t below) const {
    return (spots_[above].height + spots_[below].height) / 2 + input_.gap_between_boxes;
  }

  void stack() {
    for (std::vector<uint32_t>& layer : layers_)
      for (size_t i = 1; i < layer.size(); ++i)
        spots_[layer[i]].middle = spots_[layer[i - 1]].middle + distance(layer[i - 1], layer[i]);
  }

  // Where a spot would be if only its neighbours on that side counted.
  double wish(uint32_t spot, Side side) const {
    const std::vector<uint32_t>& neighbours = spots_[spot].*side;
    if (neighbours.empty()) return spots_[spot].middle;
    double sum = 0;
    for (uint32_t neighbour : neighbours) sum += spots_[neighbour].middle;
    return sum / double(neighbours.size());
  }

  void order(size_t layer, Side side) {
    // Spots with equal wishes keep their order.
    std::vector<std::pair<double, size_t>> wishes;
    std::vector<uint32_t> before = layers_[layer];
    for (size_t i = 0; i < before.size(); ++i) wishes.emplace_back(wish(before[i], side), i);
    std::ranges::sort(wishes);
    for (size_t i = 0; i < wishes.size(); ++i) layers_[layer][i] = before[wishes[i].second];
    double middle = 0;
    for (size_t i = 0; i < layers_[layer].size(); ++i) {
      if (i > 0) middle += distance(layers_[layer][i - 1], layers_[layer][i]);
      spots_[layers_[layer][i]].middle = middle;
    }
  }

  // Moves the spots of a layer as near to their wishes as their order and distances allow. Spots that would overlap
  // form a block, which is placed at the mean of their wishes.
  void pull(size_t layer, Side side) {
    struct Block {
      double sum = 0;
      size_t count = 0;
      double mean() const { return sum / double(count); }
    };
    const std::vector<uint32_t>& spots = layers_[layer];
    std::vector<double> offsets(spots.size());
    std::vector<Block> blocks;
    for (size_t i = 0; i < spots.size(); ++i) {
      if (i > 0) offsets[i] = offsets[i - 1] + distance(spots[i - 1], spots[i]);
      blocks.push_back({.sum = wish(spots[i], side) - offsets[i], .count = 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
        Block last = blocks.back();
        blocks.pop_back();
        blocks.back().sum += last.sum;
        blocks.back().count += last.count;
      }
    }
    size_t i = 0;
    for (const Block& block : blocks)
      for (size_t n = 0; n < block.count; ++n, ++i) spots_[spots[i]].middle = block.mean() + offsets[i];
  }

  Layout placed() {
    Layout layout;
    double top = 0, bottom = 0;
    for (const Spot& spot : spots_) {
      top = std::min(top, spot.middle - spot.height / 2);
      bottom = std::max(bottom, spot.middle + spot.height / 2);
    }
    std::vector<double> lefts(layers_.size()), widths(layers_.size());
    for (const Spot& spot : spots_) widths[spot.layer] = std::max(widths[spot.layer], spot.width);
    for (size_t layer = 1; layer < layers_.size(); ++layer)
      lefts[layer] = lefts[layer - 1] + widths[layer - 1] + input_.gap_between_layers;
    for (size_t box = 0; box < input_.layers.size(); ++box)
      layout.corners.push_back({lefts[spots_[box].layer], spots_[box].middle - spots_[box].height / 2 - top});
    for (const std::vector<uint32_t>& spots : chains_) {
      std::vector<Point>& route = layout.routes.emplace_back();
      for (size_t i = 0; i < spots.size(); ++i) {
        const Spot& spot = spots_[spots[i]];
        double left = lefts[spot.layer];
        if (i > 0) route.push_back({left, spot.middle - top});
        bool is_passed = i > 0 && i + 1 < spots.size();
        if (i + 1 < spots.size())
          route.push_back({left + (is_passed ? widths[spot.layer] : spot.width), spot.middle - top});
      }
    }
    spread(layout.routes, true);
    spread(layout.routes, false);
    layout.width = lefts.empty() ? 0 : lefts.back() + widths.back();
    layout.height = bottom - top;
    return layout;
  }

  // Lines that begin or end at the same box do so at different heights, in the order in which they come or go.
  void spread(std::vector<std::vector<Point>>& routes, bool at_ends) const {
    std::vector<std::vector<std::pair<double, size_t>>> lines(input_.layers.size());
    for (size_t line = 0; line < routes.size(); ++line) {
      const std::vector<Point>& route = routes[line];
      if (route.empty()) continue;
      uint32_t box = at_ends ? input_.lines[line].second : input_.lines[line].first;
      lines[box].emplace_back(at_ends ? route[route.size() - 2].y : route[1].y, line);
    }
    for (size_t box = 0; box < lines.size(); ++box) {
      size_t count = lines[box].size();
      if (count < 2) continue;
      std::ranges::sort(lines[box]);
      double step = std::min(kLineDistance, (input_.heights[box] - 10) / double(count - 1));
      for (size_t i = 0; i < count; ++i) {
        std::vector<Point>& route = routes[lines[box][i].second];
        (at_ends ? route.back() : route.front()).y += (double(i) - double(count - 1) / 2) * step;
      }
    }
  }

  const LayoutInput& input_;
  std::vector<Spot> spots_;
  std::vector<std::vector<uint32_t>> chains_;
  std::vector<std::vector<uint32_t>> layers_;
};

}  // namespace

Layout lay_out(const LayoutInput& input) { return Layers(input).lay_out(); }

}  // namespace fairlead::draw
