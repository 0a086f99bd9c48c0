// Draws a graph of needs: as text, as a tree, and in the formats of Graphviz, Mermaid, JSON and SVG.
//
// This is the room's first header. A Picture is what is drawn: boxes (objects, guards, waves) and the needs between
// them. picture_of() takes it from a graph and a bundle, and part_behind() cuts it down to what one box waits for. The
// formats (formats.h, svg.h) turn it into text. The room is pure: it does no I/O and reads no clock. All names may be
// hostile, so every format escapes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "manifest/manifest.h"

namespace fairlead::draw {

struct Box {
  graph::Node::Kind type = graph::Node::Kind::object;
  // What it is and what it is called: "Deployment" and "team/web", "webhook" and "v.example.com", "" and "wave 2".
  std::string kind;
  std::string name;
  // The whole text: "Deployment team/web", "webhook v.example.com (ValidatingWebhookConfiguration x)".
  std::string text;
  // The key of an object, in the bundle or outside of it.
  object::Key key;
  // The file:line of an object of the bundle.
  std::string source;
  // The object is not part of a run: a hook of Helm for tests, for example.
  bool left_out = false;
  // The guard exists in the cluster, and fails open.
  bool in_cluster = false;
  bool fails_open = false;
};

// `from` waits until `to` is stored or ready.
struct Arrow {
  uint32_t from = 0;
  uint32_t to = 0;
  graph::Level level = graph::Level::stored;
  bool hard = false;
  std::string reason;
};

// An object that a guard matches and that does not wait for it.
struct Exempt {
  uint32_t object = 0;
  uint32_t guard = 0;
  std::string reason;
};

struct Picture {
  std::vector<Box> boxes;
  // Sorted by `from`.
  std::vector<Arrow> arrows;
  std::vector<Exempt> exempt;
};

// Sorts arrows by `from`; those of one box keep their order.
void sort_arrows(std::vector<Arrow>& arrows);

// Guards of the cluster that match no object of the bundle are not part of the picture.
Picture picture_of(const graph::Graph& graph, const manifest::Bundle& bundle);

// Returns the box with everything that it waits for, directly or not. The box is the first of the result.
Picture part_behind(const Picture& picture, uint32_t box);

// Finds the object that the user means: KIND/NAME or KIND/NAMESPACE/NAME. KIND may have its group (Deployment.apps), be
// in lower case, a plural, or one of kubectl's short names for the kinds of Kubernetes itself. Fails if there is no
// such object, or more than one.
Result<uint32_t> find_box(const Picture& picture, std::string_view what);

// For each box: 0 if it waits for nothing, else one more than the highest rank that it waits for. Boxes on a loop,
// which only a graph with errors has, come last.
std::vector<uint32_t> ranks_of(const Picture& picture);

// The boxes in an order in which each comes after those that it waits for; otherwise in the order of the bundle.
std::vector<uint32_t> in_order(const Picture& picture);

}  // namespace fairlead::draw
