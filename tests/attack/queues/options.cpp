// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/options.hpp"

#include <algorithm>

namespace npu::attack {

using driver::QueueMemory;

driver::CoreMask any_core_mask(fuzz::Random& random) {
  if (random.percent(50)) return driver::kAllCores;
  if (random.percent(50)) return driver::first_cores(1 + static_cast<unsigned>(random.below(256)));
  driver::CoreMask mask{};
  for (auto& word : mask) word = random.bits() & random.bits();
  mask[0] |= std::uint64_t{1} << random.below(20);  // one that there is on all cards
  return mask;
}

driver::QueueOptions any_queue_options(fuzz::Random& random) {
  driver::QueueOptions options;
  const auto memory = [&] {
    return random.percent(50) ? QueueMemory::kHost : QueueMemory::kDevice;
  };
  const auto large = random.percent(3) ? 14 : random.percent(20) ? 8 : 4;
  options.ring = {memory(), abi::kMinLog2Ring + static_cast<unsigned>(random.below(large + 1))};
  options.completion_memory = memory();
  if (random.percent(60)) {
    const auto most = std::min(abi::kMaxLog2Ring, options.ring.log2_entries + 4);
    options.log2_completions =
        options.ring.log2_entries +
        static_cast<unsigned>(random.below(most - options.ring.log2_entries + 1));
  }
  options.priority = static_cast<unsigned>(random.below(16));
  options.percentage = random.percent(70) ? 100 : 1 + static_cast<unsigned>(random.below(100));
  options.quantum = random.of({Picoseconds(), Picoseconds(), 1_us, 10_us, 1_ms, 1000_s});
  options.core_mask = any_core_mask(random);
  options.in_order = random.percent(60);
  options.preemptible = random.percent(70);
  options.interrupt = random.percent(80);
  options.process_vector = random.percent(30);
  options.indices_in_memory = random.percent(30);
  return options;
}

}  // namespace npu::attack
