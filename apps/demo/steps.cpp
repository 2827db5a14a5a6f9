// SPDX-License-Identifier: Apache-2.0
#include "apps/demo/steps.hpp"

namespace npu::demo {

const std::vector<Step>& steps() {
  static const std::vector<Step> kSteps{
      {"scan", "cards on the bus, found by configuration reads", false, scan_bus},
      {"identity", "what the card says it is, in configuration space and registers", true,
       show_identity},
      {"bars", "sizes and places of BARs and MSI-X", true, show_bars},
      {"link", "PCI Express speed and width", true, show_link},
      {"memory", "device memory allocated and given back", true, allocate_memory},
      {"dma", "copies to the card and back, all sizes, aligned and not", true, copy_both_ways},
      {"copy", "copies from device memory to device memory", true, copy_on_device},
      {"ring", "more commands than the ring holds: none lost, none doubled, in order", true,
       press_the_ring},
      {"wait-polling", "waits that poll", true, wait_polling},
      {"wait-interrupt", "waits that sleep until MSI-X", true, wait_interrupt},
      {"wait-adaptive", "waits that learn which of the two is better", true, wait_adaptive},
      {"queues", "a compute queue of a process: nop, fill, copies, timestamp", true, use_queues},
      {"fault-unmapped", "copies to and from a bus address that nothing is mapped at", true,
       fault_unmapped},
      {"fault-read-only", "a copy into memory that the card may only read", true, fault_read_only},
      {"fault-after-unmap", "a copy into memory that was given back", true, fault_after_unmap},
      {"fault-past-the-end", "a copy that runs off the end of a mapping", true, fault_past_the_end},
      {"fault-device-address", "copies with a device address that is not mapped", true,
       fault_device_address},
      {"fault-freed-memory", "a copy into device memory that was given back", true,
       fault_freed_memory},
      {"out-of-memory", "more device memory than there is", true, exhaust_memory},
      {"reset", "a function level reset during copies, and the card opened again", true,
       reset_during_copy},
  };
  return kSteps;
}

}  // namespace npu::demo
