// SPDX-License-Identifier: Apache-2.0
// event_graphs SEEDS: random graphs of streams that wait for each other's records. Each stream
// counts its steps in a word of its own; who waits for a record finds at least what the word was
// then.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "spin.h"

namespace {

constexpr std::uint32_t kStreams = 5, kEvents = 6, kSteps = 300;

class Graph {
 public:
  explicit Graph(std::uint32_t seed);
  void step();
  void check();

 private:
  struct Event {
    aclrtEvent handle = nullptr;
    bool recorded = false;
    std::uint32_t stream = 0, count = 0;
  };
  struct Seen {
    std::size_t place;
    std::uint32_t least;
  };
  std::uint32_t any(std::uint32_t end) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 33) % end;
  }
  void launch(aclrtStream stream);
  void count(std::uint32_t stream);
  void wait(std::uint32_t stream, const Event& event);

  std::uint64_t state_;
  aclrtFuncHandle kernel_ = built_in("spin");
  std::vector<aclrtStream> streams_{kStreams};
  std::vector<Event> events_{kEvents};
  std::vector<std::uint32_t> counts_ = std::vector<std::uint32_t>(kStreams);
  std::uint32_t *numbers_ = nullptr, *seen_ = nullptr;  // the host's
  std::uint32_t* words_ = nullptr;                      // the card's, by stream
  std::vector<Seen> checks_;
};

Graph::Graph(std::uint32_t seed) : state_(seed) {
  for (auto& stream : streams_) OK(aclrtCreateStream(&stream));
  for (auto& event : events_) OK(aclrtCreateEvent(&event.handle));
  const auto host = [](std::uint32_t*& memory) {
    OK(aclrtMallocHost(reinterpret_cast<void**>(&memory), (kSteps + 1) * sizeof *memory));
  };
  host(numbers_);
  host(seen_);
  for (std::uint32_t i = 0; i <= kSteps; ++i) numbers_[i] = i;
  OK(aclrtMalloc(reinterpret_cast<void**>(&words_), 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemset(words_, 4096, 0, 4096));
}

// On cube or vector cores.
void Graph::launch(aclrtStream stream) {
  aclrtLaunchKernelAttr attribute = {};
  attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE;
  attribute.value.engineType = any(2) == 0 ? ACL_RT_ENGINE_TYPE_AIC : ACL_RT_ENGINE_TYPE_AIV;
  aclrtLaunchKernelCfg config = {&attribute, 1};
  npusim_spin_args args = {1000 + any(60000)};
  OK(aclrtLaunchKernelWithHostArgs(kernel_, 1, stream, &config, &args, sizeof args, nullptr, 0));
}

void Graph::count(std::uint32_t stream) {
  OK(aclrtMemcpyAsync(words_ + stream * 16, 4, numbers_ + ++counts_[stream], 4,
                      ACL_MEMCPY_HOST_TO_DEVICE, streams_[stream]));
}

void Graph::wait(std::uint32_t stream, const Event& event) {
  OK(aclrtStreamWaitEvent(streams_[stream], event.handle));
  const auto place = checks_.size();
  OK(aclrtMemcpyAsync(seen_ + place, 4, words_ + event.stream * 16, 4, ACL_MEMCPY_DEVICE_TO_HOST,
                      streams_[stream]));
  checks_.push_back({place, event.count});
}

void Graph::step() {
  const auto stream = any(kStreams);
  auto& event = events_[any(kEvents)];
  switch (any(8)) {
    case 0:
      return launch(streams_[stream]);
    case 1:
    case 2:
    case 3:
      return count(stream);
    case 4:
    case 5:
      OK(aclrtRecordEvent(event.handle, streams_[stream]));
      event = {event.handle, true, stream, counts_[stream]};
      return;
    case 6:
      if (event.recorded) wait(stream, event);
      return;
    default:
      if (any(4) != 0) return;
      OK(aclrtDestroyEvent(event.handle));
      event = {};
      OK(aclrtCreateEvent(&event.handle));
  }
}

void Graph::check() {
  for (const auto stream : streams_) OK(aclrtSynchronizeStreamWithTimeout(stream, 10000));
  for (const auto& [place, least] : checks_) REQUIRE(seen_[place] >= least);
  REQUIRE(checks_.size() > kSteps / 20);
  for (const auto stream : streams_) OK(aclrtDestroyStream(stream));
  for (const auto& event : events_) OK(aclrtDestroyEvent(event.handle));
  OK(aclrtFreeHost(numbers_));
  OK(aclrtFreeHost(seen_));
  OK(aclrtFree(words_));
}

}  // namespace

int main(int count, char** arguments) {
  open_device();
  const int seeds = count > 1 ? std::atoi(arguments[1]) : 20;
  for (int seed = 1; seed <= seeds; ++seed) {
    Graph graph(static_cast<std::uint32_t>(seed));
    for (std::uint32_t i = 0; i < kSteps; ++i) graph.step();
    graph.check();
  }
  end_right();
}
