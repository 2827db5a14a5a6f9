// SPDX-License-Identifier: Apache-2.0
// Cards as `npusim smi` prints them: for people, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "model/config/system_config.hpp"
#include "tools/cli/smi/card_facts.hpp"

namespace npu::cli {

// A box for each card and one for its processes.
std::string summary_text(const std::vector<CardFacts>& cards);
// Of one kind: usages, memory, ecc, pcie, info-vnpu; "Name : value" lines for each card.
std::string detail_text(const std::vector<CardFacts>& cards, const std::string& kind);
// What each card of the configuration can be cut into: a row for each template.
std::string template_text(const model::SystemConfig& config);
// Everything that is known; what is not is missing.
std::string cards_json(const std::vector<CardFacts>& cards);

}  // namespace npu::cli
