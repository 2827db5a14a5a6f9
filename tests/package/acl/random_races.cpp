// SPDX-License-Identifier: Apache-2.0
// random_races SEED STEPS: a random program of streams, events, notifies, copies and kernels, and
// by a plain search of paths which of its steps access the same memory in no order. It prints the
// pairs; races.py compares them with what npusim says. Each step is one call, from a place of its
// own.
#include <acl/npusim_kernels.h>

#include <array>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "check.h"

namespace {

constexpr size_t kStreams = 3, kEvents = 3, kBuffers = 4, kPlaces = 128;
constexpr size_t kCount = 4096, kBytes = kCount * sizeof(float);

using Steps = std::set<size_t>;

struct Step {
  Steps before;  // all steps that are over when it begins
  std::vector<size_t> reads, writes;
};

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    for (auto& stream : streams_) stream = new_stream();
    for (auto& event : events_) event = new_event();
    for (auto& buffer : buffers_) buffer = static_cast<char*>(device_memory(kBytes));
    pinned_ = static_cast<char*>(pinned_memory(kBytes));
    for (auto& notify : notifies_) OK(aclrtCreateNotify(&notify, 0));
    aclrtBinHandle binary = nullptr;
    OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, nullptr, &binary));
    OK(aclrtBinaryGetFunction(binary, "add", &add_));
  }

  void step() {
    const size_t stream = any(kStreams), event = any(kEvents);
    const size_t from = any(kBuffers), to = (from + 1 + any(kBuffers - 1)) % kBuffers;
    switch (any(10)) {
      case 0:
        submitted(stream, {}, {to});
        return void(OKAY(aclrtMemsetAsync(buffers_[to], kBytes, 1, kBytes, streams_[stream])));
      case 1:
        submitted(stream, {from}, {to});
        return copy(stream, to, from);
      case 2:
        submitted(stream, {from}, {to});
        return launch(stream, to, from);
      case 3:
        steps_.push_back({host_, {from}, {}});  // in no stream's order
        host_.insert(steps_.size() - 1);
        return void(
            OKAY(aclrtMemcpy(pinned_, kBytes, buffers_[from], kBytes, ACL_MEMCPY_DEVICE_TO_HOST)));
      case 4:
      case 5:
        records_[event] = over(submitted(stream, {}, {}));
        return void(OKAY(aclrtRecordEvent(events_[event], streams_[stream])));
      case 6:
      case 7:
        join(order_[stream], records_[event]);
        submitted(stream, {}, {});
        return void(OKAY(aclrtStreamWaitEvent(streams_[stream], events_[event])));
      case 8:
        join(host_, order_[stream]);
        submitted(stream, {}, {});
        return void(OKAY(aclrtSynchronizeStream(streams_[stream])));
      default:
        return notify(stream);
    }
  }

  void print() const {
    for (size_t later = 0; later < steps_.size(); ++later) {
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const bool ordered =
            steps_[later].before.count(earlier) != 0 || steps_[earlier].before.count(later) != 0;
        if (!ordered && conflict(steps_[earlier], steps_[later])) {
          std::printf("race %zu %zu\n", earlier, later);
        }
      }
    }
    std::printf("steps %zu\n", steps_.size());
  }

 private:
  static void OKAY(aclError error) { OK(error); }
  size_t any(size_t count) { return random_() % count; }
  static void join(Steps& to, const Steps& from) { to.insert(from.begin(), from.end()); }

  // The next step of the stream.
  size_t submitted(size_t stream, std::vector<size_t> reads, std::vector<size_t> writes) {
    const size_t number = steps_.size();
    join(order_[stream], host_);
    steps_.push_back({order_[stream], std::move(reads), std::move(writes)});
    order_[stream].insert(number);
    return number;
  }
  Steps over(size_t step) const {
    Steps all = steps_[step].before;
    all.insert(step);
    return all;
  }

  void copy(size_t stream, size_t to, size_t from) {
    OK(aclrtMemcpyAsync(buffers_[to], kBytes, buffers_[from], kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                        streams_[stream]));
  }
  void launch(size_t stream, size_t to, size_t from) {
    const auto in = reinterpret_cast<uint64_t>(buffers_[from]);
    const npusim_elementwise_args args{reinterpret_cast<uint64_t>(buffers_[to]), in, in, kCount,
                                       ACL_FLOAT};
    OK(aclrtLaunchKernel(add_, 2, &args, sizeof args, streams_[stream]));
  }
  // Set, and later waited for, in turns; each once.
  void notify(size_t stream) {
    const auto notify = notifies_[turns_++ / 2 % notifies_.size()];
    if (!raised_) {
      told_ = over(submitted(stream, {}, {}));
      OK(aclrtRecordNotify(notify, streams_[stream]));
    } else {
      join(order_[stream], told_);
      submitted(stream, {}, {});
      OK(aclrtWaitAndResetNotify(notify, streams_[stream], 0));
    }
    raised_ = !raised_;
  }

  static bool meets(const std::vector<size_t>& a, const std::vector<size_t>& b) {
    for (const auto one : a) {
      for (const auto other : b) {
        if (one == other) return true;
      }
    }
    return false;
  }
  static bool conflict(const Step& a, const Step& b) {
    return meets(a.writes, b.writes) || meets(a.writes, b.reads) || meets(a.reads, b.writes);
  }

  std::mt19937 random_;
  std::array<aclrtStream, kStreams> streams_{};
  std::array<aclrtEvent, kEvents> events_{};
  std::array<char*, kBuffers> buffers_{};
  char* pinned_ = nullptr;
  std::array<aclrtNotify, 64> notifies_{};
  aclrtFuncHandle add_ = nullptr;
  std::vector<Step> steps_;
  std::array<Steps, kStreams> order_;   // what is over behind all that a stream has
  std::array<Steps, kEvents> records_;  // of the last one
  Steps host_, told_;
  bool raised_ = false;
  size_t turns_ = 0;
};

template <size_t kPlace>
[[gnu::noinline]] void step_at(Program& program) {
  program.step();
  asm volatile("" : : "i"(kPlace));  // no two places are one function
}

template <size_t... kAll>
void run(Program& program, size_t steps, std::index_sequence<kAll...>) {
  constexpr void (*kSteps[])(Program&) = {step_at<kAll>...};
  for (size_t i = 0; i < steps; ++i) kSteps[i % kPlaces](program);
}

}  // namespace

int main(int, char** words) {
  open_device();
  {
    Program program(static_cast<unsigned>(std::atoi(words[1])));
    run(program, static_cast<size_t>(std::atoi(words[2])), std::make_index_sequence<kPlaces>());
    program.print();
  }
  OK(aclrtSynchronizeDevice());
  return end_right();
}
