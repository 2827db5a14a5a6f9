// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/exec_sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "workloads/framework/parameter.hpp"
#include "workloads/programs/support/sharing_keys.hpp"

namespace npu::cli {
namespace {

using workloads::ParameterSet;
using workloads::ParameterType;

std::vector<workloads::ParameterSpec> share_words() {
  return {{"percent", ParameterType::kInteger, "%", "100", "of the cores' time", 0, 100},
          {"token", ParameterType::kInteger, "", "65535", "a hard cap of it, of 65535", 0, 65'535},
          {"memory", ParameterType::kSize, "B", "0", "over all cards; 0: no limit"}};
}

// "p3" -> 3.
std::optional<std::size_t> program_number(std::string_view name, std::size_t programs) {
  if (!starts_with(name, "p")) return std::nullopt;
  const auto number = read_number<std::size_t>(name.substr(1));
  return number && *number < programs ? number : std::nullopt;
}

Status assign(ParameterSet& words, std::string_view text) {
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto word = text.substr(0, comma);
    const bool named = word.find('=') != std::string_view::npos;
    auto set = named ? words.assign(word) : words.set("percent", word);
    if (!set) return set;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return {};
}

struct Share {
  explicit Share(std::size_t number) : name(fmt::format("p{}", number)), words(share_words()) {}
  std::string name;
  ParameterSet words;
};

}  // namespace

tl::expected<std::vector<exec::acl::ClientSharing>, Failure> read_sharing(
    const std::vector<std::string>& shares, const std::vector<std::string>& sharing,
    std::size_t programs) {
  if (shares.empty() && sharing.empty()) return {};
  ParameterSet keys(workloads::sharing_parameters());
  for (const auto& text : sharing) {
    if (auto set = keys.assign(text); !set) {
      return bad_input("exec: --sharing " + shortened(text) + ": " + set.error().context);
    }
  }
  std::vector<Share> all;
  for (std::size_t i = 0; i <= programs; ++i) all.emplace_back(i);
  for (const auto& text : shares) {
    const auto equals = std::min(text.find('='), text.size());
    const auto number = program_number(std::string_view(text).substr(0, equals), programs);
    if (!number || equals + 1 >= text.size()) {
      return bad_input(
          fmt::format("exec: --share {}: expected PROGRAM=WORDS, such as p0=30; the "
                      "programs are p0 to p{}",
                      shortened(text), programs - 1));
    }
    if (auto set = assign(all[*number].words, std::string_view(text).substr(equals + 1)); !set) {
      return bad_input("exec: --share " + shortened(text) + ": " + set.error().context);
    }
  }
  const auto in_time = [](const Share& share) {
    return share.words.integer("percent") != 100 ||
           share.words.integer("token") != driver::kWholeToken;
  };
  const bool time_slices = !sharing.empty() || std::any_of(all.begin(), all.end(), in_time);
  std::vector<exec::acl::ClientSharing> clients;
  for (const auto& share : all) {
    auto& client = clients.emplace_back();
    client.name = share.name;
    const Bytes memory = share.words.size("memory");
    client.quota = std::make_shared<driver::MemoryQuota>(
        memory == 0 ? driver::MemoryQuota::kUnlimited : memory);
    client.share = {static_cast<unsigned>(share.words.integer("percent")),
                    static_cast<unsigned>(share.words.integer("token"))};
    if (time_slices) client.time_slices = workloads::time_slice_options(keys);
  }
  return clients;
}

}  // namespace npu::cli
