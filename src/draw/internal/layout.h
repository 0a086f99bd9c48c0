// Places boxes in layers from left to right, so that every arrow runs to the right and few of them cross.
//
// The method is that of Sugiyama: layers by rank, points on long arrows where they pass a layer, an order within each
// layer by the mean place of the neighbours, and positions as near to the neighbours as the distances allow.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fairlead::draw {

struct Point {
  double x = 0;
  double y = 0;
};

struct LayoutInput {
  // By box: its layer (0 is the leftmost) and its size.
  std::vector<uint32_t> layers;
  std::vector<double> widths;
  std::vector<double> heights;
  // From left to right: the second box is in a higher layer. Others are not routed.
  std::vector<std::pair<uint32_t, uint32_t>> lines;
  double gap_between_layers = 80;
  double gap_between_boxes = 14;
};

struct Layout {
  // By box: its left upper corner.
  std::vector<Point> corners;
  // By line: the points that it passes, from the right side of the first box to the left side of the second.
  std::vector<std::vector<Point>> routes;
  double width = 0;
  double height = 0;
};

Layout lay_out(const LayoutInput& input);

}  // namespace fairlead::draw
