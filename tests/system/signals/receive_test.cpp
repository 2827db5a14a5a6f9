// SPDX-License-Identifier: Apache-2.0
// From the dispatch id to the kernel: what the executor does between, on the real models, against
// the published 349 ns (hardware.md H49; "task setup: payload invalidate and ACK").
#include "npu/abi/handshake.hpp"
#include "npu/abi/task_graph.hpp"
#include "tests/support/folders.hpp"
#include "tests/system/signals/signal_card.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kExecutor = 0x30'0000, kEmpty = 0x38'0000, kHeader = kDataAt,
                        kLine = kDataAt + 0x1000, kPayloads = kDataAt + 0x2000,
                        kArguments = kDataAt + 0x3000;

// The scheduler's side of the handshakes, played by an AICPU.
class Receive : private platform::TraceSink {
 public:
  Receive(const std::string& config, abi::HandshakeKind kind) : card(config), kind_(kind) {
    card.upload(program("executor"), abi::ImageKind::kAiCore, kExecutor);
    card.upload(program("empty"), abi::ImageKind::kAiCore, kEmpty);
    abi::RunHeader header;
    header.handshake = static_cast<std::uint32_t>(kind);
    header.workers = 1;
    header.handshakes = kLine;
    header.payloads = kPayloads;
    card.put(kHeader, header);
    card.machine.system.simulation().recorder.add(*this);
    card.core_image(40'000 * kNs, 0, kExecutor, kHeader);
  }
  ~Receive() override { card.machine.system.simulation().recorder.remove(*this); }

  // Tasks of an empty kernel with one argument word, 10 us apart.
  void tasks(std::uint32_t count) {
    card.aicpu(40'000 * kNs, 0, [this, count](AicpuPort& port) {
      port.compute(5'000);
      port.store(kLine + offsetof(abi::Handshake, aicpu_ready), 4, 1);
      port.store_register(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);
      port.compute(5'000);
      port.store_register(0, abi::DataMainBase::kOffset, abi::DataMainBase::kIdle);
      for (std::uint32_t id = 1; id <= count; ++id) {
        port.compute(20'000 + 17 * id);
        give(port, id);
      }
      port.compute(20'000);
      port.store_register(0, abi::DataMainBase::kOffset, abi::DataMainBase::kExit);
      port.store(kLine + offsetof(abi::Handshake, control), 4, 1);
      return 0;
    });
    card.run();
    EXPECT_EQ(card.ended, 2U);
  }

  SignalCard card;
  std::vector<SimTime> taken;  // from the look that has found a task to the kernel

 private:
  static std::string program(const std::string& name) {
    return binary_dir() + "/programs/" + name + ".npu";
  }
  void give(AicpuPort& port, std::uint32_t id) const {
    abi::DispatchPayload payload;
    payload.kernel = kEmpty;
    payload.arguments = kArguments + id % 8 * 64;
    payload.words = 1;
    payload.blocks = 1;
    const std::uint64_t at = kPayloads + (id & 1) * sizeof payload;
    port.write(at, &payload, sizeof payload);
    port.barrier();
    if (kind_ == abi::HandshakeKind::kRegister) {
      return port.store_register(0, abi::DataMainBase::kOffset, id);
    }
    port.store(kLine + offsetof(abi::Handshake, task), 8, at);
    port.store(kLine + offsetof(abi::Handshake, task_sequence), 4, id);
  }
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity != platform::Activity::kTaskSetup) return;
    taken.push_back(static_cast<SimTime>((event.end - event.begin).count()));
  }

  const abi::HandshakeKind kind_;
};

class ReceiveToStart : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(ReceiveToStart, IsWhatThePayloadAndTheKernelsHeaderTake) {
  const auto& [config, kind] = GetParam();
  Receive receive(config, kind == std::string("memory") ? abi::HandshakeKind::kMemory
                                                        : abi::HandshakeKind::kRegister);
  receive.tasks(24);
  ASSERT_EQ(receive.taken.size(), 24U);
  // Its header and first lines, from memory; the whole image is not read.
  EXPECT_GT(receive.taken[0], 2 * receive.taken[23]) << "the kernel itself is fetched";
  // Published are 349 ns, as for three misses of the core's cache (hardware.md H49). The executor
  // has two: what silicon reads besides is not known.
  for (unsigned i = 1; i < 24; ++i) {
    EXPECT_NEAR(static_cast<double>(receive.taken[i]), 349e3 * 2 / 3, 34.9e3);
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, ReceiveToStart,
                         testing::Combine(testing::Values("910b.yaml", "910b2.yaml", "950pr.yaml"),
                                          testing::Values("register", "memory")),
                         [](const auto& instance) {
                           const std::string config = std::get<0>(instance.param);
                           return config.substr(0, config.find('.')) + "_" +
                                  std::get<1>(instance.param);
                         });

}  // namespace
}  // namespace npu::test
