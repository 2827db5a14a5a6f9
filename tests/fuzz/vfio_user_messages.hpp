// SPDX-License-Identifier: Apache-2.0
// Messages for the fuzzer: well-formed ones, and what becomes of them.
#pragma once

#include <memory>
#include <vector>

#include "tests/fuzz/random.hpp"
#include "tests/support/vfio_user/client.hpp"

namespace npu::fuzz {

using test::vfio_user::Blob;

// Descriptors of every kind that a client may have.
class DescriptorPool {
 public:
  DescriptorPool();
  ~DescriptorPool();
  DescriptorPool(const DescriptorPool&) = delete;
  DescriptorPool& operator=(const DescriptorPool&) = delete;

  int file(Random& random) { return memories_[random.below(memories_.size())]->fd(); }
  int event(Random& random) { return events_[random.below(events_.size())].fd(); }
  int any(Random& random);
  // Truncates or extends one of the files.
  void resize_a_file(Random& random);
  void restore_files();
  std::size_t files() const { return memories_.size(); }

 private:
  std::vector<std::unique_ptr<test::vfio_user::SharedMemory>> memories_;
  std::vector<test::vfio_user::EventFd> events_;
  std::vector<int> others_;
};

struct Draft {
  Blob bytes;  // header and payload
  std::vector<int> fds;
};

class MessageMaker {
 public:
  MessageMaker(Random& random, DescriptorPool& pool) : random_(random), pool_(pool) {}

  Draft version();
  Draft well_formed();
  // A message with some of its fields, its length, flags or descriptors changed.
  Draft mutated();

 private:
  Draft message(std::uint16_t command, const Blob& payload, std::vector<int> fds = {});
  Draft map();
  Draft unmap();
  Draft set_irqs();
  Draft access();
  Draft write_multi();
  Draft question();
  void mutate(Draft& draft);
  std::uint64_t number();
  std::uint64_t page();

  Random& random_;
  DescriptorPool& pool_;
  Draft last_;
};

}  // namespace npu::fuzz
