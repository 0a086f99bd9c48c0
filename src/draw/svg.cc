#include "draw/svg.h"

#include <algorithm>

#include "base/printable.h"
#include "draw/internal/groups.h"
#include "draw/internal/layout.h"

namespace fairlead::draw {
namespace {

using Type = graph::Node::Kind;

constexpr size_t kMostBoxes = 200;
// Reasons are written on the lines of small pictures; those of larger ones show when the pointer is on the line.
constexpr size_t kMostReasons = 30;
// There is no room for more of them beside a box.
constexpr size_t kMostReasonsOfABox = 4;
constexpr size_t kLongestName = 44;
constexpr double kCharacter = 6.9;
constexpr double kBoxHeight = 40;
constexpr double kPlainHeight = 22;
constexpr double kMargin = 24;
constexpr double kHead = 46;

constexpr std::string_view kStyle = R"(<style>
:root { color-scheme: light dark; }
svg { --back: #ffffff; --ink: #1f2933; --dim: #64748b; --line: #94a3b8; --box: #f1f5f9; --edge: #94a3b8; --guard: #fef3c7; --gedge: #d97706; }
@media (prefers-color-scheme: dark) {
  svg { --back: #0f172a; --ink: #e2e8f0; --dim: #94a3b8; --line: #64748b; --box: #1e293b; --edge: #475569; --guard: #422006; --gedge: #d97706; }
}
.back { fill: var(--back); }
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: var(--ink); }
.kind, .reason, .legend { fill: var(--dim); font-size: 10px; }
.box { fill: var(--box); stroke: var(--edge); }
.guard .box { fill: var(--guard); stroke: var(--gedge); }
.outside .box { fill: none; stroke-dasharray: 4 3; }
.left-out { opacity: .5; }
.need { fill: none; stroke: var(--line); stroke-width: 1.2; }
.soft { stroke-dasharray: 4 3; }
.need:hover { stroke: var(--gedge); stroke-width: 2.5; }
#tip { fill: var(--line); }
</style>
)";

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : printable(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

bool is_start(char c) { return (c & 0xC0) != 0x80; }

size_t characters(std::string_view text) { return static_cast<size_t>(std::ranges::count_if(text, is_start)); }

// Cuts the middle of a long name between characters: the end tells as much as the beginning.
std::string cut(std::string_view name) {
  if (characters(name) <= kLongestName) return std::string(name);
  std::vector<size_t> starts;
  for (size_t i = 0; i < name.size(); ++i)
    if (is_start(name[i])) starts.push_back(i);
  size_t half = kLongestName / 2;
  return fmt::format("{}…{}", name.substr(0, starts[half]), name.substr(starts[starts.size() - half + 1]));
}

std::string_view class_of(Type type) {
  switch (type) {
    case Type::object: return "object";
    case Type::guard: return "guard";
    case Type::outside: return "outside";
    case Type::wave:
    case Type::all_of: break;
  }
  return "group";
}

class Drawing {
 public:
  explicit Drawing(const Picture& whole) : picture_(without_implied(grouped(whole, kMostBoxes))) {
    input_.layers = ranks_of(picture_);
    for (const Box& box : picture_.boxes) {
      size_t longest = std::max(characters(cut(box.name)), characters(box.kind));
      input_.widths.push_back(double(longest) * kCharacter + 20);
      input_.heights.push_back(box.kind.empty() ? kPlainHeight : kBoxHeight);
    }
    incoming_.resize(picture_.boxes.size());
    for (const Arrow& arrow : picture_.arrows) {
      input_.lines.emplace_back(arrow.to, arrow.from);
      ++incoming_[arrow.from];
    }
    has_reasons_ = picture_.arrows.size() <= kMostReasons;
    if (has_reasons_) input_.gap_between_layers = gap_for_reasons();
    layout_ = lay_out(input_);
    is_grouped_ = picture_.boxes.size() < whole.boxes.size();
  }

  std::string text() const {
    double width = std::max(layout_.width + 2 * kMargin, 680.0);
    double height = layout_.height + 2 * kMargin + kHead;
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" role=\"img\" aria-label=\"What waits for what\">\n",
        width, height);
    text += kStyle;
    text +=
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
        "orient=\"auto\"><path id=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n";
    text += fmt::format("<rect class=\"back\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", width, height);
    text += fmt::format("<text class=\"legend\" x=\"{0:.0f}\" y=\"{0:.0f}\">{1}</text>\n", kMargin,
                        "From left to right: each line leads to what waits. Dashed: given up where it closes a loop.");
    text += fmt::format(
        "<text class=\"legend\" x=\"{:.0f}\" y=\"{:.0f}\">Needs that follow from others are not drawn.{}</text>\n",
        kMargin, kMargin + 14, is_grouped_ ? " Objects that are alike share a box." : "");
    for (size_t i = 0; i < picture_.arrows.size(); ++i) text += line_text(i);
    for (uint32_t box = 0; box < picture_.boxes.size(); ++box) text += box_text(box);
    return text + "</svg>\n";
  }

 private:
  double gap_for_reasons() const {
    size_t longest = 4;
    for (const Arrow& arrow : picture_.arrows) longest = std::max(longest, characters(cut(arrow.reason)));
    return double(longest) * 5.6 + 40;
  }

  static Point shifted(Point point) { return {point.x + kMargin, point.y + kMargin + kHead}; }

  std::string line_text(size_t number) const {
    const Arrow& arrow = picture_.arrows[number];
    const std::vector<Point>& route = layout_.routes[number];
    if (route.empty()) return "";
    Point at = shifted(route.front());
    std::string path = fmt::format("M{:.1f} {:.1f}", at.x, at.y);
    for (size_t i = 1; i < route.size(); ++i) {
      Point to = shifted(route[i]);
      double bend = (to.x - at.x) / 2;
      path +=
          fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", at.x + bend, at.y, to.x - bend, to.y, to.x, to.y);
      at = to;
    }
    std::string text = fmt::format(
        "<path class=\"need{}\" d=\"{}\" marker-end=\"url(#arrow)\"><title>{}</title></path>\n",
        arrow.hard ? "" : " soft", path,
        escaped(fmt::format("{} waits until {} is {}: {}", first_line(picture_.boxes[arrow.from].text),
                            first_line(picture_.boxes[arrow.to].text), graph::name_of(arrow.level), arrow.reason)));
    if (has_reasons_ && incoming_[arrow.from] <= kMostReasonsOfABox)
      text += fmt::format("<text class=\"reason\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", at.x - 12,
                          at.y - 4, escaped(cut(arrow.reason)));
    return text;
  }

  static std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

  std::string box_text(uint32_t number) const {
    const Box& box = picture_.boxes[number];
    Point corner = shifted(layout_.corners[number]);
    double height = input_.heights[number];
    std::string title = box.source.empty() ? box.text : box.text + "\n" + box.source;
    std::string text = fmt::format(
        "<g class=\"{}{}\"><title>{}</title><rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.0f}\" rx=\"{}\"/>",
        class_of(box.type), box.left_out ? " left-out" : "", escaped(title), corner.x, corner.y, input_.widths[number],
        height, box.type == Type::guard ? 14 : 5);
    if (!box.kind.empty())
      text += fmt::format("<text class=\"kind\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", corner.x + 10, corner.y + 15,
                          escaped(box.kind));
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n", corner.x + 10,
                        corner.y + (box.kind.empty() ? 15 : 31), escaped(cut(box.name)));
    return text;
  }

  Picture picture_;
  LayoutInput input_;
  Layout layout_;
  std::vector<size_t> incoming_;
  bool has_reasons_ = false;
  bool is_grouped_ = false;
};

}  // namespace

std::string as_svg(const Picture& picture) { return Drawing(picture).text(); }

}  // namespace fairlead::draw
