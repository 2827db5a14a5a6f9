// SPDX-License-Identifier: Apache-2.0
#include "model/config/fabric_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "npu/abi/registers.hpp"
#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"

namespace npu::model {
namespace {

constexpr std::size_t kMostLinks = 65'536;  // 64 cards at 1024 switches: a fabric is built whole

FabricLinkConfig link_of(const HccsConfig& hccs) {
  return {hccs.rate, hccs.packet_payload, hccs.packet_overhead, hccs.propagation,
          hccs.receive_buffer};
}

bool ends_with_digit(const std::string& name) {
  return !name.empty() && name.back() >= '0' && name.back() <= '9';
}

// Whether all of text[begin, end) is a number.
bool is_number(const std::string& text, std::size_t begin, std::size_t end, unsigned& number) {
  const char* const last = text.data() + end;
  const auto read = std::from_chars(text.data() + begin, last, number);
  return read.ec == std::errc() && read.ptr == last;
}

class Planner {
 public:
  explicit Planner(const SystemConfig& system) : system_(system) {
    for (unsigned i = 0; i < system.cards.size(); ++i) {
      largest_ = std::max<Bytes>(largest_, system.cards[i].dma.device_chunk);
      add_node({fmt::format("card{}", i), FabricNodeKind::kCard, {}, {}});
    }
  }

  tl::expected<FabricPlan, BrokenRule> run() {
    const auto& parts = system_.fabric.parts;
    for (part_ = 0; part_ < parts.size(); ++part_) {
      auto broken = expand(parts[part_]);
      if (broken) return tl::unexpected(*broken);
    }
    if (auto broken = check_whole()) return tl::unexpected(*broken);
    return std::move(plan_);
  }

 private:
  using Nodes = std::vector<unsigned>;

  BrokenRule wrong(const std::string& key, std::string text) const {
    auto part = fmt::format("fabric.parts.{}", part_);
    return {part + "." + key, std::move(text), {part}};  // a key that is left out has no place
  }

  void add_node(FabricNode node) {
    index_.emplace(node.name, static_cast<unsigned>(plan_.nodes.size()));
    plan_.nodes.push_back(std::move(node));
  }

  CheckResult expand(const FabricPart& part) {
    if (part.form == FabricForm::kNone) return std::nullopt;
    Nodes nodes, to;
    if (auto broken = select(part.nodes, "nodes", nodes)) return broken;
    switch (part.form) {
      case FabricForm::kNone:
        break;
      case FabricForm::kFullMesh:
      case FabricForm::kRing:
        return mesh(nodes, part.form == FabricForm::kRing);
      case FabricForm::kPairs:
        return pairs(part, nodes);
      case FabricForm::kLinks:
        if (auto broken = select(part.to, "to", to)) return broken;
        return lines(part, nodes, to);
      case FabricForm::kSwitches:
      case FabricForm::kNics:
        return passing(part, nodes);
    }
    return std::nullopt;
  }

  // "card3" or "card0-7", appended to `nodes`.
  CheckResult select_one(const std::string& text, const std::string& key, Nodes& nodes) const {
    if (const auto found = index_.find(text); found != index_.end()) {
      nodes.push_back(found->second);
      return std::nullopt;
    }
    const auto dash = text.rfind('-');
    if (dash == std::string::npos || dash == 0) return unknown(text, key);
    const auto digits = text.find_last_not_of("0123456789", dash - 1) + 1;
    unsigned first = 0, last = 0;
    if (!is_number(text, digits, dash, first) || !is_number(text, dash + 1, text.size(), last)) {
      return unknown(text, key);
    }
    if (first > last) return wrong(key, "'" + shortened(text) + "' goes backwards");
    for (unsigned i = first; i <= last; ++i) {
      const std::string name = text.substr(0, digits) + std::to_string(i);
      const auto found = index_.find(name);
      if (found == index_.end()) return unknown(name, key);
      nodes.push_back(found->second);
    }
    return std::nullopt;
  }

  BrokenRule unknown(const std::string& name, const std::string& key) const {
    std::vector<std::string> names;
    for (const auto& node : plan_.nodes) names.push_back(node.name);
    const auto nearest = nearest_name(name, names);
    return wrong(key, "there is no node '" + shortened(name) + "' here or before" +
                          (nearest.empty() ? "" : "; do you mean '" + nearest + "'?"));
  }

  CheckResult select(const std::vector<std::string>& texts, const std::string& key, Nodes& nodes) {
    if (texts.empty() && key == "nodes") {
      for (unsigned i = 0; i < system_.cards.size(); ++i) nodes.push_back(i);
    }
    for (const auto& text : texts) {
      if (auto broken = select_one(text, key, nodes)) return broken;
    }
    // Of links a node may have several.
    if (system_.fabric.parts[part_].form == FabricForm::kLinks) return std::nullopt;
    std::set<unsigned> seen;
    for (const unsigned node : nodes) {
      if (!seen.insert(node).second) {
        return wrong(key, "'" + plan_.nodes[node].name + "' stands there twice");
      }
    }
    return std::nullopt;
  }

  CheckResult connect(unsigned a, unsigned b, const FabricLinkConfig& from_a,
                      const FabricLinkConfig& from_b) {
    const auto& nodes = plan_.nodes;
    if (a == b) return wrong("nodes", "'" + nodes[a].name + "' has a link to itself");
    if (a > b) return connect(b, a, from_b, from_a);
    if (!linked_.insert({a, b}).second) {
      return wrong("nodes", fmt::format("a second link between '{}' and '{}'", nodes[a].name,
                                        nodes[b].name));
    }
    const auto smallest = std::min(from_a.receive_buffer, from_b.receive_buffer);
    if (smallest < largest_) {
      return wrong("link.receive_buffer_kib",
                   fmt::format("{} bytes never admit a message of dma.device_chunk_bytes, {}",
                               smallest, largest_));
    }
    const bool cards = !nodes[a].passes() && !nodes[b].passes();
    auto name = cards ? fmt::format("hccs{}_{}", a, b)
                      : fmt::format("fabric_{}_{}", nodes[a].name, nodes[b].name);
    if (!names_.insert(name).second) {
      return wrong("name", "two links would have the name '" + shortened(name) + "'");
    }
    if (plan_.links.size() == kMostLinks) {
      return wrong("nodes", fmt::format("more than {} links", kMostLinks));
    }
    plan_.links.push_back({std::move(name), a, b, from_a, from_b});
    return std::nullopt;
  }

  CheckResult mesh(const Nodes& cards, bool ring) {
    for (const unsigned card : cards) {
      if (!plan_.nodes[card].passes()) continue;
      return wrong("nodes", "'" + plan_.nodes[card].name + "' is no card");
    }
    for (std::size_t i = 0; i < cards.size(); ++i) {
      for (std::size_t k = i + 1; k < cards.size(); ++k) {
        if (ring && k != i + 1 && !(i == 0 && k == cards.size() - 1)) continue;
        auto broken = connect(cards[i], cards[k], link_of(system_.cards[cards[i]].hccs),
                              link_of(system_.cards[cards[k]].hccs));
        if (broken) return broken;
      }
    }
    return std::nullopt;
  }

  CheckResult pairs(const FabricPart& part, const Nodes& nodes) {
    if (nodes.size() % 2 != 0) {
      return wrong("nodes", fmt::format("{} nodes make no pairs", nodes.size()));
    }
    for (std::size_t i = 0; i < nodes.size(); i += 2) {
      if (auto broken = connect(nodes[i], nodes[i + 1], part.link, part.link)) return broken;
    }
    return std::nullopt;
  }

  CheckResult lines(const FabricPart& part, const Nodes& nodes, const Nodes& to) {
    if (nodes.size() != to.size()) {
      return wrong("to",
                   fmt::format("`to` names {} nodes, `nodes` names {}", to.size(), nodes.size()));
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (auto broken = connect(nodes[i], to[i], part.link, part.link)) return broken;
    }
    return std::nullopt;
  }

  CheckResult passing(const FabricPart& part, const Nodes& nodes) {
    const bool nics = part.form == FabricForm::kNics;
    const auto count = nics ? nodes.size() : part.count;
    const bool grouped = nics || part.attach == FabricAttach::kOneSwitch;
    if (ends_with_digit(part.name)) {
      return wrong("name", "'" + part.name + "' ends with a digit: numbers come behind it");
    }
    if (grouped && count != 0 && nodes.size() % count != 0) {
      return wrong("count", fmt::format("{} nodes cannot be shared evenly by {} switches",
                                        nodes.size(), count));
    }
    const auto first = static_cast<unsigned>(plan_.nodes.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto name = fmt::format("{}{}", part.name, i);
      if (index_.count(name) != 0) return wrong("name", "'" + name + "' is taken by another node");
      add_node({name, nics ? FabricNodeKind::kNic : FabricNodeKind::kSwitch, part.latency,
                part.forwarding});
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (unsigned k = 0; k < count; ++k) {
        if (grouped && i / (nodes.size() / count) != k) continue;
        if (auto broken = connect(nodes[i], first + k, part.link, part.link)) return broken;
      }
    }
    return std::nullopt;
  }

  CheckResult check_whole() const {
    const auto cards = system_.cards.size();
    if (plan_.links.empty()) return std::nullopt;
    if (cards > abi::kMaxHccsCards) {
      return BrokenRule{"fabric", fmt::format("links exist between at most {} cards, here are {}",
                                              abi::kMaxHccsCards, cards)};
    }
    std::vector<bool> has_link(plan_.nodes.size());
    for (const auto& link : plan_.links) has_link[link.low] = has_link[link.high] = true;
    for (std::size_t i = 0; i < has_link.size(); ++i) {
      if (has_link[i]) continue;
      return BrokenRule{"fabric", "'" + plan_.nodes[i].name + "' has no link"};
    }
    return std::nullopt;
  }

  const SystemConfig& system_;
  FabricPlan plan_;
  std::map<std::string, unsigned> index_;  // of nodes
  std::set<std::pair<unsigned, unsigned>> linked_;
  std::set<std::string> names_;  // of links
  std::size_t part_ = 0;
  Bytes largest_ = 0;  // message
};

}  // namespace

std::optional<std::size_t> FabricPlan::between(unsigned a, unsigned b) const {
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].low == std::min(a, b) && links[i].high == std::max(a, b)) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> FabricPlan::link_named(const std::string& name) const {
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].name == name) return i;
  }
  return std::nullopt;
}

tl::expected<FabricPlan, BrokenRule> plan_fabric(const SystemConfig& system) {
  return Planner(system).run();
}

}  // namespace npu::model
