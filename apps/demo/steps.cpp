// SPDX-License-Identifier: Apache-2.0
#include "apps/demo/steps.hpp"

namespace npu::demo {

const std::vector<Step>& steps() {
  static const std::string kKinds = "kinds=nop,fill,h2d,d2d,d2h,timestamp";
  static const std::vector<Step> kSteps{
      {"scan", "enumerate", {}, false},
      {"identity", "identity", {}},
      {"memory", "alloc_churn", {"steps=32", "max_size=1GiB", "lifetime=8", "memory=on"}},
      {"dma", "copy_check", {}},
      {"ring", "ring_pressure", {"commands=8192", "streams=1"}},
      {"wait-polling",
       "copy_check",
       {"policy=polling", "smallest=1MiB", "largest=1MiB", "rounds=4"}},
      {"wait-interrupt",
       "copy_check",
       {"policy=interrupt", "smallest=1MiB", "largest=1MiB", "rounds=4"}},
      {"wait-adaptive", "copy_check", {"smallest=1MiB", "largest=1MiB", "rounds=4"}},
      {"queues", "queue_latency", {kKinds, "policy=polling"}},
      {"queues-interrupt", "queue_latency", {kKinds, "policy=interrupt"}},
      {"fault-unmapped", "address_faults", {"kinds=unmapped"}},
      {"fault-read-only", "address_faults", {"kinds=read_only"}},
      {"fault-after-unmap", "address_faults", {"kinds=after_unmap"}},
      {"fault-past-the-end", "address_faults", {"kinds=past_the_end"}},
      {"fault-device-address", "address_faults", {"kinds=device_address"}},
      {"fault-freed-memory", "address_faults", {"kinds=freed_memory"}},
      {"out-of-memory",
       "alloc_churn",
       {"steps=80", "min_size=2GiB", "max_size=2GiB", "lifetime=1000000"}},
      {"reset", "card_loss", {"by=reset"}},
      {kRemoval, "card_loss", {"by=others", "copies=1", "ending=removal"}, true, "is removed"},
      {kError, "card_loss", {"by=others", "copies=1"}, true, "has an error"},
  };
  return kSteps;
}

}  // namespace npu::demo
