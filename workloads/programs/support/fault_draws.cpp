// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/fault_draws.hpp"

#include <algorithm>

namespace npu::workloads {

using testkit::Fault;
using testkit::FaultKind;

std::vector<std::string> kinds_of_copies() {
  std::vector<std::string> names;
  for (const auto& each : kFaultClasses) {
    const bool is_of_cores = each.takes("core") || each.takes("clock") || each.takes("aicpu") ||
                             each.kind == FaultKind::kHungControlProcessor;
    if (!each.takes("peer") && !is_of_cores) names.emplace_back(each.name);
  }
  return names;
}

Picoseconds draw_time(Random& random, Picoseconds below) {
  return Picoseconds(
      static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(below.count()))));
}

Fault draw_fault(Random& random, const FaultClass& row, const FaultRange& range) {
  Fault fault{row.kind};
  fault.card = range.card;
  if (row.takes("for")) fault.duration = draw_time(random, range.longest);
  // Late, or never.
  if (row.kind == FaultKind::kLostCommand && random.below(2) == 0) {
    fault.duration = Picoseconds::max();
  }
  if (row.takes("type")) fault.type = static_cast<testkit::LinkErrorType>(random.below(4));
  if (row.takes("to")) fault.to = static_cast<unsigned>(random.below(2));
  if ((row.takes("requester") || row.takes("receiver")) && random.below(2) == 0) {
    fault.requester = testkit::Requester::kHost;
  }
  const bool may_be_all = row.kind == FaultKind::kMaskedVector && random.below(3) == 0;
  if (row.kind == FaultKind::kSpuriousInterrupt ||
      (row.kind == FaultKind::kMaskedVector && !may_be_all)) {
    fault.vector = static_cast<unsigned>(random.below(2));
  }
  if (row.kind == FaultKind::kMemoryError) {
    const auto pages = std::max<Bytes>(range.used / driver::kPageSize, 1);
    fault.address = random.below(pages) * driver::kPageSize + random.below(range.touched);
    fault.bits = 1 + static_cast<unsigned>(random.below(2));
  }
  if (row.kind == FaultKind::kRefusedCompletion && random.below(2) == 0) {
    fault.status = testkit::CompletionStatus::kCompleterAbort;
  }
  if (row.kind == FaultKind::kDroppedTlp) {
    fault.error = static_cast<testkit::TlpError>(random.below(3));
  }
  // The least that there is, whatever the card's link can do.
  if (row.kind == FaultKind::kLinkRetrained) fault.generation = fault.lanes = 1;
  return fault;
}

}  // namespace npu::workloads
