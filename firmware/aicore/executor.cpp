// SPDX-License-Identifier: Apache-2.0
// The executor: one block of its launch is one worker (abi/handshake.hpp).
#include <cstddef>
#include <cstdint>
#include <limits>

#include "firmware/program.hpp"
#include "npu/abi/handshake.hpp"
#include "npu/abi/task_graph.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::firmware {
namespace {

using abi::DataMainBase;
using abi::DispatchPayload;
using abi::Handshake;
using platform::AicorePort;

// For waits that only the scheduler, or the end of the launch, can end.
constexpr auto kForEver = std::numeric_limits<std::uint64_t>::max();

class Executor {
 public:
  explicit Executor(AicorePort& port) : port_(port) {}

  int run() {
    const std::uint64_t header = port_.call().arguments;
    const std::uint32_t worker = port_.call().block;
    line_ = field(header, offsetof(abi::RunHeader, handshakes)) + worker * sizeof(Handshake);
    payloads_ = field(header, offsetof(abi::RunHeader, payloads)) +
                worker * abi::kPayloadsPerWorker * sizeof(DispatchPayload);
    const auto kind = port_.load(header + offsetof(abi::RunHeader, handshake), 4);
    introduce(worker);
    if (kind == static_cast<std::uint32_t>(abi::HandshakeKind::kMemory)) {
      serve_memory();
    } else {
      serve_registers();
    }
    return 0;
  }

 private:
  std::uint64_t field(std::uint64_t base, std::size_t offset) {
    return port_.load(base + offset, 8);
  }
  std::uint32_t line_word(std::size_t offset) {
    return static_cast<std::uint32_t>(port_.load(line_ + offset, 4));
  }
  void set_line_word(std::size_t offset, std::uint32_t value) {
    port_.store(line_ + offset, 4, value);
  }
  void refresh(std::uint64_t address) { port_.clean_invalidate(address); }
  void publish(std::uint64_t address) {
    port_.clean_invalidate(address);
    port_.memory_barrier();
  }

  // Answers aicpu_ready: who this worker is, and that it is there.
  void introduce(std::uint32_t worker) {
    for (;;) {
      refresh(line_);
      if (line_word(offsetof(Handshake, aicpu_ready)) != 0) break;
      port_.poll_again(kForEver);
    }
    set_line_word(offsetof(Handshake, physical_core), port_.physical_core());
    set_line_word(offsetof(Handshake, core_type), static_cast<std::uint32_t>(port_.core_type()));
    set_line_word(offsetof(Handshake, aicore_done), worker + 1);
    publish(line_);
  }

  void serve_registers() {
    while (word(port_.data_main_base()) == DataMainBase::kNothing) port_.poll_again(kForEver);
    port_.set_cond(abi::Cond::kIdle);
    std::uint32_t last = DataMainBase::kIdle;
    for (;;) {
      const std::uint32_t id = word(port_.data_main_base());
      if (id == DataMainBase::kExit) break;
      if (id == last || id == DataMainBase::kIdle) {
        port_.poll_again(kForEver);
        continue;
      }
      last = id;
      port_.set_cond(id);
      const std::uint64_t payload = payloads_ + (id & 1) * sizeof(DispatchPayload);
      const int result = execute(payload);
      if (result != 0) {
        port_.store(payload + offsetof(DispatchPayload, result), 4,
                    static_cast<std::uint32_t>(result));
        publish(payload);
      }
      port_.set_cond(abi::Cond::kFinished | id);
    }
    port_.set_cond(abi::Cond::kExited);
  }

  void serve_memory() {
    std::uint32_t seen = 0;
    for (;;) {
      refresh(line_);
      if (line_word(offsetof(Handshake, control)) != 0) return;
      const std::uint32_t sequence = line_word(offsetof(Handshake, task_sequence));
      if (sequence == seen) {
        port_.poll_again(kForEver);
        continue;
      }
      seen = sequence;
      const std::uint64_t payload = port_.load(line_ + offsetof(Handshake, task), 8);
      set_line_word(offsetof(Handshake, task_status), 1);
      port_.clean_invalidate(line_);  // nothing waits for it
      const int result = execute(payload);
      set_line_word(offsetof(Handshake, task_result), static_cast<std::uint32_t>(result));
      set_line_word(offsetof(Handshake, done_sequence), sequence);
      set_line_word(offsetof(Handshake, task_status), 0);
      publish(line_);
    }
  }

  // Runs what the payload says; everything it issued is done when this returns.
  int execute(std::uint64_t payload) {
    refresh(payload);
    platform::KernelCall call;
    call.image = port_.load(payload + offsetof(DispatchPayload, kernel), 8);
    call.arguments = port_.load(payload + offsetof(DispatchPayload, arguments), 8);
    call.block =
        static_cast<std::uint32_t>(port_.load(payload + offsetof(DispatchPayload, block), 4));
    call.blocks =
        static_cast<std::uint32_t>(port_.load(payload + offsetof(DispatchPayload, blocks), 4));
    call.role =
        static_cast<std::uint32_t>(port_.load(payload + offsetof(DispatchPayload, role), 4));
    const std::uint64_t record = port_.load(payload + offsetof(DispatchPayload, record), 8);
    const std::uint64_t begun = record == 0 ? 0 : port_.system_counter();
    const int result = port_.invoke(call);
    port_.pipe_barrier(platform::Pipe::kAll);
    if (record != 0) write_record(record, begun);
    return result;
  }

  // Its line is the scheduler's before and after.
  void write_record(std::uint64_t record, std::uint64_t begun) {
    refresh(record);
    port_.store(record + offsetof(abi::TaskRecord, begun), 8, begun);
    port_.store(record + offsetof(abi::TaskRecord, ended), 8, port_.system_counter());
    publish(record);
  }

  static std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

  AicorePort& port_;
  std::uint64_t line_ = 0, payloads_ = 0;
};

}  // namespace
}  // namespace npu::firmware

NPU_PROGRAM_ENTRY int npu_aicore_main(npu::platform::AicorePort& port) {
  return npu::firmware::Executor(port).run();
}
