// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/memory_reads.hpp"

namespace npu::model {

void MemoryReads::send(std::uint64_t address, Bytes length) {
  ++in_flight_;
  requests_.send(platform::Pipe::kScalar, {false, address, 1, length, 0, kPlace});
}

void MemoryReads::send_ahead(std::uint64_t address, Bytes length) {
  ++ahead_;
  requests_.send_ahead({false, address, 1, length, 0, ahead_place()});
}

void MemoryReads::wait_for(const unsigned& reads, unsigned most) {
  struct FewEnough final : CoreThread::Condition {
    FewEnough(const unsigned& count, unsigned allowed) : in_flight(count), most(allowed) {}
    bool satisfied() const override { return in_flight <= most; }
    const unsigned& in_flight;
    const unsigned most;
  };
  thread_.wait_for(FewEnough(reads, most));
  thread_.reach(sim_now());
}

void MemoryReads::await(unsigned most) {
  wait_for(in_flight_, most);
}

void MemoryReads::await_ahead() {
  thread_.catch_up();
  wait_for(ahead_, 0);
}

void MemoryReads::read(std::uint64_t address, void* data, Bytes length, bool polls) {
  const SimTime begin = thread_.local();
  thread_.pass(services_.clock.clocks(services_.config.miss_clocks));
  thread_.catch_up();
  carried_from_.reset();
  send(address, length);
  await(0);
  statistics_.memory_wait += thread_.local() - begin;
  thread_.waited_for_line(begin, polls);
  if (carried_from_ == address && length == carried_.size()) {
    std::copy(carried_.begin(), carried_.end(), static_cast<unsigned char*>(data));
    return;
  }
  const auto completion = services_.memory.read(calls_.space(), address, data, length);
  if (completion != Completion::kSuccess) {
    thread_.raise_fault(device_fault(completion), address, false, length);
  }
}

}  // namespace npu::model
