// A picture as text: for people, for Graphviz, for Mermaid, and as JSON.
#pragma once

#include <string>

#include "base/json.h"
#include "draw/picture.h"

namespace fairlead::draw {

// Every box with its needs and their reasons, in an order in which each comes after what it waits for.
std::string as_text(const Picture& picture);

// What the first box waits for, down to the boxes that wait for nothing, as an indented tree with the reason of each
// need. What several boxes wait for is told once, and referred to afterwards.
std::string as_tree(const Picture& picture);

std::string as_dot(const Picture& picture);
std::string as_mermaid(const Picture& picture);
// docs/graph.md has the schema.
Json as_json(const Picture& picture);

}  // namespace fairlead::draw
