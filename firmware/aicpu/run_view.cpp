// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/run_view.hpp"

namespace npu::firmware {

bool header_is_valid(const abi::RunHeader& h, unsigned threads) {
  const bool named = h.magic == abi::kGraphMagic && h.version == abi::kGraphVersion;
  const bool counts = h.tasks <= abi::kMaxTasks && h.workers >= 1 &&
                      h.workers <= abi::kMaxWorkers && h.threads >= 1 &&
                      h.threads <= abi::kMaxSchedulerThreads && h.threads == threads;
  const bool kind = h.handshake <= static_cast<std::uint32_t>(abi::HandshakeKind::kMemory);
  const bool lists = (h.tasks == 0 || h.descriptors != 0) &&
                     (h.producer_count == 0 || h.producers != 0) && h.handshakes != 0 &&
                     h.payloads != 0 && h.scratch != 0 &&
                     h.scratch_bytes >= abi::run_scratch_bytes(h.tasks, h.producer_count);
  const std::uint64_t lines =
      h.descriptors | h.handshakes | h.payloads | h.scratch | h.records | h.dumps | h.pmu;
  const bool records =
      ((h.flags & abi::kRunProfile) == 0 || h.record_count == 0 || h.records != 0) &&
      (h.dump_count == 0 || h.dumps != 0) && (h.pmu_group == 0 || h.pmu != 0);
  return named && counts && kind && lists && lines % abi::kCacheLine == 0 && records &&
         h.producers % 4 == 0 && h.result % 8 == 0 && h.watchdog_ns != 0;
}

bool descriptor_is_valid(const abi::RunHeader& h, const abi::TaskDescriptor& t) {
  if (t.shape > static_cast<std::uint16_t>(abi::TaskShape::kMixed)) return false;
  const bool runs = t.shape != static_cast<std::uint16_t>(abi::TaskShape::kNone);
  if (runs && (t.kernel == 0 || t.kernel % abi::kCacheLine != 0)) return false;
  if (t.blocks - 1 >= abi::kMaxTaskBlocks || t.words > abi::kMaxTaskWords) return false;
  if ((t.words != 0 && t.arguments == 0) || t.predicate % 4 != 0) return false;
  if (t.producers > abi::kMaxTaskProducers || (t.flags & ~abi::kTaskCooperative) != 0) return false;
  return std::uint64_t{t.first_producer} + t.producers <= h.producer_count &&
         std::uint64_t{t.first_dump} + t.dumps <= h.dump_count;
}

}  // namespace npu::firmware
