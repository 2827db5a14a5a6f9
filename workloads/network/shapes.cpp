// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace npu::network {
namespace {

constexpr std::int64_t kLongest = std::int64_t{1} << 32;

std::optional<std::vector<std::int64_t>> sides_of(std::string_view text) {
  std::vector<std::int64_t> sides;
  while (true) {
    std::int64_t side = 0;
    const auto end = std::min(text.find('x'), text.size());
    const auto [at, error] = std::from_chars(text.data(), text.data() + end, side);
    if (error != std::errc{} || at != text.data() + end || side < 0 || side > kLongest) return {};
    sides.push_back(side);
    if (end == text.size()) return sides;
    text.remove_prefix(end + 1);
  }
}

bool fits(const std::vector<std::int64_t>& given, const NamedValue& input) {
  if (!input.has_shape) return true;
  return given.size() == input.sides.size() &&
         std::equal(given.begin(), given.end(), input.sides.begin(),
                    [](auto side, auto fixed) { return fixed < 0 || side == fixed; });
}

tl::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::kInvalidArgument, "shapes: " + std::move(why));
}

}  // namespace

Status set_shapes(Graph& graph, const std::string& shapes) {
  std::string_view rest = shapes;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(','), rest.size());
    const auto one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // Names may have colons, too.
    const auto colon = one.rfind(':');
    const auto sides =
        colon == std::string_view::npos ? std::nullopt : sides_of(one.substr(colon + 1));
    if (!sides) return refuse(fmt::format("'{}' is not NAME:2x3x4", one));
    const auto name = one.substr(0, colon);
    const auto input = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                    [name](const auto& each) { return each.name == name; });
    if (input == graph.inputs.end()) {
      std::string names;
      for (const auto& each : graph.inputs) names += (names.empty() ? "" : ", ") + each.name;
      return refuse(fmt::format("no input '{}'; there are {}", name, names));
    }
    if (!fits(*sides, *input)) {
      return refuse(fmt::format("'{}': the model has other sides", one));
    }
    input->sides = *sides;
    input->has_shape = true;
  }
  return {};
}

}  // namespace npu::network
