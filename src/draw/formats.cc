#include "draw/formats.h"

#include <algorithm>
#include <span>

#include "base/printable.h"

namespace fairlead::draw {
namespace {

using Type = graph::Node::Kind;

std::span<const Arrow> needs_of(const Picture& picture, uint32_t box) {
  auto range = std::ranges::equal_range(picture.arrows, box, {}, &Arrow::from);
  return {range.begin(), range.end()};
}

// "ready: its CRD", "stored, if that closes no loop: volume data"
std::string words_of(const Arrow& arrow) {
  return fmt::format("{}{}: {}", graph::name_of(arrow.level), arrow.hard ? "" : ", soft", arrow.reason);
}

std::string counted(size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

size_t count_of(const Picture& picture, Type type) {
  return static_cast<size_t>(std::ranges::count(picture.boxes, type, &Box::type));
}

std::string head_of(const Picture& picture) {
  std::string text = counted(count_of(picture, Type::object), "object");
  if (size_t guards = count_of(picture, Type::guard)) text += ", " + counted(guards, "guard");
  return text + ", " + counted(picture.arrows.size(), "need") + "\n";
}

std::string notes_of(const Box& box) {
  std::string notes;
  if (!box.source.empty()) notes += "  " + box.source;
  if (box.left_out) notes += "  (left out of this run)";
  if (box.type == Type::outside) notes += "  (not in the manifests)";
  if (box.type == Type::guard && box.in_cluster) notes += "  (in the cluster)";
  if (box.type == Type::guard && box.fails_open) notes += "  (fails open)";
  return notes;
}

class Tree {
 public:
  explicit Tree(const Picture& picture) : picture_(picture), told_(picture.boxes.size()) {}

  std::string text() && {
    text_ = line_of(0) + "\n";
    told_[0] = true;
    add(0, "");
    return std::move(text_);
  }

 private:
  // A tree that is deeper than this is cut: nobody reads it, and it could exhaust the stack.
  static constexpr size_t kDeepest = 200;

  std::string line_of(uint32_t box) const {
    return printable_line(picture_.boxes[box].text + notes_of(picture_.boxes[box]));
  }

  void add(uint32_t box, const std::string& indent) {
    std::span<const Arrow> needs = needs_of(picture_, box);
    for (size_t i = 0; i < needs.size(); ++i) {
      const Arrow& need = needs[i];
      bool is_last = i + 1 == needs.size();
      bool is_told = told_[need.to] && !needs_of(picture_, need.to).empty();
      text_ += fmt::format("{}{}{} — {}{}\n", indent, is_last ? "└─ " : "├─ ", line_of(need.to),
                           printable_line(words_of(need)), is_told ? " (see above)" : "");
      if (told_[need.to]) continue;
      told_[need.to] = true;
      if (++depth_ < kDeepest) add(need.to, indent + (is_last ? "   " : "│  "));
      --depth_;
    }
  }

  const Picture& picture_;
  std::vector<bool> told_;
  size_t depth_ = 0;
  std::string text_;
};

// Inside double quotes, of Graphviz.
std::string dot_quoted(std::string_view text) {
  std::string quoted;
  for (char c : printable_line(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

// Inside double quotes, of Mermaid: entities, in which # stands for &.
std::string mermaid_quoted(std::string_view text) {
  std::string quoted;
  for (char c : printable_line(text)) {
    bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    std::string_view(" ./:-_,()+=").find(c) != std::string_view::npos || (c & 0x80) != 0;
    if (is_plain) quoted += c;
    else quoted += fmt::format("#{};", int(static_cast<unsigned char>(c)));
  }
  return quoted;
}

std::string_view dot_shape(Type type) {
  switch (type) {
    case Type::object: return "shape=box, style=rounded";
    case Type::guard: return "shape=hexagon";
    case Type::outside: return "shape=box, style=\"rounded,dashed\"";
    case Type::wave:
    case Type::all_of: break;
  }
  return "shape=plaintext";
}

std::string mermaid_box(uint32_t number, const Box& box) {
  std::string text = mermaid_quoted(box.text);
  switch (box.type) {
    case Type::object: return fmt::format("  n{}[\"{}\"]\n", number, text);
    case Type::guard: return fmt::format("  n{}{{{{\"{}\"}}}}\n", number, text);
    case Type::outside: return fmt::format("  n{}([\"{}\"])\n", number, text);
    case Type::wave:
    case Type::all_of: break;
  }
  return fmt::format("  n{}(\"{}\")\n", number, text);
}

std::string_view type_name(Type type) {
  switch (type) {
    case Type::object: return "object";
    case Type::guard: return "guard";
    case Type::wave: return "wave";
    case Type::all_of: return "group";
    case Type::outside: return "outside";
  }
  return "";
}

Json json_of(const Box& box, uint32_t id) {
  Json::Object json{{"id", int64_t{id}}, {"type", type_name(box.type)}, {"text", box.text}};
  if (!box.key.kind.empty()) {
    json.append("group", box.key.group);
    json.append("kind", box.key.kind);
    json.append("namespace", box.key.ns);
    json.append("name", box.key.name);
  }
  if (!box.source.empty()) json.append("source", box.source);
  if (box.left_out) json.append("leftOut", true);
  if (box.type == Type::guard) {
    json.append("guard", box.kind);
    json.append("name", box.name);
    json.append("failsOpen", box.fails_open);
    json.append("inCluster", box.in_cluster);
  }
  return json;
}

}  // namespace

std::string as_text(const Picture& picture) {
  std::vector<std::vector<const Exempt*>> exempt(picture.boxes.size());
  for (const Exempt& one : picture.exempt) exempt[one.object].push_back(&one);
  std::string text = head_of(picture);
  for (uint32_t box : in_order(picture)) {
    const Box& it = picture.boxes[box];
    text += "\n" + printable_line(it.text + notes_of(it)) + "\n";
    for (const Arrow& need : needs_of(picture, box))
      text += printable_line(fmt::format("  needs {} — {}", picture.boxes[need.to].text, words_of(need))) + "\n";
    for (const Exempt* one : exempt[box])
      text +=
          printable_line(fmt::format("  does not wait for {}: {}", picture.boxes[one->guard].text, one->reason)) + "\n";
  }
  return text;
}

std::string as_tree(const Picture& picture) {
  if (picture.boxes.empty()) return "";
  std::string text = Tree(picture).text();
  if (picture.arrows.empty()) text += "waits for nothing\n";
  return text;
}

std::string as_dot(const Picture& picture) {
  std::string text = "digraph fairlead {\n  rankdir=RL;\n  node [fontname=\"sans-serif\"];\n";
  for (uint32_t box = 0; box < picture.boxes.size(); ++box)
    text += fmt::format("  n{} [label=\"{}\", {}];\n", box, dot_quoted(picture.boxes[box].text),
                        dot_shape(picture.boxes[box].type));
  for (const Arrow& arrow : picture.arrows)
    text += fmt::format("  n{} -> n{} [label=\"{}\"{}];\n", arrow.from, arrow.to, dot_quoted(arrow.reason),
                        arrow.hard ? "" : ", style=dashed");
  return text + "}\n";
}

std::string as_mermaid(const Picture& picture) {
  std::string text = "flowchart RL\n";
  for (uint32_t box = 0; box < picture.boxes.size(); ++box) text += mermaid_box(box, picture.boxes[box]);
  for (const Arrow& arrow : picture.arrows)
    text += fmt::format("  n{} {}|\"{}\"| n{}\n", arrow.from, arrow.hard ? "-->" : "-.->", mermaid_quoted(arrow.reason),
                        arrow.to);
  return text;
}

Json as_json(const Picture& picture) {
  Json::Array nodes, needs, exempt;
  for (uint32_t box = 0; box < picture.boxes.size(); ++box) nodes.push_back(json_of(picture.boxes[box], box));
  for (const Arrow& arrow : picture.arrows)
    needs.emplace_back(Json::Object{{"from", int64_t{arrow.from}},
                                    {"to", int64_t{arrow.to}},
                                    {"level", graph::name_of(arrow.level)},
                                    {"hard", arrow.hard},
                                    {"reason", arrow.reason}});
  for (const Exempt& one : picture.exempt)
    exempt.emplace_back(
        Json::Object{{"object", int64_t{one.object}}, {"guard", int64_t{one.guard}}, {"reason", one.reason}});
  return Json::Object{
      {"schemaVersion", 1}, {"nodes", std::move(nodes)}, {"needs", std::move(needs)}, {"exempt", std::move(exempt)}};
}

}  // namespace fairlead::draw
