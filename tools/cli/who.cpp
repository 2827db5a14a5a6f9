// SPDX-License-Identifier: Apache-2.0
// `npusim who ADDRESS WORKLOAD`: run, with an eye on one byte.
#include <algorithm>
#include <optional>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/last_writer.hpp"
#include "tools/timeline/time_text.hpp"

namespace npu::cli {
namespace {

// "4096" or "0x1000".
std::optional<std::uint64_t> number_of(std::string_view text) {
  if (starts_with(text, "0x")) return read_number<std::uint64_t>(text.substr(2), 16);
  return read_number<std::uint64_t>(text);
}

struct Place {
  unsigned card = 0;
  std::uint64_t address = 0;
};

// "[CARD:]ADDRESS".
std::optional<Place> place_of(const std::string& text) {
  const auto colon = text.find(':');
  const auto card = colon == std::string::npos ? std::optional<std::uint64_t>(0)
                                               : number_of(text.substr(0, colon));
  const auto address = number_of(colon == std::string::npos ? text : text.substr(colon + 1));
  if (!card || !address || *card > UINT32_MAX) return std::nullopt;
  return Place{static_cast<unsigned>(*card), *address};
}

}  // namespace

Outcome find_writer(const Options& options) {
  if (options.arguments.size() < 2) return bad_input("who: give an address and a workload");
  if (options.arguments.size() > 2) {
    return bad_input("who: unexpected '" + shortened(options.arguments[2]) + "'");
  }
  const auto place = place_of(options.arguments[0]);
  if (!place) {
    return bad_input("who: found '" + shortened(options.arguments[0]) +
                     "'; allowed: ADDRESS or CARD:ADDRESS, such as 0x200040000000");
  }
  Instant until = Instant::never();
  if (options.at) {
    const auto time = timeline::parse_time(*options.at);
    if (!time) {
      return bad_input("--at: found '" + shortened(*options.at) +
                       "'; allowed: a time, such as 2.5ms");
    }
    until = Instant(*time);
  }
  Options run = options;
  run.command = "run";
  run.arguments.erase(run.arguments.begin());
  const auto config = load_config(options.config, {});
  if (!config) return tl::unexpected(config.error());
  if (place->card >= config->cards.size()) {
    return bad_input("who: card " + std::to_string(place->card) + "; the machine has " +
                     std::to_string(config->cards.size()));
  }
  // So that instructions are known by their lines; it changes no time.
  const bool given = std::any_of(run.sets.begin(), run.sets.end(), [](const auto& set) {
    return set.rfind("core.hazards=", 0) == 0;
  });
  if (!given) run.sets.emplace_back("core.hazards=report");
  LastWriter writer(place->card, place->address, until);
  return run_workload(run, nullptr, &writer);
}

}  // namespace npu::cli
