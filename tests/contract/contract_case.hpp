// SPDX-License-Identifier: Apache-2.0
// How the suite's sources list their cases.
#pragma once

#include <vector>

#include "tests/contract/contract_suite.hpp"

namespace npu::test {

struct ContractCase {
  const char* name;
  bool needs_card;
  void (*body)(ContractEnvironment&);
};

using ContractCases = std::vector<ContractCase>;

ContractCases config_cases();
ContractCases memory_cases();
ContractCases interrupt_cases();
ContractCases time_cases();
ContractCases queue_cases();

}  // namespace npu::test
